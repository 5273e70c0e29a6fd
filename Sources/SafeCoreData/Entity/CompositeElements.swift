/// The values of a composite attribute's elements, by name.
///
/// ```swift
/// init(_ elements: CompositeElements) throws {            // of a CompositeValue
///     city = try elements.required("city")
///     zip = try elements.optional("zip")
/// }
/// ```
public struct CompositeElements {
    /// The name of the property that has the composite.
    let property: String
    private(set) var values: [String: Any]

    init(property: String, _ values: [String: Any] = [:]) {
        self.property = property
        self.values = values
    }

    /// The element without a name of its own has the property's.
    private func key(_ name: String) -> String { name.isEmpty ? property : name }

    // MARK: Reading

    // The type chooses among the functions: a result alone would leave an enumeration ambiguous, which is several of these types.

    /// The value of an element.
    ///
    /// - Throws: an error when the element is nil or of another type.
    public func required<Value: NativeAttributeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    /// The value of an element that may be nil.
    ///
    /// - Throws: an error when the element is of another type.
    public func optional<Value: NativeAttributeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        if let value = object as? Value { return value }
        if Value.self == Decimal.self, let number = object as? NSNumber, let value = number.decimalValue as? Value { return value }
        throw CompositeValueError("the element '\(key(name))' is a \(type(of: object)), not a \(Value.self)")
    }

    /// The value of an element with raw values. Throws where it is nil or the raw value stands for none.
    public func required<Value: RawRepresentable>(_ name: String, as _: Value.Type = Value.self) throws -> Value
    where Value.RawValue: NativeAttributeValue {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    /// The value of an element with raw values that may be nil. Throws where the raw value stands for none.
    public func optional<Value: RawRepresentable>(_ name: String, as _: Value.Type = Value.self) throws -> Value?
    where Value.RawValue: NativeAttributeValue {
        guard let raw: Value.RawValue = try optional(name) else { return nil }
        guard let value = Value(rawValue: raw) else { throw CompositeValueError("\(raw) stands for no \(Value.self)") }
        return value
    }

    /// The value of an element that is composite itself; nil counts as one whose elements are all nil. Throws what the type's
    /// initializer throws.
    public func required<Value: CompositeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    /// The value of an element that is composite itself and may be nil. Throws what the type's initializer throws.
    public func optional<Value: CompositeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    /// The value of an element that is an enumeration. Throws where it is nil or stands for no case.
    public func required<Value: CompositeEnumeration>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    /// The value of an element that is an enumeration and may be nil. Throws where it stands for no case.
    public func optional<Value: CompositeEnumeration>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    /// The value of an element that is kept as JSON. Throws where it is nil or cannot be decoded.
    @_disfavoredOverload
    public func required<Value: Codable>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    /// The value of an element that is kept as JSON and may be nil. Throws where it cannot be decoded.
    @_disfavoredOverload
    public func optional<Value: Codable>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        guard let data = object as? Data else { throw CompositeValueError("the element '\(key(name))' holds no bytes") }
        return try CodedValue.decode(Value.self, from: data)
    }

    // MARK: Writing

    /// Gives an element its value.
    public mutating func set<Value: NativeAttributeValue>(_ name: String, _ value: Value?) { values[key(name)] = value }

    /// Gives an element its raw value.
    public mutating func set<Value: RawRepresentable>(_ name: String, _ value: Value?) where Value.RawValue: NativeAttributeValue {
        values[key(name)] = value?.rawValue
    }

    /// Gives an element that is composite itself its value.
    public mutating func set<Value: CompositeValue>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

    /// Gives an element that is an enumeration its case.
    public mutating func set<Value: CompositeEnumeration>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

    /// Gives an element its value as JSON with sorted keys.
    @_disfavoredOverload
    public mutating func set<Value: Codable>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CodedValue.encode($0) }
    }

    /// A value as the dictionary that key-value coding takes.
    static func dictionary<Value: CompositeValue>(of value: Value, property: String) -> [String: Any] {
        var elements = CompositeElements(property: property)
        value.write(to: &elements)
        return elements.values
    }
}
