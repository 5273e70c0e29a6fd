import Foundation

/// A store's file, opened for reading without ever being changed.
///
/// - A file without a journal is read as it is, without locks.
/// - A store that another program has open is read in place, under SQLite's locks, so that the read
///   is consistent.
/// - A store that was left with a journal (a WAL with rows in it, or a rollback journal) is copied
///   with it to a private temporary folder, where SQLite can recover it. `close()` removes the
///   folder.
final class StoreFile {
    /// The file that the person named.
    let originalURL: URL
    private(set) var url: URL
    /// Whether nobody changes the file at `url`.
    private(set) var isImmutable = false
    let size: Int64
    /// The size of the WAL; nil if there is none.
    let walSize: Int64?
    private var temporaryFolder: PrivateFolder?

    var isCopy: Bool { temporaryFolder != nil }

    /// Determines how the file can be read, and opens it.
    ///
    /// - Throws: `ToolError` for a file that is missing, unreadable, no SQLite database, or kept
    ///   locked by another program.
    init(path: String) throws {
        let given = URL(fileURLWithPath: path)
        // The journals are beside the file itself, not beside a link to it.
        originalURL = given.resolvingSymlinksInPath()
        url = originalURL
        let header = try Self.header(of: originalURL, named: path)
        size = Self.fileSize(originalURL.path) ?? 0
        walSize = Self.fileSize(originalURL.path + "-wal")
        let journalSize = Self.fileSize(originalURL.path + "-journal") ?? 0
        // The read version of the file format, by which SQLite decides to open a WAL. The write
        // version may differ in an untrusted file.
        let usesWAL = header[19] == 2
        let isInUse = FileLocks.isInUse(storePath: originalURL.path)
        if walSize ?? 0 > 0 || journalSize > 0 {
            if isInUse, try canReadInPlace() { return }
            try copy()
        } else if usesWAL {
            isImmutable = !isInUse
        }
    }

    /// The folder of large values in external files.
    var externalDataFolder: URL { Self.externalDataFolder(of: originalURL) }

    static func externalDataFolder(of store: URL) -> URL {
        store.deletingLastPathComponent()
            .appendingPathComponent(".\(store.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    }

    /// Removes the private copy.
    func close() { temporaryFolder = nil }

    /// Returns a connection that sees the store as it is at its first query, whatever other
    /// programs write meanwhile.
    func reader() throws -> SQLiteReader {
        let reader = try SQLiteReader(path: url.path, isImmutable: isImmutable)
        _ = try reader.rows("BEGIN")
        return reader
    }

    /// - Throws: `ToolError` when another program keeps the store locked: a copy would be torn.
    private func canReadInPlace() throws -> Bool {
        do {
            _ = try reader().rows("SELECT count(*) FROM sqlite_master")
            return true
        } catch let failure as SQLiteReader.Failure {
            if failure.isLocked { throw StoreCatalog.error(failure, self) }
            return false
        }
    }

    // MARK: Checking

    private static let magic = Array("SQLite format 3\0".utf8)

    private static func header(of url: URL, named path: String) throws -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ToolError("There is no file '\(path)'. Check the path.")
        }
        guard !isFolder.boolValue else {
            throw ToolError("'\(path)' is a folder. Name the store's file in it, usually one that ends in .sqlite.")
        }
        let bytes: [UInt8]
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            bytes = Array(try handle.read(upToCount: 100) ?? Data())
        } catch {
            throw ToolError("'\(path)' cannot be read. Check its permissions.")
        }
        if bytes.starts(with: magic), bytes.count >= 100 { return bytes }
        if bytes.isEmpty {
            throw ToolError("'\(path)' is empty. Choose another file, or restore this one from a copy.")
        }
        if bytes.starts(with: magic) {
            throw ToolError("'\(path)' is cut off: only \(bytes.count) bytes are left. Restore it from a copy.")
        }
        let kind = FileKind.other(thanDatabase: bytes)
        throw ToolError(
            "'\(path)' is not a SQLite database" + (kind.map { " but \($0)" } ?? "")
                + ". This command reads Core Data's SQLite stores; name one of those.")
    }

    static func fileSize(_ path: String) -> Int64? {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.int64Value
    }

    // MARK: Copying

    private static let copyAttempts = 3

    /// The properties of the file that change when a program writes to the store.
    private struct State: Equatable {
        let file: UInt64?
        let size: Int64?
        let date: Date?
    }

    private func state() -> [State] {
        ["", "-wal", "-journal"].map { suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: originalURL.path + suffix)
            return State(
                file: (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value,
                size: (attributes?[.size] as? NSNumber)?.int64Value, date: attributes?[.modificationDate] as? Date)
        }
    }

    /// Copies the store while nobody writes to it.
    private func copy() throws {
        for _ in 0..<Self.copyAttempts {
            let before = state()
            do {
                try copyFiles()
            } catch {
                if state() == before { throw error }
            }
            if state() == before {
                recover()
                return
            }
            close()
        }
        throw ToolError("'\(originalURL.path)' is being changed by another program. Try again when that has finished.")
    }

    private func copyFiles() throws {
        try makeFolder(because: "has a journal") { url in
            for suffix in ["", "-wal", "-journal"] where Self.fileSize(originalURL.path + suffix) != nil {
                try FileManager.default.copyItem(atPath: originalURL.path + suffix, toPath: url.path + suffix)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path + suffix)
            }
        }
    }

    /// Switches to a private copy that statements make readable; the store itself is unchanged.
    ///
    /// - Parameter reader: a connection to the store; the state that it sees is copied. Ends its
    ///   transaction.
    func mend(_ mends: [String], reader: SQLiteReader) throws {
        if !isCopy {
            try makeFolder(because: "is not as its model says") { url in try reader.copy(to: url.path) }
        }
        _ = try reader.rows("COMMIT")
        let writer = try SQLiteReader(recovering: url.path)
        _ = try writer.rows("PRAGMA journal_mode = DELETE")
        // Prevents errors about views that refer to missing tables.
        _ = try writer.rows("PRAGMA legacy_alter_table = ON")
        _ = try writer.rows("BEGIN")
        for mend in mends { _ = try writer.rows(mend) }
        _ = try writer.rows("COMMIT")
        isImmutable = true
    }

    /// Creates the folder for a private copy and calls `fill` to write the copy.
    private func makeFolder(because reason: String, _ fill: (URL) throws -> Void) throws {
        do {
            let folder = try PrivateFolder()
            temporaryFolder = folder
            url = folder.file(originalURL.lastPathComponent)
            try fill(url)
            // Large values are in external files, found by the store's name; they are only read.
            let support = externalDataFolder.deletingLastPathComponent()
            if FileManager.default.fileExists(atPath: support.path) {
                try FileManager.default.createSymbolicLink(
                    at: folder.file(support.lastPathComponent), withDestinationURL: support)
            }
        } catch {
            close()
            url = originalURL
            let place = FileManager.default.temporaryDirectory.path
            throw ToolError(
                "'\(originalURL.path)' \(reason) and cannot be copied to \(place) to be read: "
                    + "\(error.localizedDescription) Make room there, or set TMPDIR to another folder.")
        }
    }

    /// Lets SQLite recover the contents of the copy's journal. Damaged parts stay as they are;
    /// reading them reports the damage.
    private func recover() {
        do {
            let recovering = try SQLiteReader(recovering: url.path)
            _ = try recovering.rows("SELECT count(*) FROM sqlite_master")
            _ = try recovering.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            return
        }
        isImmutable = (Self.fileSize(url.path + "-wal") ?? 0) == 0 && (Self.fileSize(url.path + "-journal") ?? 0) == 0
    }
}
