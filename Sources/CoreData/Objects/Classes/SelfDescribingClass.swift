/// A class of managed objects that describes its entity. Generated code conforms.
public protocol _SelfDescribingClass: NSManagedObject {
    /// The name of the property that a key path of the class reads; nil for an unknown key path.
    static func _propertyName(for keyPath: AnyKeyPath) -> String?

    /// The differences between a model's entity and the class's description of it, each as a
    /// sentence; empty if it fits.
    static func _differences(from entity: NSEntityDescription) -> [String]
}
