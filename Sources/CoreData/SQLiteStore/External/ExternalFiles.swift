import Foundation

/// Large binary values in files beside a store: `.Name_SUPPORT/_EXTERNAL_DATA/UUID` for
/// `Name.sqlite`.
///
/// The first byte of a column value says whether it names a file: see `ExternalColumn`. A missing
/// file reads as nil.
///
/// A file is written once, under the write lock of the database and under a new name, and never
/// changes. `SupersededFiles` decides when it is removed.
struct ExternalFiles: Sendable {
    /// The database file itself: symbolic links in the store's URL are resolved.
    let storeURL: URL
    let folder: URL

    init(storeURL: URL) {
        // SQLite puts its journal beside the target of a symbolic link; so do we.
        self.storeURL = storeURL.resolvingSymlinksInPath()
        let name = self.storeURL.deletingPathExtension().lastPathComponent
        folder = self.storeURL.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The folder that holds all of a store's files.
    var supportFolder: URL { folder.deletingLastPathComponent() }

    func path(of name: String) -> String { folder.path + "/" + name }

    /// Returns the plain bytes of a column value; nil when its file is missing.
    ///
    /// - Throws: an error when an existing file cannot be read.
    static func content(ofColumnValue value: Data, in files: ExternalFiles?) throws -> Data? {
        switch value.first {
        case ExternalColumn.inlineMarker?: return Data(value.dropFirst())
        case ExternalColumn.fileMarker?: return try files?.content(named: value.dropFirst())
        default: return value
        }
    }

    // MARK: Reading

    /// Returns a file's content; nil when it is missing, no regular file, or its name points
    /// elsewhere.
    ///
    /// - Throws: an error when an existing file cannot be read now: no descriptor is left, access
    ///   is denied, the disk fails.
    func content(named bytes: some Sequence<UInt8>) throws -> Data? {
        guard let name = ExternalColumn.fileName(bytes) else { return nil }
        let path = path(of: name)
        func failure() -> NSError {
            SystemFailure().error(
                "The value in the external file \(path) of the store at \(storeURL.path) cannot be read", path: path,
                otherwise: .fileReadUnknown)
        }
        // Does not follow a link, and does not wait for the other end of a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENXIO].contains(errno) { return nil }
            throw failure()
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw failure() }
        guard information.st_mode & S_IFMT == S_IFREG else { return nil }
        var data = Data(count: Int(information.st_size))
        var filled = 0
        while filled < data.count {
            let count = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + filled, bytes.count - filled) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { break }
            filled += count
        }
        return filled == data.count ? data : data.prefix(filled)
    }

    // MARK: Removing

    /// Removes regular files. Folders and links with these names stay.
    func remove(_ names: some Sequence<String>) {
        for name in names where isRegularFile(name) { unlink(path(of: name)) }
    }

    func removeEmptyFolders() {
        if rmdir(folder.path) == 0 { rmdir(supportFolder.path) }
    }

    /// The names of all regular files that look like external data files.
    func namesOnDisk() -> Set<String> { Set(namesInFolder().filter(isRegularFile)) }

    /// All names in the folder that look like external data files: UUIDs.
    ///
    /// Empty where the folder is missing, or is reached through a link and may therefore belong to
    /// another store.
    func namesInFolder() -> [String] {
        for place in [supportFolder.path, folder.path] {
            var information = stat()
            guard lstat(place, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return [] }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { UUID(uuidString: $0) != nil }
    }

    /// Whether there is nothing with a name. False also where the system does not tell.
    func isMissing(_ name: String) -> Bool {
        var information = stat()
        return lstat(path(of: name), &information) != 0 && errno == ENOENT
    }

    /// Whether a name is a regular file: no folder, no link.
    func isRegularFile(_ name: String) -> Bool {
        var information = stat()
        return lstat(path(of: name), &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Whether a file beside the store may be another database that uses the same folder.
    ///
    /// Its name differs only in the extension. The size decides: a multiple of the smallest page
    /// size. Opening the file is no option: closing it would release the locks that SQLite holds on
    /// it for this process.
    func isShared() -> Bool {
        let parent = storeURL.deletingLastPathComponent()
        let own = storeURL.lastPathComponent
        let stem = storeURL.deletingPathExtension().lastPathComponent
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent.path) else { return true }
        return names.contains { name in
            guard name.hasPrefix(stem), (name as NSString).deletingPathExtension == stem,
                !["", "-wal", "-shm", "-journal"].contains(where: { name == own + $0 })
            else { return false }
            var information = stat()
            guard stat(parent.appendingPathComponent(name).path, &information) == 0 else { return false }
            return information.st_mode & S_IFMT == S_IFREG && information.st_size > 0 && information.st_size % 512 == 0
        }
    }
}
