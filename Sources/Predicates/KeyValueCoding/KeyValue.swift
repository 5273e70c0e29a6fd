import Foundation

/// Reads and writes properties of values of any type by name.
///
/// ```swift
/// let names = KeyValue.value(forKeyPath: "supplier.name", of: items)   // an element for each item
/// let price = KeyValue.value(forKey: "price", of: ["price": 3])
/// ```
public enum KeyValue {
    /// Returns the property of a value.
    ///
    /// ``KeyValueCoding`` objects and dictionaries are read by name. Arrays and sets are mapped
    /// over their elements, with `NSNull` for `nil`. Strings, dates, numbers and URLs have their
    /// usual properties. The stored properties of everything else are read by reflection, which is
    /// slow. `self` is the value itself.
    ///
    /// - Returns: `nil` when the property is `nil` or the value has no such property.
    public static func value(forKey key: String, of value: Any?) -> Any? {
        let value = self.value(forKey: key, of: value, .program)
        if let values = value as? DistinctValues { return values.values }
        return value
    }

    private static func value(forKey key: String, of value: Any?, _ reader: KeyValueReader) -> Any? {
        guard let value = unwrapped(value) else { return nil }
        if let object = value as? any KeyValueCoding {
            if isSelf(key) { return object }
            return reader == .predicate ? object._comparedValue(forKey: key) : object.value(forKey: key)
        }
        if isSelf(key) { return value }
        if let dictionary = value as? any DictionaryValue { return dictionary.value(forAnyKey: key) }
        if let dictionary = value as? NSDictionary { return dictionary.object(forKey: key as NSString) }
        if let elements = CollectionElements.of(value) { return mapped(elements, of: value, key, reader) }
        return KnownProperties.value(key, of: value) ?? reflected(key, of: value)
    }

    /// Returns the value at the end of a path of names and collection operators.
    ///
    /// The operators: `@count @sum @avg @min @max @unionOfObjects @distinctUnionOfObjects
    /// @unionOfArrays @distinctUnionOfArrays @unionOfSets @distinctUnionOfSets`.
    ///
    /// The values of the elements of a set are a set, which leaves out `nil`. Those of an array are
    /// an array, with `NSNull` for `nil`. Unions of sets are sets, all other unions are arrays.
    /// Where Foundation on Linux cannot make a set of the values (decimals, or texts that differ
    /// only in how letters are composed), the result is an array of distinct values.
    ///
    /// `@avg` counts a value that is `nil` as 0, and `@count` counts the elements of an array that
    /// are `nil`; the other operators leave it out. For no elements
    /// at all, `@count` and `@sum` are 0, and `@avg`, `@min` and `@max` are `nil`. The `@avg` of
    /// predicates, expressions and sort descriptors leaves `nil` out, as stores do.
    public static func value(forKeyPath keyPath: String, of value: Any?) -> Any? {
        published(self.value(at: ParsedKeyPath(keyPath).steps[...], of: value, .program, keepsNull: true))
    }

    /// Returns the value at the end of a path, as predicates and sort descriptors see it.
    package static func comparedValue(forKeyPath keyPath: String, of value: Any?) -> Any? {
        published(self.value(at: ParsedKeyPath(keyPath).steps[...], of: value))
    }

    static func comparedValue(forKey key: String, of value: Any?) -> Any? {
        self.value(forKey: key, of: value, .predicate)
    }

    /// Returns a value in the form that programs get: a set without `NSNull`, or an array of values
    /// that no set can hold.
    static func published(_ value: Any?) -> Any? {
        if let values = value as? DistinctValues { return values.filter { !($0 is NSNull) } }
        // `NSNull` is found by its type: two `NSNull`s may have different hashes.
        guard let value, type(of: value) == Set<AnyHashable>.self, let set = value as? Set<AnyHashable>,
            set.contains(where: { $0.base is NSNull })
        else { return value }
        return set.filter { !($0.base is NSNull) }
    }

    /// Sets the property at the end of a path of names.
    ///
    /// Does nothing when an object on the path is `nil`. Ends the program when the last object
    /// cannot be written by name.
    public static func setValue(_ newValue: Any?, forKeyPath keyPath: String, of object: Any?) {
        var keys = keyPath.pathNames
        let last = keys.removeLast()
        let steps = keys.isEmpty ? [] : ParsedKeyPath(keys.joined(separator: ".")).steps
        guard let target = unwrapped(value(at: steps[...], of: object, .program)) else { return }
        setValue(newValue, forKey: last, of: target)
    }

    /// Sets the property of a value, or of each element of an array or set.
    ///
    /// Ends the program when a value cannot be written by name.
    public static func setValue(_ newValue: Any?, forKey key: String, of value: Any?) {
        guard let target = unwrapped(value) else { return }
        if let target = target as? any KeyValueCoding {
            target.setValue(newValue, forKey: key)
        } else if let target = target as? NSMutableDictionary {
            target.setValue(newValue, forKey: key)
        } else if let elements = CollectionElements.of(target) {
            for element in elements { setValue(newValue, forKey: key, of: element) }
        } else {
            preconditionFailure("\"\(key)\" cannot be set by name on a \(type(of: target)): adopt KeyValueCoding.")
        }
    }

    static func value(at steps: ArraySlice<ParsedKeyPath.Step>, of object: any KeyValueCoding) -> Any? {
        guard case .key(let key)? = steps.first, !isSelf(key) else { return value(at: steps, of: object as Any?) }
        guard let first = unwrapped(object._comparedValue(forKey: key)) else {
            return whenMissing(steps, of: object, .predicate)
        }
        return steps.count == 1 ? first : value(at: steps.dropFirst(), of: first as Any?)
    }

