/// The storage of a property of an `@Entity` class: one type for each kind of property, chosen by
/// `_EntityProperties.of`.
///
/// The functions are static and inlinable: in optimized code an accessor is one call into the
/// object's storage.
public protocol _EntityPropertyKind {
    /// The property's type.
    associatedtype Value

    static func get(_ object: NSManagedObject, _ name: StaticString) -> Value
    static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString)

    /// Returns a description of the property for the model, without its name.
    static func describe() -> NSPropertyDescription
}

/// A property with a value.
public protocol _AttributeKind: _EntityPropertyKind, SendableMetatype {
    /// Returns the value as the model's default: a number, text, …
    static func modelValue(_ value: Value) -> Any?
}

/// A property that refers to other objects.
public protocol _RelationshipKind: _EntityPropertyKind {
    /// The class of the objects at the other end.
    associatedtype Destination: NSManagedObject
}

extension _AttributeKind {
    /// Returns an attribute of a type.
    static func attribute(_ type: NSAttributeType, isOptional: Bool) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    /// Returns an attribute that holds JSON.
    static func jsonAttribute(isOptional: Bool) -> NSAttributeDescription {
        let attribute = attribute(.binaryDataAttributeType, isOptional: isOptional)
        attribute.holdsJSON = true
        return attribute
    }
}

extension _RelationshipKind {
    /// Returns a to-one or to-many relationship.
    static func relationship(isToMany: Bool, isOptional: Bool, isOrdered: Bool = false) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = isOptional
        relationship.isOrdered = isOrdered
        return relationship
    }
}
