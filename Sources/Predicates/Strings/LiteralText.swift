/// Text as stores compare it: two texts are equal only if they have the same code points. `String`
/// treats two ways to compose a letter as equal. Code that compares values, or finds them by a key,
/// uses this type.
package struct LiteralText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: LiteralText, right: LiteralText) -> Bool { areSame(left.text, right.text) }

    package func hash(into hasher: inout Hasher) {
        ASCIIText.bytes(of: text) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func areSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return ASCIIText.bytes(of: left) { left in ASCIIText.bytes(of: right) { left.elementsEqual($0) } }
    }
}
