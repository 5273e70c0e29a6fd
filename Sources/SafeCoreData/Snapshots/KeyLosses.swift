/// The keys that are requested while one value is decoded.
final class CodedKeys {
    /// For each key, its string value and, if the key is an enumeration case, the name of the case.
    private(set) var names: [Set<String>] = []

    func insert(_ key: some CodingKey) {
        var names: Set<String> = [key.stringValue]
        if Mirror(reflecting: key).displayStyle == .enum, let name = caseName(key) {
            names.insert(String(cString: name))
        }
        self.names.append(names)
    }
}

/// Returns the name of an enumeration's case. The function of the Swift runtime that reflection
/// uses.
@_silgen_name("swift_EnumCaseName")
private func caseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// The stored properties that types do not encode: their `CodingKeys` omit them, so that their
/// values are lost.
final class KeyLosses {
    /// The names of the properties, such as `Dimensions.height`.
    private(set) var properties: Set<String> = []

    /// Compares the stored properties of a value with the keys that its decoding requested.
    func note<Value>(_ value: Value, _ keys: CodedKeys) {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class, !keys.names.isEmpty else { return }
        let labels = mirror.children.compactMap(\.label).filter { !$0.hasPrefix("$") }
        // A constant is encoded but not decoded.
        let names = keys.names + encodedKeys(of: value).map { [$0] }
        let known = names.reduce(into: Set<String>()) { $0.formUnion($1) }
        // A property wrapper's storage has an underscore before the property's name.
        let missing = labels.filter {
            !known.contains($0) && !($0.hasPrefix("_") && known.contains(String($0.dropFirst())))
        }
        // A hand-written implementation may use other keys for properties.
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
