/// The layers of the engine, from the ground up: a file may use what its own layer and those above it in this list declare.
///
/// CONTRIBUTING.md shows the table; `make test` checks it against the sources.
enum LayerTable {
    static let root = "Sources/CoreData"

    static let engine = LayerCheck(
        layers: [
            ("runtime", ["Runtime", "Collections", "Undo"]),
            ("errors and constants", ["Constants", "Errors"]),
            ("transformable values", ["Transformables"]),
            ("rows", ["Stores/Snapshots"]),
            ("SQL", ["Stores/SQL"]),
            ("migration plans", ["Migration"]),
            ("stores", ["Stores"]),
            ("objects", ["Objects"]),
            ("coordinator", ["Coordinator"]),
            ("contexts", ["Context"]),
            ("saving", ["Context/Saving"]),
            ("batches", ["Context/BatchRequests"]),
            ("results", ["Results"]),
            ("custom stores", ["CustomStores"]),
            ("container", ["Container"]),
        ],
        exceptions: [
            // `init(entity:insertInto:)`, `init(context:)` and `fetchRequest()` are members that programs override, so they stand in the
            // body of the class; key-value coding knows the context by name.
            "Objects/NSManagedObject.swift": [
                "NSManagedObjectContext", "managedObjectContext", "_entity", "NSFetchRequest", "NSFetchRequestResult",
            ],
            // What saves and merges are members that programs override, so they stand in the body of the class.
            "Context/NSManagedObjectContext.swift": ["saveChanges", "mergeSave", "mergeRemoteSave"],
            // `init(persistentStoreCoordinator:…)`, `didAdd(to:)` and `willRemove(from:)` are members that programs override.
            "Stores/NSPersistentStore.swift": ["NSPersistentStoreCoordinator"],
            "Stores/SQLite/SQLiteStore.swift": ["NSPersistentStoreCoordinator"],
            "Stores/PostgreSQL/PostgreSQLStore.swift": ["NSPersistentStoreCoordinator"],
        ])
}
