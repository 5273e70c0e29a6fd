import Foundation

/// The mapping of the entities and properties of one model version to those of another.
///
/// Inference uses only names and descriptions, and reads no store.
package struct MappingInference {
    /// A destination entity whose objects were objects of a source entity.
    struct EntityPair {
        let source: NSEntityDescription
        let destination: NSEntityDescription
        /// The name in the source of each stored attribute and relationship of the destination,
        /// including inherited ones.
        ///
        /// The elements of composite attributes are named by their paths.
        var sourceNames: [String: String] = [:]
    }

    enum LinkSource {
        /// A source relationship in the same direction.
        case relationship(NSRelationshipDescription)
        /// A source relationship without an inverse in the other direction.
        case reversed(NSRelationshipDescription)

        var mayLeadToSeveral: Bool {
            switch self {
            case .relationship(let source): source.isToMany
            case .reversed: true
            }
        }
    }

    let sourceEntities: [NSEntityDescription]
    let destinationEntities: [NSEntityDescription]
    /// The pairs by the name of the destination entity.
    private(set) var pairs: [String: EntityPair] = [:]
    /// The destination entity's name by the source entity's name.
    private(set) var destinationNames: [String: String] = [:]
    /// The link sources by destination relationship, as its entity declares it; nil for
    /// relationships without links yet.
    private(set) var links: [ObjectIdentifier: LinkSource] = [:]
    private(set) var problems: [InferenceProblem] = []

    init(from sources: [NSEntityDescription], to destinations: [NSEntityDescription]) {
        sourceEntities = sources.sorted { ($0.name ?? "") < ($1.name ?? "") }
        destinationEntities = destinations.sorted { ($0.name ?? "") < ($1.name ?? "") }
        matchEntities()
        for entity in destinationEntities { matchProperties(of: entity) }
        check()
    }

    /// Creates the mapping that has the given pairs, and checks it like an inferred one.
    init(from sources: [NSEntityDescription], to destinations: [NSEntityDescription], pairs given: [EntityPair]) {
        sourceEntities = sources.sorted { ($0.name ?? "") < ($1.name ?? "") }
        destinationEntities = destinations.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for pair in given {
            pairs[pair.destination.name ?? ""] = pair
            destinationNames[pair.source.name ?? ""] = pair.destination.name
        }
        check()
    }

    /// Finds the sources of links, and the problems of the mapping.
    private mutating func check() {
        checkHierarchies()
        for entity in destinationEntities { checkAttributes(of: entity) }
        let relationships = Self.declaring(destinationEntities).flatMap(\.ownProperties).filter(Self.isStored)
            .compactMap { $0 as? NSRelationshipDescription }
        for relationship in relationships { matchLinks(of: relationship) }
        for relationship in relationships { checkLinks(of: relationship) }
        var seen: Set<InferenceProblem> = []
        problems = problems.filter { seen.insert($0).inserted }
    }

    /// Whether a store keeps a property.
    static func isStored(_ property: NSPropertyDescription) -> Bool {
        !property.isTransient && !(property is NSFetchedPropertyDescription)
    }

    /// Returns the entities and those that they inherit from. A configuration may have subentities
    /// without these.
    private static func declaring(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var all = entities
        var known = Set(entities.map { ObjectIdentifier($0) })
        for entity in entities {
            var ancestor = entity.superentity
            while let next = ancestor {
                if known.insert(ObjectIdentifier(next)).inserted { all.append(next) }
                ancestor = next.superentity
            }
        }
        return all
    }

    mutating func add(
        _ entity: NSEntityDescription, _ property: NSPropertyDescription?, _ reason: String, _ advice: String
    ) {
        // An inherited property is reported once, at the entity that declares it.
        let owner = property?.owningEntity ?? entity
        problems.append(
            InferenceProblem(entity: owner.name ?? "", property: property?.name, reason: reason, advice: advice))
    }

    /// Returns the destination entity to which a source entity's objects belong; nil when the
    /// entity was removed.
    func destination(of source: NSEntityDescription) -> NSEntityDescription? {
        source.name.flatMap { destinationNames[$0] }.flatMap { pairs[$0]?.destination }
    }

    mutating func setLinks(of relationship: NSRelationshipDescription, to source: LinkSource) {
        links[ObjectIdentifier(relationship)] = source
    }

    // MARK: Matching

    private mutating func matchEntities() {
        let match = RenamingMatch(
            from: sourceEntities.map { .init(name: $0.name ?? "", identifier: $0.renamingIdentifier) },
            to: destinationEntities.map { .init(name: $0.name ?? "", identifier: $0.renamingIdentifier) })
        let sources = ModelTables.byName(sourceEntities)
        for entity in destinationEntities {
            guard let name = entity.name, let source = match.sourceNames[name].flatMap({ sources[$0] }) else {
                continue
            }
            pairs[name] = EntityPair(source: source, destination: entity)
            destinationNames[source.name ?? ""] = name
        }
        let destinations = ModelTables.byName(destinationEntities)
        for (name, identifier, other) in match.contested {
            guard let entity = destinations[name] else { continue }
            add(
                entity, nil, "its renaming identifier '\(identifier)' is also that of '\(other)'.",
                "Give only one of them the identifier.")
        }
    }

    private mutating func matchProperties(of entity: NSEntityDescription) {
        guard let name = entity.name, var pair = pairs[name] else { return }
        func items(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
            entity.propertiesByName.values.filter(Self.isStored).sorted { $0.name < $1.name }
        }
        let match = RenamingMatch(
            from: items(pair.source).map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
            to: items(entity).map { .init(name: $0.name, identifier: $0.renamingIdentifier) })
        pair.sourceNames = match.sourceNames
        Self.matchElements(of: entity, &pair)
        pairs[name] = pair
        for (name, identifier, other) in match.contested {
            guard let property = entity.propertiesByName[name] else { continue }
            add(
                entity, property, "its renaming identifier '\(identifier)' is also that of '\(other)'.",
                "Give only one of them the identifier.")
        }
    }

    // MARK: Checks

    /// Checks that entities without a common ancestor in the source have none in the destination.
    private mutating func checkHierarchies() {
        var former: [String: (root: String, member: String)] = [:]
        for entity in destinationEntities {
            guard let name = entity.name, let pair = pairs[name] else { continue }
            let newRoot = entity.rootEntity.name ?? ""
            let oldRoot = pair.source.rootEntity.name ?? ""
            guard let known = former[newRoot] else {
                former[newRoot] = (oldRoot, name)
                continue
            }
            if known.root != oldRoot {
                add(
                    entity, nil,
                    "it has the ancestor '\(newRoot)' in common with '\(known.member)', which it had not before: "
                        + "hierarchies cannot be merged.", "Keep them apart, or copy the objects in the program.")
            }
        }
    }

    private mutating func checkAttributes(of entity: NSEntityDescription) {
        guard let pair = entity.name.flatMap({ pairs[$0] }) else { return }
        let sources = pair.source.propertiesByName
        for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name }) where Self.isStored(property) {
            let source = pair.sourceNames[property.name].flatMap {
                sources[$0] ?? pair.source.propertyHoldingElement(at: $0)
            }
            if let source, EntityDifference.kind(source) != EntityDifference.kind(property) {
                add(
                    entity, property,
                    "it was \(source is NSRelationshipDescription ? "a relationship" : "an attribute").",
                    "Give the new one another name.")
                continue
            }
            guard let attribute = property as? NSAttributeDescription, !(attribute is NSDerivedAttributeDescription)
            else {
                checkDerivation(of: property, from: source, entity)
                continue
            }
            if Self.concernsComposites(attribute, source) {
                checkElements(of: attribute, from: source, entity, pair)
                continue
            }
            if let source = source as? NSAttributeDescription {
                checkType(of: attribute, from: source, entity)
            }
            // The migration itself checks for objects without a value that is required now.
        }
    }

    private mutating func checkType(
        of attribute: NSAttributeDescription, from source: NSAttributeDescription, _ entity: NSEntityDescription
    ) {
        let types =
            "of type \(source.attributeType.displayName), now \(attribute.attributeType.displayName)"
        if !Self.holds(attribute.attributeType, all: source.attributeType) {
            add(
                entity, attribute, "it was \(types).",
                "Keep the type, or give the new attribute another name and convert the values in the program.")
        }
    }

    /// Whether the values of one type are also values of another: the same type, or a wider numeric
    /// type.
    package static func holds(_ wider: NSAttributeType, all type: NSAttributeType) -> Bool {
        wider == type || widerTypes[type]?.contains(wider) == true
    }

    /// The numeric types that can hold the values of others. A double holds integers up to 2^53
    /// exactly and larger ones approximately, as on a Mac.
    private static let widerTypes: [NSAttributeType: Set<NSAttributeType>] = {
        let any: Set<NSAttributeType> = [.doubleAttributeType, .decimalAttributeType]
        return [
            .booleanAttributeType: any.union([
                .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
            ]),
            .integer16AttributeType: any.union([.integer32AttributeType, .integer64AttributeType, .floatAttributeType]),
            .integer32AttributeType: any.union([.integer64AttributeType]), .integer64AttributeType: any,
            .floatAttributeType: [.doubleAttributeType],
        ]
    }()

    private mutating func checkDerivation(
        of property: NSPropertyDescription, from source: NSPropertyDescription?, _ entity: NSEntityDescription
    ) {
        guard let derived = property as? NSDerivedAttributeDescription, let source = source as? NSAttributeDescription,
            !(source is NSDerivedAttributeDescription), !Self.holds(derived.attributeType, all: source.attributeType)
        else { return }
        add(
            entity, property,
            "it was of type \(source.attributeType.displayName), now derived and of type "
                + "\(derived.attributeType.displayName).", "Give the derived attribute another name.")
    }
}
