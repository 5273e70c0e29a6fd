import Foundation

/// A step of a plan, resolved against the models of its two versions.
struct StepMapping: Sendable {
    /// A mapping of one entity.
    struct Entity: Sendable {
        let classMap: ClassMap?
        var relationships: [Relationship] = []
    }

    /// A relationship of both versions.
    struct Relationship: Sendable {
        let name: String
        let former: String
        /// The names of the mappings that can make an object at its end.
        let makers: [String]
    }

    /// The entry of a migration manager's `userInfo` with the step.
    static let key = "SafeCoreData.StepMapping"

    private(set) var entities: [String: Entity] = [:]

    /// - Parameter mappingModel: receives the entity mappings.
    /// - Throws: 134110 for a step that does not fit its versions.
    init(
        _ step: MigrationStep, from: SchemaVersion, _ source: NSManagedObjectModel, to: SchemaVersion,
        _ destination: NSManagedObjectModel, into mappingModel: NSMappingModel
    ) throws {
        var taken = Set(try step.dropped.map { try Self.name(of: $0, in: from) })
        for map in step.maps {
            let (old, new) = (try Self.name(of: map.old, in: from), try Self.name(of: map.new, in: to))
            taken.insert(old)
            try add(map, source.entitiesByName[old], destination.entitiesByName[new], to: mappingModel)
        }
        // Entities without a closure.
        let former = RenamingMatch(from: source.entities.map(Self.item), to: destination.entities.map(Self.item))
        for entity in destination.entities where !entity.isAbstract {
            guard let name = entity.name, let old = former.sourceNames[name], !taken.contains(old),
                source.entitiesByName[old]?.isAbstract == false
            else { continue }
            try add(nil, source.entitiesByName[old], entity, to: mappingModel)
        }
        let ends = (mappingModel.entityMappings ?? []).compactMap { mapping -> Ends? in
            guard let old = mapping.sourceEntityName.flatMap({ source.entitiesByName[$0] }),
                let new = mapping.destinationEntityName.flatMap({ destination.entitiesByName[$0] })
            else { return nil }
            return (mapping.name, old, new)
        }
        for (name, old, new) in ends { entities[name]?.relationships = Self.relationships(old, new, ends) }
    }

    /// A mapping with its entities.
    private typealias Ends = (name: String, old: NSEntityDescription, new: NSEntityDescription)

    private static func relationships(
        _ source: NSEntityDescription, _ destination: NSEntityDescription, _ mappings: [Ends]
    ) -> [Relationship] {
        let (old, new) = (source.relationshipsByName, destination.relationshipsByName)
        let former = RenamingMatch(from: old.values.map(item), to: new.values.map(item)).sourceNames
        return former.sorted { $0.key < $1.key }.compactMap { name, formerName in
            guard let newEnd = new[name]?.destinationEntity, let oldEnd = old[formerName]?.destinationEntity else {
                return nil
            }
            let makers = mappings.filter { $0.old.isKindOf(entity: oldEnd) && $0.new.isKindOf(entity: newEnd) }
            return Relationship(name: name, former: formerName, makers: makers.map(\.name))
        }
    }

    private static func name(of objectClass: any EntityObject.Type, in version: SchemaVersion) throws -> String {
        guard let name = version.entityName(of: objectClass) else {
            throw PlanErrors.misfit("\(PlanErrors.name(objectClass)) is no class of \(version.name)")
        }
        return name
    }

    private mutating func add(
        _ map: ClassMap?, _ source: NSEntityDescription?, _ destination: NSEntityDescription?,
        to model: NSMappingModel
    ) throws {
        guard let source, let destination else { return }
        if let abstract = [source, destination].first(where: \.isAbstract) {
            throw PlanErrors.misfit("'\(abstract.name ?? "")' is abstract and has no objects; map its subclasses")
        }
        let mapping = NSEntityMapping()
        mapping.mappingType = .customEntityMappingType
        mapping.sourceEntityName = source.name
        mapping.destinationEntityName = destination.name
        mapping.entityMigrationPolicyClassName = ClassLookup.name(of: StepPolicy.self)
        mapping.attributeMappings = try Self.attributeMappings(source, destination, isMapped: map != nil)
        if entities.updateValue(Entity(classMap: map), forKey: mapping.name) != nil {
            throw PlanErrors.misfit(
                "'\(source.name ?? "")' is mapped twice to '\(destination.name ?? "")'; map it once")
        }
        model.entityMappings = (model.entityMappings ?? []) + [mapping]
    }

    private static func attributeMappings(
        _ source: NSEntityDescription, _ destination: NSEntityDescription, isMapped: Bool
    ) throws -> [NSPropertyMapping] {
        let (old, new) = (stored(source), stored(destination))
        let former = RenamingMatch(from: old.values.map(item), to: new.values.map(item)).sourceNames
        return try former.sorted { $0.key < $1.key }.compactMap { name, formerName in
            guard let (wanted, found) = new[name].flatMap({ new in old[formerName].map { (new, $0) } }) else {
                return nil
            }
            guard MappingInference.holds(wanted.attributeType, all: found.attributeType) else {
                // A closure sets it.
                if isMapped { return nil }
                throw PlanErrors.misfit(
                    "'\(destination.name ?? "").\(name)' has another type than before; map the class and set it")
            }
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = NSExpression(format: "$source.%K", formerName)
            return mapping
        }
    }

    private static func stored(_ entity: NSEntityDescription) -> [String: NSAttributeDescription] {
        entity.attributesByName.filter { !$0.value.isTransient && !($0.value is NSDerivedAttributeDescription) }
    }

    private static func item(_ entity: NSEntityDescription) -> RenamingMatch.Item {
        .init(name: entity.name ?? "", identifier: entity.renamingIdentifier)
    }

    private static func item(_ property: NSPropertyDescription) -> RenamingMatch.Item {
        .init(name: property.name, identifier: property.renamingIdentifier)
    }
}
