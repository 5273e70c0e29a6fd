import Foundation

/// A folder for one test's files, removed when the test lets go of it.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreDataTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in the folder.
    public func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
