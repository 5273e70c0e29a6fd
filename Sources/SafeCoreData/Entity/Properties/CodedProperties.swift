/// A required attribute of a `Codable` type, stored as JSON in a binary attribute.
///
/// Each read decodes, each write encodes: O(size of the value).
public enum _CodedProperty<Value: Codable>: _AttributeKind {
    /// Bytes that cannot be decoded stop the program with a message, as there is nothing to return.
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        let data = Data._get(object, name)
        do {
            return try CodedValue.decode(Value.self, from: data)
        } catch {
            return _PropertyPlaceholder.value(
                object, name, isMissing: data.isEmpty, problem: data.isEmpty ? "it is nil" : "\(error)")
        }
    }

    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        Data._set(CodedValue.encode(value), object, name)
    }

    public static func describe() -> NSPropertyDescription { jsonAttribute(isOptional: false) }

    public static func modelValue(_ value: Value) -> Any? { CodedValue.encode(value) }
}

/// An optional attribute of a `Codable` type, stored as JSON in a binary attribute; bytes that
/// cannot be decoded read as nil.
public enum _OptionalCodedProperty<Wrapped: Codable>: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        guard let data = Data._getOptional(object, name) else { return nil }
        return (try? CodedValue.decode(Wrapped.self, from: data)) ?? _PropertyPlaceholder.optional(object, Wrapped.self)
    }

    public static func set(_ value: Wrapped?, _ object: NSManagedObject, _ name: StaticString) {
        Data._setOptional(value.map { CodedValue.encode($0) }, object, name)
    }

    public static func describe() -> NSPropertyDescription { jsonAttribute(isOptional: true) }

    public static func modelValue(_ value: Wrapped?) -> Any? { value.map { CodedValue.encode($0) } }
}

/// Converts `Codable` values to bytes and back. The bytes are JSON with sorted keys and with the
/// elements of a set sorted by their JSON texts, so that equal values have equal bytes. (A set
/// nested in another value is not sorted, and may be stored again although it has not changed.)
enum CodedValue {
    private static let infinity = "inf"
    private static let negativeInfinity = "-inf"
    private static let notANumber = "nan"

    static func encode<Value: Encodable>(_ value: Value) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
        do {
            if let set = value as? any EncodableSet { return try set.sortedArray(encoder) }
            return try encoder.encode(value)
        } catch {
            preconditionFailure("A \(Value.self) cannot be stored: its encode(to:) failed with \(error).")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
        return try decoder.decode(type, from: data)
    }
}

/// A set whose elements can be encoded.
private protocol EncodableSet {
    func sortedArray(_ encoder: JSONEncoder) throws -> Data
}

extension Set: EncodableSet where Element: Encodable {
    fileprivate func sortedArray(_ encoder: JSONEncoder) throws -> Data {
        let elements = try map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        return Data("[\(elements.sorted().joined(separator: ","))]".utf8)
    }
}
