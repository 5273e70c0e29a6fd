import Foundation

/// A folder of files with the bytes of binary attributes: `Entity/p12-image.png`.
struct BlobFolder {
    private let folder: URL

    /// - Throws: `ToolError` when the folder cannot be created.
    init(_ path: String) throws {
        folder = URL(fileURLWithPath: path)
        try create(folder)
    }

    private func create(_ url: URL) throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw ToolError("The folder '\(url.path)' cannot be created: \(ErrorText.line(error))")
        }
    }

    /// Writes the bytes of an attribute to a file.
    ///
    /// - Returns: the path of the file in the folder.
    func write(_ data: Data, entity: String, key: Int64, attribute: String) throws -> String {
        let group = Self.fileName(entity)
        let subfolder = folder.appendingPathComponent(group)
        if !FileManager.default.fileExists(atPath: subfolder.path) { try create(subfolder) }
        let name = "p\(key)-\(Self.fileName(attribute)).\(FileExtension.of(data))"
        let url = subfolder.appendingPathComponent(name)
        do {
            try data.write(to: url, options: .atomic)
        } catch {
            throw ToolError("'\(url.path)' cannot be written: \(ErrorText.line(error))")
        }
        return "\(group)/\(name)"
    }

    /// Returns a name without the characters that file systems give a meaning.
    static func fileName(_ name: String) -> String {
        let text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0.value < 0x20 || "/\\:*?\"<>|".unicodeScalars.contains($0) ? "_" : $0 }))
        return text.isEmpty || text.hasPrefix(".") ? "_" + text : text
    }
}

/// The file name extension of bytes, by how they begin.
enum FileExtension {
    private static let beginnings: [(bytes: [UInt8], name: String)] = [
        ([0x89, 0x50, 0x4e, 0x47], "png"), ([0xff, 0xd8, 0xff], "jpg"), (Array("GIF8".utf8), "gif"),
        (Array("%PDF".utf8), "pdf"), (Array("II*\0".utf8), "tiff"), (Array("MM\0*".utf8), "tiff"),
        (Array("BM".utf8), "bmp"), (Array("bplist".utf8), "plist"), (Array("PK\u{3}\u{4}".utf8), "zip"),
        ([0x1f, 0x8b], "gz"), (Array("ID3".utf8), "mp3"), (Array("OggS".utf8), "ogg"), (Array("fLaC".utf8), "flac"),
        (Array("SQLite format 3\0".utf8), "sqlite"), (Array("{\\rtf".utf8), "rtf"), (Array("caff".utf8), "caf"),
    ]

    /// The kinds of media files, by the brand after `ftyp`.
    private static let brands: [String: String] = [
        "heic": "heic", "heix": "heic", "mif1": "heic", "avif": "avif", "M4A ": "m4a", "qt  ": "mov",
    ]

    static func of(_ data: Data) -> String {
        if let known = beginnings.first(where: { data.starts(with: $0.bytes) }) { return known.name }
        if part(data, 4, 4) == "ftyp" { return brands[part(data, 8, 4)] ?? "mp4" }
        if part(data, 0, 4) == "RIFF" { return ["WEBP": "webp", "WAVE": "wav"][part(data, 8, 4)] ?? "bin" }
        guard let text = String(data: data.prefix(4096), encoding: .utf8), !text.isEmpty,
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 || "\t\n\r".unicodeScalars.contains($0) })
        else { return "bin" }
        let start = text.drop { $0.isWhitespace }
        if start.hasPrefix("<svg") { return "svg" }
        if start.hasPrefix("<") { return "xml" }
        return start.hasPrefix("{") || start.hasPrefix("[") ? "json" : "txt"
    }

    private static func part(_ data: Data, _ offset: Int, _ count: Int) -> String {
        String(decoding: data.dropFirst(offset).prefix(count), as: UTF8.self)
    }
}
