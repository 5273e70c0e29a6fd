import Foundation

// Where the entities of the model lie.
extension PostgreSQLStore {
    func requiredLayout() throws -> ModelLayout {
        if let modelLayout { return modelLayout }
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store \(StoreName.path(url)) was not given the layouts of its model.")
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
