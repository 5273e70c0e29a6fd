import Foundation

/// An object whose properties are read and written by name.
///
/// Predicates, sort descriptors and ``KeyValue`` read through it; objects without it are read by reflection.
public protocol KeyValueCoding: AnyObject {
    /// The value of the property with the given name.
    func value(forKey key: String) -> Any?
    /// Sets the property with the given name.
    func setValue(_ value: Any?, forKey key: String)
}

extension KeyValueCoding {
    /// The value at the end of a path of names and collection operators: `department.employees.@avg.salary`.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValue.value(forKeyPath: keyPath, of: self)
    }

    /// Sets the property at the end of a path of names. Does nothing when an object on the way is `nil`.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValue.setValue(value, forKeyPath: keyPath, of: self)
    }

    /// The values of several properties by name, `NSNull` for `nil`.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = KeyValue.unwrapped(value(forKey: key)) ?? NSNull() }
        return values
    }

    /// Sets several properties by name; `NSNull` sets `nil`.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(KeyValue.unwrapped(value), forKey: key) }
    }
}
