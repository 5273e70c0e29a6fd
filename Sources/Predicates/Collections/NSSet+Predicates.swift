import Foundation

extension NSSet {
    /// The elements for which the predicate is true.
    ///
    /// Cost: O(number of elements).
    ///
    /// ```swift
    /// let few = set.filtered(using: NSPredicate(format: "stockCount < 5"))
    /// ```
    public func filtered(using predicate: NSPredicate) -> Set<AnyHashable> {
        Set(allObjects.filter { predicate.evaluate(with: $0) }.compactMap { $0 as? AnyHashable })
    }

    /// Returns the elements sorted by the descriptors; the first descriptor takes precedence.
    ///
    /// ```swift
    /// let sorted = set.sortedArray(using: [NSSortDescriptor(key: "name", ascending: true)])
    /// ```
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
        sortDescriptors.arrange(allObjects)
    }

    /// A set of the property's values for the elements, without those that are `nil`.
    public func value(forKey key: String) -> Any? {
        KeyValue.published(KeyValue.value(forKey: key, of: self))
    }

    /// Sets the property of each element.
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

extension NSMutableSet {
    /// Keeps the elements for which the predicate is true.
    public func filter(using predicate: NSPredicate) {
        for element in allObjects where !predicate.evaluate(with: element) { remove(element) }
    }
}
