import Foundation

/// A complete file beside another one, whose place it takes in one step.
struct ReplacementFile {
    let stamp: FileStamp?
    private let path: String
    private let destination: String

    /// Writes the file, with the access of the one that it is to replace, and brings it to the
    /// disk.
    ///
    /// - Throws: an error that names the destination; then no file is left.
    init(_ data: Data, for url: URL) throws {
        destination = url.resolvingSymlinksInPath().path
        var present = stat()
        if stat(destination, &present) == 0, present.st_mode & S_IFMT != S_IFREG {
            throw CoreDataErrors.make(
                .fileWriteUnknown, "The store at \(destination) cannot be written: there is no regular file.",
                recovery: "Choose another place.", userInfo: [NSFilePathErrorKey: destination])
        }
        path =
            URL(fileURLWithPath: destination).deletingLastPathComponent()
            .appendingPathComponent(".coredata-\(UUID().uuidString)").path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw Self.failure(destination) }
        if FileIdentity(path: destination) != nil { FileAccess(ofFileAt: destination).apply(toFile: descriptor) }
        let isWritten = Self.put(data, descriptor) && fsync(descriptor) == 0
        stamp = FileStamp(descriptor: descriptor)
        let failure = SystemFailure()
        // Some file systems report a full disk only when the file is closed.
        guard close(descriptor) == 0, isWritten else {
            let reason = isWritten ? SystemFailure() : failure
            unlink(path)
            throw Self.failure(destination, reason)
        }
    }

    /// Moves the file to its place.
    ///
    /// - Throws: an error when the file cannot be moved; what was at the place is still there.
    func replace() throws {
        guard rename(path, destination) == 0 else { throw Self.failure(destination) }
        try? ExternalFiles.sync(folder: URL(fileURLWithPath: destination).deletingLastPathComponent().path)
    }

    /// Removes a file that was not moved to its place.
    func remove() { unlink(path) }

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
