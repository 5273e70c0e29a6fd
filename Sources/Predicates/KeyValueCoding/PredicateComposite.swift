import Foundation

/// A type whose values a store keeps as several named values: the elements of a composite
/// attribute.
///
/// A `#Predicate` and a sort order refer to each element by its name. A whole value is compared as
/// the dictionary of its elements' values. A type with a single element that has the property's
/// name is compared as this element.
public protocol PredicateComposite {
    /// The names of the elements. An empty name means the name of the property.
    static var _predicateElementNames: [String] { get }
    /// The elements' values by name; nil values are left out.
    var _predicateElements: [String: Any] { get }
}

extension PredicateComposite {
    /// Whether a value is compared as its only element, which has the property's name.
    package static var isComparedAsElement: Bool { _predicateElementNames == [""] }

    /// The form of a value that a predicate compares.
    package var comparedValue: Any {
        Self.isComparedAsElement ? _predicateElements[""] ?? NSNull() : _predicateElements
    }

    /// Whether a key path from a value begins with one of its elements.
    package static func hasElement(at path: String) -> Bool {
        path.split(separator: ".").first.map { _predicateElementNames.contains(String($0)) } ?? false
    }
}

extension KeyPathNames {
    /// Returns the key path as text, as stores compare and sort by it. The key path of a composite
    /// value with one element is extended by this element.
    package static func comparedName(of keyPath: AnyKeyPath) -> String? {
        let valueType = type(of: keyPath).valueType
        let type = (valueType as? any OptionalValue.Type)?.wrappedType ?? valueType
        guard let name = name(of: keyPath) else { return nil }
        guard let composite = type as? any PredicateComposite.Type, composite.isComparedAsElement else { return name }
        return name + "." + (name.split(separator: ".").last ?? "")
    }
}
