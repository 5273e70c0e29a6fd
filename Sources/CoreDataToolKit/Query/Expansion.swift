import CoreData

/// A relationship whose objects a query shows with the object: `--expand KEY[:DEPTH]`.
struct Expansion {
    /// The words of the person.
    struct Request {
        let key: String
        /// The number of levels of relationships; 1 is the members themselves.
        let depth: Int

        /// - Throws: `UsageError` for a text that is no `KEY` or `KEY:DEPTH`.
        init(_ text: String) throws(UsageError) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let depth = parts.count > 1 ? Int(parts[1]) : 1
            guard parts.count <= 2, !parts[0].isEmpty, let depth, (1...Self.greatestDepth).contains(depth) else {
                throw UsageError(
                    message: "--expand takes KEY or KEY:DEPTH with a depth from 1 to \(Self.greatestDepth), not "
                        + "'\(text)'.")
            }
            key = parts[0]
            self.depth = depth
        }

        private static let greatestDepth = 20
    }

    let relationship: NSRelationshipDescription
    let depth: Int
    /// The columns of members that the person chose; nil for all of each member's own entity.
    private(set) var chosen: [QueryColumn]?

    var name: String { relationship.name }

    /// - Throws: `ToolError` for a key that is no relationship.
    init(_ request: Request, of entity: NSEntityDescription) throws(ToolError) {
        guard let property = KeyPathResolver.property(request.key, of: entity) else {
            throw ToolError(
                "--expand \(request.key): "
                    + UnknownKey(key: request.key, keyPath: request.key, entity: entity).message)
        }
        guard let relationship = property as? NSRelationshipDescription else {
            throw ToolError("--expand \(request.key): '\(property.name)' is no relationship. Name one.")
        }
        self.relationship = relationship
        depth = request.depth
    }

    /// Takes the columns that are paths through the relationship away from others: they are columns
    /// of the members.
    ///
    /// - Returns: the other names.
    mutating func takeColumns(from names: [String], _ model: StoreModel) throws(ToolError) -> [String] {
        let prefix = name.lowercased() + "."
        func isMine(_ name: String) -> Bool { name.lowercased().hasPrefix(prefix) && !name.hasSuffix("@count") }
        let mine = names.filter(isMine).map { String($0.dropFirst(prefix.count)) }
        if !mine.isEmpty, let destination = relationship.destinationEntity {
            chosen = try QueryColumn.columns(named: mine, of: destination, model: model)
        }
        return names.filter { !isMine($0) && $0.lowercased() != name.lowercased() }
    }

    /// Returns the members of an object: one of a to-one relationship, and those of a to-many one
    /// in their order, or else in the order of their keys.
    func members(of object: NSManagedObject) -> [NSManagedObject] { Self.members(of: object, name) }

    static func members(of object: NSManagedObject, _ name: String) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let member as NSManagedObject: return [member]
        case let ordered as NSOrderedSet: return ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet:
            let members = set.allObjects.compactMap { $0 as? NSManagedObject }
            let named = members.map { ($0, ObjectName($0.objectID)) }
            return named.sorted { ($0.1.key ?? 0, $0.1.text) < ($1.1.key ?? 0, $1.1.text) }.map(\.0)
        default: return []
        }
    }
}
