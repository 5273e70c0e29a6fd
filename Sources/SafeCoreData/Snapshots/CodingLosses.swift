extension EntityObject {
    /// Returns the properties whose values differ after encoding and decoding, because their types
    /// do not encode everything.
    ///
    /// - Returns: for each of them its name, the value, and the decoded value.
    package func _codingLosses() -> [(name: String, value: String, decoded: String)] {
        var finder = LossFinder(object: self)
        try? Self._snapshotType.visitAll(&finder)
        return finder.losses
    }

    /// Returns, for each attribute of a `Codable` type, its name and the stored properties that the
    /// type does not encode.
    package static func _uncodedPropertiesByEntity() -> [(name: String, properties: [String])] {
        var finder = UncodedPropertyFinder()
        try? _snapshotType.visitAll(&finder)
        return finder.found
    }
}

private struct UncodedPropertyFinder: _SnapshotVisitor {
    var found: [(name: String, properties: [String])] = []

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        let properties = Kind._uncodedProperties()
        if !properties.isEmpty { found.append((name.description, properties)) }
    }
}

private struct LossFinder: _SnapshotVisitor {
    let object: NSManagedObject
    var losses: [(name: String, value: String, decoded: String)] = []

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        guard !Kind._isToMany, Kind._destination == nil else { return }
        let stored = Kind._stored(object, name)
        // A missing value loses nothing, and there may be no placeholder to read it as.
        if object.value(forKey: name.description) == nil || (stored as? Data)?.isEmpty ?? false { return }
        let value = Kind._value(stored)
        guard let comparable = value as? any Equatable else { return }
        let decoded = Kind._value(Kind._stored(value))
        if !comparable.isEqual(to: decoded) { losses.append((name.description, "\(value)", "\(decoded)")) }
    }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
}
