import CoreData

/// A model as values, for text, JSON and comparisons.
struct ModelSchema {
    struct FetchRequest {
        let name: String
        let entity: String
        let predicate: String?
    }

    let name: String
    /// How the model of a store was found; nil for a model file.
    let origin: StoreModel.Origin?
    let versionIdentifiers: [String]
    let checksum: String
    /// The configurations with the names of their entities.
    let configurations: [(name: String, entities: [String])]
    let fetchRequests: [FetchRequest]
    /// The entities in order of name.
    let entities: [EntitySchema]

    /// - Parameter chosen: the names of the entities to show; nil for all.
    /// - Throws: `ToolError` for an entity that the model does not have.
    init(_ named: NamedModel, entities chosen: [String]? = nil) throws {
        let model = named.model
        name = named.name
        origin = named.origin
        versionIdentifiers = model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
        checksum = model.versionChecksum
        configurations = model.configurations.sorted().map { name in
            (name, (model.entities(forConfigurationName: name) ?? []).map { $0.name ?? "" }.sorted())
        }
        fetchRequests = model.fetchRequestTemplates.sorted { $0.key < $1.key }.map { name, template in
            FetchRequest(name: name, entity: template.entityName, predicate: template.predicate?.predicateFormat)
        }
        entities = try EntitySources.entities(of: model, from: named.name, chosen).map(EntitySchema.init)
    }
}
