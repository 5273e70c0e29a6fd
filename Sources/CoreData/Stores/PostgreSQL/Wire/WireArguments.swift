/// The values that a statement binds, in PostgreSQL's binary format: one block of bytes, so that a value costs no allocation.
package struct WireArguments {
    /// The types' object identifiers.
    package private(set) var types: [UInt32] = []
    /// Where each value begins in `bytes`.
    package private(set) var offsets: [Int] = []
    /// How many bytes each value has; -1 for NULL. A driver refuses values that have so many together that one would not fit.
    package private(set) var lengths: [Int32] = []
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var count: Int { types.count }

    /// Appends a value of a type, whose bytes the block writes.
    @inline(__always)
    package mutating func append(_ type: UInt32, _ write: (inout WireBytes) -> Void) {
        types.append(type)
        offsets.append(bytes.count)
        var writer = WireBytes(bytes: [])
        swap(&writer.bytes, &bytes)
        let start = writer.bytes.count
        write(&writer)
        swap(&writer.bytes, &bytes)
        lengths.append(Int32(truncatingIfNeeded: bytes.count - start))
    }

    package mutating func appendNull(_ type: UInt32) {
        types.append(type)
        offsets.append(bytes.count)
        lengths.append(-1)
    }
}

/// Writes values in network byte order.
package struct WireBytes {
    package var bytes: [UInt8]

    package init(bytes: [UInt8] = []) { self.bytes = bytes }

    @inline(__always)
    package mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    @inline(__always)
    package mutating func append(_ buffer: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: buffer) }

    @inline(__always)
    package mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// A number for a value's length, written later: where it stands.
    @inline(__always)
    package mutating func beginValue() -> Int {
        append(Int32(0))
        return bytes.count
    }

    /// Writes the length of the value that began at a place.
    @inline(__always)
    package mutating func endValue(_ start: Int) {
        let length = Int32(truncatingIfNeeded: bytes.count - start).bigEndian
        withUnsafeBytes(of: length) { length in
            for offset in 0..<4 { bytes[start - 4 + offset] = length[offset] }
        }
    }

    package mutating func appendNull() { append(Int32(-1)) }
}

/// Object identifiers of PostgreSQL's own types, which are the same in every database.
package enum WireType {
    package static let boolean: UInt32 = 16
    package static let bytea: UInt32 = 17
    package static let int8: UInt32 = 20
    package static let int2: UInt32 = 21
    package static let int4: UInt32 = 23
    package static let text: UInt32 = 25
    package static let xid: UInt32 = 28
    package static let float4: UInt32 = 700
    package static let float8: UInt32 = 701
    package static let bpchar: UInt32 = 1042
    package static let varchar: UInt32 = 1043
    package static let timestamp: UInt32 = 1114
    package static let timestamptz: UInt32 = 1184
    package static let numeric: UInt32 = 1700
    package static let uuid: UInt32 = 2950
    package static let jsonb: UInt32 = 3802

    /// The type of arrays of a type.
    package static func array(of type: UInt32) -> UInt32 {
        switch type {
        case boolean: 1000
        case bytea: 1001
        case int8: 1016
        case int2: 1005
        case int4: 1007
        case text: 1009
        case float4: 1021
        case float8: 1022
        case timestamptz: 1185
        case numeric: 1231
        case uuid: 2951
        case jsonb: 3807
        default: 0
        }
    }
}
