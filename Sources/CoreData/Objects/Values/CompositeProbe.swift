import Foundation

/// Finds the elements of a composite value that a key path reads: `city` of `\Order.address.city`.
///
/// Swift's description of a key path names its stored properties, including those of a composite's
/// type. Each name is checked by reading that property from the value that the probe returned.
enum CompositeProbe {
    /// The element names on the way from a property's value to a key path's value; none if the
    /// values are the same.
    ///
    /// - Returns: nil if the key path computes something else from the property's value.
    static func elements(from property: Any?, to value: Any, by keyPath: AnyKeyPath, of name: String) -> [String]? {
        if ProbeValues.areSame(value, property) { return [] }
        guard let composite = PropertyConversion.unwrapped(property) as? any PredicateComposite else { return nil }
        let type = type(of: composite)
        if type.isComparedAsElement { return ProbeValues.areSame(value, composite.comparedValue) ? [name] : nil }
        let names = storedProperties(atEndOf: keyPath)
        var current: Any? = composite
        for name in names {
            let children = current.map { Mirror(reflecting: $0).children }
            current = PropertyConversion.unwrapped(children?.first { $0.label == name }?.value)
        }
        return type.hasElement(at: names.first ?? "") && ProbeValues.areSame(value, current) ? names : nil
    }

    /// The names of the stored properties at the end of a key path: `city` for
    /// `\Order.address.city`, whose description is `\Order.<computed 0x… (Address)>.city`.
    private static func storedProperties(atEndOf keyPath: AnyKeyPath) -> [String] {
        let names = "\(keyPath)".split(separator: ">").last ?? ""
        return names.filter { $0 != "?" && $0 != "!" }.split(separator: ".").map(String.init)
    }
}
