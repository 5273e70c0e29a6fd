/// How a property of an `@Entity` class is kept: one type for each kind of property, chosen by `_EntityProperties.of`.
///
/// The functions are static and inlinable: in optimized code an accessor is one call into the object's storage.
public protocol _EntityPropertyKind {
    /// The property's type.
    associatedtype Value

    static func get(_ object: NSManagedObject, _ name: StaticString) -> Value
    static func set(_ value: Value, _ object: NSManagedObject, _ name: StaticString)

    /// A description of the property without its name, as the model has it.
    static func describe() -> NSPropertyDescription
}

/// A property with a value.
public protocol _AttributeKind: _EntityPropertyKind, SendableMetatype {
    /// The value as the model's default: a number, text, …
    static func modelValue(_ value: Value) -> Any?
}

/// A property that leads to other objects.
public protocol _RelationshipKind: _EntityPropertyKind {
    /// The class of the objects at the other end.
    associatedtype Destination: NSManagedObject
}

extension _AttributeKind {
    /// An attribute of a type.
    static func attribute(_ type: NSAttributeType, isOptional: Bool) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    /// An attribute of JSON.
    static func jsonAttribute(isOptional: Bool) -> NSAttributeDescription {
        let attribute = attribute(.binaryDataAttributeType, isOptional: isOptional)
        attribute.holdsJSON = true
        return attribute
    }
}

extension _RelationshipKind {
    /// A relationship to one object or to several.
    static func relationship(isToMany: Bool, isOptional: Bool, isOrdered: Bool = false) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = isOptional
        relationship.isOrdered = isOrdered
        return relationship
    }
}
