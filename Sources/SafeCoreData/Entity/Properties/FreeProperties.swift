/// A required attribute whose values a value transformer converts to bytes.
public enum _TransformableProperty<Value>: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        object._managedValue(forSlotNamed: name)
    }

    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { attribute(.transformableAttributeType, isOptional: false) }

    public static func modelValue(_ value: Value) -> Any? { value }
}

/// An optional attribute whose values a value transformer converts to bytes.
public enum _OptionalTransformableProperty<Wrapped>: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        if object._isKeyPathProbe { return object._recordProbe(name, among: [nil]) ?? nil }
        return object.value(forKey: name.description) as? Wrapped
    }

    public static func set(_ value: Wrapped?, _ object: NSManagedObject, _ name: StaticString) {
        object.setValue(value, forKey: name.description)
    }

    public static func describe() -> NSPropertyDescription { attribute(.transformableAttributeType, isOptional: true) }

    public static func modelValue(_ value: Wrapped?) -> Any? { value }
}

/// A transient attribute of any type: the object keeps it in memory.
public enum _TransientProperty<Value>: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        object._managedValue(forSlotNamed: name)
    }

    /// Returns the value, or the initial one if the object has none, as after a fetch.
    public static func get(
        _ object: NSManagedObject, _ name: StaticString, initialValue: @autoclosure () -> Value
    ) -> Value {
        if object._isKeyPathProbe { return object._recordProbe(name, among: [initialValue()]) ?? initialValue() }
        return object.value(forKey: name.description) as? Value ?? initialValue()
    }

    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription {
        // A required property gets its value from the declaration's initial value, which is not in
        // the model.
        let attribute = attribute(transientType, isOptional: true)
        attribute.isTransient = true
        return attribute
    }

    private static var transientType: NSAttributeType {
        if let native = Value.self as? any NativeAttributeValue.Type { return native._attributeType }
        if let wrapped = Value.self as? any OptionalValue.Type,
            let native = wrapped.wrappedType as? any NativeAttributeValue.Type
        {
            return native._attributeType
        }
        return .undefinedAttributeType
    }

    public static func modelValue(_ value: Value) -> Any? { value }
}
