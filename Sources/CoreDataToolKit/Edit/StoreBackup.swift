import CoreData

/// The copy of a store from before its last edit, in a folder beside it:
/// `Store.sqlite.coredata-backup`.
///
/// A new copy is made in a second folder, which takes the place of the first one when the edit is
/// done. So a copy of the latest state exists whenever the program ends.
struct StoreBackup {
    /// The properties of a store's files that change when a program writes to it.
    struct FileState: Codable, Equatable {
        var sizes: [Int64]
        var dates: [Date]

        init(of store: URL) {
            (sizes, dates) = ([], [])
            for suffix in ["", "-wal", "-journal"] {
                let attributes = try? FileManager.default.attributesOfItem(atPath: store.path + suffix)
                let size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
                sizes.append(size)
                // An empty journal says nothing.
                dates.append(size == 0 ? .distantPast : attributes?[.modificationDate] as? Date ?? .distantPast)
            }
        }
    }

    /// The description of a copy. It is written last: a folder without it is incomplete.
    struct Manifest: Codable {
        let made: Date
        /// The store when it was copied.
        let before: FileState
        /// The store after the edit; nil until that is done.
        var after: FileState?
    }

    let store: URL

    /// - Parameter store: the store's file itself, not a link to it.
    init(of store: URL) { self.store = store }

    var folder: URL { URL(fileURLWithPath: store.path + ".coredata-backup") }
    private var newFolder: URL { URL(fileURLWithPath: store.path + ".coredata-backup-new") }

    /// Returns the description of the last copy; nil if there is none.
    ///
    /// - Throws: `ToolError` if the folders cannot be changed.
    func last() throws(ToolError) -> Manifest? {
        try tidy()
        return Self.manifest(in: folder)
    }

    /// Copies the store, with the rows in its journal and with its external files.
    ///
    /// - Throws: `ToolError` if it cannot be copied.
    func begin() throws(ToolError) {
        try tidy()
        try perform("The store cannot be copied to \(newFolder.path)") {
            try FileManager.default.createDirectory(
                at: newFolder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            do {
                let before = FileState(of: store)
                try Self.copy(store, to: copy(in: newFolder), journalMode: "DELETE")
                try write(Manifest(made: Date(), before: before, after: nil), in: newFolder)
            } catch {
                try? FileManager.default.removeItem(at: newFolder)
                throw error
            }
        }
    }

    /// Makes the new copy the last one, after the edit.
    func commit() throws(ToolError) {
        guard var manifest = Self.manifest(in: newFolder) else { return }
        manifest.after = FileState(of: store)
        let complete = manifest
        try perform("The copy in \(newFolder.path) cannot be completed") {
            try write(complete, in: newFolder)
            try promote()
        }
    }

    /// Removes the new copy after an edit that failed and changed nothing.
    func discard() { try? FileManager.default.removeItem(at: newFolder) }

    /// Restores the last copy. The state until now becomes the last copy, so that restoring again
    /// brings it back.
    ///
    /// - Parameter journalMode: the journal mode of the store.
    func restore(journalMode: String) throws(ToolError) {
        try begin()
        do {
            try Self.copy(copy(in: folder), to: store, journalMode: journalMode)
        } catch {
            discard()
            throw ToolError("The store cannot be restored from \(folder.path): \(ErrorText.line(error))")
        }
        try commit()
    }

    // MARK: Folders

    private func copy(in folder: URL) -> URL { folder.appendingPathComponent(store.lastPathComponent) }

    /// Settles the folders that an interrupted edit left: a complete new copy takes the place of
    /// the last one, unless the store was not changed after it.
    private func tidy() throws(ToolError) {
        guard FileManager.default.fileExists(atPath: newFolder.path) else { return }
        try perform("The folder \(newFolder.path) cannot be changed") {
            if let manifest = Self.manifest(in: newFolder), manifest.before != FileState(of: store) {
                try promote()
            } else {
                try FileManager.default.removeItem(at: newFolder)
            }
        }
    }

    private func promote() throws {
        if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
        try FileManager.default.moveItem(at: newFolder, to: folder)
    }

    private static func manifestURL(in folder: URL) -> URL { folder.appendingPathComponent("manifest.json") }

    private static func manifest(in folder: URL) -> Manifest? {
        (try? Data(contentsOf: manifestURL(in: folder))).flatMap { try? JSONDecoder().decode(Manifest.self, from: $0) }
    }

    private func write(_ manifest: Manifest, in folder: URL) throws {
        try JSONEncoder().encode(manifest).write(to: Self.manifestURL(in: folder), options: .atomic)
    }

    /// Copies a store in one SQLite transaction: a program that ends meanwhile leaves the former
    /// content.
    private static func copy(_ source: URL, to destination: URL, journalMode: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.replacePersistentStore(
            at: destination, destinationOptions: [NSSQLitePragmasOption: ["journal_mode": journalMode]],
            withPersistentStoreFrom: source, type: .sqlite)
    }

    private func perform(_ problem: String, _ body: () throws -> Void) throws(ToolError) {
        do {
            try body()
        } catch {
            throw ToolError("\(problem): \(ErrorText.line(error))")
        }
    }
}
