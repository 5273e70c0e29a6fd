import Foundation

extension NSManagedObject {
    /// The value as predicates and sort descriptors see it: that of a property that only other entities of the object's hierarchy have is
    /// nil, as in the table that they share.
    public final func _comparedValue(forKey key: String) -> Any? { layout.lacks(key) ? nil : value(forKey: key) }
}
