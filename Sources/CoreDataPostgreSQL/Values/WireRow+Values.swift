import CoreData
import Foundation

extension WireRow: SQLRow {
    private func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
        values[Int(column)].map { UnsafeBufferPointer(start: $0, count: Int(lengths[Int(column)])) }
    }

    private func type(_ column: Int32) -> UInt32 { types[Int(column)] }

    func isNull(_ column: Int32) -> Bool { values[Int(column)] == nil }

    func int64(_ column: Int32) -> Int64 {
        switch storedValue(column) {
        case .integer(let integer): integer
        case .double(let double): Int64(exactly: double.rounded(.towardZero)) ?? 0
        case .decimal(let decimal): (decimal as NSDecimalNumber).int64Value
        default: 0
        }
    }

    func double(_ column: Int32) -> Double {
        switch storedValue(column) {
        case .integer(let integer): Double(integer)
        case .double(let double): double
        case .decimal(let decimal): (decimal as NSDecimalNumber).doubleValue
        default: 0
        }
    }

    func string(_ column: Int32) -> String? {
        guard let bytes = bytes(column) else { return nil }
        switch type(column) {
        case WireType.numeric: return WireNumeric.text(bytes)
        case WireType.int2, WireType.int4, WireType.int8: return String(int64(column))
        case WireType.float4, WireType.float8: return "\(double(column))"
        case WireType.bpchar: return String(decoding: bytes.withoutPadding, as: UTF8.self)
        default: return String(decoding: bytes, as: UTF8.self)
        }
    }

    func data(_ column: Int32) -> Data? {
        bytes(column).map { type(column) == WireType.jsonb ? Data(WireValue.json(received: $0)) : Data(buffer: $0) }
    }

    func storedValue(_ column: Int32) -> StoredValue {
        guard let bytes = bytes(column), let start = bytes.baseAddress else {
            return isNull(column) ? .null : .string("")
        }
        let length = Int32(bytes.count)
        switch type(column) {
        case WireType.int2, WireType.int4, WireType.int8, WireType.boolean:
            return .integer(WireValue.integer(start, length))
        case WireType.float4, WireType.float8: return .double(WireValue.double(start, length))
        case WireType.xid: return .integer(WireValue.integer(start, length))
        case WireType.timestamptz, WireType.timestamp:
            return .double(WireTime.seconds(ofMicroseconds: WireValue.integer(start, length)))
        case WireType.numeric:
            return WireNumeric.text(bytes).flatMap { Decimal(string: $0, locale: .posix) }.map(StoredValue.decimal)
                ?? .null
        case WireType.uuid: return UUID(bytes: bytes).map(StoredValue.uuid) ?? .null
        case WireType.bytea: return .data(Data(buffer: bytes))
        case WireType.jsonb: return .data(Data(WireValue.json(received: bytes)))
        case WireType.bpchar: return .string(String(decoding: bytes.withoutPadding, as: UTF8.self))
        default: return .string(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// A text of a fixed length without the blanks that pad it, which mean nothing.
    var withoutPadding: UnsafeBufferPointer<UInt8> {
        var count = count
        while count > 0, self[count - 1] == UInt8(ascii: " ") { count -= 1 }
        return UnsafeBufferPointer(rebasing: self[..<count])
    }
}

extension WireArguments {
    init(key: Int64) { append(key: key) }

    init(keys: some Collection<Int64>) { append(keys: keys) }

    init(text: String) { append(text: text) }

    init(uuid: UUID) {
        append(WireType.uuid) { bytes in
            withUnsafeBytes(of: uuid.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) }
        }
    }

    mutating func append(_ argument: SQLArgument) throws(WireValue.Refusal) {
        guard let elements = argument.elements else { return try append(argument.value, argument.kind) }
        let kinds = elements.lazy.filter { !$0.isNull }.map { WireValue.argumentType($0, argument.kind) }
        let type =
            argument.kind.map { _ in kinds.first ?? WireValue.listType(argument.kind) } ?? kinds.first ?? WireType.text
        try append(list: elements, of: type)
    }

    mutating func append(_ value: StoredValue, _ kind: ValueKind? = nil) throws(WireValue.Refusal) {
        let type = WireValue.argumentType(value, kind)
        if value.isNull { return appendNull(type) }
        var refusal: WireValue.Refusal?
        append(type) { bytes in
            do throws(WireValue.Refusal) { try WireValue.append(value, as: type, to: &bytes) } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }

    /// Appends an array.
    mutating func append(list: some Collection<StoredValue>, of type: UInt32) throws(WireValue.Refusal) {
        var refusal: WireValue.Refusal?
        appendArray(of: type, count: list.count) { bytes in
            for value in list {
                if value.isNull {
                    bytes.appendNull()
                    continue
                }
                let start = bytes.beginValue()
                do throws(WireValue.Refusal) { try WireValue.append(value, as: type, to: &bytes) } catch {
                    refusal = error
                }
                bytes.endValue(start)
            }
        }
        if let refusal { throw refusal }
    }

    mutating func append(keys: some Collection<Int64>) {
        appendArray(of: WireType.int8, count: keys.count) { bytes in
            for key in keys {
                bytes.append(Int32(8))
                bytes.append(key)
            }
        }
    }

    mutating func append(key: Int64) { append(WireType.int8) { $0.append(key) } }

    mutating func append(text: String) { append(WireType.text) { $0.append(utf8: text) } }

    /// Appends a text that is only informative: NULL in the place of one that no column can have.
    mutating func append(informative text: String?) {
        if let text, !text.contains("\0") { append(text: text) } else { appendNull(WireType.text) }
    }

    /// Appends an array. The block writes its elements, each preceded by its length.
    mutating func appendArray(of type: UInt32, count: Int, _ elements: (inout WireBytes) -> Void) {
        append(WireType.array(of: type)) { bytes in
            bytes.append(Int32(count == 0 ? 0 : 1))
            // Whether the array may have NULLs: the server checks that itself.
            bytes.append(Int32(1))
            bytes.append(type)
            if count == 0 { return }
            bytes.append(Int32(count))
            bytes.append(Int32(1))
            elements(&bytes)
        }
    }
}
