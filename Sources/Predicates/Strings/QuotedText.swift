extension String {
    /// Returns the text in double quotes, with the escapes that predicate formats, Swift and JSON
    /// share.
    ///
    /// - Parameter escape: returns the escape of any other scalar; nil for one that stays as it is.
    package func inQuotes(_ escape: (Unicode.Scalar) -> String?) -> String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if let escaped = escape(scalar) { text += escaped } else { text.unicodeScalars.append(scalar) }
            }
        }
        return text + "\""
    }
}
