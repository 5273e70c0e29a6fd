import Foundation

// The model of a store that keeps its rows in a database.
extension NSPersistentStore {
    /// Returns the entities that the store holds.
    ///
    /// - Parameter name: the name of the store in errors.
    package func heldEntities(of name: String) throws -> (model: NSManagedObjectModel, held: HeldEntities) {
        guard let model = modelLayout?.model else {
            throw CoreDataErrors.make(
                .persistentStoreOpen, "The store \(name) belongs to no coordinator and has no model.")
        }
        let configuration = configurationName == Self.defaultConfigurationName ? nil : configurationName
        guard let held = model.heldEntities(forConfigurationName: configuration) else {
            throw CoreDataErrors.unknownConfiguration(
                configurationName, among: model.configurations, type: type, url: url)
        }
        return (model, held)
    }

    package func requiredLayout(of name: String) throws -> ModelLayout {
        if let modelLayout { return modelLayout }
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store \(name) was not given the layouts of its model.")
    }

    /// Returns the mapping of entities to tables.
    ///
    /// - Parameter name: the name of the store in errors.
    package func makeMapping(
        of entities: [NSEntityDescription], _ dialect: any SQLDialect, _ naming: any TableNaming,
        numbers: [String: Int],
        store name: String
    ) throws -> SQLMapping {
        let names = Set(entities.compactMap(\.name))
        return try SQLMapping(layouts: requiredLayout(of: name), dialect, naming, numbers: numbers) {
            names.contains($0.name)
        }
    }
}
