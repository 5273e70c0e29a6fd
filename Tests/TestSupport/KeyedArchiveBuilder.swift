import Foundation

/// A value of a binary property list, for lists that are made by hand.
public indirect enum ListPart: Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    /// A reference into a keyed archive's object table.
    case uid(Int)
    case array([ListPart])
    /// Keys and values, in this order.
    case dictionary([String: ListPart])
}

/// Writes binary property lists, sound and unsound ones.
public struct BinaryListWriter {
    private var objects: [[UInt8]] = []

    public init() {}

    /// A list of one value.
    public static func data(_ part: ListPart) -> Data {
        var writer = BinaryListWriter()
        let root = writer.add(part)
        return writer.data(root: root)
    }

    /// An array in an array, and so on, each of which refers to the next several times: the list
    /// unfolds to `width` to the power of `depth` values.
    public static func bomb(depth: Int, width: Int = 2) -> Data {
        var writer = BinaryListWriter()
        for level in 0..<depth { writer.addCollection(Array(repeating: level + 1, count: width), 0xa0) }
        writer.objects.append([0x10, 1])
        return writer.data(root: 0)
    }

    /// A dictionary whose one value is a bomb, as a store's metadata could be.
    public static func dictionaryBomb(depth: Int) -> Data {
        var writer = BinaryListWriter()
        writer.addCollection([1, 2], 0xd0, count: 1)
        _ = writer.add(.text("k"))
        for level in 0..<depth { writer.addCollection([level + 3, level + 3], 0xa0) }
        writer.objects.append([0x10, 1])
        return writer.data(root: 0)
    }

    /// Adds an object of given bytes; its number.
    public mutating func add(bytes: [UInt8]) -> Int {
        objects.append(bytes)
        return objects.count - 1
    }

    /// Adds a value and what it holds; its number.
    public mutating func add(_ part: ListPart) -> Int {
        switch part {
        case .null: return add(bytes: [0])
        case .bool(let value): return add(bytes: [value ? 9 : 8])
        case .int(let value): return add(bytes: [0x13] + Self.bigEndian(UInt64(bitPattern: value), 8))
        case .real(let value): return add(bytes: [0x23] + Self.bigEndian(value.bitPattern, 8))
        case .text(let value):
            let units = Array(value.utf16)
            return add(bytes: Self.head(0x60, units.count) + units.flatMap { Self.bigEndian(UInt64($0), 2) })
        case .data(let value): return add(bytes: Self.head(0x40, value.count) + value)
        case .uid(let number): return add(bytes: [0x83] + Self.bigEndian(UInt64(number), 4))
        case .array(let parts):
            let references = parts.map { add($0) }
            addCollection(references, 0xa0)
            return objects.count - 1
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key < $1.key }
            let references = sorted.map { add(.text($0.key)) } + sorted.map { add($0.value) }
            addCollection(references, 0xd0, count: sorted.count)
            return objects.count - 1
        }
    }

    private mutating func addCollection(_ references: [Int], _ marker: UInt8, count: Int? = nil) {
        objects.append(
            Self.head(marker, count ?? references.count) + references.flatMap { Self.bigEndian(UInt64($0), 4) })
    }

    /// The list whose outermost value is the object of a number.
    public func data(root: Int) -> Data {
        var data = Data("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(data.count)
            data.append(contentsOf: object)
        }
        let table = data.count
        for offset in offsets { data.append(contentsOf: Self.bigEndian(UInt64(offset), 4)) }
        data.append(contentsOf: [0, 0, 0, 0, 0, 0, 4, 4])
        for number in [objects.count, root, table] { data.append(contentsOf: Self.bigEndian(UInt64(number), 8)) }
        return data
    }

    private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [marker | UInt8(count)] : [marker | 15, 0x13] + bigEndian(UInt64(count), 8)
    }

    private static func bigEndian(_ value: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64((size - 1 - $0) * 8)) }
    }
}

/// Builds keyed archives by hand, in the form in which a Mac writes them or in any other.
public struct KeyedArchiveBuilder {
    /// The object table.
    public var objects: [ListPart] = [.text("$null")]
    private var classes: [String: Int] = [:]

    public init() {}

    /// Adds a value to the table; a reference to it.
    public mutating func add(_ part: ListPart) -> ListPart {
        objects.append(part)
        return .uid(objects.count - 1)
    }

    /// Adds an object of a class; a reference to it.
    public mutating func object(_ className: String, _ entries: [String: ListPart] = [:]) -> ListPart {
        let number = classes[className] ?? objects.count
        if classes[className] == nil {
            objects.append(
                .dictionary([
                    "$classname": .text(className), "$classes": .array([.text(className), .text("NSObject")]),
                ]))
            classes[className] = number
        }
        return add(.dictionary(entries.merging(["$class": .uid(number)]) { $1 }))
    }

    /// Adds an array of references.
    public mutating func array(_ elements: [ListPart], _ className: String = "NSArray") -> ListPart {
        object(className, ["NS.objects": .array(elements)])
    }

    /// Adds a dictionary of references.
    public mutating func dictionary(_ entries: [(String, ListPart)], _ className: String = "NSDictionary") -> ListPart {
        let keys = entries.map { add(.text($0.0)) }
        return object(className, ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.1))])
    }

    /// The archive.
    public func data(root: ListPart) -> Data {
        BinaryListWriter.data(
            .dictionary([
                "$archiver": .text("NSKeyedArchiver"), "$version": .int(100_000), "$top": .dictionary(["root": root]),
                "$objects": .array(objects),
            ]))
    }

    /// An archive that a closure builds, whose root is what it gives.
    public static func data(_ build: (inout KeyedArchiveBuilder) -> ListPart) -> Data {
        var builder = KeyedArchiveBuilder()
        let root = build(&builder)
        return builder.data(root: root)
    }
}
