import Foundation

/// Large binary values in files beside a store: `.Name_SUPPORT/_EXTERNAL_DATA/UUID` for `Name.sqlite`.
///
/// A column of an attribute that allows external storage holds a leading byte: 1 and the bytes themselves, or 2 and a
/// file's name with a terminating zero. A file that is missing reads as nil.
struct ExternalFiles: Sendable {
    static let inlineMarker: UInt8 = 1
    static let fileMarker: UInt8 = 2
    /// Values larger than this many bytes go to a file.
    static let threshold = 100 * 1024

    let folder: URL

    init(storeURL: URL) {
        let name = storeURL.deletingPathExtension().lastPathComponent
        folder = storeURL.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The folder that holds all of a store's files.
    static func supportFolder(of storeURL: URL) -> URL {
        ExternalFiles(storeURL: storeURL).folder.deletingLastPathComponent()
    }

    /// A file's content; nil when it is missing or its name leads elsewhere.
    func content(named bytes: Slice<UnsafeRawBufferPointer>) -> Data? {
        guard let name = Self.fileName(bytes) else { return nil }
        return try? Data(contentsOf: folder.appendingPathComponent(name))
    }

    /// The file name in a column's value behind the marker; nil for anything that is no plain name.
    static func fileName(_ bytes: some Sequence<UInt8>) -> String? {
        let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\\") else { return nil }
        return name
    }

    /// The file that a column's value names; nil when the bytes are in the row.
    static func fileName(inColumnValue value: Data) -> String? {
        guard value.first == fileMarker else { return nil }
        return fileName(value.dropFirst())
    }

    /// The plain bytes that a column's value stands for; nil when its file is missing.
    static func content(ofColumnValue value: Data, in files: ExternalFiles?) -> Data? {
        switch value.first {
        case inlineMarker?: return Data(value.dropFirst())
        case fileMarker?:
            return value.withUnsafeBytes { bytes in files?.content(named: bytes.dropFirst()) }
        default: return value
        }
    }

    /// The value to store in the column. A large value is written to a new file first, whose name is added to `written`.
    func columnValue(for data: Data, written: inout [String]) throws -> Data {
        guard data.count > Self.threshold else { return Data([Self.inlineMarker]) + data }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let name = UUID().uuidString
        try data.write(to: folder.appendingPathComponent(name), options: .atomic)
        written.append(name)
        return Data([Self.fileMarker]) + Data(name.utf8) + Data([0])
    }

    func remove(_ names: [String]) {
        for name in names { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
    }
}
