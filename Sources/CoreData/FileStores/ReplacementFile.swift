import Foundation

/// A complete file beside another one, whose place it takes in one step.
///
/// The present file is locked until then, so that one program at a time replaces it. An empty file
/// counts as none.
struct ReplacementFile {
    let stamp: FileStamp?
    private let path: String
    private let destination: String
    private let lock: Int32

    /// Writes the file, with the access of the one that it is to replace, and brings it to the
    /// disk.
    ///
    /// - Throws: an error that names the destination; then no file is left. 134030 if another
    ///   program is replacing it.
    init(_ data: Data, for url: URL) throws {
        destination = url.resolvingSymlinksInPath().path
        var present = stat()
        if stat(destination, &present) == 0, present.st_mode & S_IFMT != S_IFREG {
            throw CoreDataErrors.make(
                .fileWriteUnknown, "The store at \(destination) cannot be written: there is no regular file.",
                recovery: "Choose another place.", userInfo: [NSFilePathErrorKey: destination])
        }
        lock = open(destination, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard lock >= 0 else { throw Self.failure(destination) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Self.otherWriter(destination)
        }
        // Its name is that of a file which a killed program left.
        let place = URL(fileURLWithPath: destination)
        path = place.deletingLastPathComponent().appendingPathComponent(".\(place.lastPathComponent).saving").path
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else {
            let failure = SystemFailure()
            Self.release(lock, destination)
            throw Self.failure(destination, failure)
        }
        if FileIdentity(path: destination) != nil { FileAccess(ofFileAt: destination).apply(toFile: descriptor) }
        let isWritten = Self.put(data, descriptor) && fsync(descriptor) == 0
        stamp = FileStamp(descriptor: descriptor)
        let failure = SystemFailure()
        // Some file systems report a full disk only when the file is closed.
        guard close(descriptor) == 0, isWritten else {
            let reason = isWritten ? SystemFailure() : failure
            unlink(path)
            Self.release(lock, destination)
            throw Self.failure(destination, reason)
        }
    }

    /// Moves the file to its place.
    ///
    /// - Throws: an error when the file cannot be moved; what was at the place is still there.
    func replace() throws {
        guard rename(path, destination) == 0 else { throw Self.failure(destination) }
        try? ExternalFiles.sync(folder: URL(fileURLWithPath: destination).deletingLastPathComponent().path)
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Removes a file that was not moved to its place.
    func remove() {
        unlink(path)
        Self.release(lock, destination)
    }

    /// Unlocks the present file, and removes it if it was made for the lock. `close` alone would
    /// keep the lock in a forked child.
    private static func release(_ lock: Int32, _ destination: String) {
        if FileStamp(descriptor: lock) == nil { unlink(destination) }
        flock(lock, LOCK_UN)
        close(lock)
    }

    private static func otherWriter(_ path: String) -> NSError {
        CoreDataErrors.make(
            .persistentStoreSave, "The store at \(path) is being written by someone else: nothing was saved.",
            recovery: "Save again; if the store was changed, remove it from its coordinator and add it again before.",
            userInfo: [NSFilePathErrorKey: path])
    }

    private static func put(_ data: Data, _ descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return false }
                rest = .init(rebasing: rest.dropFirst(count))
            }
            return true
        }
    }

    private static func failure(_ path: String, _ failure: SystemFailure = SystemFailure()) -> NSError {
        failure.error("The store at \(path) cannot be written", path: path, otherwise: .fileWriteUnknown)
    }
}
