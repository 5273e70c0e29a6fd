import Foundation

/// The lines that were typed in shells before, in a file that only the person can read.
struct ShellHistory {
    private static let most = 1000
    private let url: URL?

    /// - Parameter environment: `COREDATA_HISTORY` names the file, and no file if it is empty; else
    ///   it is `.coredata_history` in the home folder.
    init(environment: [String: String]) {
        let path = environment["COREDATA_HISTORY"] ?? environment["HOME"].map { $0 + "/.coredata_history" }
        url = path.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
    }

    func read() -> [String] {
        guard let url, let text = try? String(contentsOf: url, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").suffix(Self.most).map(String.init)
    }

    /// Writes the last lines. A file that cannot be written is left as it is.
    func write(_ lines: [String]) {
        guard let url else { return }
        let text = lines.suffix(Self.most).map { $0 + "\n" }.joined()
        let manager = FileManager.default
        if !manager.fileExists(atPath: url.path) {
            _ = manager.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        try? Data(text.utf8).write(to: url)
    }
}
