import Foundation
import Synchronization

/// A store that is one file, read when it is opened and written as a whole by each save.
///
/// Its rows are kept in memory, so it answers what a store in memory does. A save writes the file
/// beside the old one and renames it: after a failure, file and contexts are as they were. A file
/// that another program has written since it was read is not overwritten.
///
/// Cost of a save: O(objects of the store).
final class FileStore<File: StoreFile>: NSPersistentStore, MappedStore, MemoryRowsWriter, @unchecked Sendable {
    // Sendable: the mutex guards the state.

    private struct State {
        /// The file as it was read, until its rows are made.
        var file: File?
        var rows: MemoryRows?
        /// The path and the stamp of the file that holds the rows; no stamp if there is none yet.
        var place: (path: String, stamp: FileStamp?)?
        /// The metadata that the file has: property list values, which do not change.
        var written: [String: Any] = [:]
    }

    private let state = Mutex(State())

    override var type: String { File.storeType }

    override var snapshotStore: (any SnapshotStore)? { state.withLock { $0.rows } }

    override class func ownURL() -> URL? { nil }

    override class func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] {
        File.unsupportedFeatures(of: entities)
    }

    // MARK: - Opening

    override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "A store of the type \(File.storeType) needs a file URL, not \(StoreName.path(self.url)).",
                recovery: "Give the URL of a file.",
                userInfo: StoreOpeningErrors.userInfo(type: File.storeType, url: url))
        }
        let stamp = FileStamp(path: url.path)
        guard stamp != nil || !isReadOnly else { throw Self.noFile(at: url) }
        let file = stamp == nil ? File() : try Self.file(at: url)
        let loaded = stamp == nil ? try newMetadata() : try Self.naming(url) { try Self.metadata(of: file) }
        metadata = loaded
        let written = Unchecked(loaded)
        state.withLock {
            $0 = State(file: file, place: (url.path, stamp), written: stamp == nil ? [:] : written.value)
        }
    }

    private func newMetadata() throws -> [String: Any] {
        let (model, held) = try heldEntities(of: StoreName.text(type: File.storeType, url: url))
        var metadata = StoreMetadata.make(for: held.entities, of: model).filter { $0.key != "_NSAutoVacuumLevel" }
        metadata[NSStoreTypeKey] = File.storeType
        return metadata
    }

    override func prepareForRequests() throws {
        guard let modelLayout, let url, let file = state.withLock({ $0.file }) else { return }
        let rows = MemoryRows(layouts: modelLayout, store: self, writer: self)
        try Self.naming(url) {
            let objects = try file.objects(modelLayout.layouts.map(FileEntity.init))
            do {
                try rows.fill(FileRows.batch(of: objects, modelLayout), holdsDerived: true)
            } catch let conflicts as SaveConflicts {
                let names = conflicts.violations.map { "\($0.layout.name)(\($0.constraint.joined(separator: ", ")))" }
                throw StoreFileProblem(
                    text: "has several objects with the same values of \(Set(names).sorted().joined(separator: ", ")), "
                        + "which the model wants to be unique.")
            }
        }
        for object in modelLayout.layouts.prefix(1) { rows.noteKey(file.lastKey, for: object) }
        let (isNew, isNamed) = state.withLock { state in
            state.rows = rows
            state.file = nil
            return (state.place?.stamp == nil, state.written[NSStoreUUIDKey] != nil)
        }
        // The IDs of objects must stay the same. A file that cannot be written can be read.
        if isNew { try rows.saveMetadata {} } else if !isNamed, !isReadOnly { try? rows.saveMetadata {} }
    }

    // MARK: - Writing

    var hasChangedMetadata: Bool {
        let written = state.withLock { Unchecked($0.written) }.value
        return !SameValues.areSame(metadata ?? [:], written)
    }

    func write(_ batch: SaveBatch, _ tables: MemoryTables, beforeCommit others: () throws -> Void) throws {
        guard let url else { return try others() }
        let metadata: [String: Any] = metadata ?? [:]
        let entities = tables.layouts.layouts.map(FileEntity.init)
        var file = File()
        try file.setMetadata(metadata)
        try file.setObjects(
            FileRows.objects(of: tables, entities), entities, lastKey: max(tables.lastKey, file.lastKey))
        let replacement = try ReplacementFile(file.data(), for: url)
        do {
            // A file at a URL that the program has set is overwritten.
            let place = state.withLock { $0.place }
            if let place, place.path == url.path { try Self.requireUnchanged(url, since: place.stamp) }
            try others()
            try replacement.replace()
        } catch {
            replacement.remove()
            throw error
        }
        let written = Unchecked(metadata)
        state.withLock {
            $0.place = (url.path, replacement.stamp)
            $0.written = written.value
        }
    }

    /// Refuses to overwrite what another program has written since the file was read.
    private class func requireUnchanged(_ url: URL, since stamp: FileStamp?) throws {
        guard let present = FileStamp(path: url.path), present != stamp else { return }
        throw CoreDataErrors.make(
            .persistentStoreSave,
            "The store \(StoreName.text(type: File.storeType, url: url)) was written by someone else since it was "
                + "opened: nothing was saved, as their changes would have been lost.",
            recovery: "Remove the store from its coordinator and add it again, and save then.",
            userInfo: StoreOpeningErrors.userInfo(type: File.storeType, url: url))
    }

    // MARK: - Files of stores that are not open

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let file = try file(at: url)
        return try naming(url) { try metadata(of: file) }
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let stamp = FileStamp(path: url.path)
        var file = try file(at: url)
        let former = try naming(url) { try self.metadata(of: file) }
        try file.setMetadata(self.metadata(metadata, replacing: former))
        let replacement = try ReplacementFile(file.data(), for: url)
        do {
            try requireUnchanged(url, since: stamp)
            try replacement.replace()
        } catch {
            replacement.remove()
            throw error
        }
    }

    private class func metadata(of file: File) throws -> [String: Any] {
        try file.metadata().merging([NSStoreTypeKey: File.storeType]) { stored, _ in stored }
    }

    private class func file(at url: URL) throws -> File {
        guard url.isFileURL, FileStamp(path: url.path) != nil else { throw noFile(at: url) }
        let kind = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type]
        guard kind as? FileAttributeType == .typeRegular else {
            return try naming(url) { throw StoreFileProblem(text: "is no regular file.") }
        }
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw CoreDataErrors.make(
                (error as? CocoaError)?.code ?? .fileReadUnknown,
                "The store \(StoreName.text(type: File.storeType, url: url)) cannot be read: "
                    + error.localizedDescription,
                recovery: "See that the program may read the file and open more files, and try again.",
                userInfo: StoreOpeningErrors.userInfo(type: File.storeType, url: url).merging(
                    [NSUnderlyingErrorKey: error]) { $1 })
        }
        return try naming(url) { try File(data) }
    }

    private class func noFile(at url: URL) -> NSError {
        CoreDataErrors.make(
            .fileReadNoSuchFile, "There is no store of the type \(File.storeType) at \(StoreName.path(url)).",
            recovery: "Check the URL. A new store is made where it may be written.",
            userInfo: StoreOpeningErrors.userInfo(type: File.storeType, url: url))
    }

    /// Runs a function that reads the file, and names it in errors.
    private class func naming<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ModelReadingError {
            throw damaged(url, "cannot be read: \(error.problem)", .fileReadCorruptFile)
        } catch let problem as StoreFileProblem {
            throw damaged(url, problem.text, problem.code)
        }
    }

    private class func damaged(_ url: URL, _ text: String, _ code: CocoaError.Code) -> NSError {
        CoreDataErrors.make(
            code, "The store \(StoreName.text(type: File.storeType, url: url)) \(text)",
            recovery: code == .fileReadCorruptFile
                ? "Check that it is a file of this type, or restore it from a copy."
                : "Open it with the model that it was made with.",
            userInfo: StoreOpeningErrors.userInfo(type: File.storeType, url: url))
    }
}
