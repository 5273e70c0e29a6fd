import Testing

@testable import CoreDataToolKit

/// The parser of rows, which takes nothing but JSON.
struct JSONReaderTests {
    private static func value(_ text: String) throws -> JSONValue { try JSONReader.value(Array(text.utf8)) }

    private static func problem(_ text: String) -> String {
        do {
            return "read as \(try JSONReader.value(Array(text.utf8)))"
        } catch {
            return error.reason
        }
    }

    @Test func valuesOfEachKindAreRead() throws {
        let text = #" {"a": [1, -0.5e+3, true, false, null], "b": "x", "c": {}} "#
        #expect(
            try Self.value(text)
                == .object([
                    .init("a", .array([.number("1"), .number("-0.5e+3"), .bool(true), .bool(false), .null])),
                    .init("b", .string("x")), .init("c", .object([])),
                ]))
    }

    @Test func numbersKeepAllDigits() throws {
        let number = "123456789012345678901234567890.123456789012345678901234567890"
        #expect(try Self.value(number) == .number(number))
    }

    @Test(arguments: [
        (#""\u0041\u00e9\ud83d\ude00""#, "Aé😀"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (#""\u0000""#, "\0"), ("\"漢字\"", "漢字"),
    ])
    func escapesAreRead(_ text: String, _ wanted: String) throws { #expect(try Self.value(text) == .string(wanted)) }

    @Test(arguments: [
        (#""\ud800""#, "half of a surrogate pair"), (#""\udc00\ud800""#, "half of a surrogate pair"),
        (#""\ud800x""#, "half of a surrogate pair"), (#""\u12""#, "four hexadecimal digits"),
        (#""\u00é0""#, "four hexadecimal digits"), (#""\x""#, "no such escape"), ("\"a\nb\"", "control character"),
        ("01", "begins with a zero"), ("1.", "a digit is missing"), ("-", "a digit is missing"),
        ("1e", "a digit is missing"), ("+1", "no JSON value"), (".5", "no JSON value"), ("NaN", "no JSON value"),
        ("[1,]", "no JSON value"), ("[1 2]", "a comma or ]"), (#"{"a" 1}"#, "a colon"), (#"{a: 1}"#, "a key in quotes"),
        (#"{"a": 1,}"#, "a key in quotes"), ("[1", "ends within a list"), (#"{"a": 1"#, "ends within an object"),
        ("\"abc", "ends within a string"), ("", "ends in the middle"), ("1 2", "more behind"), ("tru", "no JSON value"),
    ])
    func anythingElseIsRefused(_ text: String, _ wanted: String) {
        #expect(Self.problem(text).contains(wanted), "\(Self.problem(text))")
    }

    @Test func nestingIsLimited() throws {
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(try Self.value(deep) != .null)
        #expect(Self.problem("[" + deep + "]").contains("more than 100 levels"))
        #expect(Self.problem(String(repeating: "[", count: 1_000_000)).contains("more than 100 levels"))
    }

    @Test func lengthsOfNumbersAreLimited() {
        #expect(Self.problem(String(repeating: "1", count: 5000)).contains("more than 4096 digits"))
    }

    @Test(arguments: [[0x22, 0xff, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]] as [[UInt8]])
    func invalidUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(bytes) }
    }
}
