/// A required attribute of an enumeration or another type with a raw value. The raw value is
/// stored.
public enum _RawProperty<Value: RawRepresentable>: _AttributeKind where Value.RawValue: NativeAttributeValue {
    /// An invalid raw value stops the program with a message, as there is nothing to return.
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        let raw = Value.RawValue._get(object, name)
        return Value(rawValue: raw)
            ?? _PropertyPlaceholder.value(
                object, name, isMissing: Value.RawValue._getOptional(object, name) == nil,
                problem: "\(raw) stands for none")
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

/// An optional attribute of an enumeration or another type with a raw value; an unknown raw value
/// reads as nil.
public enum _OptionalRawProperty<Wrapped: RawRepresentable>: _AttributeKind
where Wrapped.RawValue: NativeAttributeValue {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        guard let raw = Wrapped.RawValue._getOptional(object, name) else { return nil }
        return Wrapped(rawValue: raw) ?? _PropertyPlaceholder.optional(object, Wrapped.self)
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
