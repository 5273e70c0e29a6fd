/// Text in XML and HTML.
enum MarkupText {
    /// Returns a text for the content and the attributes of elements: names and values of a store
    /// cannot end them. Characters that XML does not allow become visible ones.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in DisplayWidth.printable(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
