import Foundation

/// Large binary values in files beside a store: `.Name_SUPPORT/_EXTERNAL_DATA/UUID` for `Name.sqlite`.
///
/// A column says by its first byte whether it names a file: see `ExternalColumn`. A file that is missing reads as nil.
///
/// A file is written once, under the write lock of the database and under a name that was never used, and is never changed. When
/// it goes is up to `SupersededFiles`.
struct ExternalFiles: Sendable {
    /// The database file itself, where the store's URL is a symbolic link to it.
    let storeURL: URL
    let folder: URL

    init(storeURL: URL) {
        // SQLite puts its journal beside the file that a link leads to; so do we.
        self.storeURL = storeURL.resolvingSymlinksInPath()
        let name = self.storeURL.deletingPathExtension().lastPathComponent
        folder = self.storeURL.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The folder that holds all of a store's files.
    var supportFolder: URL { folder.deletingLastPathComponent() }

    func path(of name: String) -> String { folder.path + "/" + name }

    /// The plain bytes that a column's value stands for; nil when its file is missing.
    ///
    /// - Throws: when there is a file that cannot be read.
    static func content(ofColumnValue value: Data, in files: ExternalFiles?) throws -> Data? {
        switch value.first {
        case ExternalColumn.inlineMarker?: return Data(value.dropFirst())
        case ExternalColumn.fileMarker?: return try files?.content(named: value.dropFirst())
        default: return value
        }
    }

    // MARK: Reading

    /// A file's content; nil when it is missing, no regular file, or its name leads elsewhere.
    ///
    /// - Throws: when there is a file that cannot be read now: no descriptor is left, it may not be read, the disk fails.
    func content(named bytes: some Sequence<UInt8>) throws -> Data? {
        guard let name = ExternalColumn.fileName(bytes) else { return nil }
        let path = path(of: name)
        func failure() -> NSError {
            SystemFailure().error(
                "The value in the external file \(path) of the store at \(storeURL.path) cannot be read", path: path,
                otherwise: .fileReadUnknown)
        }
        // Not through a link, and without waiting for the other end of a pipe.
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

    /// Removes files. Whatever else stands under a name, a folder or a link, stays.
    func remove(_ names: some Sequence<String>) {
        for name in names where isRegularFile(name) { unlink(path(of: name)) }
    }

    /// Removes the folders once nothing is left in them.
    func removeEmptyFolders() {
        if rmdir(folder.path) == 0 { rmdir(supportFolder.path) }
    }

    /// The names of all regular files that look like files of values.
    func namesOnDisk() -> Set<String> { Set(namesInFolder().filter(isRegularFile)) }

    /// All names in the folder that look like those of files of values: UUIDs.
    ///
    /// Empty where the folder is missing, or is reached through a link and may so be another store's.
    func namesInFolder() -> [String] {
        for place in [supportFolder.path, folder.path] {
            var information = stat()
            guard lstat(place, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return [] }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { UUID(uuidString: $0) != nil }
    }

    /// Whether a regular file stands under a name: no folder, no link.
    func isRegularFile(_ name: String) -> Bool {
        var information = stat()
        return lstat(path(of: name), &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Whether a file beside the store may be another database with the same name but for its extension, and so the same folder.
    ///
    /// Judged by its size, a multiple of the smallest page's: to open and close a file would end the locks that SQLite holds on it for
    /// this process.
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
