import Foundation

/// An object whose properties are read and written by name.
///
/// Predicates, sort descriptors and ``KeyValue`` use it. Other objects are read by reflection.
///
/// ```swift
/// final class Price: KeyValueCoding {
///     var amount = 0.0
///     func value(forKey key: String) -> Any? { key == "amount" ? amount : nil }
///     func setValue(_ value: Any?, forKey key: String) {
///         if key == "amount" { amount = value as? Double ?? 0 }
///     }
/// }
/// ```
public protocol KeyValueCoding: AnyObject {
    /// The value of the property with the given name.
    func value(forKey key: String) -> Any?
    /// Sets the property with the given name.
    func setValue(_ value: Any?, forKey key: String)
    /// The value that predicates and sort descriptors see; by default ``value(forKey:)``.
    func _comparedValue(forKey key: String) -> Any?
}

extension KeyValueCoding {
    public func _comparedValue(forKey key: String) -> Any? { value(forKey: key) }

    /// Returns the value at the end of a path of names and collection operators.
    ///
    /// An example of a path: `department.employees.@avg.salary`.
    ///
    /// ```swift
    /// let mean = department.value(forKeyPath: "employees.@avg.salary") as? NSNumber
    /// ```
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValue.value(forKeyPath: keyPath, of: self)
    }

    /// Sets the property at the end of a path of names.
    ///
    /// Does nothing when an object on the path is `nil`.
    ///
    /// ```swift
    /// item.setValue("Smith", forKeyPath: "supplier.name")
    /// ```
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValue.setValue(value, forKeyPath: keyPath, of: self)
    }

    /// The values of several properties by name, `NSNull` for `nil`.
    ///
    /// ```swift
    /// let values = item.dictionaryWithValues(forKeys: ["name", "stockCount"])
    /// ```
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = KeyValue.unwrapped(value(forKey: key)) ?? NSNull() }
        return values
    }

    /// Sets several properties by name; `NSNull` sets `nil`.
    ///
    /// ```swift
    /// item.setValuesForKeys(["name": "Bolt", "note": NSNull()])
    /// ```
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(KeyValue.unwrapped(value), forKey: key) }
    }
}

/// An object that knows which key paths pass through collections, regardless of its values.
package protocol KeyPathDestinations {
    func leadsToMany(_ keys: [String]) -> Bool
}
