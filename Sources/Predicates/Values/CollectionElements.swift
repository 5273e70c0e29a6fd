import Foundation

/// The elements of a value of any type, as predicates see them.
enum CollectionElements {
    /// Returns the elements of a collection; `nil` for everything else, strings and data included.
    /// Collections are arrays, sets and ordered sets of Swift or Foundation, and the values of a
    /// dictionary.
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

    /// Returns the elements of a collection, with nested collections replaced by their elements. A
    /// value that is not a collection is its own only element. So is a dictionary within a
    /// collection, which stands for one thing with properties.
    static func flattened(_ value: Any) -> [Any] {
        guard let elements = of(value) else { return [value] }
        guard elements.contains(where: { isCollection($0) && !isDictionary($0) }) else { return elements }
        return elements.flatMap { isDictionary($0) ? [$0] : flattened($0) }
    }

    /// Returns the keys and values of a dictionary; `nil` for everything else.
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

    static func isOrdered(_ value: Any) -> Bool {
        if type(of: value) is NSObject.Type { return value is NSArray || value is NSOrderedSet }
        return !(value is any SetAlgebra) && !(value is any DictionaryValue) && !(value is DistinctValues)
    }
}

/// A dictionary of any type. A value of type `Any` can be cast to it.
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
