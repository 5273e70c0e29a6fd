import CoreData

/// A column of a query's result.
struct QueryColumn {
    enum Source {
        /// The object itself: `Entity/p12`.
        case object
        case attribute(NSAttributeType, isTransformable: Bool)
        case composite(NSCompositeAttributeDescription, transformables: Set<ObjectIdentifier>)
        case toOne
        case toMany
    }

    let name: String
    let source: Source

    /// The name of the column that tells objects apart.
    static let objectID = "objectID"

    /// The columns that the person named, or all of an entity: the object's ID, attributes, relationships, each by name.
    ///
    /// - Throws: `ToolError` for a name that is no stored property.
    static func columns(
        named names: [String]?, of entity: NSEntityDescription, model: StoreModel
    ) throws(ToolError) -> [QueryColumn] {
        guard let names else {
            let properties = entity.properties.sorted { $0.name < $1.name }.compactMap { column($0, model) }
            return [QueryColumn(name: objectID, source: .object)] + properties.filter { !$0.isRelationship }
                + properties.filter(\.isRelationship)
        }
        var columns: [QueryColumn] = []
        for name in names {
            if let property = KeyPathResolver.property(name, of: entity) {
                guard let column = column(property, model) else {
                    throw ToolError(
                        "The property '\(property.name)' of '\(entity.name ?? "")' is not kept in the store. Leave it out."
                    )
                }
                columns.append(column)
            } else if let column = try element(at: name, of: entity, model) {
                columns.append(column)
            } else if name.lowercased() == objectID.lowercased() {
                columns.append(QueryColumn(name: objectID, source: .object))
            } else {
                throw ToolError(UnknownKey(key: name, keyPath: name, entity: entity).message)
            }
        }
        return columns
    }

    /// The column of an element of a composite attribute; nil for any other path.
    ///
    /// - Throws: `ToolError` for an element that does not exist.
    private static func element(
        at path: String, of entity: NSEntityDescription, _ model: StoreModel
    ) throws(ToolError) -> QueryColumn? {
        guard let first = path.split(separator: ".").first, path.contains("."),
            KeyPathResolver.property(String(first), of: entity) is NSCompositeAttributeDescription
        else { return nil }
        do {
            let resolved = try KeyPathResolver.resolve(path, from: entity)
            guard let attribute = resolved.property as? NSAttributeDescription else { return nil }
            return column(attribute, named: resolved.keyPath, model)
        } catch {
            throw ToolError(error.message)
        }
    }

    private static func column(_ attribute: NSAttributeDescription, named name: String, _ model: StoreModel) -> QueryColumn {
        if let composite = attribute as? NSCompositeAttributeDescription {
            return QueryColumn(name: name, source: .composite(composite, transformables: model.transformables))
        }
        let isTransformable = model.transformables.contains(ObjectIdentifier(attribute))
        return QueryColumn(name: name, source: .attribute(attribute.attributeType, isTransformable: isTransformable))
    }

    /// nil for what is not stored.
    private static func column(_ property: NSPropertyDescription, _ model: StoreModel) -> QueryColumn? {
        if property.isTransient { return nil }
        switch property {
        case let attribute as NSAttributeDescription: return column(attribute, named: attribute.name, model)
        case let relationship as NSRelationshipDescription:
            return QueryColumn(name: relationship.name, source: relationship.isToMany ? .toMany : .toOne)
        default: return nil
        }
    }

    private var isRelationship: Bool {
        switch source {
        case .toOne, .toMany: true
        case .object, .attribute, .composite: false
        }
    }

    /// Whether values of the column are identities of objects.
    var isIdentity: Bool {
        switch source {
        case .object, .toOne: true
        case .attribute, .composite, .toMany: false
        }
    }

    /// Whether values of the column are best read with their right ends below each other.
    var isNumeric: Bool {
        switch source {
        case .toMany: true
        case .attribute(let type, _):
            [
                .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
                .doubleAttributeType, .floatAttributeType,
            ].contains(type)
        case .object, .toOne, .composite: false
        }
    }
}
