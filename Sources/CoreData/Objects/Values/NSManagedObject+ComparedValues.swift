import Foundation

extension NSManagedObject {
    /// Returns the value of a property as predicates and sort descriptors see it.
    ///
    /// A property that only other entities of the object's hierarchy have is nil, as in the table
    /// that they share.
    public final func _comparedValue(forKey key: String) -> Any? { layout.lacks(key) ? nil : value(forKey: key) }
}

extension NSManagedObject: PredicateComparable {
    /// Whether the values are equal in predicates, where an object equals its ID.
    public final func isEqualInPredicate(to other: Any) -> Bool {
        switch other {
        case let object as NSManagedObject: self === object || objectID == object.objectID
        case let objectID as NSManagedObjectID: self.objectID == objectID
        default: false
        }
    }
}
