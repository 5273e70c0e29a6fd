extension NSManagedObject: PredicateObjectType {
    package static func typeCheck(of object: NSExpression) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: object.appending("entity"), rightExpression: NSExpression(forConstantValue: EntitiesOfClass(self)),
            modifier: .direct, type: .equalTo)
    }
}

/// Stands in predicates for the entities whose objects are of a class.
struct EntitiesOfClass: PredicateComparable, CustomStringConvertible {
    let objectClass: NSManagedObject.Type

    init(_ objectClass: NSManagedObject.Type) { self.objectClass = objectClass }

    func isEqualInPredicate(to other: Any) -> Bool {
        (other as? NSEntityDescription)?.objectClass.isSubclass(of: objectClass) ?? false
    }

    var description: String { "\"\(objectClass)\"" }
}
