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

    /// Returns the key of an element. An element without a name has the name of the property.
    private func key(_ name: String) -> String { name.isEmpty ? property : name }

    // MARK: Reading

    // The `as` parameter selects the overload: the result type alone would be ambiguous for an
    // enumeration that conforms to several of these protocols.

    /// Returns the value of an element.
    ///
    /// - Throws: an error when the element is nil or of another type.
    public func required<Value: NativeAttributeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        guard let value: Value = try optional(name) else {
            throw CompositeValueError("the element '\(key(name))' is nil")
        }
        return value
    }

    /// Returns the value of an element that may be nil.
    ///
    /// - Throws: an error when the element is of another type.
    public func optional<Value: NativeAttributeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        if let value = object as? Value { return value }
        if Value.self == Decimal.self, let number = object as? NSNumber, let value = number.decimalValue as? Value {
            return value
        }
        throw CompositeValueError("the element '\(key(name))' is a \(type(of: object)), not a \(Value.self)")
    }

    /// Returns the value of an element with raw values. Throws if it is nil or its raw value is
    /// invalid.
    public func required<Value: RawRepresentable>(_ name: String, as _: Value.Type = Value.self) throws -> Value
    where Value.RawValue: NativeAttributeValue {
        guard let value: Value = try optional(name) else {
            throw CompositeValueError("the element '\(key(name))' is nil")
        }
        return value
    }

    /// Returns the value of an element with raw values that may be nil. Throws if the raw value is
    /// invalid.
    public func optional<Value: RawRepresentable>(_ name: String, as _: Value.Type = Value.self) throws -> Value?
    where Value.RawValue: NativeAttributeValue {
        guard let raw: Value.RawValue = try optional(name) else { return nil }
        guard let value = Value(rawValue: raw) else { throw CompositeValueError("\(raw) stands for no \(Value.self)") }
        return value
    }

    /// Returns the value of a composite element; nil is treated as a composite whose elements are
    /// all nil. Throws errors of the type's initializer.
    public func required<Value: CompositeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    /// Returns the value of a composite element that may be nil. Throws errors of the type's
    /// initializer.
    public func optional<Value: CompositeValue>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    /// Returns the value of an element that is an enumeration. Throws if it is nil or not a case.
    public func required<Value: CompositeEnumeration>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    /// Returns the value of an element that is an enumeration and may be nil. Throws if it is not a
    /// case.
    public func optional<Value: CompositeEnumeration>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    /// Returns the value of an element that is stored as JSON. Throws if it is nil or cannot be
    /// decoded.
    @_disfavoredOverload
    public func required<Value: Codable>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
        guard let value: Value = try optional(name) else {
            throw CompositeValueError("the element '\(key(name))' is nil")
        }
        return value
    }

    /// Returns the value of an element that is stored as JSON and may be nil. Throws if it cannot
    /// be decoded.
    @_disfavoredOverload
    public func optional<Value: Codable>(_ name: String, as _: Value.Type = Value.self) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        guard let data = object as? Data else { throw CompositeValueError("the element '\(key(name))' holds no bytes") }
        return try CodedValue.decode(Value.self, from: data)
    }

    // MARK: Writing

    /// Sets the value of an element.
    public mutating func set<Value: NativeAttributeValue>(_ name: String, _ value: Value?) { values[key(name)] = value }

    /// Sets the raw value of an element.
    public mutating func set<Value: RawRepresentable>(_ name: String, _ value: Value?)
    where Value.RawValue: NativeAttributeValue {
        values[key(name)] = value?.rawValue
    }

    /// Sets the value of a composite element.
    public mutating func set<Value: CompositeValue>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

    /// Sets the case of an element that is an enumeration.
    public mutating func set<Value: CompositeEnumeration>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

    /// Sets the value of an element as JSON with sorted keys.
    @_disfavoredOverload
    public mutating func set<Value: Codable>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CodedValue.encode($0) }
    }

    /// Returns a value as the dictionary that key-value coding accepts.
    static func dictionary<Value: CompositeValue>(of value: Value, property: String) -> [String: Any] {
        var elements = CompositeElements(property: property)
        value.write(to: &elements)
        return elements.values
    }
}
