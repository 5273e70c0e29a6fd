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
    /// Whether the name is a path of several keys.
    private let isPath: Bool

    init(name: String, source: Source) {
        self.name = name
        self.source = source
        isPath = name.contains(".")
    }

    /// The name of the column that identifies objects.
    static let objectID = "objectID"

    /// Returns all columns of an entity: the object's ID, attributes, relationships, each group
    /// sorted by name.
    static func all(of entity: NSEntityDescription, model: StoreModel) -> [QueryColumn] {
        let properties = entity.properties.sorted { $0.name < $1.name }.compactMap { column($0, model) }
        return [QueryColumn(name: objectID, source: .object)] + properties.filter { !$0.isRelationship }
            + properties.filter(\.isRelationship)
    }

    /// Returns the columns that the person named, or all of an entity.
    ///
    /// - Throws: `ToolError` for a name that is not a stored property.
    static func columns(
        named names: [String]?, of entity: NSEntityDescription, model: StoreModel
    ) throws(ToolError) -> [QueryColumn] {
        guard let names else { return all(of: entity, model: model) }
        var columns: [QueryColumn] = []
        for name in names {
            if let property = KeyPathResolver.property(name, of: entity) {
                guard let column = column(property, model) else {
                    throw ToolError(
                        "The property '\(property.name)' of '\(entity.name ?? "")' is not kept in the store. Leave "
                            + "it out."
                    )
                }
                columns.append(column)
            } else if name.contains(".") {
                columns.append(try column(at: name, of: entity, model))
            } else if name.lowercased() == objectID.lowercased() {
                columns.append(QueryColumn(name: objectID, source: .object))
            } else {
                throw ToolError(UnknownKey(key: name, keyPath: name, entity: entity).message)
            }
        }
        return columns
    }

    /// Returns the column for a path: an element of a composite attribute, a property reached
    /// through to-one relationships, or a number of objects.
    ///
    /// - Throws: `ToolError` for a name that does not exist, and for values of several objects.
    ///
    /// - Parameter option: the option that names the path, for messages.
    private static func column(
        at path: String, of entity: NSEntityDescription, _ model: StoreModel, option: String = "columns"
    ) throws(ToolError) -> QueryColumn {
        let resolved: KeyPathResolver.Resolved
        do {
            resolved = try KeyPathResolver.resolve(path, from: entity)
        } catch {
            throw ToolError("--\(option) \(path): \(error.message)")
        }
        let counted = resolved.keyPath.hasSuffix(".@count") ? String(resolved.keyPath.dropLast(".@count".count)) : nil
        if let toMany = KeyPathResolver.relationshipsToMany(on: counted ?? resolved.keyPath, from: entity).first,
            counted == nil
        {
            if toMany == resolved.keyPath { return QueryColumn(name: toMany, source: .toMany) }
            throw ToolError(
                "--\(option) \(path): '\(toMany)' leads to several objects. Show how many: \(toMany).@count.")
        }
        if let counted, KeyPathResolver.relationshipsToMany(on: counted, from: entity) == [counted] {
            return QueryColumn(
                name: resolved.keyPath, source: .attribute(.integer64AttributeType, isTransformable: false))
        }
        let suffix = "." + objectID
        if resolved.keyPath.hasSuffix(suffix), resolved.property == nil {
            return QueryColumn(name: resolved.keyPath, source: .toOne)
        }
        guard let property = resolved.property else {
            throw ToolError("--\(option) \(path): it leads to no property. Name one, or objectID.")
        }
        guard let column = column(property, named: resolved.keyPath, model) else {
            throw ToolError(
                "--\(option) \(path): the property '\(property.name)' is not kept in the store. Leave it out.")
        }
        return column
    }

    /// Returns the column for a path to one value of each object.
    ///
    /// - Throws: `ToolError` for paths to several objects, composite attributes and unknown names.
    static func singleColumn(
        at path: String, of entity: NSEntityDescription, _ model: StoreModel, option: String
    ) throws(ToolError) -> QueryColumn {
        let column = try column(at: path, of: entity, model, option: option)
        switch column.source {
        case .toMany:
            throw ToolError("--\(option) \(path): '\(column.name)' leads to several objects. Name a single value.")
        case .composite(let composite, _):
            let elements = composite.elements.map { "\(column.name).\($0.name)" }.joined(separator: ", ")
            throw ToolError(
                "--\(option) \(path): '\(column.name)' is a composite attribute. Name its elements: \(elements).")
        default: return column
        }
    }

    private static func column(_ attribute: NSAttributeDescription, _ name: String, _ model: StoreModel) -> QueryColumn
    {
        if let composite = attribute as? NSCompositeAttributeDescription {
            return QueryColumn(name: name, source: .composite(composite, transformables: model.transformables))
        }
        let isTransformable = model.transformables.contains(ObjectIdentifier(attribute))
        return QueryColumn(name: name, source: .attribute(attribute.attributeType, isTransformable: isTransformable))
    }

    /// Returns the column of a property; nil if it is not stored.
    ///
    /// - Parameter path: the path by which the property is reached; nil for the entity's own.
    private static func column(_ property: NSPropertyDescription, named path: String? = nil, _ model: StoreModel)
        -> QueryColumn?
    {
        if property.isTransient { return nil }
        let name = path ?? property.name
        switch property {
        case let attribute as NSAttributeDescription: return column(attribute, name, model)
        case let relationship as NSRelationshipDescription:
            return QueryColumn(name: name, source: relationship.isToMany ? .toMany : .toOne)
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

    /// Whether values of the column should be aligned to the right.
    var isNumeric: Bool {
        switch source {
        case .toMany: true
        case .attribute(let type, _): type.isNumeric
        case .object, .toOne, .composite: false
        }
    }

    // MARK: Values

    /// Returns the value of an object in a column.
    ///
    /// - Parameters:
    ///   - oddCells: the object's values that contradict the model.
    ///   - counts: the counts of to-many relationships that are known already.
    func value(
        of object: NSManagedObject, _ oddCells: [CellChecks.OddCell]? = nil, counts: ToManyCounts? = nil
    ) -> CellValue {
        switch source {
        case .object: return CellValue(object.objectID)
        case .composite(let composite, let transformables):
            let odd = OddCells.elements(of: self, among: oddCells)
            return CellValue(rawValue(of: object), of: composite, transformables, odd: odd)
        case .toMany:
            if let count = counts?.count(name, of: object) { return .number(String(count)) }
            return value(object.value(forKeyPath: name + ".@count"))
        case .attribute, .toOne: return value(rawValue(of: object))
        }
    }

    /// Returns a value that the engine gives for the column.
    func value(_ raw: Any?) -> CellValue {
        switch source {
        case .attribute(let type, let isTransformable):
            return CellValue(raw, type: type, isTransformable: isTransformable)
        case .composite(let composite, let transformables): return CellValue(raw, of: composite, transformables)
        case .object, .toOne:
            switch raw {
            case let object as NSManagedObject: return CellValue(object.objectID)
            case let objectID as NSManagedObjectID: return CellValue(objectID)
            default: return .null
            }
        case .toMany: return .number(String((raw as? NSNumber)?.intValue ?? 0))
        }
    }

    private func rawValue(of object: NSManagedObject) -> Any? {
        isPath ? object.value(forKeyPath: name) : object.value(forKey: name)
    }
}
