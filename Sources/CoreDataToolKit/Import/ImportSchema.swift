import CoreData

/// A mistake in a row of a file, or in one value of it.
struct RowMistake: Error {
    var property: String?
    let reason: String
}

/// The entities and properties of a store by the names that files give them.
struct ImportSchema {
    enum Property {
        case attribute(NSAttributeDescription)
        case relationship(NSRelationshipDescription)
        /// A value that the store does not keep, or computes.
        case computed
    }

    struct Entity {
        let description: NSEntityDescription
        let name: String
        /// The place in the list of all entities.
        let index: Int
        /// The place of the entity whose table has the rows.
        let root: Int
        let properties: [String: Property]
        let attributes: Set<String>
    }

    /// A key in a table, as a file names it.
    struct RowName: Hashable {
        let root: Int
        let key: Int64
    }

    let entities: [Entity]
    private let byName: [String: Int]

    init(_ model: StoreModel) {
        let descriptions = model.entities.sorted { $0.name ?? "" < $1.name ?? "" }
        let numbers = Dictionary(
            descriptions.enumerated().map { ($1.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        byName = numbers
        entities = descriptions.enumerated().map { index, description in
            let properties = Self.properties(of: description)
            return Entity(
                description: description, name: description.name ?? "", index: index,
                root: numbers[description.rootEntity.name ?? ""] ?? index, properties: properties,
                attributes: Set(properties.filter { if case .attribute = $0.value { true } else { false } }.keys))
        }
    }

    private static func properties(of entity: NSEntityDescription) -> [String: Property] {
        var properties: [String: Property] = [:]
        for property in entity.properties {
            switch property {
            case is NSFetchedPropertyDescription: continue
            case is NSDerivedAttributeDescription: properties[property.name] = .computed
            case _ where property.isTransient: properties[property.name] = .computed
            case let attribute as NSAttributeDescription: properties[property.name] = .attribute(attribute)
            case let relationship as NSRelationshipDescription: properties[property.name] = .relationship(relationship)
            default: continue
            }
        }
        return properties
    }

    // MARK: Names

    /// - Throws: `RowMistake` with near names.
    func entity(named name: String) throws(RowMistake) -> Entity {
        guard let index = byName[name] else {
            let advice = NearNames.advice(for: name, among: entities.map(\.name), kind: "entity")
            throw RowMistake(reason: "there is no entity '\(name)'. \(advice)")
        }
        return entities[index]
    }

    /// Returns the entity of a file that an export has named.
    ///
    /// - Throws: `RowMistake` with near names.
    func entity(fileName: String) throws(RowMistake) -> Entity {
        if byName[fileName] == nil,
            let entity = entities.first(where: { BlobFolder.fileName($0.name) == fileName })
        {
            return entity
        }
        return try entity(named: fileName)
    }

    /// Whether an entity or a subentity has a property of this name.
    func isProperty(_ name: String, ofOrBelow entity: Entity) -> Bool {
        entities.contains { $0.description.isKindOf(entity: entity.description) && $0.properties[name] != nil }
    }

    /// Reads the identity of an object: `Product/p12`, or its whole URI.
    func row(_ text: String) throws(RowMistake) -> (entity: Entity, key: Int64) {
        var name = text[...]
        let scheme = "x-coredata://"
        if name.hasPrefix(scheme) { name = name.dropFirst(scheme.count).drop { $0 != "/" }.dropFirst() }
        guard let slash = name.lastIndex(of: "/"), case let end = name[name.index(after: slash)...],
            end.first == "p", end.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let key = Int64(end.dropFirst()), key > 0
        else { throw RowMistake(reason: "'\(text)' names no object; write ENTITY/p1") }
        let entityName = String(name[..<slash])
        let known = byName[entityName] == nil ? entityName.removingPercentEncoding ?? entityName : entityName
        return (try entity(named: known), key)
    }

    /// Returns the identities in the value of a relationship.
    func references(
        _ value: JSONValue, _ relationship: NSRelationshipDescription
    ) throws(RowMistake) -> [String] {
        switch value {
        case .null: return []
        case .string(let text) where !relationship.isToMany: return [text]
        case .array(let elements) where relationship.isToMany:
            let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            if texts.count == elements.count { return texts }
        default: break
        }
        throw RowMistake(
            property: relationship.name,
            reason: relationship.isToMany
                ? "this is no list of objects like [\"Item/p1\"]" : "this is no object like \"Item/p1\"")
    }

    /// - Throws: `RowMistake` with near names for a key that is no property of an entity.
    func property(_ key: String, of entity: Entity) throws(RowMistake) -> Property {
        if let property = entity.properties[key] { return property }
        let names = (entity.properties.keys + ["objectID"]).sorted()
        throw RowMistake(
            property: key,
            reason: "'\(entity.name)' has no such property. "
                + NearNames.advice(for: key, among: names, kind: "property"))
    }

    /// Returns the entity whose objects a uniqueness constraint compares: the highest that has it.
    func owner(of constraint: [String], from entity: Entity) -> Entity {
        var owner = entity.description
        let isIdentity = constraint == [QueryColumn.objectID]
        while let parent = owner.superentity,
            isIdentity || Self.constraints(of: parent).contains(constraint)
                || constraint.allSatisfy({ parent.attributesByName[$0] != nil })
        { owner = parent }
        return byName[owner.name ?? ""].map { entities[$0] } ?? entity
    }

    /// Returns the uniqueness constraints of an entity and those that it inherits, as far as they
    /// are of attributes.
    static func constraints(of entity: NSEntityDescription) -> [[String]] {
        var constraints: [[String]] = []
        var next: NSEntityDescription? = entity
        while let current = next {
            for constraint in current.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSAttributeDescription)?.name }
                let areAttributes = names.allSatisfy { current.attributesByName[$0] != nil }
                if names.count == constraint.count, areAttributes, !names.isEmpty, !constraints.contains(names) {
                    constraints.append(names)
                }
            }
            next = current.superentity
        }
        return constraints
    }
}
