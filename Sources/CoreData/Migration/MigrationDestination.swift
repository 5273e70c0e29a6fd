import Foundation

/// The destination of a migration, which is complete or as it was before.
///
/// A store in a file is written in a folder beside it and copied to its place when it is complete:
/// in one transaction, if its type has transactions. A lock on the folder of the store makes others
/// that migrate there wait. Other stores are written at their place, and removed if the migration
/// fails.
struct MigrationDestination {
    private let place: StorePlace

    init(_ place: StorePlace) { self.place = place }

    /// Calls a body that writes the store, and tells whether it has.
    ///
    /// - Parameter keepingContent: Whether the body adds to the store that is there.
    func write(keepingContent: Bool, _ body: (StorePlace) throws -> Bool) throws {
        guard StoreFiles.hasFile(ofType: place.type, at: place.url) else { return try writeInPlace(body) }
        try whileLocked {
            let folder = workFolder
            // A program that ended in the middle of a migration leaves one.
            try? FileManager.default.removeItem(at: folder)
            defer { try? FileManager.default.removeItem(at: folder) }
            var work = place
            work.url = folder.appendingPathComponent(place.url.lastPathComponent)
            let existed = try place.exists()
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
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

    private var workFolder: URL {
        place.url.deletingLastPathComponent().appendingPathComponent(".\(place.url.lastPathComponent).migration")
    }

    private func writeInPlace(_ body: (StorePlace) throws -> Bool) throws {
        if try place.exists() {
            throw failure("exists, and a store without a file cannot be added to; destroy it first", nil)
        }
        do { _ = try body(place) } catch {
            place.remove()
            throw error
        }
    }

    private func whileLocked(_ body: () throws -> Void) throws {
        let folder = place.url.deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
            let error = SystemFailure().error(
                "The folder \(folder) cannot be used", path: folder, otherwise: .fileWriteUnknown)
            if descriptor >= 0 { close(descriptor) }
            throw failure("cannot be written", error)
        }
        defer { close(descriptor) }
        try body()
    }

    private func failure(_ problem: String, _ error: (any Error)?) -> NSError {
        MigrationErrors.store(.migrationManagerDestinationStore, place, problem, error)
    }
}

extension StorePlace {
    fileprivate func replace(with other: StorePlace) throws {
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
