import Foundation

/// The emphasis of text on a terminal; plain in files and pipes.
enum TextStyle {
    case plain
    case coloured

    /// Returns the style of an output: coloured only on a terminal, and not if the person set
    /// `NO_COLOR` (<https://no-color.org>) or the terminal is dumb.
    static func of(terminal: Int32, environment: [String: String]) -> TextStyle {
        guard terminal >= 0, isatty(terminal) == 1, environment["NO_COLOR"] ?? "" == "", environment["TERM"] != "dumb"
        else { return .plain }
        return .coloured
    }

    func heading(_ text: String) -> String { escaped("1", text) }
    func added(_ text: String) -> String { escaped("32", text) }
    func removed(_ text: String) -> String { escaped("31", text) }
    func changed(_ text: String) -> String { escaped("33", text) }
    func faint(_ text: String) -> String { escaped("2", text) }

    /// - Parameter text: printable text: escape sequences in data are shown, not sent.
    private func escaped(_ code: String, _ text: String) -> String {
        self == .plain || text.isEmpty ? text : "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }
}
