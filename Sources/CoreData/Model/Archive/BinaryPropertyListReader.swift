import Foundation

/// Reads a binary property list ("bplist00"), distrusting every byte.
///
/// The format: a header, objects, a table with each object's offset, and a trailer of 32 bytes that says where the
/// table is and how wide its entries and the references between objects are. All numbers are big-endian. Cost: O(size of the
/// result), which is limited.
struct BinaryPropertyListReader {
    /// The most values that one list may unfold to, and the deepest nesting.
    private static let valueLimit = 4_000_000
    private static let depthLimit = 64

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private let root: Int
    private let objectsEnd: Int
    private var remainingValues = BinaryPropertyListReader.valueLimit

    /// Reads a whole list.
    ///
    /// - Throws: `ModelReadingError` of kind `damaged`.
    static func read(_ data: Data) throws -> PropertyListValue {
        var reader = try BinaryPropertyListReader(data)
        return try reader.value(at: reader.root, depth: 0)
    }

    private init(_ data: Data) throws {
        bytes = [UInt8](data)
        guard bytes.count >= 40, bytes.starts(with: Array("bplist0".utf8)) else {
            throw ModelReadingError.damagedArchive("This is not a binary property list.")
        }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let bytes = self.bytes
        func number(at position: Int) -> Int? { Self.unsigned(bytes, at: position, size: 8) }
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = number(at: trailer + 8), let root = number(at: trailer + 16),
            let tableStart = number(at: trailer + 24),
            tableStart >= 8, tableStart <= trailer, count > 0, count <= (trailer - tableStart) / offsetSize,
            root < count
        else { throw ModelReadingError.damagedArchive("The property list's trailer is damaged.") }
        self.root = root
        objectsEnd = tableStart
        offsets = try (0..<count).map { index in
            guard let offset = Self.unsigned(bytes, at: tableStart + index * offsetSize, size: offsetSize),
                offset >= 8, offset < tableStart
            else { throw ModelReadingError.damagedArchive("The property list's offset table is damaged.") }
            return offset
        }
    }

    private static func unsigned(_ bytes: [UInt8], at position: Int, size: Int) -> Int? {
        guard position >= 0, size >= 1, size <= 8, position <= bytes.count - size else { return nil }
        let value = bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    private mutating func value(at index: Int, depth: Int) throws -> PropertyListValue {
        remainingValues -= 1
        guard offsets.indices.contains(index), depth < Self.depthLimit, remainingValues > 0 else {
            throw ModelReadingError.damagedArchive("The property list's objects refer to each other in a wrong way.")
        }
        var position = offsets[index]
        let marker = bytes[position]
        position += 1
        let low = Int(marker & 0x0f)
        switch marker >> 4 {
        case 0x0:
            switch low {
            case 0: return .null
            case 8: return .boolean(false)
            case 9: return .boolean(true)
            default: throw unknownMarker(marker)
            }
        case 0x1: return .integer(try integer(at: position, exponent: low))
        case 0x2:
            let size = 1 << low
            guard low == 2 || low == 3, let bits = bits(at: position, size: size) else { throw cutOff() }
            return .real(
                size == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits))
        case 0x3:
            guard low == 3, let bits = bits(at: position, size: 8) else { throw cutOff() }
            return .date(Double(bitPattern: bits))
        case 0x4:
            let range = try span(&position, low: low, unit: 1)
            return .data(Data(bytes[range]))
        case 0x5:
            let range = try span(&position, low: low, unit: 1)
            guard bytes[range].allSatisfy({ $0 < 0x80 }) else {
                throw ModelReadingError.damagedArchive("The property list has an ASCII text that is not ASCII.")
            }
            return .string(String(decoding: bytes[range], as: UTF8.self))
        case 0x6:
            let range = try span(&position, low: low, unit: 2)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        case 0x8:
            guard position + low < objectsEnd, let value = Self.unsigned(bytes, at: position, size: low + 1) else {
                throw cutOff()
            }
            return .uid(value)
        case 0xa, 0xc:
            let references = try references(&position, low: low, groups: 1)
            return .array(try references.map { try value(at: $0, depth: depth + 1) })
        case 0xd:
            let references = try references(&position, low: low, groups: 2)
            let count = references.count / 2
            var entries: [String: PropertyListValue] = [:]
            for entry in 0..<count {
                guard case .string(let key) = try value(at: references[entry], depth: depth + 1) else {
                    throw ModelReadingError.damagedArchive("The property list has a key that is not a text.")
                }
                entries[key] = try value(at: references[count + entry], depth: depth + 1)
            }
            return .dictionary(entries)
        default: throw unknownMarker(marker)
        }
    }

    private func bits(at position: Int, size: Int) -> UInt64? {
        guard position + size <= objectsEnd else { return nil }
        return bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Integers of 1, 2 and 4 bytes are unsigned, those of 8 signed; 16 bytes hold a 64-bit number in their lower half.
    private func integer(at position: Int, exponent: Int) throws -> Int64 {
        guard exponent <= 4 else { throw cutOff() }
        if exponent == 4 {
            guard let low = bits(at: position + 8, size: 8) else { throw cutOff() }
            return Int64(bitPattern: low)
        }
        guard let value = bits(at: position, size: 1 << exponent) else { throw cutOff() }
        return Int64(bitPattern: value)
    }

    /// A length: the marker's low half, or when that is full the integer that follows.
    private func length(_ position: inout Int, low: Int) throws -> Int {
        guard low == 0x0f else { return low }
        guard position < objectsEnd, bytes[position] >> 4 == 0x1 else { throw cutOff() }
        let exponent = Int(bytes[position] & 0x0f)
        guard exponent <= 3 else { throw cutOff() }
        let value = try integer(at: position + 1, exponent: exponent)
        position += 1 + 1 << exponent
        guard value >= 0, value <= bytes.count else { throw cutOff() }
        return Int(value)
    }

    private func span(_ position: inout Int, low: Int, unit: Int) throws -> Range<Int> {
        let count = try length(&position, low: low)
        guard count <= (objectsEnd - position) / unit else { throw cutOff() }
        return position..<position + count * unit
    }

    private func references(_ position: inout Int, low: Int, groups: Int) throws -> [Int] {
        let count = try length(&position, low: low) * groups
        guard position <= objectsEnd, count <= (objectsEnd - position) / referenceSize else { throw cutOff() }
        return try (0..<count).map { index in
            guard let value = Self.unsigned(bytes, at: position + index * referenceSize, size: referenceSize) else {
                throw cutOff()
            }
            return value
        }
    }

    private func cutOff() -> ModelReadingError {
        ModelReadingError.damagedArchive("The property list is cut off or has a wrong length in it.")
    }

    private func unknownMarker(_ marker: UInt8) -> ModelReadingError {
        ModelReadingError.damagedArchive("The property list holds an object of unknown kind \(marker).")
    }
}
