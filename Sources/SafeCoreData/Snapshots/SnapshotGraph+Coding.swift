extension CodingUserInfoKey {
    /// Classes, as `[any EntityObject.Type]`, that a decoded `SnapshotGraph` may show besides those that relationships of its
    /// root's class lead to: subclasses.
    public static let snapshotClasses = CodingUserInfoKey(rawValue: "SafeCoreData.snapshotClasses")
}

extension SnapshotGraph: Codable {
    private enum Key: CodingKey { case root, related }
    private enum EntryKey: CodingKey { case entity, snapshot }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(root, forKey: .root)
        var list = container.nestedUnkeyedContainer(forKey: .related)
        for snapshot in all.dropFirst() {
            var entry = list.nestedContainer(keyedBy: EntryKey.self)
            try entry.encode(snapshot.declaredEntity, forKey: .entity)
            try entry.encode(snapshot, forKey: .snapshot)
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let root = try container.decode(Root.self, forKey: .root)
        let types = Self.types(adding: decoder.userInfo)
        var list = try container.nestedUnkeyedContainer(forKey: .related)
        var related: [any EntitySnapshot] = []
        while !list.isAtEnd {
            let entry = try list.nestedContainer(keyedBy: EntryKey.self)
            let name = try entry.decode(String.self, forKey: .entity)
            guard let type = types[name] else {
                throw DecodingError.dataCorruptedError(
                    forKey: .entity, in: entry,
                    debugDescription: "No class for the entity \(name) is known: give it with CodingUserInfoKey.snapshotClasses.")
            }
            related.append(try entry.decode(type, forKey: .snapshot))
        }
        self.init(root: root, related: related)
    }

    /// The snapshot types of the entities that the root's class leads to.
    private static func types(adding userInfo: [CodingUserInfoKey: Any]) -> [String: any EntitySnapshot.Type] {
        let given = CodingUserInfoKey.snapshotClasses.flatMap { userInfo[$0] as? [any EntityObject.Type] } ?? []
        let declarations = ModelAssembly.declarations(of: [Root.Object.self] + given)
        var types: [String: any EntitySnapshot.Type] = [:]
        for declaration in declarations {
            types[declaration.name] = (declaration.objectClass as? any EntityObject.Type)?._snapshotType
        }
        return types
    }
}

extension EntitySnapshot {
    /// The entity that the snapshot's class describes.
    fileprivate var declaredEntity: String { Object.describeEntity().name }
}
