import Foundation

/// The texts of XML stores.
enum XMLStoreText {
    /// A text as an element's content. `<`, `>`, `&`, the backslash and control characters but tab
    /// and line feed become `\u` with the UTF-16 unit in hexadecimal, its two bytes swapped.
    static func escaped(_ text: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x09, 0x0a: true
            case 0..<0x20, 0x26, 0x3c, 0x3e, 0x5c: false
            default: true
            }
        }
        if text.utf8.allSatisfy(isPlain) { return text }
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                result.append(byte)
            } else {
                let digits = String(byte, radix: 16)
                result += Array("\\u\(digits.count < 2 ? "0" : "")\(digits)00".utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The text of an element's content. A backslash that begins no such sequence stands for
    /// itself.
    static func unescaped(_ content: String) -> String {
        let backslash = UInt8(ascii: "\\")
        guard content.utf8.contains(backslash) else { return content }
        let units = Array(content.utf16)
        var result: [UInt16] = []
        var place = 0
        while place < units.count {
            if place + 6 <= units.count, units[place] == backslash, units[place + 1] == UInt8(ascii: "u"),
                let unit = number(units[place + 2..<place + 6])
            {
                result.append(unit.byteSwapped)
                place += 6
            } else {
                result.append(units[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF16.self)
    }

    private static func number(_ digits: ArraySlice<UInt16>) -> UInt16? {
        var number: UInt16 = 0
        for unit in digits {
            guard let scalar = Unicode.Scalar(unit), scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                return nil
            }
            number = number << 4 | UInt16(digit)
        }
        return number
    }

    /// A text in an attribute of an element, or in an element of a property list.
    static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\r": result += "&#13;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    // MARK: - Property lists

    /// A value of a property list on lines of its own, each with a line break before it.
    ///
    /// - Parameter level: the number of elements around it in the file.
    static func list(_ value: PropertyListValue, level: Int) -> String {
        list(value, "\n" + String(repeating: "    ", count: level), depth: 0)
    }

    private static func list(_ value: PropertyListValue, _ line: String, depth: Int) -> String {
        switch value {
        case .null, .uid: ""
        case .boolean(let value): line + (value ? "<true></true>" : "<false></false>")
        case .integer(let value): "\(line)<integer>\(value)</integer>"
        case .unsignedInteger(let value): "\(line)<integer>\(value)</integer>"
        case .real(let value): "\(line)<real>\(value)</real>"
        case .date(let seconds):
            line + "<date>\(ISO8601DateFormatter().string(from: Date(timeIntervalSinceReferenceDate: seconds)))</date>"
        case .data(let data): "\(line)<data>\n\(base64(data, depth: depth))</data>"
        case .string(let text): "\(line)<string>\(quoted(text))</string>"
        case .array(let values):
            "\(line)<array>" + values.map { list($0, line + "    ", depth: depth + 1) }.joined()
                + "\(values.isEmpty ? "" : line)</array>"
        case .dictionary(let entries):
            "\(line)<dict>"
                + entries.sorted { $0.key < $1.key }.map { key, value in
                    "\(line)    <key>\(quoted(key))</key>" + list(value, line + "    ", depth: depth + 1)
                }.joined() + "\(entries.isEmpty ? "" : line)</dict>"
        }
    }

    /// Data in the lines of a property list of its own, which begin with tabs.
    private static func base64(_ data: Data, depth: Int) -> String {
        let tabs = String(repeating: "\t", count: depth)
        let lines = lines(data.base64EncodedString(), of: 76 - 8 * min(depth, 8))
        return lines.map { tabs + $0 + "\n" }.joined() + tabs
    }

    /// The lines of a text in base 64.
    static func lines(_ text: String, of width: Int) -> [String] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: width).map { start in
            String(decoding: bytes[start..<min(start + width, bytes.count)], as: UTF8.self)
        }
    }
}
