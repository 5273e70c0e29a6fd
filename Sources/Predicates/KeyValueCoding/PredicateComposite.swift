import Foundation

/// A type whose values a store keeps as several named ones, the elements of a composite attribute.
///
/// In a `#Predicate` and in an order each element is reached by its name. A whole value is compared as the dictionary of its elements'
/// values; a type with one element, which has the property's name, is compared as this element.
public protocol PredicateComposite {
    /// The names of the elements. An empty one is that of the property.
    static var _predicateElementNames: [String] { get }
    /// The elements' values by name; nil ones are missing.
    var _predicateElements: [String: Any] { get }
}

extension PredicateComposite {
    /// Whether a value is compared as its only element, which has the property's name.
    package static var isComparedAsElement: Bool { _predicateElementNames == [""] }

    /// What stands for a value in a predicate.
    package var comparedValue: Any { Self.isComparedAsElement ? _predicateElements[""] ?? NSNull() : _predicateElements }

    /// Whether a key path from a value begins with one of its elements.
    package static func hasElement(at path: String) -> Bool {
        path.split(separator: ".").first.map { _predicateElementNames.contains(String($0)) } ?? false
    }
}

extension KeyPathNames {
    /// The key path as text that leads to what stores compare and order: from a composite value with one element to this element.
    package static func comparedName(of keyPath: AnyKeyPath) -> String? {
        let valueType = type(of: keyPath).valueType
        let type = (valueType as? any OptionalValue.Type)?.wrappedType ?? valueType
        guard let name = name(of: keyPath) else { return nil }
        guard let composite = type as? any PredicateComposite.Type, composite.isComparedAsElement else { return name }
        return name + "." + (name.split(separator: ".").last ?? "")
    }
}
