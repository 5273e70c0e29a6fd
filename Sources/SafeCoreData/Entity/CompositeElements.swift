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

    /// The value of an element.
    ///
    /// - Throws: an error when the element is nil or of another type.
    public func required<Value: NativeAttributeValue>(_ name: String) throws -> Value {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    /// The value of an element that may be nil.
    ///
    /// - Throws: an error when the element is of another type.
    public func optional<Value: NativeAttributeValue>(_ name: String) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        if let value = object as? Value { return value }
        if Value.self == Decimal.self, let number = object as? NSNumber, let value = number.decimalValue as? Value { return value }
        throw CompositeValueError("the element '\(key(name))' is a \(type(of: object)), not a \(Value.self)")
    }

    public func required<Value: RawRepresentable>(_ name: String) throws -> Value where Value.RawValue: NativeAttributeValue {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    public func optional<Value: RawRepresentable>(_ name: String) throws -> Value? where Value.RawValue: NativeAttributeValue {
        guard let raw: Value.RawValue = try optional(name) else { return nil }
        guard let value = Value(rawValue: raw) else { throw CompositeValueError("\(raw) stands for no \(Value.self)") }
        return value
    }

    public func required<Value: CompositeValue>(_ name: String) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    public func optional<Value: CompositeValue>(_ name: String) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    public func required<Value: CompositeEnumeration>(_ name: String) throws -> Value {
        try Value(CompositeElements(property: name, values[key(name)] as? [String: Any] ?? [:]))
    }

    public func optional<Value: CompositeEnumeration>(_ name: String) throws -> Value? {
        try (values[key(name)] as? [String: Any]).map { try Value(CompositeElements(property: name, $0)) }
    }

    @_disfavoredOverload
    public func required<Value: Codable>(_ name: String) throws -> Value {
        guard let value: Value = try optional(name) else { throw CompositeValueError("the element '\(key(name))' is nil") }
        return value
    }

    @_disfavoredOverload
    public func optional<Value: Codable>(_ name: String) throws -> Value? {
        guard let object = values[key(name)] else { return nil }
        guard let data = object as? Data else { throw CompositeValueError("the element '\(key(name))' holds no bytes") }
        return try CodedValue.decode(Value.self, from: data)
    }

    // MARK: Writing

    /// Gives an element its value.
    public mutating func set<Value: NativeAttributeValue>(_ name: String, _ value: Value?) { values[key(name)] = value }

    public mutating func set<Value: RawRepresentable>(_ name: String, _ value: Value?) where Value.RawValue: NativeAttributeValue {
        values[key(name)] = value?.rawValue
    }

    public mutating func set<Value: CompositeValue>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

    public mutating func set<Value: CompositeEnumeration>(_ name: String, _ value: Value?) {
        values[key(name)] = value.map { CompositeElements.dictionary(of: $0, property: name) }
    }

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
