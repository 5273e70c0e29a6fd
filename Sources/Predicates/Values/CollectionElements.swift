import Foundation

/// What a predicate takes for the elements of a value of any type.
enum CollectionElements {
    /// The elements of an array, set or ordered set of Swift or Foundation, or the values of a dictionary; `nil` for
    /// everything else, strings and data included.
    static func of(_ value: Any) -> [Any]? {
        if type(of: value) is NSObject.Type {
            switch value {
            case let array as NSArray: return array.map { $0 }
            case let set as NSSet: return set.allObjects
            case let set as NSOrderedSet: return set.map { $0 }
            case let dictionary as NSDictionary: return dictionary.map { $0.value }
            default: return nil
            }
        }
        switch value {
        case is String, is Data, is Substring: return nil
        case let dictionary as any DictionaryValue: return dictionary.anyValues
        case let array as [Any]: return array
        case let collection as any Collection: return collection.map { $0 as Any }
        default: return nil
        }
    }

    /// The elements of a collection, those of collections within it in their place. A value that is no collection is
    /// its own only element; so is a dictionary within a collection, which stands for one thing with properties.
    static func flattened(_ value: Any) -> [Any] {
        guard let elements = of(value) else { return [value] }
        guard elements.contains(where: { isCollection($0) && !isDictionary($0) }) else { return elements }
        return elements.flatMap { isDictionary($0) ? [$0] : flattened($0) }
    }

    /// The keys and values of a dictionary of Swift or Foundation; `nil` for everything else.
    static func entries(of value: Any) -> [(key: Any, value: Any)]? {
        if let dictionary = value as? any DictionaryValue { return dictionary.entries }
        return (value as? NSDictionary).map { $0.map { ($0.key, $0.value) } }
    }

    static func isDictionary(_ value: Any) -> Bool { value is any DictionaryValue || value is NSDictionary }

    static func isCollection(_ value: Any) -> Bool {
        let type = type(of: value)
        if type == String.self || type == Data.self || type == Substring.self { return false }
        if type is NSObject.Type {
            return value is NSArray || value is NSSet || value is NSOrderedSet || value is NSDictionary
        }
        return value is any Collection
    }

    /// Whether the elements have an order that counts.
    static func isOrdered(_ value: Any) -> Bool {
        if type(of: value) is NSObject.Type { return value is NSArray || value is NSOrderedSet }
        return !(value is any SetAlgebra) && !(value is any DictionaryValue) && !(value is DistinctValues)
    }
}

/// Lets a value of type `Any` be asked whether it is a dictionary.
protocol DictionaryValue {
    var anyValues: [Any] { get }
    var entries: [(key: Any, value: Any)] { get }
    func value(forAnyKey key: String) -> Any?
}

extension Dictionary: DictionaryValue {
    var anyValues: [Any] { values.map { $0 as Any } }

    var entries: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }

    func value(forAnyKey key: String) -> Any? {
        guard let key = key as? Key else { return nil }
        return self[key]
    }
}
