import Foundation
import Synchronization

/// The store class for each store type, for the whole program.
enum StoreTypeRegistry {
    static let declared = StoreModules.classes.compactMap { ($0 as? any StoreTypeProvider.Type)?.storeType }

    private static let builtIn: [String: NSPersistentStore.Type] = [
        NSSQLiteStoreType: SQLiteStore.self,
        NSInMemoryStoreType: InMemoryStore.self,
        XMLStoreFile.storeType: FileStore<XMLStoreFile>.self,
        BinaryStoreFile.storeType: FileStore<BinaryStoreFile>.self,
    ].merging(declared.map { ($0.type, $0.storeClass) }) { own, _ in own }

    // Guards the table.
    private static let table = Mutex(builtIn)

    /// The store type for a URL, if no type is given.
    static func type(of url: URL) -> String { ServerURLForm.of(url)?.type ?? NSSQLiteStoreType }

    static var classesByType: [String: NSPersistentStore.Type] { table.withLock { $0 } }

    /// Registers a class for a type; nil removes the type.
    static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
        table.withLock { $0[type] = storeClass }
    }

    /// The class for a type.
    ///
    /// - Parameter ignoresCase: whether `sqlite` means `SQLite`, as in programs that remove stores.
    static func storeClass(for type: String, at url: URL?, ignoresCase: Bool = false) throws -> NSPersistentStore.Type {
        let classes = classesByType
        if let storeClass = classes[type] { return storeClass }
        if ignoresCase, let known = classes.first(where: { $0.key.lowercased() == type.lowercased() }) {
            return known.value
        }
        throw CoreDataErrors.make(
            .persistentStoreInvalidType,
            "The store \(StoreName.path(url)) cannot be opened: there is no store class for the type '\(type)'. "
                + "Known types "
                + "are \(classes.keys.sorted().joined(separator: ", ")).",
            recovery:
                "Use one of these types, link the product of this package that has the type (CoreDataPostgreSQL for "
                + "PostgreSQL), "
                + "or register a class with registerStoreClass(_:type:) first.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }
}
