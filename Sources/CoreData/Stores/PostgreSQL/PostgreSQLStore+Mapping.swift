import Foundation

// Where the entities of the model lie.
extension PostgreSQLStore {
    func requiredLayout() throws -> ModelLayout {
        if let modelLayout { return modelLayout }
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store \(StoreName.path(url)) was not given the layouts of its model.")
    }

    /// What servers say to who makes what another program has made meanwhile.
    private static let alreadyThere: Set<String> = [WireError.uniqueViolation, "42P06", "42P07", "42710"]

    /// Makes the store in a schema that has none, unless another program is faster.
    ///
    /// - Returns: the metadata of what is there then.
    func make(in connection: PostgreSQLConnection, schema: String, defersUniqueness: Bool) throws -> [String: Any] {
        let (model, held) = try heldEntities()
        var dialect = try PostgreSQLDialect(for: connection)
        dialect.defersUniqueness = defersUniqueness
        let mapping = try makeMapping(entities: held.entities, numbers: [:], dialect)
        do {
            return try connection.transaction {
                try PostgreSQLSchemaLock.take(connection, schema: schema)
                if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) { return metadata }
                try PostgreSQLSchema(mapping: mapping, schema: schema).create(connection)
                let metadata = PostgreSQLMetadata.make(for: held.entities, of: model)
                try PostgreSQLMetadata.insert(metadata, model: model, in: connection)
                sayWhatIsOmitted(mapping)
                return metadata
            }
        } catch let error as WireError where error.sqlState.map(Self.alreadyThere.contains) ?? false {
            // Where the server has no lock for it, two programs may make one store.
            if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) { return metadata }
            throw error
        }
    }

    /// Says which indexes of a store that was made or migrated there are not.
    func sayWhatIsOmitted(_ mapping: SQLMapping) {
        let schema = SQLSchema(mapping: mapping)
        for (index, reason) in schema.omittedIndexes() {
            Warnings.sayOnce(about: "index \(index.name) of \(StoreName.path(url))") {
                "The store \(StoreName.path(url)) has no index '\(index.name)': \(reason). Fetches find the same without it, more slowly."
            }
        }
        for sentence in schema.unknownWishes() {
            Warnings.sayOnce(about: "\(sentence) in \(StoreName.path(url))") { "\(sentence) to the store \(StoreName.path(url))." }
        }
    }

    func makeMapping(entities: [NSEntityDescription], numbers: [String: Int], _ dialect: PostgreSQLDialect) throws -> SQLMapping {
        let names = Set(entities.compactMap(\.name))
        return try SQLMapping(layouts: requiredLayout(), dialect, SnakeCaseNaming(), numbers: numbers) { names.contains($0.name) }
    }
}
