/// A key path that is split into its steps once, so that reading it parses nothing.
struct ParsedKeyPath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case key(String)
        case collectionOperator(CollectionOperator)
    }

    let text: String
    let steps: [Step]

    init(_ text: String) {
        self.text = text
        // A single key is by far the most frequent path.
        if !text.isEmpty, !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }) {
            steps = [.key(text)]
            return
        }
        steps = text.pathNames.map { name in
            if name.hasPrefix("@"), let known = CollectionOperator(rawValue: String(name.dropFirst())) {
                return .collectionOperator(known)
            }
            return .key(name)
        }
    }

    static func == (lhs: ParsedKeyPath, rhs: ParsedKeyPath) -> Bool { lhs.text == rhs.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
