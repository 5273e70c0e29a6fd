import Foundation

extension NSArray {
    /// The elements for which the predicate is true, in order.
    ///
    /// Cost: O(number of elements).
    ///
    /// ```swift
    /// let cheap = array.filtered(using: NSPredicate(format: "price < 10"))
    /// ```
    public func filtered(using predicate: NSPredicate) -> [Any] {
        filter { predicate.evaluate(with: $0) }
    }

    /// Returns the elements sorted by the descriptors; the first descriptor takes precedence.
    ///
    /// Equal elements keep their order.
    ///
    /// Cost: O(*n* log *n*); each value is read once.
    ///
    /// ```swift
    /// let sorted = array.sortedArray(using: [NSSortDescriptor(key: "name", ascending: true)])
    /// ```
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        sortDescriptors.arrange(map { $0 })
    }

    /// An array of the property's value for each element, `NSNull` standing for `nil`.
    public func value(forKey key: String) -> Any? {
        KeyValue.value(forKey: key, of: self)
    }

    /// Sets the property of each element, in order.
    public func setValue(_ value: Any?, forKey key: String) {
        KeyValue.setValue(value, forKey: key, of: self)
    }

    /// Returns the value at a path of names and operators: `@count`, `@sum.price`, `supplier.name`.
    ///
    /// ```swift
    /// let total = array.value(forKeyPath: "@sum.price") as? NSNumber
    /// ```
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValue.value(forKeyPath: keyPath, of: self)
    }

    /// Sets the property at the end of a path of names, starting at each element.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValue.setValue(value, forKeyPath: keyPath, of: self)
    }
}

extension NSMutableArray {
    /// Keeps the elements for which the predicate is true.
    public func filter(using predicate: NSPredicate) {
        setArray(filtered(using: predicate))
    }

    /// Puts the elements in the order of the descriptors. Equal elements keep their order.
    public func sort(using sortDescriptors: [NSSortDescriptor]) {
        setArray(sortedArray(using: sortDescriptors))
    }
}
