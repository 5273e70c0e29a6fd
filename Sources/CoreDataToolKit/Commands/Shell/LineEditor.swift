import Foundation

/// Reads lines from a terminal, with the keys of Emacs, history and completion.
final class LineEditor {
    private let input: Int32
    private let output: OutputWriter
    private let columns: () -> Int
    private let complete: (String) -> ShellCompletion.Candidates
    private(set) var history: [String]

    private var text: [Character] = []
    private var cursor = 0
    private var place = 0
    private var edited = ""
    private var prompt = ""

    /// - Parameters:
    ///   - input: the descriptor of the terminal.
    ///   - columns: returns the width of the terminal.
    init(
        input: Int32, output: OutputWriter, history: [String], columns: @escaping () -> Int,
        complete: @escaping (String) -> ShellCompletion.Candidates
    ) {
        self.input = input
        self.output = output
        self.history = history
        self.columns = columns
        self.complete = complete
    }

    /// The effect of a key on the line.
    private enum Outcome {
        case goesOn
        case isDone
        case isCancelled
        case isOver
    }

    /// Returns the next line; nil at the end of the input, or for Control-D on an empty line.
    func readLine(prompt: String) throws -> String? {
        self.prompt = prompt
        (text, cursor, place, edited) = ([], 0, history.count, "")
        guard let mode = TerminalMode(raw: input) else { return nil }
        defer { mode.restore() }
        try draw()
        while true {
            switch try readKey() {
            case .goesOn: try draw()
            case .isDone:
                try end()
                let line = String(text)
                if !line.allSatisfy(\.isWhitespace), history.last != line { history.append(line) }
                return line
            case .isCancelled:
                try end("^C")
                return ""
            case .isOver:
                try end()
                return nil
            }
        }
    }

    private func end(_ mark: String = "") throws {
        cursor = text.count
        try draw()
        try output.write(mark + "\r\n")
        try output.flush()
    }

    // MARK: Keys

    private func readByte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(input, &byte, 1)
            if count == 1 { return byte }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }

    private func readKey() throws -> Outcome {
        guard let byte = readByte() else { return .isOver }
        switch byte {
        case 0x0d, 0x0a: return .isDone
        case 0x03: return .isCancelled
        case 0x04:
            if text.isEmpty { return .isOver }
            delete(at: cursor)
        case 0x01: cursor = 0
        case 0x05: cursor = text.count
        case 0x02: cursor = max(0, cursor - 1)
        case 0x06: cursor = min(text.count, cursor + 1)
        case 0x08, 0x7f: if cursor > 0 { delete(at: cursor - 1) }
        case 0x0b: text.removeSubrange(cursor...)
        case 0x15: deleteBack(to: 0)
        case 0x17: deleteBack(to: startOfWord())
        case 0x0c: try output.write("\u{1b}[H\u{1b}[2J")
        case 0x10: moveInHistory(by: -1)
        case 0x0e: moveInHistory(by: 1)
        case 0x09: try completeWord()
        case 0x1b: readSequence()
        case 0..<0x20: break
        default: insert(readCharacter(byte))
        }
        return .goesOn
    }

    /// Reads the rest of the sequence of an arrow or another key that is no character.
    private func readSequence() {
        guard let kind = readByte(), kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else { return }
        var parameters: [UInt8] = []
        var final: UInt8 = 0
        while let byte = readByte() {
            if (0x40...0x7e).contains(byte) {
                final = byte
                break
            }
            parameters.append(byte)
            if parameters.count > 16 { return }
        }
        switch (final, String(decoding: parameters, as: UTF8.self)) {
        case (UInt8(ascii: "A"), _): moveInHistory(by: -1)
        case (UInt8(ascii: "B"), _): moveInHistory(by: 1)
        case (UInt8(ascii: "C"), _): cursor = min(text.count, cursor + 1)
        case (UInt8(ascii: "D"), _): cursor = max(0, cursor - 1)
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): cursor = 0
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): cursor = text.count
        case (UInt8(ascii: "~"), "3"): delete(at: cursor)
        default: break
        }
    }

    /// Returns the character that begins with a byte; a replacement character for bytes that are
    /// no UTF-8.
    private func readCharacter(_ first: UInt8) -> String {
        let count = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0
        var bytes = [first]
        for _ in 0..<count { if let byte = readByte() { bytes.append(byte) } }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Editing

    private func insert(_ typed: String) {
        // A combining mark joins the character before it.
        let before = text.count
        text = Array(String(text[..<cursor]) + typed + String(text[cursor...]))
        cursor = min(text.count, cursor + max(0, text.count - before))
    }

    private func delete(at place: Int) {
        guard text.indices.contains(place) else { return }
        text.remove(at: place)
        if place < cursor { cursor -= 1 }
    }

    private func deleteBack(to start: Int) {
        text.removeSubrange(start..<cursor)
        cursor = start
    }

    private func startOfWord() -> Int {
        var start = cursor
        while start > 0, text[start - 1].isWhitespace { start -= 1 }
        while start > 0, !text[start - 1].isWhitespace { start -= 1 }
        return start
    }

    private func moveInHistory(by step: Int) {
        let next = place + step
        guard (0...history.count).contains(next) else { return }
        if place == history.count { edited = String(text) }
        place = next
        text = Array(next == history.count ? edited : history[next])
        cursor = text.count
    }

    /// Completes the word before the cursor, or shows what it can become.
    private func completeWord() throws {
        let candidates = complete(String(text[..<cursor]))
        guard let first = candidates.texts.first else { return }
        let common = candidates.texts.dropFirst().reduce(first) { common, text in
            String(zip(common, text).prefix { $0.0.lowercased() == $0.1.lowercased() }.map(\.0))
        }
        if candidates.texts.count == 1 || common.count > candidates.replaced {
            deleteBack(to: max(0, cursor - candidates.replaced))
            insert(common + (candidates.texts.count == 1 ? " " : ""))
            return
        }
        let shown = candidates.texts.prefix(60).map { DisplayWidth.printable($0) }.joined(separator: "  ")
        try output.write("\r\n" + shown + (candidates.texts.count > 60 ? "  …" : "") + "\r\n")
    }

    // MARK: Drawing

    /// Draws the part of the line around the cursor that fits the terminal.
    private func draw() throws {
        let room = max(10, columns() - DisplayWidth.of(prompt) - 1)
        let shown = text.map { DisplayWidth.printable(String($0)) }
        var start = 0
        while width(shown[start..<cursor]) > room { start += 1 }
        var end = cursor
        while end < shown.count, width(shown[start...end]) <= room { end += 1 }
        var line = "\r" + prompt + shown[start..<end].joined() + "\u{1b}[K\r"
        let column = DisplayWidth.of(prompt) + width(shown[start..<cursor])
        if column > 0 { line += "\u{1b}[\(column)C" }
        try output.write(line)
        try output.flush()
    }

    private func width(_ characters: ArraySlice<String>) -> Int { characters.reduce(0) { $0 + DisplayWidth.of($1) } }
}

/// A mode of a terminal in which each key is read as it is typed.
struct TerminalMode {
    private let descriptor: Int32
    private var former: termios

    /// - Returns: nil for a descriptor that is no terminal.
    init?(raw descriptor: Int32) {
        self.descriptor = descriptor
        former = termios()
        guard tcgetattr(descriptor, &former) == 0 else { return nil }
        var raw = former
        cfmakeraw(&raw)
        guard tcsetattr(descriptor, TCSADRAIN, &raw) == 0 else { return nil }
    }

    func restore() {
        var mode = former
        _ = tcsetattr(descriptor, TCSADRAIN, &mode)
    }
}
