/// A class of managed objects that knows what its entity is like. Generated code conforms.
public protocol _SelfDescribingClass: NSManagedObject {
    /// The name of the property that a key path of the class reads; nil for one that it does not know.
    static func _propertyName(for keyPath: AnyKeyPath) -> String?

    /// How an entity of a model differs from what the class takes it for, each as a sentence; empty when it fits.
    static func _differences(from entity: NSEntityDescription) -> [String]
}
