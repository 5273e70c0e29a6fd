import Foundation

/// Reads a binary property list ("bplist00") and treats every byte as untrusted.
///
/// The format: a header, objects, a table with each object's offset, and a trailer of 32 bytes that
/// says where the table is and how wide its entries and the references between objects are. All
/// numbers are big-endian.
///
/// Cost: O(number of bytes), in time and memory. Each object is read once, however often other
/// objects refer to it. A list whose objects overlap, or that unfolds to many more values than it
/// has bytes, is rejected: writers store a collection once for each place where it is used.
struct BinaryPropertyListReader {
    private static let depthLimit = 128

    /// The state of an object: not read, being read, or read, with the number of values it unfolds
    /// to.
    private enum State {
        case unread
        case open
        case read(PropertyListValue, count: Int)
    }

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private let root: Int
    private let objectsEnd: Int
    private var states: [State]
    /// The number of bytes that objects may still take: together twice the bytes of the list.
    private var remainingBytes: Int
    private let countLimit: Int

    /// - Throws: `ModelReadingError` of kind `damaged`.
    static func read(_ data: Data) throws -> PropertyListValue {
        var reader = try BinaryPropertyListReader(data)
        return try reader.value(at: reader.root, depth: 0).value
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
        states = Array(repeating: .unread, count: offsets.count)
        remainingBytes = 2 * bytes.count
        countLimit = 1024 + 4 * bytes.count
    }

    private static func unsigned(_ bytes: [UInt8], at position: Int, size: Int) -> Int? {
        guard position >= 0, size >= 1, size <= 8, position <= bytes.count - size else { return nil }
        let value = bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    private mutating func value(at index: Int, depth: Int) throws -> (value: PropertyListValue, count: Int) {
        guard offsets.indices.contains(index), depth < Self.depthLimit else {
            throw ModelReadingError.damagedArchive("The property list's objects refer to each other in a wrong way.")
        }
        switch states[index] {
        case .read(let value, let count): return (value, count)
        case .open: throw ModelReadingError.damagedArchive("A collection of the property list contains itself.")
        case .unread: break
        }
        states[index] = .open
        var count = 1
        let value = try readValue(at: offsets[index], depth: depth, count: &count)
        states[index] = .read(value, count: count)
        return (value, count)
    }

    private mutating func element(at index: Int, depth: Int, count: inout Int) throws -> PropertyListValue {
        let element = try value(at: index, depth: depth)
        count += element.count
        guard count <= countLimit else {
            throw ModelReadingError.damagedArchive("The property list unfolds to far more values than it has bytes.")
        }
        return element.value
    }

    private mutating func readValue(at offset: Int, depth: Int, count: inout Int) throws -> PropertyListValue {
        var position = offset
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
        case 0x1: return try integer(at: position, exponent: low)
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
            var elements: [PropertyListValue] = []
            elements.reserveCapacity(references.count)
            for reference in references { elements.append(try element(at: reference, depth: depth + 1, count: &count)) }
            return .array(elements)
        case 0xd:
            let references = try references(&position, low: low, groups: 2)
            let entryCount = references.count / 2
            var entries: [String: PropertyListValue] = [:]
            for entry in 0..<entryCount {
                guard case .string(let key) = try element(at: references[entry], depth: depth + 1, count: &count) else {
                    throw ModelReadingError.damagedArchive("The property list has a key that is not a text.")
                }
                entries[key] = try element(at: references[entryCount + entry], depth: depth + 1, count: &count)
            }
            return .dictionary(entries)
        default: throw unknownMarker(marker)
        }
    }

    private func bits(at position: Int, size: Int) -> UInt64? {
        guard position + size <= objectsEnd else { return nil }
        return bytes[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Reads an integer: 1, 2 and 4 bytes are unsigned, 8 bytes are signed. 16 bytes hold a number
    /// beyond that range in their lower half.
    private func integer(at position: Int, exponent: Int) throws -> PropertyListValue {
        guard exponent <= 4 else { throw cutOff() }
        if exponent == 4 {
            guard let high = bits(at: position, size: 8), let low = bits(at: position + 8, size: 8) else {
                throw cutOff()
            }
            if high == 0, low > UInt64(Int64.max) { return .unsignedInteger(low) }
            return .integer(Int64(bitPattern: low))
        }
        guard let value = bits(at: position, size: 1 << exponent) else { throw cutOff() }
        return .integer(Int64(bitPattern: value))
    }

    /// Reads a length: the marker's low half, or the integer that follows when the low half is
    /// full.
    private func length(_ position: inout Int, low: Int) throws -> Int {
        guard low == 0x0f else { return low }
        guard position < objectsEnd, bytes[position] >> 4 == 0x1 else { throw cutOff() }
        let exponent = Int(bytes[position] & 0x0f)
        guard exponent <= 3 else { throw cutOff() }
        guard case .integer(let value) = try integer(at: position + 1, exponent: exponent), value >= 0,
            value <= bytes.count
        else { throw cutOff() }
        position += 1 + 1 << exponent
        return Int(value)
    }

    private mutating func span(_ position: inout Int, low: Int, unit: Int) throws -> Range<Int> {
        let count = try length(&position, low: low)
        guard position <= objectsEnd, count <= (objectsEnd - position) / unit else { throw cutOff() }
        remainingBytes -= count * unit
        guard remainingBytes >= 0 else {
            throw ModelReadingError.damagedArchive("The property list's objects lie over each other.")
        }
        return position..<position + count * unit
    }

    private mutating func references(_ position: inout Int, low: Int, groups: Int) throws -> [Int] {
        let range = try span(&position, low: low, unit: referenceSize * groups)
        return try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map { place in
            guard let value = Self.unsigned(bytes, at: place, size: referenceSize) else { throw cutOff() }
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
