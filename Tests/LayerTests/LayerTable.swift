import Foundation

/// The layers of each module, from the ground up: a file may use what its own layer and those above
/// it in this list declare.
///
/// A layer's folders are groups: types that are mutual by nature share a folder, or lie in folders
/// of one. Between groups of one layer there is no circle either.
///
/// `LayerTests` checks the sources against them, and that Design.md shows them.
enum LayerTable {
    /// The folder of the package.
    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let modules = [engine, predicates, model, postgreSQL, safe, tool]

    static let engine = LayerCheck(
        root: "Sources/CoreData",
        layers: [
            ("runtime", ["", "Runtime", "Collections", "Undo"]),
            ("errors and constants", ["Constants", "Errors"]),
            ("transformable values", ["Transformables"]),
            ("rows", ["Rows"]),
            ("store interface", ["StoreInterface"]),
            ("SQL", ["SQL"]),
            ("migration plans", ["MigrationPlans"]),
            ("stores", ["Stores", "MemoryStore", "SQLiteStore", "FileStores"]),
            ("objects", ["Objects"]),
            ("coordinator", ["Coordinator"]),
            ("contexts", ["Context"]),
            ("saving", ["Context/Merging", "Context/Saving"]),
            ("batches", ["Context/BatchRequests"]),
            ("results", ["Results"]),
            ("migration", ["Migration"]),
            ("custom stores", ["CustomStores"]),
            ("container", ["Container"]),
            ("stages", ["Migration/Stages"]),
        ],
        exceptions: [
            // `init(entity:insertInto:)`, `init(context:)` and `fetchRequest()` are members that
            // programs override, so they stand in the body of the class; key-value coding knows the
            // context by name.
            "Objects/NSManagedObject.swift": [
                "NSManagedObjectContext", "managedObjectContext", "_entity", "NSFetchRequest", "NSFetchRequestResult",
                "setEntityName",
            ],
            // What saves and merges are members that programs override, so they stand in the body
            // of the class.
            "Context/NSManagedObjectContext.swift": ["saveChanges", "mergeSave", "mergeRemoteSave", "NSMergePolicy"],
            // `init(persistentStoreCoordinator:…)`, `didAdd(to:)`, `willRemove(from:)` and
            // `migrationManagerClass()` are members that programs override.
            "Stores/NSPersistentStore.swift": ["NSPersistentStoreCoordinator", "NSMigrationManager", "serialNumber"],
            "SQLiteStore/SQLiteStore.swift": ["NSPersistentStoreCoordinator"],
        ],
        foreignMembers: [
            "defaultConfigurationName", "destinationEntity", "doubleValue", "heldEntities", "intersectSet", "newValue",
            "removeFirst",
            "withLock",
        ])

    private static let operators: Set<String> = [
        "NSComparisonPredicate", "equalTo", "notEqualTo", "lessThan", "lessThanOrEqualTo", "greaterThan",
        "greaterThanOrEqualTo",
    ]

    static let predicates = LayerCheck(
        root: "Sources/Predicates",
        layers: [
            ("limits", ["", "Limits"]),
            ("strings", ["Strings"]),
            ("values", ["Values"]),
            ("key-value coding", ["KeyValueCoding"]),
            ("expressions", ["Expression"]),
            ("predicates", ["Predicate"]),
            ("formats", ["Format"]),
            ("sorting", ["Sorting"]),
            ("collections", ["Collections"]),
            ("translation", ["Translation"]),
        ],
        exceptions: [
            // Operators and options are types within `NSComparisonPredicate`.
            "Strings/StringComparison.swift": ["NSComparisonPredicate"],
            "Strings/StringMatcher.swift": operators,
            "Values/ComparableValue+Comparison.swift": operators,
            // `NSExpression` has predicates as parts: of subqueries and conditions.
            "Expression/ExpressionBody.swift": ["NSPredicate"],
            "Expression/NSExpression+Parts.swift": ["NSPredicate"],
            // `init(coder:)` reads the format; it is a member that programs override, so it stands
            // in the body of the class.
            "Expression/NSExpression.swift": ["NSPredicate", "parse"],
            "Predicate/NSPredicate.swift": ["parse"],
            "Predicate/NSCompoundPredicate.swift": ["parse"],
        ],
        foreignMembers: [
            "base", "filter", "isEmpty", "localizedCaseInsensitiveCompare", "localizedCompare",
            "localizedStandardCompare", "squareRoot",
        ])

    static let model = LayerCheck(
        root: "Sources/OpenCoreDataModel",
        layers: [
            ("runtime", ["Runtime"]),
            ("errors", ["Errors"]),
            ("descriptions", ["Descriptions"]),
            ("XML", ["XML"]),
            ("archives", ["Archive"]),
            ("files", ["Files"]),
        ],
        exceptions: [
            // `init(coder:)` is a member that programs override, so it stands in the body of the
            // class.
            "Descriptions/NSManagedObjectModel.swift": ["ModelArchiveReader", "codingKey"]
        ],
        foreignMembers: ["isEmpty", "makeIterator", "rawValue"])

    static let postgreSQL = LayerCheck(
        root: "Sources/CoreDataPostgreSQL",
        layers: [
            ("wire", ["Wire"]),
            ("values", ["Values"]),
            ("driver", ["LibPQ"]),
            (
                "store",
                [
                    "Batches", "Connection", "Dialect", "ExternalTables", "Following", "History", "Migration",
                    "Reading", "Saving", "Store",
                ]
            ),
        ],
        foreignMembers: ["removeAll"],
        // They are parts of one class, the store, and of its backend.
        mutualFolders: [
            ["Connection", "Dialect", "ExternalTables", "Following", "History", "Reading", "Saving", "Store"]
        ])

    static let safe = LayerCheck(
        root: "Sources/SafeCoreData",
        layers: [
            ("errors", [""]),
            ("entities", ["Entity", "Snapshots"]),
            ("views", ["ReadOnly"]),
            ("queries", ["Queries"]),
            ("migration", ["Migration"]),
            ("stack", ["DataStack"]),
            ("batches", ["Batches"]),
            ("history", ["History"]),
        ],
        foreignMembers: ["fetch"],
        // A class names its snapshot, and a snapshot its class.
        mutualFolders: [["Entity", "Snapshots"]])

    static let tool = LayerCheck(
        root: "Sources/CoreDataToolKit",
        layers: [
            ("errors", ["Errors"]),
            ("output", ["Output"]),
            ("stores", ["Store"]),
            (
                "work",
                [
                    "Query", "Objects", "Schema", "Diagram", "Generation", "Porting", "Info", "Check", "Export",
                    "Import", "Diff", "History", "Edit", "Repair", "Recover", "Report",
                ]
            ),
            ("commands", ["Commands"]),
        ],
        foreignMembers: ["defaultValue", "isOptional", "isToMany", "propertyList"])
}
