import CoreData

/// A key path that an entity does not have.
struct UnknownKey: Error {
    let key: String
    let keyPath: String
    let entity: NSEntityDescription
    /// The composite attribute in which the key was searched as an element.
    var composite: NSCompositeAttributeDescription?

    var message: String {
        if let composite {
            return "The composite attribute '\(composite.name)' of '\(entity.name ?? "")' has no element '\(key)'. "
                + NearNames.advice(for: key, among: composite.elements.map(\.name).sorted(), kind: "element")
        }
        let names = entity.propertiesByName.keys.sorted()
        return "The entity '\(entity.name ?? "")' has no property '\(key)'. "
            + NearNames.advice(for: key, among: names, kind: "property")
    }
}

/// Finds properties by name, ignoring case.
enum KeyPathResolver {
    struct Resolved {
        let keyPath: String
        /// The last property, or element of a composite attribute; nil if the path ends in
        /// something else, such as `@count` or `objectID`.
        let property: NSPropertyDescription?
    }

    private static let ownKeys: Set<String> = ["self", "objectid", "entity"]

    /// - Throws: `UnknownKey`.
    static func resolve(_ keyPath: String, from entity: NSEntityDescription) throws(UnknownKey) -> Resolved {
        var current: NSEntityDescription? = entity
        var compositeOwner = entity
        var last: NSPropertyDescription?
        var keys: [String] = []
        for key in keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            if let composite = last as? NSCompositeAttributeDescription, !key.hasPrefix("@") {
                guard let element = element(key, of: composite) else {
                    throw UnknownKey(key: key, keyPath: keyPath, entity: compositeOwner, composite: composite)
                }
                keys.append(element.name)
                last = element
                continue
            }
            guard let owner = current, !key.hasPrefix("@") else {
                keys.append(key)
                if key.hasPrefix("@") { last = nil }
                continue
            }
            guard let property = property(key, of: owner) else {
                guard ownKeys.contains(key.lowercased()) else {
                    throw UnknownKey(key: key, keyPath: keyPath, entity: owner)
                }
                keys.append(key.lowercased() == "objectid" ? "objectID" : key)
                last = nil
                if key.lowercased() != "self" { current = nil }
                continue
            }
            keys.append(property.name)
            last = property
            compositeOwner = owner
            current = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return Resolved(keyPath: keys.joined(separator: "."), property: last)
    }

    /// Returns the paths to the to-many relationships on a resolved key path, the shortest first.
    static func relationshipsToMany(on keyPath: String, from entity: NSEntityDescription) -> [String] {
        var current: NSEntityDescription? = entity
        var path: [String] = []
        var found: [String] = []
        for name in keyPath.split(separator: ".").map(String.init) {
            path.append(name)
            guard let relationship = current?.relationshipsByName[name] else { return found }
            if relationship.isToMany { found.append(path.joined(separator: ".")) }
            current = relationship.destinationEntity
        }
        return found
    }

    /// Returns the property with exactly this name, or the only one that differs only in case.
    /// `objectID` is the object itself.
    static func property(_ name: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
        let properties = entity.propertiesByName
        if let property = properties[name] { return property }
        return name == QueryColumn.objectID ? nil : near(name, in: Array(properties.values))
    }

    /// Returns the element with a name in a composite attribute, found in the same way.
    private static func element(_ name: String, of composite: NSCompositeAttributeDescription)
        -> NSAttributeDescription?
    {
        composite.elements.first { $0.name == name } ?? near(name, in: composite.elements)
    }

    private static func near<Property: NSPropertyDescription>(_ name: String, in properties: [Property]) -> Property? {
        let wanted = name.lowercased()
        let near = properties.filter { $0.name.lowercased() == wanted }
        return near.count == 1 ? near.first : nil
    }
}
