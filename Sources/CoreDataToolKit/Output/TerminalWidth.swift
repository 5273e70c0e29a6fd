import Foundation

/// How many columns the output has.
enum TerminalWidth {
    /// What the layout takes where nothing says how wide the output is.
    private static let usual = 120
    /// Fewer columns than this show nothing, and are no width that a person wants.
    private static let least = 20

    /// The columns that `COLUMNS` says, or the terminal, which shells know without exporting it; for files and pipes 120.
    ///
    /// - Parameter output: the descriptor that is written to.
    static func columns(environment: [String: String], output: Int32) -> Int {
        let named = environment["COLUMNS"].flatMap { Int($0) }
        if let named, named >= least { return named }
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= least else { return usual }
        return Int(size.ws_col)
    }
}
