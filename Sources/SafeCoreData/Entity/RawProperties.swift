/// A required attribute of an enumeration or another type with a raw value, which is what is stored.
public enum _RawProperty<Value: RawRepresentable>: _AttributeKind where Value.RawValue: NativeAttributeValue {
    /// A raw value that stands for no value of the type stops the program with a message, as there is nothing to return.
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        let raw = Value.RawValue._get(object, name)
        return Value(rawValue: raw)
            ?? _PropertyPlaceholder.value(
                object, name, isMissing: Value.RawValue._getOptional(object, name) == nil, problem: "\(raw) stands for none")
    }

    @inlinable @inline(__always)
    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        Value.RawValue._set(value.rawValue, object, name)
    }

    public static func describe() -> NSPropertyDescription {
        attribute(Value.RawValue._attributeType, isOptional: false)
    }

    public static func modelValue(_ value: Value) -> Any? { value.rawValue }
}

/// An optional attribute of an enumeration or another type with a raw value; an unknown raw value reads as nil.
public enum _OptionalRawProperty<Wrapped: RawRepresentable>: _AttributeKind where Wrapped.RawValue: NativeAttributeValue {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        Wrapped.RawValue._getOptional(object, name).flatMap { Wrapped(rawValue: $0) }
    }

    @inlinable @inline(__always)
    public static func set(_ value: Wrapped?, _ object: NSManagedObject, _ name: StaticString) {
        Wrapped.RawValue._setOptional(value?.rawValue, object, name)
    }

    public static func describe() -> NSPropertyDescription {
        attribute(Wrapped.RawValue._attributeType, isOptional: true)
    }

    public static func modelValue(_ value: Wrapped?) -> Any? { value?.rawValue }
}

/// What a required property reads as when the storage has no value for it.
public enum _PropertyPlaceholder {
    /// An empty or the first value of the type where there is none in the storage, as numbers read 0 and texts are empty;
    /// otherwise stops the program.
    ///
    /// An object has no values once its row or its context is gone.
    @inline(never)
    public static func value<Value>(
        _ object: NSManagedObject, _ name: StaticString, isMissing: Bool, problem: @autoclosure () -> String
    ) -> Value {
        if isMissing || object._isKeyPathProbe, let value = first(of: Value.self) ?? decoded(Value.self) { return value }
        preconditionFailure(
            "\(type(of: object)).\(name) is a \(Value.self), but the store holds no value of this type: \(problem()). "
                + "Declare it optional, or correct the store.")
    }

    private static func first<Value>(of type: Value.Type) -> Value? {
        func first<Cases: CaseIterable>(_ cases: Cases.Type) -> Any? { cases.allCases.first }
        return (type as? any CaseIterable.Type).flatMap { first($0) } as? Value
    }

    private static func decoded<Value>(_ type: Value.Type) -> Value? {
        guard let type = type as? any Decodable.Type else { return nil }
        for text in ["[]", "{}", "0", "\"\""] {
            if let value = try? JSONDecoder().decode(type, from: Data(text.utf8)) as? Value { return value }
        }
        return nil
    }
}
