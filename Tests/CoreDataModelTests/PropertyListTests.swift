import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

struct PropertyListTests {
    // MARK: Lists that unfold without end

    @Test(arguments: [(30, 2), (100, 3), (20, 14)]) func aListThatUnfoldsWithoutEndIsRefused(_ depth: Int, _ width: Int)
        throws
    {
        let bomb = BinaryListWriter.bomb(depth: depth, width: width)
        #expect(bomb.count < 10_000)
        #expect(throws: ModelReadingError.self) { try BinaryPropertyListReader.read(bomb) }
    }

    @Test func aDictionaryOfABombIsRefused() throws {
        let bomb = BinaryListWriter.dictionaryBomb(depth: 30)
        #expect(bomb.count < 700)
        #expect(throws: ModelReadingError.self) { try PropertyListReader.dictionary(from: bomb) }
    }

    @Test func aCollectionThatContainsItselfIsRefused() throws {
        var writer = BinaryListWriter()
        let list = writer.add(bytes: [0xa1, 0, 0, 0, 0])
        #expect(throws: ModelReadingError.self) { try BinaryPropertyListReader.read(writer.data(root: list)) }
    }

    /// Many objects that lie over each other take up little space in the file and much in memory.
    @Test func objectsThatLieOverEachOtherAreRefused() throws {
        let count = 2000
        var data = Data("bplist00".utf8)
        // The heads of data of 8000 bytes each, every 4 bytes, and the bytes of the last of them.
        for _ in 0..<count { data.append(contentsOf: [0x4f, 0x11, 0x1f, 0x40]) }
        data.append(contentsOf: [UInt8](repeating: 0, count: 8000))
        var offsets = (0..<count).map { 8 + $0 * 4 }
        offsets.append(data.count)
        data.append(contentsOf: [0xaf, 0x11, UInt8(count >> 8), UInt8(count & 0xff)])
        func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
        }
        for index in 0..<count { append(UInt32(index)) }
        let table = data.count
        for offset in offsets { append(UInt32(offset)) }
        data.append(contentsOf: [0, 0, 0, 0, 0, 0, 4, 4])
        for number in [count + 1, count, table] { append(UInt64(number)) }
        #expect(throws: ModelReadingError.self) { try BinaryPropertyListReader.read(data) }
    }

    @Test func depthIsLimited() throws {
        var part = ListPart.int(1)
        for _ in 0..<5000 { part = .array([part]) }
        let data = BinaryListWriter.data(part)
        #expect(throws: ModelReadingError.self) { try BinaryPropertyListReader.read(data) }
    }

    @Test func longListsAreRead() throws {
        let list: [String: Any] = ["k": (0..<50_000).map { $0 % 7 }]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        #expect(try PropertyListReader.dictionary(from: data)["k"] as? [Int] == (0..<50_000).map { $0 % 7 })
    }

    // MARK: Sound lists

    /// A random list, whose numbers have exact texts.
    private func list(_ generator: inout SeededGenerator, depth: Int) -> Any {
        switch Int.random(in: 0..<(depth > 3 ? 7 : 10), using: &generator) {
        case 0: return "text \(Int.random(in: 0..<100, using: &generator)) <&>\u{e9}\u{1f600}"
        case 1: return NSNumber(value: Int64.random(in: .min ... .max, using: &generator))
        case 2: return NSNumber(value: Double(Int.random(in: -1000...1000, using: &generator)) / 8)
        case 3: return NSNumber(value: Bool.random(using: &generator))
        case 4:
            return Date(
                timeIntervalSinceReferenceDate: Double(Int.random(in: -1_000_000...1_000_000, using: &generator)))
        case 5:
            return Data(
                (0..<Int.random(in: 0..<40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                })
        case 6: return ""
        case 7, 8:
            return (0..<Int.random(in: 0..<20, using: &generator)).map { _ in list(&generator, depth: depth + 1) }
        default: return dictionary(&generator, depth: depth + 1)
        }
    }

    private func dictionary(_ generator: inout SeededGenerator, depth: Int) -> [String: Any] {
        var result: [String: Any] = [:]
        for index in 0..<Int.random(in: 0..<12, using: &generator) {
            result["key \(index)"] = list(&generator, depth: depth)
        }
        return result
    }

    @Test(arguments: [true, false], 1...(LongTests.areEnabled ? 20 : 5))
    func listsReadAsFoundationReadsThem(_ isBinary: Bool, _ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let list = dictionary(&generator, depth: 0)
        let data = try PropertyListSerialization.data(
            fromPropertyList: list, format: isBinary ? .binary : .xml, options: 0)
        let expected = try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? NSDictionary
        #expect(try PropertyListReader.dictionary(from: data) as NSDictionary == expected)
    }

    @Test func theLargestNumbersAreRead() throws {
        let list: [String: Any] = [
            "a": NSNumber(value: UInt64.max), "b": NSNumber(value: Int64.min), "c": NSNumber(value: Int64.max),
        ]
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            let read = try PropertyListReader.dictionary(from: data)
            #expect((read["a"] as? NSNumber)?.uint64Value == .max)
            #expect((read["b"] as? NSNumber)?.int64Value == .min)
            #expect((read["c"] as? NSNumber)?.int64Value == .max)
        }
    }

    @Test(arguments: [
        "", "text", "{ a = 1; }", "<plist/>", "<plist><dict><key>a</key></dict></plist>", "<plist><array/></plist>",
        "<plist><dict><string>a</string><string>b</string></dict></plist>",
        "<plist><dict><key>a</key><integer>x</integer></dict></plist>",
        "<plist><dict><key>a</key><thing/></dict></plist>",
        "<plist><dict><key>a</key><date>today</date></dict></plist>",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(throws: ModelReadingError.self) { try PropertyListReader.dictionary(from: Data(text.utf8)) }
    }

    @Test func deepListsInXMLAreRefused() {
        let text = String(repeating: "<array>", count: 100_000)
        #expect(throws: ModelReadingError.self) {
            try PropertyListReader.dictionary(from: Data(("<plist>" + text).utf8))
        }
    }

    // MARK: Damage

    @Test(arguments: 1...(LongTests.areEnabled ? 20 : 1)) func damagedListsAreRefusedOrReadButNeverCrash(_ seed: Int)
        throws
    {
        var generator = SeededGenerator(seed: UInt64(seed))
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let sound = try PropertyListSerialization.data(
                fromPropertyList: dictionary(&generator, depth: 0), format: format, options: 0)
            for _ in 0..<(LongTests.areEnabled ? 1000 : 400) {
                _ = try? PropertyListReader.dictionary(from: Damage.some(to: sound, &generator))
            }
        }
    }
}
