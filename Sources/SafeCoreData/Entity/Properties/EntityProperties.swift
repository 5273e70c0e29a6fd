/// Finds the kind of a property by its type. The compiler selects the overload; generated code uses
/// the result.
public enum _EntityProperties {
    // MARK: Attributes

    @inlinable @inline(__always)
    public static func of<Value: NativeAttributeValue>(_ type: Value.Type) -> _NativeProperty<Value>.Type {
        _NativeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: NativeAttributeValue>(_ type: Value?.Type) -> _OptionalNativeProperty<Value>.Type {
        _OptionalNativeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of(_ type: NSDecimalNumber.Type) -> _DecimalNumberProperty.Type { _DecimalNumberProperty.self }

    @inlinable @inline(__always)
    public static func of(_ type: NSDecimalNumber?.Type) -> _OptionalDecimalNumberProperty.Type {
        _OptionalDecimalNumberProperty.self
    }

    @inlinable @inline(__always)
    public static func of<Value: RawRepresentable>(_ type: Value.Type) -> _RawProperty<Value>.Type
    where Value.RawValue: NativeAttributeValue {
        _RawProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: RawRepresentable>(_ type: Value?.Type) -> _OptionalRawProperty<Value>.Type
    where Value.RawValue: NativeAttributeValue {
        _OptionalRawProperty<Value>.self
    }

    @_disfavoredOverload @inlinable @inline(__always)
    public static func of<Value: Codable>(_ type: Value.Type) -> _CodedProperty<Value>.Type {
        _CodedProperty<Value>.self
    }

    @_disfavoredOverload @inlinable @inline(__always)
    public static func of<Value: Codable>(_ type: Value?.Type) -> _OptionalCodedProperty<Value>.Type {
        _OptionalCodedProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeValue>(_ type: Value.Type) -> _CompositeProperty<Value>.Type {
        _CompositeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeValue>(_ type: Value?.Type) -> _OptionalCompositeProperty<Value>.Type {
        _OptionalCompositeProperty<Value>.self
    }

    // A type with raw values that is nevertheless stored as a composite attribute.
    @inlinable @inline(__always)
    public static func of<Value: CompositeEnumeration>(_ type: Value.Type) -> _CompositeProperty<Value>.Type {
        _CompositeProperty<Value>.self
    }

    @inlinable @inline(__always)
    public static func of<Value: CompositeEnumeration>(_ type: Value?.Type) -> _OptionalCompositeProperty<Value>.Type {
        _OptionalCompositeProperty<Value>.self
    }

    // MARK: Relationships

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(
        _ type: Destination.Type
    ) -> _RequiredToOneProperty<Destination>.Type {
        _RequiredToOneProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(_ type: Destination?.Type) -> _ToOneProperty<Destination>.Type {
        _ToOneProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(
        _ type: Set<Destination>.Type
    ) -> _ToManyProperty<Destination>.Type {
        _ToManyProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of<Destination: NSManagedObject>(_ type: [Destination].Type) -> _OrderedProperty<
        Destination
    >.Type {
        _OrderedProperty<Destination>.self
    }

    @inlinable @inline(__always)
    public static func of(_ type: NSOrderedSet.Type) -> _OrderedSetProperty<NSManagedObject>.Type {
        _OrderedSetProperty<NSManagedObject>.self
    }

    /// Returns the kind of an ordered set of the class that its inverse belongs to.
    public static func orderedSet<Destination: NSManagedObject, Value>(
        _ inverse: KeyPath<Destination, Value>
    ) -> _OrderedSetProperty<Destination>.Type {
        _OrderedSetProperty<Destination>.self
    }

    // MARK: By declaration

    public static func transformable<Value>(_ type: Value.Type) -> _TransformableProperty<Value>.Type {
        _TransformableProperty<Value>.self
    }

    public static func transformable<Value>(_ type: Value?.Type) -> _OptionalTransformableProperty<Value>.Type {
        _OptionalTransformableProperty<Value>.self
    }

    public static func transient<Value>(_ type: Value.Type) -> _TransientProperty<Value>.Type {
        _TransientProperty<Value>.self
    }

    // MARK: Types that cannot be stored

    @available(*, unavailable, message: "a to-many relationship is never nil, but empty: remove the '?'")
    public static func of<Destination: NSManagedObject>(
        _ type: Set<Destination>?.Type
    ) -> _TransformableProperty<Set<Destination>?>.Type {
        _TransformableProperty<Set<Destination>?>.self
    }

    @available(*, unavailable, message: "a to-many relationship is never nil, but empty: remove the '?'")
    public static func of<Destination: NSManagedObject>(
        _ type: [Destination]?.Type
    ) -> _TransformableProperty<[Destination]?>.Type {
        _TransformableProperty<[Destination]?>.self
    }

    @available(
        *, unavailable,
        message: """
            Core Data cannot store this type: use a number, String, Bool, Date, Data, UUID, URL, an enumeration with \
            raw \
            values, a Codable type, an NSManagedObject, or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public static func of<Value>(_ type: Value.Type) -> _TransformableProperty<Value>.Type {
        _TransformableProperty<Value>.self
    }
}
