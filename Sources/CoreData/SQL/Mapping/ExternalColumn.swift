import Foundation

/// The column format of attributes that allow external storage.
///
/// The value begins with a marker byte: 1 before the bytes themselves, or 2 before a file name with
/// a terminating zero.
enum ExternalColumn {
    static let inlineMarker: UInt8 = 1
    static let fileMarker: UInt8 = 2
    /// Values larger than this many bytes go to a file.
    static let threshold = 100 * 1024

    /// Returns the file name after the marker in a column's value; nil for anything but a plain
    /// name.
    static func fileName(_ bytes: some Sequence<UInt8>) -> String? {
        let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\\") else { return nil }
        return name
    }

    /// Returns the file that a column's value names; nil when the bytes are in the row.
    static func fileName(in value: Data) -> String? {
        guard value.first == fileMarker else { return nil }
        return fileName(value.dropFirst())
    }

    /// Returns the column value for bytes that stay in the row.
    static func value(inline data: Data) -> Data { Data([inlineMarker]) + data }

    /// Returns the column value for bytes in a file.
    static func value(fileNamed name: String) -> Data { Data([fileMarker]) + Data(name.utf8) + Data([0]) }
}
