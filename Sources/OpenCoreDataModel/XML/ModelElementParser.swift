import Foundation

/// Reads an XML file into elements with line numbers, and treats every byte as untrusted.
///
/// It accepts UTF-8 only, as editors of models and writers of property lists use it. It rejects
/// what such files never have: entities of their own, and with them everything that unfolds without
/// end. Cost: O(number of bytes).
///
/// (www.w3.org/TR/xml, Extensible Markup Language 1.0)
package struct ModelElementParser {
    private static let depthLimit = 100

    /// An error in the text.
    private struct Problem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The line at `counted`, the position up to which line ends have been counted.
    private var line = 1
    private var counted = 0

    /// Reads a whole document.
    /// - Parameter file: the file's path, for errors.
    /// - Throws: `ModelReadingError` with the line when it is not well-formed.
    package static func parse(_ data: Data, file: String?) throws -> ModelElement {
        var parser = ModelElementParser(bytes: [UInt8](data))
        do {
            return try parser.document()
        } catch let problem as Problem {
            throw ModelReadingError(
                .damaged, "This is not a readable XML file: \(problem.text).",
                advice:
                    "Open it in the editor that made it, correct the line and save it again, or use an intact copy.",
                file: file, line: parser.currentLine())
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func currentLine() -> Int {
        while counted < min(position, bytes.count) {
            if bytes[counted] == UInt8(ascii: "\n") { line += 1 }
            counted += 1
        }
        return line
    }

    // MARK: Characters

    private mutating func checkCharacters() throws {
        if bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0xff, 0xfe]) || bytes.prefix(4).contains(0) {
            throw Problem("its text is not UTF-8 but of wider characters; save it as UTF-8")
        }
        if let place = bytes.firstIndex(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }) {
            position = place
            throw Problem("it holds the control character \(bytes[place])")
        }
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        var iterator = bytes.makeIterator()
        var decoder = UTF8.ForwardParser()
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): position += scalar.count
            case .emptyInput: throw Problem("its text is not UTF-8")
            case .error:
                throw Problem("its text is not UTF-8: it holds the byte \(bytes[min(position, bytes.count - 1)])")
            }
        }
    }

    /// Checks the declared encoding. A file that declares another encoding is accepted if its text
    /// is ASCII.
    private func checkEncoding(_ declaration: Substring) throws {
        guard let start = declaration.range(of: "encoding") else { return }
        let rest = declaration[start.upperBound...].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { throw Problem("its declaration is damaged") }
        let name = rest.dropFirst().prefix { $0 != quote }
        guard ["utf-8", "utf8"].contains(name.lowercased()) || bytes.allSatisfy({ $0 < 0x80 }) else {
            throw Problem("it declares the encoding \(name.prefix(40)); save it as UTF-8")
        }
    }

    private func isAt(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        return text.withUTF8Buffer { buffer in (0..<count).allSatisfy { bytes[position + $0] == buffer[$0] } }
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    /// Returns the text before some characters, and skips these too.
    private mutating func text(before end: StaticString, in what: String) throws -> Substring {
        let start = position
        while position < bytes.count, !isAt(end) { position += 1 }
        guard position < bytes.count else {
            position = start
            throw Problem("\(what) does not end")
        }
        defer { position += end.utf8CodeUnitCount }
        return Substring(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func name() throws -> String {
        let start = position
        while position < bytes.count, Self.isName(bytes[position], isFirst: position == start) { position += 1 }
        guard position > start else { throw Problem("a name is missing") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    /// Appends the character of a reference such as `&amp;` or `&#233;`; its `&` has been skipped.
    private mutating func appendReference(to result: inout [UInt8]) throws {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ";"), position - start < 12 { position += 1 }
        guard position < bytes.count, bytes[position] == UInt8(ascii: ";") else {
            throw Problem("an '&' does not begin a reference; write '&amp;'")
        }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        switch name {
        case "amp": result.append(UInt8(ascii: "&"))
        case "lt": result.append(UInt8(ascii: "<"))
        case "gt": result.append(UInt8(ascii: ">"))
        case "quot": result.append(UInt8(ascii: "\""))
        case "apos": result.append(UInt8(ascii: "'"))
        default:
            let number =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let number, number >= 0x20 || [9, 10, 13].contains(number), let scalar = Unicode.Scalar(number) else {
                throw Problem("'&\(name);' stands for no character")
            }
            result.append(contentsOf: Array(String(Character(scalar)).utf8))
        }
    }

    // MARK: Structure

    private mutating func document() throws -> ModelElement {
        try checkCharacters()
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        if isAt("<?xml") { try checkEncoding(text(before: "?>", in: "the declaration")) }
        try skipMisc(allowsDoctype: true)
        let root = try element()
        try skipMisc(allowsDoctype: false)
        guard position == bytes.count else { throw Problem("there is something after the outermost element") }
        return root
    }

    /// Skips spaces, comments, instructions and a document type without declarations of its own.
    private mutating func skipMisc(allowsDoctype: Bool) throws {
        while true {
            skipSpace()
            if try skipComment() { continue }
            if allowsDoctype, isAt("<!DOCTYPE") {
                guard try !text(before: ">", in: "the document type").contains("[") else {
                    throw Problem("it declares entities or elements of its own")
                }
            } else {
                return
            }
        }
    }

    /// Skips a comment or an instruction, if there is one here.
    private mutating func skipComment() throws -> Bool {
        if isAt("<!--") {
            position += 4
            _ = try text(before: "-->", in: "a comment")
        } else if isAt("<?") {
            _ = try text(before: "?>", in: "an instruction")
        } else {
            return false
        }
        return true
    }

    /// Reads the element that begins here, with everything in it.
    private mutating func element() throws -> ModelElement {
        var open: [ModelElement] = []
        var contents: [[UInt8]] = []
        while true {
            if open.isEmpty || (isAt("<") && !isAt("</") && !isAt("<!") && !isAt("<?")) {
                let (element, isEmpty) = try startTag()
                guard open.count < Self.depthLimit else { throw Problem("its elements are nested too deeply") }
                open.append(element)
                contents.append([])
                if !isEmpty { continue }
            } else if isAt("</") {
                position += 2
                let name = try name()
                guard name == open[open.count - 1].name else {
                    throw Problem("'\(name)' ends where '\(open[open.count - 1].name)' should")
                }
                skipSpace()
                guard isAt(">") else { throw Problem("the end of '\(name)' is damaged") }
                position += 1
            } else {
                try readContent(into: &contents[contents.count - 1], of: open[open.count - 1])
                continue
            }
            var closed = open.removeLast()
            closed.content = String(decoding: contents.removeLast(), as: UTF8.self)
            if open.isEmpty { return closed }
            open[open.count - 1].children.append(closed)
        }
    }

    /// Reads text, a comment or an instruction within an element.
    private mutating func readContent(into content: inout [UInt8], of element: ModelElement) throws {
        guard position < bytes.count else {
            throw Problem("the element '\(element.name)' of line \(element.line) does not end")
        }
        if try skipComment() { return }
        if isAt("<![CDATA[") {
            position += 9
            content.append(contentsOf: Array(try text(before: "]]>", in: "a CDATA section").utf8))
        } else if bytes[position] == UInt8(ascii: "<") {
            throw Problem("there is a declaration within the element '\(element.name)'")
        } else if bytes[position] == UInt8(ascii: "&") {
            position += 1
            try appendReference(to: &content)
        } else {
            content.append(bytes[position] == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : bytes[position])
            skipCharacter()
        }
    }

    /// Skips a byte, or the two of a line end.
    private mutating func skipCharacter() {
        position += bytes[position] == UInt8(ascii: "\r") && isAt("\r\n") ? 2 : 1
    }

    /// Reads the tag that begins here. `isEmpty` tells whether it ends its element too.
    private mutating func startTag() throws -> (ModelElement, isEmpty: Bool) {
        guard isAt("<") else { throw Problem("an element is missing") }
        position += 1
        let line = currentLine()
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            let start = position
            skipSpace()
            if isAt("/>") {
                position += 2
                return (ModelElement(name: name, attributes: attributes, line: line), true)
            }
            if isAt(">") {
                position += 1
                return (ModelElement(name: name, attributes: attributes, line: line), false)
            }
            guard position > start, position < bytes.count else { throw Problem("the tag of '\(name)' is damaged") }
            let attribute = try self.name()
            guard attributes.updateValue(try attributeValue(attribute), forKey: attribute) == nil else {
                throw Problem("'\(name)' has the attribute '\(attribute)' twice")
            }
        }
    }

    private mutating func attributeValue(_ name: String) throws -> String {
        skipSpace()
        guard isAt("=") else { throw Problem("the attribute '\(name)' has no value") }
        position += 1
        skipSpace()
        guard isAt("\"") || isAt("'") else { throw Problem("the value of '\(name)' is not in quotation marks") }
        let quote = bytes[position]
        position += 1
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != quote {
            let byte = bytes[position]
            guard byte != UInt8(ascii: "<") else { throw Problem("the value of '\(name)' holds a '<'; write '&lt;'") }
            skipCharacter()
            if byte == UInt8(ascii: "&") {
                try appendReference(to: &value)
            } else {
                value.append(Self.isSpace(byte) ? 0x20 : byte)
            }
        }
        guard position < bytes.count else { throw Problem("the value of '\(name)' does not end") }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }
}
