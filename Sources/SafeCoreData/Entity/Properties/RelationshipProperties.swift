/// An optional to-one relationship.
public enum _ToOneProperty<Destination: NSManagedObject>: _RelationshipKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Destination? {
        object._managedValue(forSlotNamed: name)
    }

    @inlinable @inline(__always)
    public static func set(_ value: Destination?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { relationship(isToMany: false, isOptional: true) }
}

/// A required to-one relationship.
public enum _RequiredToOneProperty<Destination: NSManagedObject>: _RelationshipKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Destination {
        object._managedValue(forSlotNamed: name)
    }

    @inlinable @inline(__always)
    public static func set(_ value: Destination, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { relationship(isToMany: false, isOptional: false) }
}

/// A to-many relationship.
public enum _ToManyProperty<Destination: NSManagedObject>: _RelationshipKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> Set<Destination> {
        object._managedValue(forSlotNamed: name)
    }

    @inlinable @inline(__always)
    public static func set(_ value: Set<Destination>, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription { relationship(isToMany: true, isOptional: true) }
}

/// An ordered to-many relationship.
public enum _OrderedProperty<Destination: NSManagedObject>: _RelationshipKind {
    @inlinable @inline(__always)
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> [Destination] {
        object._managedValue(forSlotNamed: name)
    }

    @inlinable @inline(__always)
    public static func set(_ value: [Destination], _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription {
        relationship(isToMany: true, isOptional: true, isOrdered: true)
    }
}

/// An ordered to-many relationship as `NSOrderedSet`. The class of the objects is known only from
/// the inverse, so accessors use it with `NSManagedObject`.
public enum _OrderedSetProperty<Destination: NSManagedObject>: _RelationshipKind {
    public static func get(_ object: NSManagedObject, _ name: StaticString) -> NSOrderedSet {
        object._managedValue(forSlotNamed: name)
    }

    public static func set(_ value: NSOrderedSet, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }

    public static func describe() -> NSPropertyDescription {
        relationship(isToMany: true, isOptional: true, isOrdered: true)
    }
}

// Short names of delete rules for `@Relationship(deleteRule:)`.
extension NSDeleteRule {
    /// The references of the objects at the other end to the deleted object are removed.
    public static var nullify: NSDeleteRule { .nullifyDeleteRule }

    /// The objects at the other end are deleted as well.
    public static var cascade: NSDeleteRule { .cascadeDeleteRule }

    /// The object cannot be deleted while there are objects at the other end.
    public static var deny: NSDeleteRule { .denyDeleteRule }

    /// Nothing happens: the program itself keeps both ends consistent.
    public static var noAction: NSDeleteRule { .noActionDeleteRule }
}
