import Foundation

/// A mapping from the objects of a store made with one version of a model to objects of another
/// version.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmappingmodel>
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel:
/// model) for entity in mapping.entityMappings { print(entity.name ?? "", entity.mappingType) }
/// ```
open class NSMappingModel: NSObject {
    /// The entity mappings in the order in which they are processed.
    open var entityMappings: [NSEntityMapping]! = []

    /// The entity mappings by name. O(number of mappings).
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Creates a model without mappings.
    public override init() {
        super.init()
    }

    /// Infers the mapping between two versions of a model, as a lightweight migration does.
    ///
    /// Entities and properties are matched by renaming identifier or name. The inference accesses
    /// no store; the models may be in use. O(size of both models).
    ///
    /// ```swift
    /// do {
    ///     _ = try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel:
    ///     model) } catch CocoaError.inferredMappingModel { print("The store cannot be migrated by
    ///     itself.") }
    /// ```
    ///
    /// - Throws: `CocoaError.inferredMappingModel` (134190) when changes do not follow a pattern
    ///   that can be inferred. The message lists every reason, with the entity, the property and a
    ///   remedy; `NSDetailedErrorsKey` has one error for each, with the keys `entity`, `property`
    ///   and `reason`.
    open class func inferredMappingModel(
        forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let problems = source.consistencyProblems() + destination.consistencyProblems()
        guard problems.isEmpty else {
            throw CoreDataErrors.make(
                .inferredMappingModel, "No mapping model can be inferred: \(problems.joined(separator: " "))",
                recovery: "Correct the model.")
        }
        let inference = MappingInference(from: source.entities, to: destination.entities)
        guard inference.problems.isEmpty else {
            throw InferenceProblem.error(for: inference.problems, "No mapping model can be inferred")
        }
        return inference.mappingModel()
    }
}

extension MappingInference {
    func mappingModel() -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = entityMappings()
        return model
    }

    /// Returns the mappings for inspection: removed, new, unchanged, then changed entities.
    func entityMappings() -> [NSEntityMapping] {
        var removed: [NSEntityMapping] = []
        for entity in sourceEntities where destinationNames[entity.name ?? ""] == nil {
            let mapping = NSEntityMapping()
            mapping.mappingType = .removeEntityMappingType
            mapping.name = "IEM_Remove_\(entity.name ?? "")"
            mapping.sourceEntityName = entity.name
            mapping.sourceEntityVersionHash = entity.versionHash
            removed.append(mapping)
        }
        var added: [NSEntityMapping] = []
        var copied: [NSEntityMapping] = []
        var transformed: [NSEntityMapping] = []
        for entity in destinationEntities {
            let mapping = NSEntityMapping()
            mapping.destinationEntityName = entity.name
            mapping.destinationEntityVersionHash = entity.versionHash
            guard let pair = entity.name.flatMap({ pairs[$0] }) else {
                mapping.mappingType = .addEntityMappingType
                mapping.name = "IEM_Add_\(entity.name ?? "")"
                added.append(mapping)
                continue
            }
            mapping.sourceEntityName = pair.source.name
            mapping.sourceEntityVersionHash = pair.source.versionHash
            let isCopy = Self.isCopy(pair)
            mapping.mappingType = isCopy ? .copyEntityMappingType : .transformEntityMappingType
            mapping.name = Self.name(ofMapping: pair)
            mapping.attributeMappings = propertyMappings(entity.attributesByName.values, pair) { name, _ in
                NSExpression(format: "$source.%K", name)
            }
            mapping.relationshipMappings = propertyMappings(entity.relationshipsByName.values, pair) { name, property in
                expression(of: property, from: name)
            }
            mapping.userInfo = Self.userInfo(of: pair)
            if isCopy { copied.append(mapping) } else { transformed.append(mapping) }
        }
        return removed + added + copied + transformed
    }

    /// Returns the names of the destination's properties with a source, of those that are new, and
    /// of the source's properties that were removed.
    private static func userInfo(of pair: EntityPair) -> [AnyHashable: Any] {
        func names(_ entity: NSEntityDescription) -> Set<String> {
            Set(entity.propertiesByName.values.filter(isStored).map(\.name))
        }
        let present = names(pair.destination)
        let mapped = present.filter { pair.sourceNames[$0] != nil }
        return [
            "mappedProperties": mapped, "addedProperties": present.subtracting(mapped),
            "removedProperties": names(pair.source).subtracting(mapped.compactMap { pair.sourceNames[$0] }),
        ]
    }

    private func propertyMappings<Property: NSPropertyDescription>(
        _ properties: some Collection<Property>, _ pair: EntityPair, _ expression: (String, Property) -> NSExpression?
    ) -> [NSPropertyMapping] {
        properties.filter(Self.isStored).sorted { $0.name < $1.name }.map { property in
            let mapping = NSPropertyMapping()
            mapping.name = property.name
            mapping.valueExpression = pair.sourceNames[property.name].flatMap { expression($0, property) }
            return mapping
        }
    }

    /// Returns an expression for the destination objects that were made from the source's related
    /// objects, by the entity mapping of the relationship's destination.
    private func expression(of relationship: NSRelationshipDescription, from name: String) -> NSExpression? {
        guard let destination = relationship.destinationEntity, let pair = destination.name.flatMap({ pairs[$0] })
        else { return nil }
        // Objects of subentities are made by other mappings.
        if !destination.subentities.isEmpty { return NSPropertyMapping.relatedInstances(name) }
        return NSPropertyMapping.instances(ofMapping: Self.name(ofMapping: pair), relatedBy: name)
    }

    private static func name(ofMapping pair: EntityPair) -> String {
        "IEM_\(isCopy(pair) ? "Copy" : "Transform")_\(pair.destination.name ?? "")"
    }

    private static func isCopy(_ pair: EntityPair) -> Bool { pair.source.versionHash == pair.destination.versionHash }
}
