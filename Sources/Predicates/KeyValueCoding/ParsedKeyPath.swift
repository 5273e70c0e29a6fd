/// A key path cut into its steps once, so that reading it parses nothing.
struct ParsedKeyPath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case key(String)
        case collectionOperator(CollectionOperator)
    }

    let text: String
    let steps: [Step]

    init(_ text: String) {
        self.text = text
        // One key is by far the most frequent path.
        if !text.isEmpty, !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }) {
            steps = [.key(text)]
            return
        }
        steps = text.split(separator: ".").map { part in
            if part.hasPrefix("@"), let known = CollectionOperator(rawValue: String(part.dropFirst())) {
                return .collectionOperator(known)
            }
            return .key(String(part))
        }
    }

    static func == (lhs: ParsedKeyPath, rhs: ParsedKeyPath) -> Bool { lhs.text == rhs.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
