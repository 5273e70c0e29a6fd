import Foundation

// Creating files and folders.
extension ExternalFiles {
    /// The settings for new files.
    struct Making {
        let access: FileAccess
        /// Whether files must be synced to the disk before a row names them.
        let isSynced: Bool
    }

    /// Creates the folders that are missing.
    ///
    /// - Throws: an error when one cannot be created.
    func makeFolders(_ making: Making) throws {
        var parent = storeURL.deletingLastPathComponent().path
        for path in [supportFolder.path, folder.path] {
            defer { parent = path }
            guard making.access.makeFolder(at: path) else {
                if errno == EEXIST { continue }
                throw SystemFailure().error(
                    "The folder \(path) for external files of the store at \(storeURL.path) cannot be made", path: path,
                    otherwise: .fileWriteUnknown)
            }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if descriptor >= 0 {
                making.access.apply(toFolder: descriptor)
                close(descriptor)
            }
            if making.isSynced { try Self.sync(folder: parent) }
        }
    }

    /// Writes a value to a new file and returns its name.
    ///
    /// - Throws: an error when the value cannot be written completely; then no file is left.
    func makeFile(holding data: Data, _ making: Making) throws -> String {
        let name = UUID().uuidString
        try fillFile(name, making) { descriptor in
            try data.withUnsafeBytes { bytes in
                var rest = bytes
                while !rest.isEmpty { rest = .init(rebasing: rest.dropFirst(try Self.put(rest, descriptor))) }
            }
        }
        return name
    }

    /// Copies a file of another store, if that store has it.
    ///
    /// Replaces a file of the same name, which has the same content. A pending removal of the old
    /// file, which no row named, must not remove the copy.
    ///
    /// - Throws: an error when the file cannot be read or written completely; then no file is left.
    func copy(_ name: String, from other: ExternalFiles, _ making: Making) throws {
        guard let data = try other.content(named: name.utf8) else { return }
        // Written under a temporary name first, so that an existing file is always complete.
        let copy = try makeFile(holding: data, making)
        guard rename(path(of: copy), path(of: name)) == 0 else {
            let failure = failure(name)
            remove([copy])
            throw failure
        }
    }

    private func fillFile(_ name: String, _ making: Making, _ fill: (Int32) throws -> Void) throws {
        let path = path(of: name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(name) }
        var isOpen = true
        do {
            making.access.apply(toFile: descriptor)
            try fill(descriptor)
            if making.isSynced, fsync(descriptor) != 0 { throw SystemFailureError(SystemFailure()) }
            isOpen = false
            // Some file systems report a full disk only here.
            if close(descriptor) != 0 { throw SystemFailureError(SystemFailure()) }
        } catch let error as SystemFailureError {
            if isOpen { close(descriptor) }
            unlink(path)
            throw failure(name, error.failure)
        }
    }

    private struct SystemFailureError: Error {
        let failure: SystemFailure
        init(_ failure: SystemFailure) { self.failure = failure }
    }

    /// - Returns: the number of bytes written.
    private static func put(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) throws -> Int {
        while true {
            let count = write(descriptor, bytes.baseAddress, bytes.count)
            if count > 0 { return count }
            if count < 0, errno != EINTR { throw SystemFailureError(SystemFailure()) }
        }
    }

    private func failure(_ name: String, _ failure: SystemFailure = SystemFailure()) -> NSError {
        failure.error(
            "A value of the store at \(storeURL.path) cannot be written to the external file \(path(of: name))",
            path: path(of: name), otherwise: .fileWriteUnknown)
    }

    /// Syncs the folder, and with it the names of new files.
    ///
    /// - Throws: an error when the sync fails.
    func syncNames() throws { try Self.sync(folder: folder.path) }

    static func sync(folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        // File systems that cannot sync a folder report EINVAL.
        guard descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL) else { return }
        throw SystemFailure().error(
            "The folder \(folder) cannot be brought to the disk", path: folder, otherwise: .fileWriteUnknown)
    }

    // MARK: One at a time

    /// Runs `body` while no other process copies files into the folder or sweeps it.
    ///
    /// - Parameter waits: whether to wait for another process that does.
    /// - Returns: nil when the folder is missing, or another process holds the lock and `waits` is
    ///   false.
    func whileLocked<Result>(waits: Bool, _ body: () throws -> Result) rethrows -> Result? {
        guard let lock = FolderLock(folder.path, waits: waits) else { return nil }
        defer { lock.release() }
        return try body()
    }
}
