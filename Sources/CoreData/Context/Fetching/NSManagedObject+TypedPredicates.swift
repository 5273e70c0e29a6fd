extension NSManagedObject: PredicateObjectType {
    package static func typeCheck(of object: NSExpression) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: object.appending("entity"),
            rightExpression: NSExpression(forConstantValue: EntitiesOfClass(self)),
            modifier: .direct, type: .equalTo)
    }
}

extension NSManagedObject: PredicateIdentifiable {
    public final var _predicateIdentity: (any Hashable & Sendable)? { objectID }
}

extension NSManagedObjectID: PredicateIdentifiable {
    public var _predicateIdentity: (any Hashable & Sendable)? { self }
}

/// A constant in predicates that represents the entities whose objects are instances of a class.
struct EntitiesOfClass: EntityCondition, PredicateComparable, CustomStringConvertible {
    let objectClass: NSManagedObject.Type

    init(_ objectClass: NSManagedObject.Type) { self.objectClass = objectClass }

    func isEqualInPredicate(to other: Any) -> Bool {
        (other as? NSEntityDescription).map(includes) ?? false
    }

    func includes(_ entity: NSEntityDescription) -> Bool { entity.objectClass.isSubclass(of: objectClass) }

    var description: String { "\"\(objectClass)\"" }
}
