import CoreData
import Foundation

// The mapping of the model's entities to tables.
extension PostgreSQLStore {
    /// Makes the store in a schema that has none, unless another program makes it first.
    ///
    /// - Returns: the metadata of the store that the schema then has.
    func make(in connection: PostgreSQLConnection, schema: String) throws -> [String: Any] {
        let (model, held) = try heldEntities(of: StoreName.path(url))
        let mapping = try makeMapping(entities: held.entities, numbers: [:], PostgreSQLDialect(for: connection))
        return try connection.transaction {
            try PostgreSQLSchemaLock.take(connection, schema: schema)
            if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) { return metadata }
            if try PostgreSQLMetadata.exists(PostgreSQLHousekeeping.storeTable, connection, schema: schema) {
                throw emptyStore
            }
            try PostgreSQLSchema(mapping: mapping, schema: schema).create(connection)
            let metadata = PostgreSQLMetadata.make(for: held.entities, of: model)
            try PostgreSQLMetadata.insert(metadata, model: model, in: connection)
            sayWhatIsOmitted(mapping)
            return metadata
        }
    }

    private var emptyStore: NSError {
        let table = PostgreSQLHousekeeping.storeTable
        return CoreDataErrors.make(
            .persistentStoreOpen, "The store \(StoreName.path(url)) cannot be opened: its table \(table) is empty.",
            recovery:
                "Somebody has deleted its row: restore it from a copy; or drop the tables whose names begin with "
                + "'ocd_', and "
                + "those of the model's entities where they are this store's.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Warns of indexes and index options that a new or migrated store goes without.
    func sayWhatIsOmitted(_ mapping: SQLMapping) {
        let schema = SQLSchema(mapping: mapping)
        for (index, reason) in schema.omittedIndexes() {
            Warnings.sayOnce(about: "index \(index.name) of \(StoreName.path(url))") {
                "The store \(StoreName.path(url)) has no index '\(index.name)': \(reason). Fetches find the same "
                    + "without it, more slowly."
            }
        }
        for sentence in schema.unknownIndexOptions() {
            Warnings.sayOnce(about: "\(sentence) in \(StoreName.path(url))") {
                "\(sentence) to the store \(StoreName.path(url))."
            }
        }
    }

    func makeMapping(entities: [NSEntityDescription], numbers: [String: Int], _ dialect: PostgreSQLDialect) throws
        -> SQLMapping
    {
        try makeMapping(of: entities, dialect, SnakeCaseNaming(), numbers: numbers, store: StoreName.path(url))
    }
}
