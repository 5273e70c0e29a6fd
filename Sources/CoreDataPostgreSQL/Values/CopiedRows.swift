import CoreData

/// Rows in the binary format of `COPY`, in blocks.
struct CopiedRows {
    private static let blockSize = 1 << 16
    var bytes = WireBytes()

    init() {
        bytes.bytes.reserveCapacity(2 * Self.blockSize)
        // The format's signature, no flags, no extension.
        bytes.bytes += [0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0x00]
        bytes.append(Int32(0))
        bytes.append(Int32(0))
    }

    mutating func beginRow(columns: Int16) { bytes.append(columns) }

    /// Appends a whole number.
    mutating func append(_ integer: Int64, as type: UInt32) throws(WireValue.Refusal) {
        let start = bytes.beginValue()
        try WireValue.append(integer, as: type, to: &bytes)
        bytes.endValue(start)
    }

    mutating func append(_ row: WireRow) {
        beginRow(columns: Int16(row.count))
        for column in 0..<row.count {
            guard let value = row.values[column] else {
                bytes.appendNull()
                continue
            }
            bytes.append(row.lengths[column])
            bytes.append(UnsafeBufferPointer(start: value, count: Int(row.lengths[column])))
        }
    }

    /// Sends the appended bytes if they are enough for a block.
    mutating func send(to send: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard bytes.bytes.count >= Self.blockSize else { return }
        try bytes.bytes.withUnsafeBytes(send)
        bytes.bytes.removeAll(keepingCapacity: true)
    }

    /// Sends the rest, and the mark of the end.
    mutating func finish(to send: (UnsafeRawBufferPointer) throws -> Void) throws {
        bytes.append(Int16(-1))
        try bytes.bytes.withUnsafeBytes(send)
        bytes.bytes.removeAll()
    }
}
