import Foundation

/// A failed call of the operating system, with its meaning for a file in words and as one of
/// Cocoa's codes.
struct SystemFailure: Error, Equatable {
    /// The value of `errno`.
    let number: Int32

    init(_ number: Int32 = errno) { self.number = number }

    /// Whether a disk, a quota or a limit on the size of files is exhausted.
    var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }

    var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }

    var isNoFile: Bool { number == ENOENT || number == ENOTDIR }

    /// The cause and what to do about it; nil for failures that programs meet seldom.
    var advice: String? {
        switch number {
        case ENOSPC: "There is no space left on its disk: free some and try again."
        case EDQUOT: "The disk quota is used up: free some space or raise the quota, and try again."
        case EFBIG: "The limit on the size of files (ulimit -f) is reached: raise it and try again."
        case EMFILE:
            "The process has no file descriptor left: close files, or raise the limit (ulimit -n), and try again."
        case ENFILE: "The system has no file descriptor left: close files, or raise its limit, and try again."
        case EACCES, EPERM: "This process may not use it: change the permissions of the file and its folder."
        case EROFS: "Its file system is read-only: open the store with NSReadOnlyPersistentStoreOption, or copy it."
        case EIO: "The disk has failed: check it, and use a copy of the store."
        default: nil
        }
    }

    /// An error about one file.
    ///
    /// - Parameters:
    ///   - problem: The first sentence, which names the file.
    ///   - code: The code for failures without a code of their own.
    func error(_ problem: String, path: String, otherwise code: CocoaError.Code) -> NSError {
        let reason = String(cString: strerror(number))
        let known: CocoaError.Code
        switch number {
        case _ where isOutOfSpace: known = .fileWriteOutOfSpace
        case EACCES, EPERM, EROFS: known = code == .fileReadUnknown ? .fileReadNoPermission : .fileWriteNoPermission
        default: known = code
        }
        return CoreDataErrors.make(
            known, "\(problem): \(reason).", recovery: advice,
            userInfo: [
                NSFilePathErrorKey: path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number)),
            ])
    }
}
