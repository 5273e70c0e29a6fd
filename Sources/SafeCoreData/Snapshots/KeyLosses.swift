/// The keys that the decoding of one value asks for.
final class CodedKeys {
    /// Each key by its text and, where it is a case, by the name of that.
    private(set) var names: [Set<String>] = []

    func insert(_ key: some CodingKey) {
        var names: Set<String> = [key.stringValue]
        if Mirror(reflecting: key).displayStyle == .enum, let name = caseName(key) { names.insert(String(cString: name)) }
        self.names.append(names)
    }
}

/// The name of an enumeration's case: the entry point of the Swift runtime that reflection uses.
@_silgen_name("swift_EnumCaseName")
private func caseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Stored properties that types do not encode: their `CodingKeys` leave them out, so that their values are lost.
final class KeyLosses {
    /// Such as `Dimensions.height`.
    private(set) var properties: Set<String> = []

    /// Compares the stored properties of a value with the keys that it asked for.
    func note<Value>(_ value: Value, _ keys: CodedKeys) {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class, !keys.names.isEmpty else { return }
        let labels = mirror.children.compactMap(\.label).filter { !$0.hasPrefix("$") }
        // A constant is written and not read.
        let names = keys.names + encodedKeys(of: value).map { [$0] }
        let known = names.reduce(into: Set<String>()) { $0.formUnion($1) }
        // A property wrapper's storage has an underscore before the property's name.
        let missing = labels.filter { !known.contains($0) && !($0.hasPrefix("_") && known.contains(String($0.dropFirst()))) }
        // Code of the type's own may give properties other keys.
        let others = keys.names.filter { key in !key.contains { labels.contains($0) || labels.contains("_\($0)") } }
        if missing.count > others.count { properties.formUnion(missing.map { "\(Value.self).\($0)" }) }
    }

    private func encodedKeys(of value: Any) -> [String] {
        guard let value = value as? any Encodable, let data = try? JSONEncoder().encode(value),
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return [] }
        return Array(object.keys)
    }
}
