/// A required attribute of a type that attributes store without conversion.
public enum _NativeProperty<Value: NativeAttributeValue>: _AttributeKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value { Value._get(object, name) }

    @inlinable @inline(__always)
    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        Value._set(value, object, name)
    }

    public static func describe() -> NSPropertyDescription { attribute(Value._attributeType, isOptional: false) }

    public static func modelValue(_ value: Value) -> Any? { value }
}

/// An optional attribute of a type that attributes store without conversion.
public enum _OptionalNativeProperty<Wrapped: NativeAttributeValue>: _AttributeKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        Wrapped._getOptional(object, name)
    }

    @inlinable @inline(__always)
    public static func set(_ value: Wrapped?, _ object: NSManagedObject, _ name: StaticString) {
        Wrapped._setOptional(value, object, name)
    }

    public static func describe() -> NSPropertyDescription { attribute(Wrapped._attributeType, isOptional: true) }

    public static func modelValue(_ value: Wrapped?) -> Any? { value }
}

/// A required decimal attribute as `NSDecimalNumber`.
public enum _DecimalNumberProperty: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> NSDecimalNumber {
        NSDecimalNumber(decimal: Decimal._get(object, name))
    }

    public static func set(_ value: NSDecimalNumber, _ object: NSManagedObject, _ name: StaticString) {
        Decimal._set(value.decimalValue, object, name)
    }

    public static func describe() -> NSPropertyDescription { attribute(.decimalAttributeType, isOptional: false) }

    public static func modelValue(_ value: NSDecimalNumber) -> Any? { value }
}

/// An optional decimal attribute as `NSDecimalNumber`.
public enum _OptionalDecimalNumberProperty: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> NSDecimalNumber? {
        Decimal._getOptional(object, name).map { NSDecimalNumber(decimal: $0) }
    }

    public static func set(_ value: NSDecimalNumber?, _ object: NSManagedObject, _ name: StaticString) {
        Decimal._setOptional(value?.decimalValue, object, name)
    }

    public static func describe() -> NSPropertyDescription { attribute(.decimalAttributeType, isOptional: true) }

    public static func modelValue(_ value: NSDecimalNumber?) -> Any? { value }
}
