/// A class of managed objects that describes its entity. Generated code conforms.
public protocol _SelfDescribingClass: NSManagedObject {
    /// The name of the property that a key path of the class reads; nil for an unknown key path.
    static func _propertyName(for keyPath: AnyKeyPath) -> String?

    /// How a model's entity differs from the class's description, in sentences.
    static func _differences(from entity: NSEntityDescription) -> [String]
}
