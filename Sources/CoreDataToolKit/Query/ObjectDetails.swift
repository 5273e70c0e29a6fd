import CoreData

/// An object with all its values and what its relationships lead to.
struct ObjectDetails {
    /// An object behind a relationship.
    struct Member {
        let objectID: NSManagedObjectID
        let name: ObjectName
        /// A text by which people know the object; nil if it has none, or if its row is missing.
        let label: String?
    }

    struct Relationship {
        let name: String
        let isToMany: Bool
        let count: Int
        /// The first members.
        let members: [Member]
    }

    let name: ObjectName
    let uri: String
    let label: String?
    let attributes: [(name: String, value: CellValue)]
    let relationships: [Relationship]

    /// Returns the value of the text attribute that most likely names an object: `name` or the
    /// like, or else the first one that has a value.
    static func label(of object: NSManagedObject) -> String? {
        guard ObjectTree.exists(object) else { return nil }
        let texts = object.entity.attributesByName.values.filter {
            $0.attributeType == .stringAttributeType && !$0.isTransient
        }.map(\.name).sorted()
        let usual = ["name", "title", "label"].compactMap { word in texts.first { $0.lowercased() == word } }
        for key in usual + texts {
            if let text = object.value(forKey: key) as? String, !text.isEmpty { return text }
        }
        return nil
    }
}

/// Reads objects with what is behind their relationships.
struct ObjectInspector {
    private let opened: OpenedStore

    /// The number of members of a relationship that are named, and followed.
    private static let shownMembers = 20

    init(_ opened: OpenedStore) { self.opened = opened }

    /// Returns an object, and behind it the objects to which relationships lead, each once.
    ///
    /// - Parameters:
    ///   - keys: the relationships of the first object that are followed; nil for all.
    ///   - levels: the number of levels of relationships that are followed.
    /// - Throws: `ToolError` if the first object does not exist, or for unknown relationships.
    func objects(
        from id: NSManagedObjectID, following keys: [String]?, levels: Int
    ) throws -> (objects: [ObjectDetails], problems: [String]) {
        let names = try keys.map { keys throws(ToolError) in try relationships(keys, of: id.entity) }
        var problems: [String] = []
        guard let first = try details(of: id, &problems) else {
            throw ToolError("There is no object \(ObjectName(id).text). 'coredata query' shows those that there are.")
        }
        var found = [first]
        var seen: Set = [id]
        var level = first.relationships.filter { names?.contains($0.name) ?? true }.flatMap(\.members)
        for _ in 0..<levels {
            var next: [ObjectDetails.Member] = []
            for member in level where seen.insert(member.objectID).inserted {
                guard let details = try details(of: member.objectID, &problems) else { continue }
                found.append(details)
                next += details.relationships.flatMap(\.members)
            }
            if next.isEmpty { break }
            level = next
        }
        return (found, problems)
    }

    private func relationships(_ keys: [String], of entity: NSEntityDescription) throws(ToolError) -> Set<String> {
        var names: Set<String> = []
        for key in keys {
            guard let property = KeyPathResolver.property(key, of: entity) else {
                throw ToolError("--follow \(key): " + UnknownKey(key: key, keyPath: key, entity: entity).message)
            }
            guard property is NSRelationshipDescription else {
                throw ToolError("--follow \(key): '\(property.name)' is no relationship. Name one.")
            }
            names.insert(property.name)
        }
        return names
    }

    /// Returns an object; nil if it does not exist.
    private func details(of id: NSManagedObjectID, _ problems: inout [String]) throws -> ObjectDetails? {
        let columns = QueryColumn.all(of: id.entity, model: opened.model)
        var rows = QueryRows(opened, entity: id.entity, columns: columns)
        rows.predicate = NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: id),
            modifier: .direct, type: .equalTo, options: [])
        var details: ObjectDetails?
        let outcome = try rows.forEachObject { object, row in
            details = self.details(of: object, Array(zip(columns, row)))
        }
        for problem in outcome.problems where !problems.contains(problem) { problems.append(problem) }
        return details
    }

    private func details(of object: NSManagedObject, _ cells: [(column: QueryColumn, value: CellValue)])
        -> ObjectDetails
    {
        var attributes: [(name: String, value: CellValue)] = []
        var relationships: [ObjectDetails.Relationship] = []
        for (column, value) in cells {
            switch column.source {
            case .object: break
            case .attribute, .composite: attributes.append((column.name, value))
            case .toOne, .toMany: relationships.append(relationship(column.name, of: object))
            }
        }
        return ObjectDetails(
            name: ObjectName(object.objectID), uri: object.objectID.uriRepresentation().absoluteString,
            label: ObjectDetails.label(of: object), attributes: attributes, relationships: relationships)
    }

    private func relationship(_ name: String, of object: NSManagedObject) -> ObjectDetails.Relationship {
        let members = Expansion.members(of: object, name)
        return ObjectDetails.Relationship(
            name: name, isToMany: object.entity.relationshipsByName[name]?.isToMany ?? false, count: members.count,
            members: members.prefix(Self.shownMembers).map { member in
                ObjectDetails.Member(
                    objectID: member.objectID, name: ObjectName(member.objectID),
                    label: ObjectDetails.label(of: member))
            })
    }
}
