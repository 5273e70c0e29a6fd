import CoreData
import Foundation

/// Typed values in PostgreSQL's binary format.
enum WireValue {
    /// The reason why a value cannot be written, as the end of a sentence that begins with its
    /// name.
    struct Refusal: Error {
        let reason: String

        static var zero: Refusal { Refusal(reason: "has the character U+0000, which no text in PostgreSQL can have") }
    }

    /// The longest value that the server takes, less than one GiB.
    static let longest = 1 << 30 - 1 << 20

    // MARK: Types

    /// Returns the type of new columns for a kind; nil for a kind without a column.
    static func columnType(_ kind: ValueKind) -> UInt32? {
        switch kind {
        case .int16: WireType.int2
        case .int32: WireType.int4
        case .int64, .toOne: WireType.int8
        case .boolean: WireType.boolean
        case .double: WireType.float8
        case .float: WireType.float4
        case .date: WireType.timestamptz
        case .decimal: WireType.numeric
        case .string, .uri: WireType.text
        case .data, .transformable: WireType.bytea
        case .json: WireType.jsonb
        case .uuid: WireType.uuid
        case .composite, .toMany, .orderedToMany, .fetched, .undefined: nil
        }
    }

    /// Returns the type that an argument of a condition is bound as: wide enough for every value of
    /// its kind.
    static func argumentType(_ value: StoredValue, _ kind: ValueKind?) -> UInt32 {
        switch (value, kind) {
        case (.integer(0), .boolean?), (.integer(1), .boolean?): WireType.boolean
        case (.integer, .double?), (.integer, .float?): WireType.float8
        case (.integer, .date?), (.double, .date?): WireType.timestamptz
        case (.integer, .decimal?), (.double, .decimal?), (.decimal, _): WireType.numeric
        case (.integer, _), (.reference, _): WireType.int8
        case (.double, _): WireType.float8
        case (.string, .uuid?): WireType.text
        case (.string, _): WireType.text
        case (.data, .uuid?): WireType.uuid
        case (.data, .json?): WireType.jsonb
        case (.data, _): WireType.bytea
        case (.uuid, _): WireType.uuid
        case (.null, let kind): listType(kind)
        }
    }

    /// Returns the type of the elements of a list.
    static func listType(_ kind: ValueKind?) -> UInt32 {
        switch kind {
        case .int16?, .int32?, .int64?, .toOne?: WireType.int8
        case .float?: WireType.float8
        case let kind?: columnType(kind) ?? WireType.text
        case nil: WireType.text
        }
    }

    // MARK: Writing

