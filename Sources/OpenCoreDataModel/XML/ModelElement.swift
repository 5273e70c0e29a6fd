/// An element of an XML file, of a model or a property list. It has a name, attributes, text,
/// children and the line on which it starts.
package struct ModelElement {
    package let name: String
    package let attributes: [String: String]
    package let line: Int
    package internal(set) var children: [ModelElement] = []
    /// The text that is directly in the element.
    package internal(set) var content = ""

    /// Returns the value of an attribute; nil when it is missing or empty.
    func text(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether an attribute is "YES" (or "true"); the fallback when it is missing.
    func flag(_ attribute: String, default fallback: Bool = false) -> Bool {
        guard let value = attributes[attribute]?.lowercased() else { return fallback }
        return value == "yes" || value == "true" || value == "1"
    }

    /// Returns the direct children with a name.
    package func children(_ name: String) -> [ModelElement] {
        children.filter { $0.name == name }
    }
}
