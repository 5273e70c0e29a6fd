import Foundation

/// The bytes of a file from its start to its end, read through a buffer.
final class FileBytes {
    private let handle: FileHandle
    private let name: String
    private var buffer: [UInt8] = []
    private var index = 0
    private var bufferStart: Int64 = 0
    /// The number of the line of the next byte, from 1 on.
    private(set) var line = 1

    /// The number of bytes that were read.
    var position: Int64 { bufferStart + Int64(index) }

    private static let capacity = 1 << 18

    /// Opens a file of UTF-8 text, and skips its byte order mark.
    ///
    /// - Throws: `ToolError` for a file that cannot be read or has another encoding.
    init(_ url: URL) throws(ToolError) {
        name = url.path
        guard let handle = try? FileHandle(forReadingFrom: url) else {
            throw ToolError("'\(url.path)' cannot be read. Check its permissions.")
        }
        self.handle = handle
        try fill()
        if buffer.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
        if buffer.starts(with: [0xff, 0xfe]) || buffer.starts(with: [0xfe, 0xff]) {
            throw ToolError("'\(url.path)' is UTF-16 text. Convert it to UTF-8.")
        }
    }

    deinit { try? handle.close() }

    /// Reads the next part of the file when the last one is used up.
    private func fill() throws(ToolError) {
        guard index == buffer.count else { return }
        bufferStart += Int64(buffer.count)
        do {
            buffer = Array(try handle.read(upToCount: Self.capacity) ?? Data())
        } catch {
            throw ToolError("'\(name)' cannot be read: \(ErrorText.line(error))")
        }
        index = 0
    }

    func peek() throws(ToolError) -> UInt8? {
        try fill()
        return index < buffer.count ? buffer[index] : nil
    }

    func next() throws(ToolError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        index += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    /// Reads up to the end of the line.
    ///
    /// - Returns: the bytes without the end of the line; nil at the end of the file.
    func nextLine() throws(ToolError) -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var bytes: [UInt8] = []
        while try peek() != nil {
            let end = buffer[index...].firstIndex(of: UInt8(ascii: "\n"))
            bytes += buffer[index..<(end ?? buffer.count)]
            try checkLength(bytes.count, line)
            index = end ?? buffer.count
            if end != nil {
                _ = try next()
                break
            }
        }
        return bytes
    }

    /// The greatest number of bytes of a row.
    private static let longestRow = 1 << 29

    /// - Throws: `ToolError` when a row is too long to be kept in memory.
    func checkLength(_ count: Int, _ line: Int) throws(ToolError) {
        guard count > Self.longestRow else { return }
        throw ToolError(
            "The row in line \(line) of '\(name)' is longer than 512 MB. Put large bytes into files, and name them "
                + "with --blobs.")
    }
}
