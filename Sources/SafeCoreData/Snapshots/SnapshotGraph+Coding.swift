extension CodingUserInfoKey {
    /// Classes, as `[any EntityObject.Type]`, that a decoded `SnapshotGraph` may contain besides
    /// those that relationships of its root's class refer to.
    ///
    /// Needed only if a class is not found by its name: a graph from another program may name
    /// classes differently, and two modules may have classes of the same name.
    ///
    /// ```swift
    /// let classes: [any EntityObject.Type] = [Novel.self]
    /// decoder.userInfo[.snapshotClasses!] = classes
    /// ```
    public static let snapshotClasses = CodingUserInfoKey(rawValue: "SafeCoreData.snapshotClasses")
}

extension SnapshotGraph: Codable {
    private enum Key: CodingKey { case root, related }
    private enum EntryKey: String, CodingKey {
        case entity, snapshot
        case objectClass = "class"
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(root, forKey: .root)
        var list = container.nestedUnkeyedContainer(forKey: .related)
        for snapshot in others {
            var entry = list.nestedContainer(keyedBy: EntryKey.self)
            try entry.encode(snapshot.declaredEntity, forKey: .entity)
            try entry.encode(snapshot.className, forKey: .objectClass)
            try entry.encode(snapshot, forKey: .snapshot)
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let root = try container.decode(Root.self, forKey: .root)
        var types = SnapshotTypes(root: Root.Object.self, adding: decoder.userInfo)
        var list = try container.nestedUnkeyedContainer(forKey: .related)
        var related: [any EntitySnapshot] = []
        while !list.isAtEnd {
            let entry = try list.nestedContainer(keyedBy: EntryKey.self)
            let name = try entry.decode(String.self, forKey: .entity)
            let className = try entry.decodeIfPresent(String.self, forKey: .objectClass)
            guard let type = types.type(ofEntity: name, className: className ?? name) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .entity, in: entry,
                    debugDescription:
                        "No class \(className ?? name) for the entity \(name) is in the program, or several: give "
                        + "the one "
                        + "that is meant with CodingUserInfoKey.snapshotClasses.")
            }
            related.append(try entry.decode(type, forKey: .snapshot))
        }
        self.init(root: root, related: related)
    }
}

/// Finds the snapshot types of entities in an encoded graph.
private struct SnapshotTypes {
    private let classes: [any EntityObject.Type]
    private var types: [String: any EntitySnapshot.Type] = [:]

    /// Begins with the entities that are reachable from the root's class.
    init(root: any EntityObject.Type, adding userInfo: [CodingUserInfoKey: Any]) {
        let given = CodingUserInfoKey.snapshotClasses.flatMap { userInfo[$0] as? [any EntityObject.Type] } ?? []
        let declarations = ModelAssembly.declarations(of: [root] + given)
        classes = declarations.compactMap { $0.objectClass as? any EntityObject.Type }
        for declaration in declarations {
            types[declaration.name] = (declaration.objectClass as? any EntityObject.Type)?._snapshotType
        }
    }

    /// Returns the snapshot type of an entity. If no relationship refers to the entity's class,
    /// searches the program for the class.
    mutating func type(ofEntity name: String, className: String) -> (any EntitySnapshot.Type)? {
        if let known = types[name] { return known }
        // Subclasses of known classes come before other classes of the program.
        for base in classes + [NSManagedObject.self] as [NSManagedObject.Type] {
            guard let found = ClassLookup.subclass(named: className, of: base) as? any EntityObject.Type,
                found.describeEntity().name == name
            else { continue }
            types[name] = found._snapshotType
            return found._snapshotType
        }
        return nil
    }
}

extension EntitySnapshot {
    /// The name of the entity that the snapshot's class describes.
    fileprivate var declaredEntity: String { Object.describeEntity().name }

    /// The name of the snapshot's class, by which a program can find it.
    fileprivate var className: String { ClassLookup.name(of: Object.self) }
}
