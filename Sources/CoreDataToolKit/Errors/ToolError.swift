/// The failure of a command, with a message for the person at the terminal.
struct ToolError: Error, Equatable {
    /// One line: the problem, its place, and the remedy.
    let message: String
    /// Lines to print below the message, such as a predicate with a caret.
    let details: String?

    init(_ message: String, details: String? = nil) {
        self.message = message
        self.details = details
    }
}

/// An error in the arguments of a command.
struct UsageError: Error, Equatable {
    let message: String
}
