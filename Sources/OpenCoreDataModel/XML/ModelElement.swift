/// An element of an XML file, a model's or a property list's: name, attributes, text, children and the line on which it starts.
struct ModelElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [ModelElement] = []
    /// The text that stands directly in the element.
    var content = ""

    /// The value of an attribute, nil when it is missing or empty.
    func text(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether an attribute is "YES" (or "true"); the fallback when it is missing.
    func flag(_ attribute: String, default fallback: Bool = false) -> Bool {
        guard let value = attributes[attribute]?.lowercased() else { return fallback }
        return value == "yes" || value == "true" || value == "1"
    }

    /// The direct children of a name.
    func children(_ name: String) -> [ModelElement] {
        children.filter { $0.name == name }
    }
}
