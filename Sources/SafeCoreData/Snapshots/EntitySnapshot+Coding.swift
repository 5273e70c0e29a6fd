// Encoding: one key for each property that the snapshot has, and `objectID`. If `objectID` is
// missing, as in JSON of other programs, the snapshot is of a new object that does not exist yet.

extension EntitySnapshot {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: _SnapshotKey.self)
        self.init(try container.decodeIfPresent(ObjectReference.self, forKey: "objectID") ?? .new(Object.self))
        var visitor = SnapshotDecoding(container: container)
        try _visit(&visitor)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: _SnapshotKey.self)
        try container.encode(objectID, forKey: "objectID")
        var visitor = SnapshotEncoding(container: container)
        try visit(&visitor)
    }
}

private struct SnapshotEncoding: _SnapshotVisitor {
    var container: KeyedEncodingContainer<_SnapshotKey>

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) throws {
        guard let stored = property.stored else { return }
        try Kind._encode(stored, &container, _SnapshotKey(name))
    }
}

private struct SnapshotDecoding: _SnapshotVisitor {
    let container: KeyedDecodingContainer<_SnapshotKey>

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) throws {
        let key = _SnapshotKey(name)
        if container.contains(key) { property.stored = try Kind._decode(container, key) }
    }
}
