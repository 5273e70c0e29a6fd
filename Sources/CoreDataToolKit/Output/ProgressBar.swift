/// A progress bar for long work, on the standard error of a terminal.
///
/// It is drawn at most once for each hundredth of the work.
struct ProgressBar {
    private let console: Console
    private let label: String
    private let total: Int64
    private var done: Int64 = 0
    private var shown = -1

    private static let width = 30

    init(_ label: String, total: Int64, on console: Console) {
        self.console = console
        self.label = label
        self.total = total
    }

    mutating func advance(by count: Int64 = 1) throws {
        done += count
        guard console.showsProgress, total > 0 else { return }
        let percent = Int(min(100, done * 100 / total))
        guard percent > shown else { return }
        shown = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        try console.errors.write("\r\(label) [\(bar)] \(percent) %")
        try console.errors.flush()
    }

    /// Removes the bar.
    func finish() throws {
        guard shown >= 0 else { return }
        try console.errors.write("\r\u{1b}[K")
        try console.errors.flush()
    }
}
