/// Finds the kind of a property by its type. The compiler picks the overload; generated code uses the result.
public enum EntityProperties {
    // MARK: Attributes

    @inlinable @inline(__always)
    public static func of<Value: NativeAttributeValue>(_ type: Value.Type) -> NativeProperty<Value>.Type {
        NativeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: NativeAttributeValue>(_ type: Value?.Type) -> OptionalNativeProperty<Value>.Type {
        OptionalNativeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of(_ type: NSDecimalNumber.Type) -> DecimalNumberProperty.Type { DecimalNumberProperty.self }

    @inlinable @inline(__always)
    public static func of(_ type: NSDecimalNumber?.Type) -> OptionalDecimalNumberProperty.Type {
        OptionalDecimalNumberProperty.self
    }

    @inlinable @inline(__always)
    public static func of<Value: RawRepresentable>(_ type: Value.Type) -> RawProperty<Value>.Type
    where Value.RawValue: NativeAttributeValue {
        RawProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: RawRepresentable>(_ type: Value?.Type) -> OptionalRawProperty<Value>.Type
    where Value.RawValue: NativeAttributeValue {
        OptionalRawProperty<Value>.self
    }

    @_disfavoredOverload @inlinable @inline(__always)
    public static func of<Value: Codable>(_ type: Value.Type) -> CodedProperty<Value>.Type { CodedProperty<Value>.self }

    @_disfavoredOverload @inlinable @inline(__always)
    public static func of<Value: Codable>(_ type: Value?.Type) -> OptionalCodedProperty<Value>.Type {
        OptionalCodedProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeValue>(_ type: Value.Type) -> CompositeProperty<Value>.Type {
        CompositeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeValue>(_ type: Value?.Type) -> OptionalCompositeProperty<Value>.Type {
        OptionalCompositeProperty<Value>.self
    }

    // A type with raw values that is to be a composite attribute all the same.
    @inlinable @inline(__always)
    public static func of<Value: CompositeEnumeration>(_ type: Value.Type) -> CompositeProperty<Value>.Type {
        CompositeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeEnumeration>(_ type: Value?.Type) -> OptionalCompositeProperty<Value>.Type {
        OptionalCompositeProperty<Value>.self
    }

    // MARK: Relationships

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(
        _ type: Destination.Type
    ) -> RequiredToOneProperty<Destination>.Type {
        RequiredToOneProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(_ type: Destination?.Type) -> ToOneProperty<Destination>.Type {
        ToOneProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(
        _ type: Set<Destination>.Type
    ) -> ToManyProperty<Destination>.Type {
        ToManyProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(_ type: [Destination].Type) -> OrderedProperty<Destination>.Type {
        OrderedProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of(_ type: NSOrderedSet.Type) -> OrderedSetProperty<NSManagedObject>.Type {
        OrderedSetProperty<NSManagedObject>.self
    }

    /// An ordered set of the class that its inverse belongs to.
    public static func orderedSet<Destination: NSManagedObject, Value>(
        _ inverse: KeyPath<Destination, Value>
    ) -> OrderedSetProperty<Destination>.Type {
        OrderedSetProperty<Destination>.self
    }

    // MARK: By declaration

    public static func transformable<Value>(_ type: Value.Type) -> TransformableProperty<Value>.Type {
        TransformableProperty<Value>.self
    }

    public static func transformable<Value>(_ type: Value?.Type) -> OptionalTransformableProperty<Value>.Type {
        OptionalTransformableProperty<Value>.self
    }

    public static func transient<Value>(_ type: Value.Type) -> TransientProperty<Value>.Type {
        TransientProperty<Value>.self
    }

    // MARK: What cannot be stored

    @available(*, unavailable, message: "a to-many relationship is never nil, but empty: remove the '?'")
    public static func of<Destination: NSManagedObject>(
        _ type: Set<Destination>?.Type
    ) -> TransformableProperty<Set<Destination>?>.Type {
        TransformableProperty<Set<Destination>?>.self
    }

    @available(*, unavailable, message: "a to-many relationship is never nil, but empty: remove the '?'")
    public static func of<Destination: NSManagedObject>(
        _ type: [Destination]?.Type
    ) -> TransformableProperty<[Destination]?>.Type {
        TransformableProperty<[Destination]?>.self
    }

    @available(
        *, unavailable,
        message: """
            Core Data cannot store this type: use a number, String, Bool, Date, Data, UUID, URL, an enumeration with raw \
            values, a Codable type, an NSManagedObject, or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public static func of<Value>(_ type: Value.Type) -> TransformableProperty<Value>.Type {
        TransformableProperty<Value>.self
    }
}
