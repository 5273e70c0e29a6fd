import Foundation

/// Where the tests of a process have their files; it goes with the process.
enum MacFolder {
    static let url: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreDataTests-\(UUID().uuidString)")
        // Where it cannot be made, the first store says so.
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: MacFolder.url) }
        return url
    }()
}
