/// Why a command could not do its work, in words for the person at the terminal.
struct ToolError: Error, Equatable {
    /// One line: what is wrong, where, and what to do.
    let message: String
    /// Lines to print below the message, such as a predicate with a caret.
    let details: String?

    init(_ message: String, details: String? = nil) {
        self.message = message
        self.details = details
    }
}

/// Arguments that do not make a command.
struct UsageError: Error, Equatable {
    /// One line: what is wrong with the arguments.
    let message: String
}
