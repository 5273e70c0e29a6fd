import Foundation

/// The columns of attributes that allow external storage: a leading byte, 1 before the bytes themselves, or 2 before a file's name with a
/// terminating zero.
enum ExternalColumn {
    static let inlineMarker: UInt8 = 1
    static let fileMarker: UInt8 = 2
    /// Values larger than this many bytes go to a file.
    static let threshold = 100 * 1024

    /// The file name in a column's value behind the marker; nil for anything that is no plain name.
    static func fileName(_ bytes: some Sequence<UInt8>) -> String? {
        let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\\") else { return nil }
        return name
    }

    /// The file that a column's value names; nil when the bytes are in the row.
    static func fileName(in value: Data) -> String? {
        guard value.first == fileMarker else { return nil }
        return fileName(value.dropFirst())
    }

    /// The value of a column for bytes that stay in the row.
    static func value(inline data: Data) -> Data { Data([inlineMarker]) + data }

    /// The value of a column for bytes in a file.
    static func value(fileNamed name: String) -> Data { Data([fileMarker]) + Data(name.utf8) + Data([0]) }
}
