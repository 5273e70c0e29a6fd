import Foundation

/// Comparisons of ASCII strings, which need no Unicode tables.
enum ASCIIText {
    static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    /// Whether the strings are equal; `nil` when one is not ASCII.
    static func equal(_ lhs: String, _ rhs: String, ignoringCase: Bool) -> Bool? {
        bytes(of: lhs) { left in
            bytes(of: rhs) { right in
                guard left.allSatisfy({ $0 < 0x80 }), right.allSatisfy({ $0 < 0x80 }) else { return nil }
                guard left.count == right.count else { return false }
                if !ignoringCase { return left.elementsEqual(right) }
                return zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
            }
        }
    }

    static func contains(_ text: String, _ part: String, ignoringCase: Bool) -> Bool {
        bytes(of: text) { text in
            bytes(of: part) { ignoringCase ? contains(text, $0, transform: lowercased) : contains(text, $0) }
        }
    }

    static func contains(
        _ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>,
        transform: (UInt8) -> UInt8 = { $0 }
    ) -> Bool {
        guard let first = part.first.map(transform) else { return true }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where transform(text[start]) == first {
            var length = 1
            while length < part.count, transform(text[start + length]) == transform(part[length]) { length += 1 }
            if length == part.count { return true }
        }
        return false
    }

    /// Calls `body` with the string's UTF-8, without copying it where that is possible.
    static func bytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = text
        return copy.withUTF8(body)
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
