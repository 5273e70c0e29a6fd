import Foundation

/// The external files that one save writes, and the files that it supersedes.
///
/// Files are written within the save's transaction, which holds the write lock of the database. A
/// process that holds that lock therefore knows that no file in the folder belongs to a running
/// save.
final class ExternalFileChanges {
    private let files: ExternalFiles
    private let connection: SQLiteConnection
    /// The names of the files that this save wrote.
    private(set) var written: [String] = []
    /// The names of the files that no row names after the save.
    private(set) var superseded: [String] = []
    /// The settings for new files; nil until the first file.
    private var making: ExternalFiles.Making?

    init(_ files: ExternalFiles, _ connection: SQLiteConnection) {
        self.files = files
        self.connection = connection
    }

    func supersede(_ names: [String]) { superseded += names }

    /// The value to store in a column. A large value is written to a new file first.
    ///
    /// - Throws: when the file cannot be written.
    func columnValue(for data: Data) throws -> Data {
        guard data.count > ExternalColumn.threshold else { return ExternalColumn.value(inline: data) }
        let name = try files.makeFile(holding: data, try preparations())
        written.append(name)
        return ExternalColumn.value(fileNamed: name)
    }

    private func preparations() throws -> ExternalFiles.Making {
        if let making { return making }
        // Without syncs of commits, files need no sync either.
        let isSynced = try connection.integer("PRAGMA synchronous") != 0
        let making = ExternalFiles.Making(access: FileAccess(ofFileAt: files.storeURL.path), isSynced: isSynced)
        try files.makeFolders(making)
        self.making = making
        return making
    }

    /// Syncs the folder with the names of the written files; the last step before the commit.
    ///
    /// - Throws: an error when the sync fails.
    func sync() throws {
        if !written.isEmpty, making?.isSynced == true { try files.syncNames() }
    }

    /// Removes the files that were written after the first `count`, which no row names.
    func discard(after count: Int = 0) {
        files.remove(written[count...])
        written.removeSubrange(count...)
    }

    /// Removes some of the written files, which no row names.
    func discard(_ names: [String]) {
        if names.isEmpty { return }
        files.remove(names)
        written.removeAll { names.contains($0) }
    }
}
