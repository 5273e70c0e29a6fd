import Foundation

/// A store class whose `migrate(_:)` carries out a part of a mapping model, in a copy of the store.
package protocol PartlyMigratingStore: NSPersistentStore {
    /// The number of bytes that the store at a URL has in all of its files; nil for a store without
    /// files.
    static func size(ofStoreAt url: URL) -> Int64?
}

// The files of a store that is migrated: copies, and the space for them.
extension StoreMigration {
    static func backup(in options: [AnyHashable: Any]?) -> URL? {
        let value = options?[NSPersistentStoreMigrationBackupURLOption]
        return value as? URL ?? (value as? NSURL).map { $0 as URL }
    }

    /// Copies the former store to where the program asked for, if it did and the store has a file.
    ///
    /// - Throws: 134110 if it cannot be copied.
    static func backUp(
        _ storeClass: NSPersistentStore.Type, type: String, at url: URL, options: [AnyHashable: Any]?, to backup: URL?
    ) throws {
        guard let backup, storeClass.hasFile(at: url) else { return }
        func failure(_ problem: String, _ error: (any Error)?) -> NSError {
            var userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
            userInfo[NSUnderlyingErrorKey] = error
            return CoreDataErrors.make(
                .migration,
                "The store \(StoreName.text(type: type, url: url)) was not migrated: it cannot be copied to "
                    + "\(StoreName.path(backup)) first: \(problem)",
                recovery: "Correct the URL of NSPersistentStoreMigrationBackupURLOption, or leave the option out.",
                userInfo: userInfo)
        }
        if url.resolvingSymlinksInPath().path == backup.resolvingSymlinksInPath().path {
            throw failure("that is the store itself.", nil)
        }
        do {
            try storeClass.replaceStore(
                ofType: type, at: backup, options: nil, withStoreAt: url, sourceOptions: options)
        } catch {
            throw failure(error.localizedDescription, error)
        }
    }
}

/// The space that a file system has left.
enum FreeSpace {
    /// - Throws: `CocoaError.fileWriteOutOfSpace` if the file system of a folder has less left.
    static func require(_ needed: Int64, in folder: URL, toMigrate store: String) throws {
        var information = statvfs()
        // Without an answer the migration itself finds out.
        guard statvfs(folder.path, &information) == 0 else { return }
        let available = Int64(clamping: UInt64(information.f_bavail) * UInt64(information.f_frsize))
        if available >= needed { return }
        throw CoreDataErrors.make(
            .fileWriteOutOfSpace,
            "The store \(store) cannot be migrated: the folder \(folder.path) has space for \(available) bytes, and "
                + "the migration needs up to \(needed).",
            recovery: "Make space there, and add the store again. It is as it was before.",
            userInfo: [NSFilePathErrorKey: folder.path])
    }
}
