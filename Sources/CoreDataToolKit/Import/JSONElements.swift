/// Takes the elements of a JSON list from a file one by one, without reading what is in them.
struct JSONElements {
    private let bytes: FileBytes
    private let name: String
    private var isFirst = true
    private var isAtEnd = false

    /// - Parameter name: the path of the file, for messages.
    init(_ bytes: FileBytes, name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// Returns the text of the next element, and its line; nil at the end of the list.
    ///
    /// An element that the end of the file cuts off is returned as far as it is there.
    mutating func next() throws(ToolError) -> (line: Int, text: [UInt8])? {
        if isAtEnd { return nil }
        if isFirst { try begin() } else { try skipSpace() }
        switch try bytes.peek() {
        case UInt8(ascii: "]"):
            _ = try bytes.next()
            try end()
            return nil
        case UInt8(ascii: ",") where !isFirst:
            _ = try bytes.next()
            try skipSpace()
        case nil: break
        default:
            if !isFirst { throw ToolError("'\(name)' is no JSON: a comma is missing in line \(bytes.line).") }
        }
        isFirst = false
        let line = bytes.line
        let (text, isCut) = try element(line)
        isAtEnd = isCut
        return (line, text)
    }

    private func skipSpace() throws(ToolError) {
        while let byte = try bytes.peek(), [0x20, 0x0a, 0x0d, 0x09].contains(byte) { _ = try bytes.next() }
    }

    private func begin() throws(ToolError) {
        try skipSpace()
        guard try bytes.next() == UInt8(ascii: "[") else {
            throw ToolError("'\(name)' is no JSON list of objects. If it has an object a line, add --format ndjson.")
        }
        try skipSpace()
    }

    private mutating func end() throws(ToolError) {
        isAtEnd = true
        try skipSpace()
        if try bytes.peek() != nil { throw ToolError("'\(name)' has more behind the list, in line \(bytes.line).") }
    }

    /// Reads up to the comma or bracket behind an element.
    ///
    /// - Returns: the bytes, and whether the file ends in the middle of the element.
    private func element(_ line: Int) throws(ToolError) -> ([UInt8], isCut: Bool) {
        var text: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        while let byte = try bytes.peek() {
            if isInString {
                if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else {
                switch Unicode.Scalar(byte) {
                case "\"": isInString = true
                case "," where depth <= 0, "]" where depth <= 0: return (text, false)
                case "{", "[": depth += 1
                case "}", "]": depth -= 1
                default: break
                }
            }
            text.append(byte)
            _ = try bytes.next()
            try bytes.checkLength(text.count, line)
        }
        return (text, isInString || depth > 0 || text.isEmpty)
    }
}
