import Foundation

enum TerminalWidth {
    /// The width that is used if the width of the output is unknown.
    private static let usual = 120
    /// The least width: fewer columns show nothing useful, and nobody wants them.
    private static let least = 20

    /// Returns the width from `COLUMNS`, or else from the terminal, because shells set `COLUMNS`
    /// without exporting it; 120 for files and pipes.
    ///
    /// - Parameter output: the descriptor of the output.
    static func columns(environment: [String: String], output: Int32) -> Int {
        let named = environment["COLUMNS"].flatMap { Int($0) }
        if let named, named >= least { return named }
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= least else { return usual }
        return Int(size.ws_col)
    }
}
