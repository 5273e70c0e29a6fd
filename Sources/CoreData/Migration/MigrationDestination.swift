import Foundation

/// The destination of a migration, which is complete or as it was before.
///
/// A store in a file is written in a folder beside it and copied to its place when it is complete:
/// in one transaction, if its type has transactions. A lock on the folder beside it makes others
/// that migrate to the place wait. A store on a server that replaces another one is written beside
/// it there. Other stores are written at their place, and removed if the migration fails.
struct MigrationDestination {
    private let place: StorePlace

    init(_ place: StorePlace) {
        var place = place
        // A link stays where it is, as in a save.
        if StoreFiles.hasFile(ofType: place.type, at: place.url) { place.url = place.url.resolvingSymlinksInPath() }
        self.place = place
    }

    /// Calls a body that writes the store, and tells whether it has.
    ///
    /// - Parameter keepingContent: Whether the body adds to the store that is there.
    func write(keepingContent: Bool, _ body: (StorePlace) throws -> Bool) throws {
        if !keepingContent, let server = StoreTypeRegistry.classesByType[place.type] as? any ServerStore.Type {
            return try server.rewrite(at: place.url, options: place.options) { url in
                var work = place
                work.url = url
                return try body(work)
            }
        }
        guard StoreFiles.hasFile(ofType: place.type, at: place.url) else { return try writeInPlace(body) }
        let folder = try WorkFolder(at: workFolder) { failure("cannot be written", $0) }
        defer { folder.remove() }
        var work = place
        work.url = folder.url.appendingPathComponent(place.url.lastPathComponent)
        let existed = try place.exists()
        try work.reportErrors(as: place) {
            do {
                if existed, keepingContent { try work.replace(with: place) }
            } catch {
                throw failure("cannot be written", error)
            }
            guard try body(work) else { return }
            do { try place.replace(with: work) } catch {
                if !existed { place.remove() }
                throw failure("cannot be written", error)
            }
        }
    }

    private var workFolder: URL { Self.workFolder(besideStoreAt: place.url) }

    private static func workFolder(besideStoreAt url: URL) -> URL {
        let url = url.resolvingSymlinksInPath()
        return url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).migration")
    }

    /// Removes the folder of a migration whose process ended in the middle of its work.
    static func removeLeftovers(besideStoreAt url: URL) { WorkFolder.removeUnused(at: workFolder(besideStoreAt: url)) }

    private func writeInPlace(_ body: (StorePlace) throws -> Bool) throws {
        if try place.exists() {
            throw failure("exists, and a store without a file cannot be added to; destroy it first", nil)
        }
        do { _ = try body(place) } catch {
            place.remove()
            throw error
        }
    }

    private func failure(_ problem: String, _ error: (any Error)?) -> NSError {
        MigrationErrors.store(.migrationManagerDestinationStore, place, problem, error)
    }
}

/// An empty folder that is locked until it is removed.
private struct WorkFolder {
    let url: URL
    private let lock: FolderLock

    /// Makes the folder, or empties one that a program left which ended in the middle of its work.
    init(at url: URL, failure: (any Error) -> any Error) throws {
        self.url = url
        while true {
            let isNew = mkdir(url.path, 0o755) == 0
            guard isNew || errno == EEXIST else { throw failure(Self.failure(url)) }
            guard let lock = FolderLock(url.path) else {
                // Its owner may have removed it meanwhile.
                if errno == ENOENT { continue }
                let error = Self.failure(url)
                if isNew { rmdir(url.path) }
                throw failure(error)
            }
            if lock.isOnPresentFolder {
                self.lock = lock
                break
            }
            lock.release()
        }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            try? FileManager.default.removeItem(at: url.appendingPathComponent(name))
        }
    }

    private static func failure(_ url: URL) -> NSError {
        SystemFailure().error(
            "The folder \(url.path) cannot be used", path: url.path, otherwise: .fileWriteUnknown)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        lock.release()
    }

    /// Removes a folder that nobody has locked.
    static func removeUnused(at url: URL) {
        guard let lock = FolderLock(url.path, waits: false) else { return }
        if lock.isOnPresentFolder { try? FileManager.default.removeItem(at: url) }
        lock.release()
    }
}

extension StorePlace {
    func replace(with other: StorePlace) throws {
        try NSPersistentStoreCoordinator().replacePersistentStore(
            at: url, destinationOptions: options, withPersistentStoreFrom: other.url, sourceOptions: other.options,
            ofType: type)
    }

    /// Removes a store of which only a part was written. The error that left it matters more.
    fileprivate func remove() {
        try? NSPersistentStoreCoordinator().destroyPersistentStore(at: url, ofType: type, options: options)
        if StoreFiles.hasFile(ofType: type, at: url) { try? FileManager.default.removeItem(at: url) }
    }
}
