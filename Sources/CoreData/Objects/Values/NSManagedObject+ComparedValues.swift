import Foundation

extension NSManagedObject {
    /// Returns the value of a property as predicates and sort descriptors see it.
    ///
    /// A property that only other entities of the object's hierarchy have is nil, as in the table
    /// that they share.
    public final func _comparedValue(forKey key: String) -> Any? { layout.lacks(key) ? nil : value(forKey: key) }
}
