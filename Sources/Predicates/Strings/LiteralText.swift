/// Text that is equal to the same code points only, unlike `String`, for which two ways to compose a letter are alike.
struct LiteralText: Hashable {
    let text: String

    static func == (left: LiteralText, right: LiteralText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        ASCIIText.bytes(of: text) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
