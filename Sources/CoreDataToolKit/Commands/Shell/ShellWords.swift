/// A command line of the shell, split into words as in sh: quotes and backslashes keep spaces.
struct ShellWords {
    struct Word: Equatable {
        var text: String
        /// The offset of its first character in the line.
        let start: Int
    }

    private(set) var words: [Word] = []
    /// The quote that is open at the end of the line.
    private(set) var openQuote: Character?
    /// Whether the line ends behind a word, so that a new one would begin.
    private(set) var endsWithSpace = true

    init(_ line: String) {
        var word: Word?
        var isEscaped = false
        for (offset, character) in line.enumerated() {
            if isEscaped {
                word?.text.append(character)
                isEscaped = false
            } else if let quote = openQuote {
                if character == quote {
                    openQuote = nil
                } else if character == "\\", quote == "\"" {
                    isEscaped = true
                } else {
                    word?.text.append(character)
                }
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                if word == nil { word = Word(text: "", start: offset) }
                switch character {
                case "'", "\"": openQuote = character
                case "\\": isEscaped = true
                default: word?.text.append(character)
                }
            }
        }
        endsWithSpace = word == nil
        if let word { words.append(word) }
    }

    var texts: [String] { words.map(\.text) }
}
