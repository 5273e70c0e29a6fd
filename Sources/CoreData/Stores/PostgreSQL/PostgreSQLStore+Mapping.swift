import Foundation

// Where the entities of the model lie.
extension PostgreSQLStore {
    func requiredLayout() throws -> ModelLayout {
        if let modelLayout { return modelLayout }
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store \(StoreName.path(url)) was not given the layouts of its model.")
    }

    /// Makes the store in a schema that has none, unless another program is faster.
    ///
    /// - Returns: the metadata of what is there then.
    func make(
        in connection: PostgreSQLConnection, schema: String, _ abilities: PostgreSQLAbilities, timeout: Double
    ) throws -> [String: Any] {
        let (model, held) = try heldEntities()
        let mapping = try makeMapping(entities: held.entities, numbers: [:], PostgreSQLDialect(for: connection, abilities))
        let deadline = Date(timeIntervalSinceNow: min(timeout, Self.longestMaking))
        while true {
            var made = PostgreSQLLeftover(schema: schema)
            do {
                return try connection.transaction {
                    try PostgreSQLSchemaLock.take(connection, schema: schema, abilities)
                    if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) { return metadata }
                    try PostgreSQLSchema(mapping: mapping, schema: schema).create(connection, made: &made)
                    let metadata = PostgreSQLMetadata.make(for: held.entities, of: model)
                    try PostgreSQLMetadata.insert(metadata, model: model, in: connection)
                    sayWhatIsOmitted(mapping)
                    return metadata
                }
            } catch let error as WireError where made.isEmpty && (error.isAlreadyThere || error.sqlState == WireError.undefinedTable) {
                // Where the server has no lock for it, two programs may make one store; and where it does not roll back what was made, its
                // tables are seen before they are all there.
                guard Date() >= deadline else {
                    Thread.sleep(forTimeInterval: 0.05)
                    continue
                }
                guard try PostgreSQLMetadata.exists(PostgreSQLHousekeeping.storeTable, connection, schema: schema) else { throw error }
                throw unfinished(error)
            } catch {
                try? made.drop(connection)
                throw error
            }
        }
    }

    /// Seconds that another program may take to make a store.
    private static let longestMaking = 10.0

    private func unfinished(_ error: WireError) -> NSError {
        let table = PostgreSQLHousekeeping.storeTable
        return CoreDataErrors.make(
            .persistentStoreOpen, "The store \(StoreName.path(url)) is not finished: its table \(table) is empty.",
            recovery:
                "Whoever has made it was stopped, or somebody has emptied the table. Restore its row from a copy; or drop the tables whose "
                + "names begin with 'ocd_', and those of the model's entities where they are this store's.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url).merging(error.reported) { $1 })
    }

    /// Says what a store that was made or migrated does without.
    func sayWhatIsOmitted(_ mapping: SQLMapping) {
        for sentence in (mapping.dialect as? PostgreSQLDialect)?.abilities.sentences ?? [] { say(sentence) }
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

    /// Says once what follows the store's name.
    func say(_ sentence: String) {
        Warnings.sayOnce(about: "\(sentence) of \(StoreName.path(url))") { "The store \(StoreName.path(url)) \(sentence)." }
    }

    func makeMapping(entities: [NSEntityDescription], numbers: [String: Int], _ dialect: PostgreSQLDialect) throws -> SQLMapping {
        let names = Set(entities.compactMap(\.name))
        return try SQLMapping(layouts: requiredLayout(), dialect, SnakeCaseNaming(), numbers: numbers) { names.contains($0.name) }
    }
}
