import Foundation

/// A step of a plan, resolved against the models of its two versions.
struct StepMapping: Sendable {
    /// A mapping of one entity.
    struct Entity: Sendable {
        let classMap: ClassMap?
        /// The name of the former relationship by that of the new one.
        let relationships: [String: String]
    }

    /// The entry of a migration manager's `userInfo` with the step.
    static let key = "SafeCoreData.StepMapping"

    private(set) var entities: [String: Entity] = [:]
    private let from: SchemaVersion
    private let to: SchemaVersion

    /// - Parameter mappingModel: receives the entity mappings.
    /// - Throws: 134060 for a step that does not fit its versions.
    init(
        _ step: MigrationStep, from: SchemaVersion, _ source: NSManagedObjectModel, to: SchemaVersion,
        _ destination: NSManagedObjectModel, into mappingModel: NSMappingModel
    ) throws {
        (self.from, self.to) = (from, to)
        var taken = Set(try step.dropped.map { try name(of: $0, in: from) })
        for map in step.maps {
            let (old, new) = (try name(of: map.old, in: from), try name(of: map.new, in: to))
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
    }

    private func name(of objectClass: any EntityObject.Type, in version: SchemaVersion) throws -> String {
        guard let name = version.entityName(of: objectClass) else {
            throw PlanErrors.step(from, to, "\(PlanErrors.name(objectClass)) is no class of \(version.name)")
        }
        return name
    }

    private mutating func add(
        _ map: ClassMap?, _ source: NSEntityDescription?, _ destination: NSEntityDescription?,
        to model: NSMappingModel
    ) throws {
        guard let source, let destination else { return }
        if let abstract = [source, destination].first(where: \.isAbstract) {
            throw PlanErrors.step(
                from, to, "'\(abstract.name ?? "")' is abstract and has no objects; map its subclasses")
        }
        let mapping = NSEntityMapping()
        mapping.mappingType = .customEntityMappingType
        mapping.sourceEntityName = source.name
        mapping.destinationEntityName = destination.name
        mapping.entityMigrationPolicyClassName = ClassLookup.name(of: StepPolicy.self)
        mapping.attributeMappings = try attributeMappings(source, destination, isMapped: map != nil)
        let links = RenamingMatch(
            from: source.relationshipsByName.values.map(Self.item),
            to: destination.relationshipsByName.values.map(Self.item))
        let entity = Entity(classMap: map, relationships: links.sourceNames)
        if entities.updateValue(entity, forKey: mapping.name) != nil {
            throw PlanErrors.step(
                from, to, "'\(source.name ?? "")' is mapped twice to '\(destination.name ?? "")'; map it once")
        }
        model.entityMappings = (model.entityMappings ?? []) + [mapping]
    }

    private func attributeMappings(
        _ source: NSEntityDescription, _ destination: NSEntityDescription, isMapped: Bool
    ) throws -> [NSPropertyMapping] {
        let (old, new) = (Self.stored(source), Self.stored(destination))
        let former = RenamingMatch(from: old.values.map(Self.item), to: new.values.map(Self.item)).sourceNames
        return try former.sorted { $0.key < $1.key }.compactMap { name, formerName in
            guard let (wanted, found) = new[name].flatMap({ new in old[formerName].map { (new, $0) } }) else {
                return nil
            }
            guard MappingInference.holds(wanted.attributeType, all: found.attributeType) else {
                // A closure sets it.
                if isMapped { return nil }
                throw PlanErrors.step(
                    from, to,
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