    /// - Parameter keepsNull: Whether an `NSNull` at the end of the path is returned as it is, not
    ///   as nil.
    static func value(
        at steps: ArraySlice<ParsedKeyPath.Step>, of value: Any?, _ reader: KeyValueReader = .predicate,
        keepsNull: Bool = false
    ) -> Any? {
        var current = value
        for index in steps.indices {
            let owner = current
            switch steps[index] {
            case .key(let key):
                current = self.value(forKey: key, of: current, reader)
            case .collectionOperator(let operation):
                return apply(operation, to: current, rest: steps[(index + 1)...], reader)
            }
            if current == nil { return whenMissing(steps[index...], of: owner, reader) }
        }
        if keepsNull, let null = current as? NSNull { return null }
        return unwrapped(current)
    }

    /// Returns the value of a path whose first key has no value. A missing collection has no
    /// elements: its count is zero. For predicates, a path through a collection is an empty
    /// collection, as in stores, even where the object that has the collection is missing.
    private static func whenMissing(_ steps: ArraySlice<ParsedKeyPath.Step>, of owner: Any?, _ reader: KeyValueReader)
        -> Any?
    {
        if steps.count == 1 { return nil }
        for case .collectionOperator(let operation) in steps { return ofNoCollection(operation) }
        guard reader == .predicate, let owner = owner as? any KeyPathDestinations else { return nil }
        let keys = steps.map { step in if case .key(let key) = step { key } else { "" } }
        return owner.leadsToMany(keys) ? [Any]() : nil
    }

    private static func ofNoCollection(_ operation: CollectionOperator) -> Any? {
        operation == .count || operation == .sum ? 0 : nil
    }

    private static func apply(
        _ operation: CollectionOperator, to value: Any?, rest: ArraySlice<ParsedKeyPath.Step>, _ reader: KeyValueReader
    ) -> Any? {
        guard let value = unwrapped(value) else { return ofNoCollection(operation) }
        let elements = CollectionElements.of(value) ?? [value]
        // The values of a set's elements form a set, in which nil does not count.
        if rest.isEmpty, operation == .count, type(of: value) == Set<AnyHashable>.self {
            return elements.count { !($0 is NSNull) }
        }
        if rest.isEmpty { return union(operation, of: value, reader, operation.apply(to: elements)) }
        // `items.@count.something` is the count too.
        if operation == .count { return elements.count }
        let values = elements.map { self.value(at: rest, of: $0, reader) ?? NSNull() }
        return union(operation, of: value, reader, operation.apply(to: values, reader))
    }

    /// Returns the distinct values in the form that a program gets: a set for a set, an array for
    /// an array.
    private static func union(
        _ operation: CollectionOperator, of collection: Any, _ reader: KeyValueReader, _ result: Any?
    ) -> Any? {
        guard reader == .program, let result else { return result }
        let isOrdered = CollectionElements.isOrdered(collection)
        switch operation {
        case .distinctUnionOfObjects, .distinctUnionOfArrays:
            return isOrdered ? result : set(of: CollectionElements.of(result) ?? [])
        case .distinctUnionOfSets: return isOrdered ? CollectionElements.of(result) ?? [] : result
        default: return result
        }
    }

    /// Maps an array to an array, a set to a set, and for a program an ordered set to an ordered
    /// set, in which nil does not count.
    private static func mapped(_ elements: [Any], of collection: Any, _ key: String, _ reader: KeyValueReader) -> Any {
        let values = elements.map { value(forKey: key, of: $0, reader) ?? NSNull() }
        if reader == .program, collection is NSOrderedSet {
            let present = Statistics.distinct(values.filter { !($0 is NSNull) })
            // Foundation on Linux cannot hash decimals.
            if present.contains(where: { $0 is NSDecimalNumber || $0 is Decimal }) { return present }
            let set = NSOrderedSet(array: present)
            return set.count == present.count ? set : present
        }
        return CollectionElements.isOrdered(collection) ? values : set(of: values)
    }

    /// Returns a set of the values, or the distinct values where a set cannot hold them. Values
    /// that cannot be hashed, such as decimals by Foundation on Linux, are an array. Values of
    /// which `String` takes some for equal are a `DistinctValues`, which has no order.
    static func set(of values: [Any]) -> Any {
        let distinct = Statistics.distinct(values)
        var set = Set<AnyHashable>(minimumCapacity: distinct.count)
        for value in distinct {
            guard !(value is NSDecimalNumber), let value = value as? AnyHashable else { return distinct }
            if !set.insert(value).inserted { return DistinctValues(values: distinct) }
        }
        return set
    }

    private static func isSelf(_ key: String) -> Bool { key == "self" || key == "SELF" }

    /// Returns the stored property with this name, of the type or a superclass.
    private static func reflected(_ key: String, of value: Any) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for child in current.children where child.label == key { return unwrapped(child.value) }
            mirror = current.superclassMirror
        }
        return nil
    }

    /// Returns the value without the Optionals around it; `nil` for `NSNull`.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        let type = type(of: value)
        // A cast to a protocol costs far more than these comparisons, which nearly every value
        // passes.
        if type == String.self || type == Int.self || type == Double.self || type == Bool.self { return value }
        if type == Date.self || type == Int64.self || type == Int32.self || type == Int16.self { return value }
        if type is AnyClass { return value is NSNull ? nil : value }
        if type == AnyHashable.self { return unwrapped((value as! AnyHashable).base) }
        if let optional = value as? any OptionalValue { return unwrapped(optional.wrappedValue) }
        return value
    }
}
