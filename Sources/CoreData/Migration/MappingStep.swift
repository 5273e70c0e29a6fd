import Foundation

/// One entity mapping of a migration, checked against both models, with its policy and its pairs of
/// objects.
final class MappingStep {
    /// A property of the destination and the expression for its value.
    struct Value {
        let name: String
        let expression: NSExpression
        let mapping: NSPropertyMapping
    }

    let mapping: NSEntityMapping
    let name: String
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    let policy: NSEntityMigrationPolicy
    let attributes: [Value]
    let relationships: [Value]
    var links = InstanceLinks()
    /// Whether the database carries the mapping out: its objects have the keys of their sources.
    var isInSQL = false
    /// The mappings into the same hierarchy. An object has the key of its source, if none of these
    /// made another one of it before; nil if objects have new keys.
    var keySharers: [MappingStep]?
    /// The relationships of mappings that the database carries out, seen from the objects of this
    /// one.
    var otherEnds: [OtherEnd] = []
    /// The attributes as they were last made: objects of one mapping nearly always have the same
    /// two layouts.
    private var attributeCopies: AttributeCopies?

    /// The inverse of a relationship that another mapping sets.
    struct OtherEnd {
        /// The mapping of the relationship's owners.
        let step: MappingStep
        /// The inverse in the source model.
        let source: String
        /// The inverse in the destination model.
        let destination: String
        /// Whether the relationship itself is to-many.
        let isToMany: Bool
    }

    /// Whether a policy of the program takes part.
    var hasOwnPolicy: Bool { type(of: policy) != NSEntityMigrationPolicy.self }

    /// Whether the mapping makes no objects: it removes or adds an entity.
    var makesNothing: Bool {
        !hasOwnPolicy && (destination == nil || source == nil && mapping.sourceExpression == nil)
    }

    /// - Throws: 134110 for a mapping that does not fit the models, 134170 if there is no such
    ///   policy class.
    init(_ mapping: NSEntityMapping, from sourceModel: NSManagedObjectModel, to model: NSManagedObjectModel) throws {
        self.mapping = mapping
        name = mapping.name
        source = try Self.entity(
            mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: sourceModel, "source", mapping)
        destination = try Self.entity(
            mapping.destinationEntityName, mapping.destinationEntityVersionHash, in: model, "destination", mapping)
        policy = try Self.policy(of: mapping, preferring: destination?.classModules ?? [])
        var attributeMappings = mapping.attributeMappings
        var relationshipMappings = mapping.relationshipMappings
        if mapping.mappingType == .copyEntityMappingType, let source, let destination {
            attributeMappings = attributeMappings ?? NSPropertyMapping.copyingAttributes(from: source, to: destination)
            relationshipMappings =
                relationshipMappings ?? NSPropertyMapping.copyingRelationships(from: source, to: destination)
        }
        attributes = try Self.values(
            attributeMappings, of: mapping, named: destination?.attributesByName, "attribute", source)
        relationships = try Self.values(
            relationshipMappings, of: mapping, named: destination?.relationshipsByName, "relationship", source)
    }

    /// How the attributes of an object are made from those of another one.
    func copies(from source: EntityLayout, to destination: EntityLayout) -> AttributeCopies {
        if let attributeCopies, attributeCopies.areFor(source, destination) { return attributeCopies }
        let made = AttributeCopies(of: attributes, from: source, to: destination)
        attributeCopies = made
        return made
    }

    private static func entity(
        _ name: String?, _ hash: Data?, in model: NSManagedObjectModel, _ role: String, _ mapping: NSEntityMapping
    ) throws -> NSEntityDescription? {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
            throw MigrationErrors.mapping(mapping, "the \(role) model has no entity '\(name)'")
        }
        if let hash, hash != entity.versionHash {
            throw MigrationErrors.mapping(
                mapping, "it was made for another version of the entity '\(name)' of the \(role) model")
        }
        return entity
    }

    private static func policy(
        of mapping: NSEntityMapping, preferring modules: [String]
    ) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy() }
        switch ClassLookup.find(name, inheritingFrom: NSEntityMigrationPolicy.self, preferring: modules) {
        case .found(let found):
            if let policyClass = found as? NSEntityMigrationPolicy.Type { return policyClass.init() }
            fallthrough
        case .none:
            throw MigrationErrors.policy(
                mapping, nil, "the program has no class '\(name)' that inherits from NSEntityMigrationPolicy",
                recovery: "Link the class, or correct the mapping's entityMigrationPolicyClassName.")
        case .ambiguous(let classes):
            throw MigrationErrors.policy(
                mapping, nil,
                "the name '\(name)' stands for several classes: "
                    + classes.map { ClassLookup.name(of: $0) }.joined(separator: ", "),
                recovery: "Name the module in the mapping's entityMigrationPolicyClassName.")
        }
    }

    /// Returns the expressions for properties of the destination.
    private static func values<Property: NSPropertyDescription>(
        _ mappings: [NSPropertyMapping]?, of mapping: NSEntityMapping, named properties: [String: Property]?,
        _ kind: String, _ source: NSEntityDescription?
    ) throws -> [Value] {
        try (mappings ?? []).compactMap { property in
            let name = property.name ?? ""
            guard let found = properties?[name] else {
                throw MigrationErrors.mapping(
                    mapping, "the entity '\(mapping.destinationEntityName ?? "none")' has no \(kind) '\(name)'")
            }
            guard let expression = property.valueExpression, !(found is NSDerivedAttributeDescription) else {
                return nil
            }
            try check(expression, of: property, in: mapping, source)
            return Value(name: name, expression: expression, mapping: property)
        }
    }

    /// Checks that the key paths of the source object exist. Reading an unknown key would stop the
    /// program.
    private static func check(
        _ expression: NSExpression, of property: NSPropertyMapping, in mapping: NSEntityMapping,
        _ source: NSEntityDescription?
    ) throws {
        switch expression.expressionType {
        case .keyPath:
            let start = expression.operand
            guard start.expressionType == .variable else {
                return try check(start, of: property, in: mapping, source)
            }
            guard start.variable == NSMigrationSourceObjectKey, let source else { return }
            if let problem = problem(inPath: expression.keyPath, from: source) {
                throw MigrationErrors.mapping(
                    mapping,
                    "the expression \(expression) of the property '\(property.name ?? "")' cannot be read: "
                        + problem)
            }
        case .function, .block, .fetchRequest:
            if let target = expression.methodTarget { try check(target, of: property, in: mapping, source) }
            for argument in expression.arguments ?? [] { try check(argument, of: property, in: mapping, source) }
        case .aggregate:
            for element in expression.aggregateElements ?? [] {
                try check(element, of: property, in: mapping, source)
            }
        default: break
        }
    }

    private static func problem(inPath path: String, from source: NSEntityDescription) -> String? {
        var entity = source
        for key in path.split(separator: ".").map(String.init) {
            if key.hasPrefix("@") { continue }
            if let next = entity.relationshipsByName[key]?.destinationEntity {
                entity = next
            } else if entity.propertiesByName[key] != nil || ["self", "objectID", "entity"].contains(key) {
                return nil
            } else {
                return "the source entity '\(entity.name ?? "")' has no property '\(key)'"
            }
        }
        return nil
    }
}
