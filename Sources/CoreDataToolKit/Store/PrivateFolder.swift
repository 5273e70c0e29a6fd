import Foundation

/// A folder for files of this program alone, which is removed with the object.
final class PrivateFolder {
    private let url: URL

    /// Makes the folder where TMPDIR says.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Returns the place of a file in the folder.
    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
