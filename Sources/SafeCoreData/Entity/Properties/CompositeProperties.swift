/// A required composite attribute.
///
/// Each read constructs the value from its elements, each write splits it into them: O(number of
/// elements).
public enum _CompositeProperty<Value: CompositeValue>: _AttributeKind {
    /// Elements that do not form a value of the type stop the program with a message, as there is
    /// nothing to return.
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Value {
        let values: [String: Any]? = object._managedValue(forSlotNamed: name)
        if values?.isEmpty ?? true, object._isKeyPathProbe {
            return _PropertyPlaceholder.value(object, name, isMissing: true, problem: "")
        }
        do {
            return try Value(CompositeElements(property: name.description, values ?? [:]))
        } catch {
            return _PropertyPlaceholder.value(
                object, name, isMissing: values == nil, problem: values == nil ? "it is nil" : "\(error)")
        }
    }

    public static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(
            CompositeElements.dictionary(of: value, property: name.description) as [String: Any]?, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { Value.compositeAttribute(isOptional: false) }

    public static func modelValue(_ value: Value) -> Any? { CompositeElements.dictionary(of: value, property: "") }
}

/// An optional composite attribute; elements that do not form a value of the type read as nil.
public enum _OptionalCompositeProperty<Wrapped: CompositeValue>: _AttributeKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        let values: [String: Any]? = object._managedValue(forSlotNamed: name)
        guard let values else { return nil }
        if values.isEmpty, object._isKeyPathProbe { return _PropertyPlaceholder.optional(object, Wrapped.self) }
        return try? Wrapped(CompositeElements(property: name.description, values))
    }

    public static func set(_ value: Wrapped?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(
            value.map { CompositeElements.dictionary(of: $0, property: name.description) }, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { Wrapped.compositeAttribute(isOptional: true) }

    public static func modelValue(_ value: Wrapped?) -> Any? {
        value.map { CompositeElements.dictionary(of: $0, property: "") }
    }
}

extension _CompositeProperty: _JSONSnapshotKind {
    public typealias SnapshotValue = Value

    public static func _samples() -> [Any]? { PropertySamples.composites(Value.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data {
        stored(object._managedValue(forSlotNamed: name), name)
    }

    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data { stored(row._composite(name), name) }

    /// Returns empty bytes for elements that do not form a value of the type. A new object has such
    /// elements, and so may a row that another program has written.
    private static func stored(_ values: [String: Any]?, _ name: StaticString) -> Data {
        (try? Value(CompositeElements(property: name.description, values ?? [:]))).map { CodedValue.encode($0) }
            ?? Data()
    }

    public static func _assign(
        _ stored: Data, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        // A missing value stays missing: the save then reports that it is required.
        if stored.isEmpty { return object._setManagedValue([String: Any]?.none, forSlotNamed: name) }
        set(try CodedValue.decode(Value.self, from: stored), object, name)
    }
}

extension _OptionalCompositeProperty: _OptionalJSONSnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.composites(Wrapped.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data? {
        get(object, name).map { CodedValue.encode($0) }
    }

    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data? {
        row._composite(name).flatMap { try? Wrapped(CompositeElements(property: name.description, $0)) }.map {
            CodedValue.encode($0)
        }
    }

    public static func _assign(
        _ stored: Data?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        set(try stored.map { try CodedValue.decode(Wrapped.self, from: $0) }, object, name)
    }
}
