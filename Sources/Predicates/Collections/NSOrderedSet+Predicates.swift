import Foundation

extension NSOrderedSet {
    /// The elements for which the predicate is true, in order.
    ///
    /// Cost: O(number of elements).
    ///
    /// ```swift
    /// let few = lines.filtered(using: NSPredicate(format: "count < 5"))
    /// ```
    public func filtered(using predicate: NSPredicate) -> NSOrderedSet {
        NSOrderedSet(array: map { $0 }.filter { predicate.evaluate(with: $0) })
    }

    /// Returns the elements sorted by the descriptors; the first descriptor takes precedence.
    ///
    /// Equal elements keep their order.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        sortDescriptors.arrange(map { $0 })
    }

    /// Returns the distinct values of the property in the elements, without `nil`.
    ///
    /// The result is an `NSOrderedSet`. It is an array where Foundation on Linux cannot make an
    /// ordered set of the values: decimals, and texts that differ only in how letters are composed.
    public func value(forKey key: String) -> Any? {
        KeyValue.value(forKey: key, of: self)
    }

    /// Sets the property of each element, in order.
    public func setValue(_ value: Any?, forKey key: String) {
        KeyValue.setValue(value, forKey: key, of: self)
    }

    /// Returns the value at a path of names and operators: `@count`, `@sum.price`, `supplier.name`.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValue.value(forKeyPath: keyPath, of: self)
    }

    /// Sets the property at the end of a path of names, starting at each element.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValue.setValue(value, forKeyPath: keyPath, of: self)
    }
}

extension NSMutableOrderedSet {
    /// Keeps the elements for which the predicate is true.
    public func filter(using predicate: NSPredicate) {
        replace(with: filtered(using: predicate).map { $0 })
    }

    /// Puts the elements in the order of the descriptors. Equal elements keep their order.
    public func sort(using sortDescriptors: [NSSortDescriptor]) {
        replace(with: sortedArray(using: sortDescriptors))
    }

    private func replace(with elements: [Any]) {
        removeAllObjects()
        addObjects(from: elements)
    }
}
