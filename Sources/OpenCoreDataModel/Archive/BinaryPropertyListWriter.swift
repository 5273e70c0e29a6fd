import Foundation

/// Writes a binary property list ("bplist00") that stores equal texts and numbers once. Cost:
/// O(number of values).
struct BinaryPropertyListWriter {
    /// The objects in order of their numbers, as bytes. Containers hold references that are still
    /// to be written.
    private enum Object {
        case bytes([UInt8])
        case container(marker: UInt8, count: Int, references: [Int])
    }

    private var objects: [Object] = []
    private var numbers: [[UInt8]: Int] = [:]

    static func data(of value: PropertyListValue) -> Data {
        var writer = BinaryPropertyListWriter()
        let root = writer.add(value)
        return writer.finish(root: root)
    }

    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .null: return add(bytes: [0x00])
        case .boolean(let value): return add(bytes: [value ? 0x09 : 0x08])
        case .integer(let value): return add(bytes: Self.integer(value))
        case .unsignedInteger(let value):
            return add(bytes: [0x14] + Self.bigEndian(0, size: 8) + Self.bigEndian(value, size: 8))
        case .real(let value): return add(bytes: [0x23] + Self.bigEndian(value.bitPattern, size: 8))
        case .date(let value): return add(bytes: [0x33] + Self.bigEndian(value.bitPattern, size: 8))
        case .data(let value): return add(bytes: Self.head(0x40, count: value.count) + value)
        case .string(let value): return add(bytes: Self.text(value))
        case .uid(let value):
            let size = value < 0x100 ? 1 : value < 0x10000 ? 2 : 4
            return add(bytes: [0x80 | UInt8(size - 1)] + Self.bigEndian(UInt64(value), size: size))
        case .array(let values):
            let number = reserve()
            objects[number] = .container(marker: 0xa0, count: values.count, references: values.map { add($0) })
            return number
        case .dictionary(let entries):
            let number = reserve()
            let sorted = entries.sorted { $0.key < $1.key }
            let references = sorted.map { add(.string($0.key)) } + sorted.map { add($0.value) }
            objects[number] = .container(marker: 0xd0, count: sorted.count, references: references)
            return number
        }
    }

    private mutating func reserve() -> Int {
        objects.append(.bytes([]))
        return objects.count - 1
    }

    private mutating func add(bytes: [UInt8]) -> Int {
        if let number = numbers[bytes] { return number }
        let number = reserve()
        objects[number] = .bytes(bytes)
        numbers[bytes] = number
        return number
    }

    private func finish(root: Int) -> Data {
        let referenceSize = Self.size(of: objects.count)
        var data = Data("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(data.count)
            switch object {
            case .bytes(let bytes): data.append(contentsOf: bytes)
            case .container(let marker, let count, let references):
                data.append(contentsOf: Self.head(marker, count: count))
                for reference in references {
                    data.append(contentsOf: Self.bigEndian(UInt64(reference), size: referenceSize))
                }
            }
        }
        let table = data.count
        let offsetSize = Self.size(of: table)
        for offset in offsets { data.append(contentsOf: Self.bigEndian(UInt64(offset), size: offsetSize)) }
        data.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for number in [objects.count, root, table] { data.append(contentsOf: Self.bigEndian(UInt64(number), size: 8)) }
        return data
    }

    private static func size(of number: Int) -> Int {
        number < 0x100 ? 1 : number < 0x10000 ? 2 : number < 0x1_0000_0000 ? 4 : 8
    }

    private static func integer(_ value: Int64) -> [UInt8] {
        switch value {
        case 0..<0x100: [0x10] + bigEndian(UInt64(value), size: 1)
        case 0..<0x10000: [0x11] + bigEndian(UInt64(value), size: 2)
        case 0..<0x1_0000_0000: [0x12] + bigEndian(UInt64(value), size: 4)
        default: [0x13] + bigEndian(UInt64(bitPattern: value), size: 8)
        }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.allSatisfy({ $0 < 0x80 }) { return head(0x50, count: bytes.count) + bytes }
        let units = Array(text.utf16)
        return head(0x60, count: units.count) + units.flatMap { bigEndian(UInt64($0), size: 2) }
    }

    private static func head(_ marker: UInt8, count: Int) -> [UInt8] {
        count < 15 ? [marker | UInt8(count)] : [marker | 0x0f] + integer(Int64(count))
    }

    private static func bigEndian(_ value: UInt64, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64((size - 1 - $0) * 8)) }
    }
}
