import Foundation
import TestSupport
import Testing

@testable import CoreData

/// JSON in one form for each value.
struct CanonicalJSONTests {
    private static func canonical(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { utf8 in (try? CanonicalJSON.bytes(of: utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func problem(_ text: String) -> CanonicalJSON.Problem? {
        var text = text
        return text.withUTF8 { utf8 in
            do throws(CanonicalJSON.Problem) { _ = try CanonicalJSON.bytes(of: utf8) } catch { return error }
            return nil
        }
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// A value of any shape.
    private indirect enum Value: Encodable {
        case null
        case truth(Bool)
        case integer(Int64)
        case large(UInt64)
        case double(Double)
        case decimal(Decimal)
        case text(String)
        case list([Value])
        case object([String: Value])

        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            switch self {
            case .null: try single.encodeNil()
            case .truth(let value): try single.encode(value)
            case .integer(let value): try single.encode(value)
            case .large(let value): try single.encode(value)
            case .double(let value): try single.encode(value)
            case .decimal(let value): try single.encode(value)
            case .text(let value): try single.encode(value)
            case .list(let values): try single.encode(values)
            case .object(let values): try single.encode(values)
            }
        }

        init(_ generator: inout SeededGenerator, depth: Int) {
            switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &generator) {
            case 0: self = .null
            case 1: self = .truth(Bool.random(using: &generator))
            case 2:
                self = .integer(
                    Int64.random(in: .min ... .max, using: &generator) >> Int64.random(in: 0..<63, using: &generator))
            case 3: self = .large(UInt64.random(in: 0 ... .max, using: &generator))
            case 4:
                // Doubles that are not whole, or so large or small that no integer or decimal of
                // usual size is meant.
                let fraction = Double.random(in: 1..<2, using: &generator)
                self = .double(fraction * pow(2, Double(Int.random(in: -900...20, using: &generator))))
            case 5:
                self = .decimal(Decimal(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 1_000)
            case 6: self = .text(Self.text(&generator))
            case 7:
                self = .list(
                    (0..<Int.random(in: 0..<5, using: &generator)).map { _ in Value(&generator, depth: depth - 1) })
            default:
                self = .object(
                    Dictionary(
                        (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
                            (Self.text(&generator), Value(&generator, depth: depth - 1))
                        },
                        uniquingKeysWith: { $1 }))
            }
        }

        private static func text(_ generator: inout SeededGenerator) -> String {
            let scalars: [ClosedRange<UInt32>] = [
                1...0x7f, 0x61...0x7a, 0x80...0x7ff, 0xe000...0xffff, 0x1_0000...0x1_04ff,
            ]
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0..<6, using: &generator) {
                let range = scalars[Int.random(in: 0..<scalars.count, using: &generator)]
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { text.append(scalar) }
            }
            return String(text)
        }
    }

    @Test func whatTheEncoderWritesStaysAsItIs() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3_000 {
            let text = String(decoding: try Self.encoder().encode(Value(&generator, depth: 4)), as: UTF8.self)
            #expect(Self.canonical(text) == text)
        }
    }

    @Test(arguments: [
        (#" { "b" : 1 , "a" : [ true , null ] } "#, #"{"a":[true,null],"b":1}"#),
        (
            #"{"bb": 1, "a": 2, "B": 3, "": 4, "a1": 5, "é": 6, "e\u0301": 7}"#,
            #"{"":4,"B":3,"a":2,"a1":5,"bb":1,"e"# + "\u{301}\":7,\"é\":6}"
        ),
        (#"{"a": 1, "b": 2, "a": 3}"#, #"{"a":3,"b":2}"#), (#"{"\u0061": 1, "a": 2}"#, #"{"a":2}"#),
        (##"{"\"": 1, "!": 2, "#": 3, "\u0001": 4, "\\": 5}"##, ##"{"\u0001":4,"!":2,"\"":1,"#":3,"\\":5}"##),
        (#""\u00e9\u2028\/\ud83d\ude00\u001F\u0009\u0022""#, "\"é\u{2028}/😀" + #"\u001f\t\"""#),
        ("1.50", "1.5"), ("1.0", "1"), ("100", "100"), ("1e2", "100"), ("12.5e-1", "1.25"), ("-0", "0"),
        ("-0.0e5", "0"),
        ("0.00010", "0.0001"),
        ("0.00001", "1e-05"), ("0.000000125", "1.25e-07"), ("1E+39", "1e+39"), ("1E+22", "10000000000000000000000"),
        ("10000000000000000", "10000000000000000"), ("9223372036854775807", "9223372036854775807"),
        ("18446744073709551615", "18446744073709551615"), ("-9223372036854775808", "-9223372036854775808"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("5e-324", "5e-324"), ("null", "null"), (#""""#, #""""#), ("[]", "[]"), ("{ }", "{}"), ("\t[\r\n]", "[]"),
    ]) func everyValueHasOneForm(text: String, form: String) {
        #expect(Self.canonical(text) == form)
        #expect(Self.canonical(form) == form)
    }

    @Test(arguments: [
        "", " ", "a", "{", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "01", "1.", ".5", "-", "+1",
        "1e", "NaN", "nul",
        "\"", "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "1 2", "'a'",
        String(repeating: "[", count: 600),
        "\u{feff}1",
    ]) func whatIsNoJSONIsRefused(text: String) {
        guard case .noJSON = Self.problem(text) else {
            Issue.record("\(text): \(String(describing: Self.problem(text)))")
            return
        }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        let bytes: [UInt8] = [0x22, 0xc3, 0x28, 0x22]
        bytes.withUnsafeBufferPointer { bytes in
            _ = #expect(throws: CanonicalJSON.Problem.noJSON) { try CanonicalJSON.bytes(of: bytes) }
        }
    }

    @Test func textsWithZeroAndNumbersWithoutEndAreToldApart() {
        for text in [#""\u0000""#, #"{"a\u0000": 1}"#, "\"\0\""] {
            guard case .zero = Self.problem(text) else {
                Issue.record("\(text)")
                continue
            }
        }
        for text in ["1e200000", "1e-20000", "1e99999999999999999999"] {
            guard case .number = Self.problem(text) else {
                Issue.record("\(text)")
                continue
            }
        }
    }

    @Test(arguments: [
        ("1e+16", "10000000000000000", true), ("-0", "0", true), ("1", "2", false), ("x", "x", false),
        ("[1]", "x", false),
    ])
    func valuesAreComparedWhateverTheirSpelling(left: String, right: String, isSame: Bool) {
        #expect(CanonicalJSON.areSame(Data(left.utf8), Data(right.utf8)) == isSame)
    }
}
