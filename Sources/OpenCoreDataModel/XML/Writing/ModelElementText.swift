/// An element to be written into a model's XML file. Its attributes keep their order.
struct ModelElementText {
    let name: String
    private(set) var attributes: [(name: String, value: String)] = []
    var children: [ModelElementText] = []
    /// Whether a text had characters that no XML file can hold.
    private(set) var lostCharacters = false

    init(_ name: String, _ attributes: (name: String, value: String?)..., children: [ModelElementText] = []) {
        self.name = name
        self.children = children
        for attribute in attributes { add(attribute.name, attribute.value) }
    }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        let kept = String(String.UnicodeScalarView(value.unicodeScalars.filter { Self.isAllowed($0) }))
        if kept.unicodeScalars.count != value.unicodeScalars.count { lostCharacters = true }
        attributes.append((name, kept))
    }

    mutating func add(_ name: String, if flag: Bool) {
        if flag { add(name, "YES") }
    }

    /// The element as a document in Xcode's layout: four spaces a level, no line break at the end.
    var document: String { "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + text(indentation: "") }

    private func text(indentation: String) -> String {
        var text = indentation + "<" + name
        for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
        if children.isEmpty { return text + "/>" }
        text += ">\n"
        for child in children { text += child.text(indentation: indentation + "    ") + "\n" }
        return text + indentation + "</\(name)>"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            // Written as they are, readers would take them for spaces.
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
