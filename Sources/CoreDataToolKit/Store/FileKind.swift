import Foundation

/// Identifies the kind of a file that a person named by mistake.
enum FileKind {
    /// The number of bytes that are examined.
    static let sampleSize = 4096

    /// Returns the kind of a file that is no model (neither property list nor XML); nil if it may
    /// be a model.
    static func other(thanModel url: URL) -> String? {
        guard let bytes = beginning(of: url) else { return nil }
        if bytes.isEmpty { return "an empty file" }
        if bytes.starts(with: "bplist".utf8) || isXML(bytes) { return nil }
        return isText(bytes) ? "a text file" : nil
    }

    /// Returns the kind of a file that begins with these bytes and is no database; nil if it is
    /// unknown.
    static func other(thanDatabase bytes: some Collection<UInt8>) -> String? {
        if bytes.starts(with: "bplist".utf8) { return "a binary property list" }
        if bytes.starts(with: "CoreData\0".utf8) { return "a binary Core Data store" }
        if isXML(bytes) { return isXMLStore(bytes) ? "a Core Data store in XML" : "an XML file" }
        return isText(bytes) ? "a text file" : nil
    }

    /// Whether the beginning of an XML file names the document type of stores, or its element.
    private static func isXMLStore(_ bytes: some Collection<UInt8>) -> Bool {
        let text = String(decoding: bytes.prefix(400), as: UTF8.self)
        return text.contains("<!DOCTYPE database") || text.contains("<database>")
    }

    private static func isXML(_ bytes: some Collection<UInt8>) -> Bool {
        let text = bytes.drop { $0 <= 0x20 || [0xef, 0xbb, 0xbf].contains($0) }
        return text.first == UInt8(ascii: "<")
    }

    /// Whether bytes are UTF-8 without control characters; the last character may be incomplete.
    private static func isText(_ bytes: some Collection<UInt8>) -> Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 || (0x09...0x0d).contains($0) || $0 == 0x1b }) else { return false }
        return (0..<4).contains { cut in String(validating: bytes.dropLast(cut), as: UTF8.self) != nil }
    }

    static func beginning(of url: URL, count: Int = sampleSize) -> Data? {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: count)) ?? Data()
    }
}
