extension EntitySnapshot {
    /// The class, the object and the values of the snapshot as they are stored: raw values, numbers
    /// of bytes, references.
    public var description: String {
        var texts = PropertyTexts(texts: [objectID.description])
        try? visit(&texts)
        return "\(Object.self).Snapshot(\(texts.texts.joined(separator: ", ")))"
    }
}

private struct PropertyTexts: _SnapshotVisitor {
    var texts: [String]

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        guard let stored = property.stored else { return }
        texts.append("\(name): \(text(stored))")
    }

    private func text(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nil" }
        return (value as? String).map { "\"\($0)\"" } ?? "\(value)"
    }
}
