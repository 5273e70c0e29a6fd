import Foundation

/// The folder of a process's test files; it is deleted with the process.
enum MacFolder {
    static let url: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "OpenCoreDataTests-\(UUID().uuidString)")
        // Where it cannot be made, the first store says so.
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: MacFolder.url) }
        return url
    }()
}