    /// Appends a value in the binary format of a type.
    static func append(_ value: StoredValue, as type: UInt32, to bytes: inout WireBytes) throws(Refusal) {
        switch (value, type) {
        case (.integer(let integer), _): try append(integer, as: type, to: &bytes)
        case (.reference(let reference), _): try append(reference.key, as: type, to: &bytes)
        case (.double(let double), _): try append(double, as: type, to: &bytes)
        case (.decimal(let decimal), WireType.float8): bytes.append((decimal as NSDecimalNumber).doubleValue.bitPattern)
        case (.decimal(let decimal), _): try append(text: decimal.description, as: type, to: &bytes)
        case (.string(let text), _): try append(text: text, as: type, to: &bytes)
        case (.data(let data), WireType.uuid) where data.count != 16:
            throw Refusal(reason: "is no UUID, which has 16 bytes")
        case (.data(let data), WireType.jsonb): append(json: try json(data), to: &bytes)
        case (.data(let data), _):
            try requireLength(data.count)
            data.withUnsafeBytes { bytes.append($0.bindMemory(to: UInt8.self)) }
        case (.uuid(let uuid), WireType.text): bytes.append(utf8: uuid.uuidString)
        case (.uuid(let uuid), _):
            withUnsafeBytes(of: uuid.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) }
        case (.null, _): break
        }
    }

    static func append(_ integer: Int64, as type: UInt32, to bytes: inout WireBytes) throws(Refusal) {
        switch type {
        case WireType.int8: bytes.append(integer)
        case WireType.int4:
            guard let narrow = Int32(exactly: integer) else {
                throw Refusal(reason: "is \(integer), which has more than 32 bits")
            }
            bytes.append(narrow)
        case WireType.int2:
            guard let narrow = Int16(exactly: integer) else {
                throw Refusal(reason: "is \(integer), which has more than 16 bits")
            }
            bytes.append(narrow)
        case WireType.boolean: bytes.append(UInt8(integer == 0 ? 0 : 1))
        case WireType.float8, WireType.float4, WireType.timestamptz: try append(Double(integer), as: type, to: &bytes)
        default: try append(text: String(integer), as: type, to: &bytes)
        }
    }

    static func append(_ double: Double, as type: UInt32, to bytes: inout WireBytes) throws(Refusal) {
        switch type {
        case WireType.float8: bytes.append(double.bitPattern)
        case WireType.float4: bytes.append(Float(double).bitPattern)
        case WireType.timestamptz:
            guard let time = WireTime.microseconds(ofSeconds: double) else {
                throw Refusal(reason: "is a date beyond the years that PostgreSQL knows (4713 BC to 294276 AD)")
            }
            bytes.append(time)
        case WireType.numeric: try append(text: Decimal(double).description, as: type, to: &bytes)
        default:
            guard let integer = Int64(exactly: double) else {
                throw Refusal(reason: "is \(double), which is no whole number")
            }
            try append(integer, as: type, to: &bytes)
        }
    }

    private static func append(text: String, as type: UInt32, to bytes: inout WireBytes) throws(Refusal) {
        var text = text
        var refusal: Refusal?
        text.withUTF8 { utf8 in
            do throws(Refusal) { try append(utf8, as: type, to: &bytes) } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }

    /// Appends a text, or the number that it represents.
    static func append(_ utf8: UnsafeBufferPointer<UInt8>, as type: UInt32, to bytes: inout WireBytes) throws(Refusal) {
        if type == WireType.numeric {
            guard WireNumeric.append(utf8, to: &bytes) else { throw Refusal(reason: "is no decimal number") }
            return
        }
        if type == WireType.jsonb { return append(json: try json(utf8), to: &bytes) }
        try requireLength(utf8.count)
        if type == WireType.text, let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil {
            throw .zero
        }
        bytes.append(utf8)
    }

    // MARK: JSON

    /// The version of the binary format, with which a value of `jsonb` begins.
    private static let formOfJSON: UInt8 = 1

    private static func append(json: [UInt8], to bytes: inout WireBytes) {
        bytes.append(formOfJSON)
        json.withUnsafeBufferPointer { bytes.append($0) }
    }

    /// Returns JSON as it is read back from a column.
    static func json(_ utf8: UnsafeBufferPointer<UInt8>) throws(Refusal) -> [UInt8] {
        try requireLength(utf8.count)
        do throws(CanonicalJSON.Problem) { return try CanonicalJSON.bytes(of: utf8) } catch {
            switch error {
            case .zero: throw .zero
            case .noJSON: throw Refusal(reason: "is no JSON")
            case .number: throw Refusal(reason: "has a number with more digits than a number in PostgreSQL can have")
            }
        }
    }

    static func json(_ data: Data) throws(Refusal) -> [UInt8] {
        var refusal: Refusal?
        let result = data.withUnsafeBytes { bytes -> [UInt8] in
            do throws(Refusal) { return try json(bytes.bindMemory(to: UInt8.self)) } catch { refusal = error }
            return []
        }
        if let refusal { throw refusal }
        return result
    }

    /// Returns JSON from the server in its canonical form. JSON that is nested too deeply for that
    /// stays as it is.
    static func json(received bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let text = UnsafeBufferPointer(rebasing: bytes.dropFirst())
        return (try? CanonicalJSON.bytes(of: text)) ?? Array(text)
    }

    static func requireLength(_ count: Int) throws(Refusal) {
        if count > longest {
            throw Refusal(reason: "has \(count) bytes, and PostgreSQL keeps less than one GiB in a value")
        }
    }

    // MARK: Reading

    /// Returns a number of one to eight bytes.
    @inline(__always)
    static func integer(_ bytes: UnsafePointer<UInt8>, _ length: Int32) -> Int64 {
        let raw = UnsafeRawPointer(bytes)
        switch length {
        case 8: return Int64(bigEndian: raw.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: raw.loadUnaligned(as: Int32.self)))
        case 2: return Int64(Int16(bigEndian: raw.loadUnaligned(as: Int16.self)))
        case 1: return Int64(bytes.pointee)
        default: return 0
        }
    }

    @inline(__always)
    static func double(_ bytes: UnsafePointer<UInt8>, _ length: Int32) -> Double {
        let raw = UnsafeRawPointer(bytes)
        if length == 8 { return Double(bitPattern: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))) }
        if length == 4 { return Double(Float(bitPattern: UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self)))) }
        return 0
    }
}
