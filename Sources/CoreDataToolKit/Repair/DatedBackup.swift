import Foundation

/// A copy of a store in a folder beside it, whose name has the time: its file with the contents of
/// its journal, and its external files.
struct DatedBackup {
    let folder: URL
    /// The copy of the store's file.
    let url: URL

    /// The folder with the copies of the external files.
    var externalDataFolder: URL { StoreFile.externalDataFolder(of: url) }

    /// Makes a backup of a store as it is now.
    ///
    /// - Throws: `ToolError` when it cannot be written.
    init(of file: StoreFile, at date: Date = Date()) throws {
        let store = file.originalURL
        folder = Self.freeFolder(beside: store, date)
        url = folder.appendingPathComponent(store.lastPathComponent)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try Self.copy(file, to: url)
            let support = StoreFile.externalDataFolder(of: store).deletingLastPathComponent()
            if FileManager.default.fileExists(atPath: support.path) {
                try FileManager.default.copyItem(
                    at: support.resolvingSymlinksInPath(),
                    to: folder.appendingPathComponent(support.lastPathComponent))
            }
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw ToolError(
                "The backup '\(folder.path)' cannot be written: \(ErrorText.line(error)) Nothing was changed.")
        }
    }

    private static func freeFolder(beside store: URL, _ date: Date) -> URL {
        let time = DateText.text(of: Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down)))
        let stamp = time.filter(\.isNumber)
        let name = "\(store.lastPathComponent).backup-\(stamp.prefix(8))-\(stamp.dropFirst(8))"
        let place = store.deletingLastPathComponent()
        var folder = place.appendingPathComponent(name)
        var number = 1
        while FileManager.default.fileExists(atPath: folder.path) {
            number += 1
            folder = place.appendingPathComponent("\(name)-\(number)")
        }
        return folder
    }

    private static func copy(_ file: StoreFile, to url: URL) throws {
        if let reader = try? file.reader(), (try? reader.copy(to: url.path)) != nil { return }
        // A file that SQLite cannot read is copied as it is, with its journals.
        for suffix in ["", "-wal", "-journal"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
            guard StoreFile.fileSize(file.originalURL.path + suffix) != nil else { continue }
            try FileManager.default.copyItem(atPath: file.originalURL.path + suffix, toPath: url.path + suffix)
        }
    }
}
