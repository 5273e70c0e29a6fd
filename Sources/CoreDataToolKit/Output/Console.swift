import Foundation

/// The input and outputs of a command, and what the terminal can show.
final class Console {
    let output: OutputWriter
    let errors: OutputWriter
    /// The number of columns of the terminal, or of a file.
    let columns: Int
    let style: TextStyle
    /// Whether progress is shown on the standard error.
    let showsProgress: Bool
    /// Whether a person types at a terminal and sees the output there.
    let isInteractive: Bool
    /// Returns the next line of the standard input; nil at its end.
    let readLine: () -> String?

    init(
        output: OutputWriter, errors: OutputWriter, columns: Int, style: TextStyle = .plain,
        showsProgress: Bool = false, isInteractive: Bool = false, readLine: @escaping () -> String? = { nil }
    ) {
        self.output = output
        self.errors = errors
        self.columns = columns
        self.style = style
        self.showsProgress = showsProgress
        self.isInteractive = isInteractive
        self.readLine = readLine
    }

    /// Writes a line for people to the standard error, after the command's name.
    func warn(_ message: String) throws { try errors.write(line: "coredata: \(message)") }

    /// Asks a question that is answered by `y` or `n`, on the standard error. No answer is a no.
    func confirm(_ question: String) throws -> Bool {
        try output.flush()
        try errors.write(DisplayWidth.printable(question) + " [y/N] ")
        try errors.flush()
        guard let answer = readLine() else { return false }
        return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// Writes a value as indented JSON.
    func write(json value: JSONValue) throws { try output.write(value.indented() + "\n") }

    /// Writes lines for people.
    func write(lines: [String]) throws { for line in lines { try output.write(line: line) } }
}
