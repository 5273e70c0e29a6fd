// The inverse of a relationship refers from its destination back to the declaring class. There is
// one overload for each valid form; the last one takes everything else, and does not compile.

extension _EntityDeclaration {
    public static func inverse<Kind: _RelationshipKind, Owner: NSManagedObject>(
        _ name: String, _ keyPath: KeyPath<Kind.Destination, Owner>, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }

    public static func inverse<Kind: _RelationshipKind, Owner: NSManagedObject>(
        _ name: String, _ keyPath: KeyPath<Kind.Destination, Owner?>, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }

    public static func inverse<Kind: _RelationshipKind, Owner: NSManagedObject>(
        _ name: String, _ keyPath: KeyPath<Kind.Destination, Set<Owner>>, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }

    public static func inverse<Kind: _RelationshipKind, Owner: NSManagedObject>(
        _ name: String, _ keyPath: KeyPath<Kind.Destination, [Owner]>, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }

    public static func inverse<Kind: _RelationshipKind, Owner: NSManagedObject>(
        _ name: String, _ keyPath: KeyPath<Kind.Destination, NSOrderedSet>, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }

    @available(
        *, unavailable,
        message: """
            the inverse must be a relationship of this relationship's destination that leads back to the class: \
            Class?, Class, Set<Class>, [Class] or NSOrderedSet
            """
    )
    @_disfavoredOverload
    public static func inverse<Kind, Owner>(
        _ name: String, _ keyPath: AnyKeyPath, of kind: Kind.Type, in owner: Owner.Type
    ) -> String { name }
}
