/// Assembles a model from the declarations of classes: hierarchy, destinations, inverses,
/// constraints.
struct ModelAssembly {
    private let declarations: [_EntityDeclaration]
    private let descriptions: [ObjectIdentifier: NSEntityDescription]

    /// The entities in the order of the given classes, followed by the entities that those need in
    /// addition.
    let entities: [NSEntityDescription]

    init(_ classes: [any EntityObject.Type]) {
        declarations = Self.declarations(of: classes)
        var descriptions: [ObjectIdentifier: NSEntityDescription] = [:]
        entities = declarations.map { declaration in
            let entity = Self.entity(for: declaration)
            descriptions[ObjectIdentifier(declaration.objectClass)] = entity
            return entity
        }
        self.descriptions = descriptions
        linkHierarchy()
        linkDestinations()
        linkInverses()
    }

    /// The options of the classes that no model can express.
    var problems: [String] { declarations.flatMap(\.problems) }

    /// Returns the declarations of the classes, their superclasses and the destinations of their
    /// relationships.
    static func declarations(of classes: [any EntityObject.Type]) -> [_EntityDeclaration] {
        var found: [_EntityDeclaration] = []
        var seen: Set<ObjectIdentifier> = []
        var waiting = classes
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            let declaration = next.describeEntity()
            guard seen.insert(ObjectIdentifier(declaration.objectClass)).inserted else { continue }
            found.append(declaration)
            if let superclass = next.entitySuperclass { waiting.append(superclass) }
            waiting += declaration.relationships.compactMap { $0.destination as? any EntityObject.Type }
        }
        return found
    }

    private static func entity(for declaration: _EntityDeclaration) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = declaration.name
        entity.setManagedObjectClass(declaration.objectClass)
        entity.isAbstract = declaration.isAbstract
        entity.versionHashModifier = declaration.versionHashModifier
        if !declaration.userInfo.isEmpty { entity.userInfo = declaration.userInfo }
        if let identifier = declaration.renamingIdentifier { entity.renamingIdentifier = identifier }
        entity.properties = declaration.properties
        entity.uniquenessConstraints = declaration.uniquenessConstraints
        return entity
    }

    private func description(of objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        // A subclass without @Entity has its superclass's entity.
        let described = (objectClass as? any EntityObject.Type)?.describeEntity().objectClass ?? objectClass
        return descriptions[ObjectIdentifier(described)]
    }

    // MARK: Links

    private func linkHierarchy() {
        var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
        for (declaration, entity) in zip(declarations, entities) {
            guard let superclass = (declaration.objectClass as? any EntityObject.Type)?.entitySuperclass else {
                continue
            }
            children[ObjectIdentifier(superclass.describeEntity().objectClass), default: []].append(entity)
        }
        for (declaration, entity) in zip(declarations, entities) {
            if let subentities = children[ObjectIdentifier(declaration.objectClass)] {
                entity.subentities = subentities
            }
        }
    }

    private func linkDestinations() {
        for declaration in declarations {
            for relationship in declaration.relationships {
                guard let destination = description(of: relationship.destination) else {
                    preconditionFailure(
                        "\(declaration.name).\(relationship.description.name) leads to \(relationship.destination), "
                            + "which is not "
                            + "an @Entity class.")
                }
                relationship.description.destinationEntity = destination
            }
        }
    }

    private func linkInverses() {
        for declaration in declarations {
            for relationship in declaration.relationships {
                guard let name = relationship.inverse else { continue }
                link(relationship.description, toInverse: name, in: declaration)
            }
        }
    }

    private func link(
        _ relationship: NSRelationshipDescription, toInverse name: String, in declaration: _EntityDeclaration
    ) {
        let place = "\(declaration.name).\(relationship.name)"
        guard let destination = relationship.destinationEntity, let inverse = destination.relationshipsByName[name]
        else {
            preconditionFailure(
                "\(place) names \"\(name)\" as its inverse, which is no relationship of its destination.")
        }
        for (side, other) in [(relationship, inverse), (inverse, relationship)] {
            precondition(
                side.inverseRelationship == nil || side.inverseRelationship === other,
                "\(side.entity.name ?? "").\(side.name) is the inverse of both "
                    + "\(other.entity.name ?? "").\(other.name) and "
                    + "\(side.inverseRelationship?.entity.name ?? "").\(side.inverseRelationship?.name ?? "").")
            side.inverseRelationship = other
        }
    }

    // MARK: Indexes

    /// Sets the indexes of the entities. Must run last, because changes to properties and hierarchy
    /// drop indexes.
    func addIndexes() {
        for (declaration, entity) in zip(declarations, entities) where !declaration.indexes.isEmpty {
            let properties = entity.propertiesByName
            entity.indexes = declaration.indexes.map { names in
                let elements = names.map { name in
                    guard let property = properties[name] else {
                        preconditionFailure("The entity \(declaration.name) has no property \"\(name)\" for its index.")
                    }
                    return NSFetchIndexElementDescription(property: property, collationType: .binary)
                }
                // As in models that are read from files, so that stores treat such attributes
                // alike.
                if elements.count == 1, let attribute = properties[names[0]] as? NSAttributeDescription {
                    attribute.isIndexed = true
                }
                return NSFetchIndexDescription(name: Self.indexName(names), elements: elements)
            }
        }
    }

    /// Returns the name that model editors give an index: byNameIndex.
    private static func indexName(_ names: [String]) -> String {
        "by" + names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And") + "Index"
    }
}
