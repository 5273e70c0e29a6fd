import Foundation

extension NSDictionary {
    /// The value at a path of keys and collection operators.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValue.value(forKeyPath: keyPath, of: self)
    }
}

extension NSMutableDictionary {
    /// Puts the value under the key; `nil` removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value = KeyValue.unwrapped(value) {
            setObject(value, forKey: key as NSString)
        } else {
            removeObject(forKey: key as NSString)
        }
    }
}
