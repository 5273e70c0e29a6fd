import CoreData

/// The values that a statement binds, in PostgreSQL's binary format: one block of bytes, so that a
/// value costs no allocation.
struct WireArguments {
    /// The object identifiers of the types.
    private(set) var types: [UInt32] = []
    /// The offset of each value in `bytes`.
    private(set) var offsets: [Int] = []
    /// The number of bytes of each value; -1 for NULL. A driver refuses values that are so large
    /// together that an offset would not fit.
    private(set) var lengths: [Int32] = []
    private(set) var bytes: [UInt8] = []

    init() {}

    var count: Int { types.count }

    /// Appends a value of a type. The block writes its bytes.
    @inline(__always)
    mutating func append(_ type: UInt32, _ write: (inout WireBytes) -> Void) {
        types.append(type)
        offsets.append(bytes.count)
        var writer = WireBytes(bytes: [])
        swap(&writer.bytes, &bytes)
        let start = writer.bytes.count
        write(&writer)
        swap(&writer.bytes, &bytes)
        lengths.append(Int32(truncatingIfNeeded: bytes.count - start))
    }

    mutating func appendNull(_ type: UInt32) {
        types.append(type)
        offsets.append(bytes.count)
        lengths.append(-1)
    }
}

/// Writes values in network byte order.
struct WireBytes {
    var bytes: [UInt8]

    init(bytes: [UInt8] = []) { self.bytes = bytes }

    @inline(__always)
    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    @inline(__always)
    mutating func append(_ buffer: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: buffer) }

    @inline(__always)
    mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Appends room for a value's length, which is written later. Returns the place where the value
    /// begins.
    @inline(__always)
    mutating func beginValue() -> Int {
        append(Int32(0))
        return bytes.count
    }

    /// Writes the length of the value that began at a place.
    @inline(__always)
    mutating func endValue(_ start: Int) {
        let length = Int32(truncatingIfNeeded: bytes.count - start).bigEndian
        withUnsafeBytes(of: length) { length in
            for offset in 0..<4 { bytes[start - 4 + offset] = length[offset] }
        }
    }

    mutating func appendNull() { append(Int32(-1)) }
}

/// Object identifiers of PostgreSQL's own types, which are the same in every database.
enum WireType {
    static let boolean: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let xid: UInt32 = 28
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamp: UInt32 = 1114
    static let timestamptz: UInt32 = 1184
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    static func array(of type: UInt32) -> UInt32 {
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
