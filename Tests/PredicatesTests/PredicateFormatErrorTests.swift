import Predicates
import Testing

/// Text that is no predicate is refused with the place of the mistake.
struct PredicateFormatErrorTests {
    static let mistakes: [(String, Int)] = [
        ("", 0),
        ("a", 1),
        ("a ==", 4),
        ("== 1", 0),
        ("a == 1 AND", 10),
        ("a == 1 b == 2", 7),
        ("price > > 10", 8),
        ("a == 'x", 5),
        ("a == 'x\\", 7),
        ("a == '\\u12'", 6),
        ("(a == 1", 7),
        ("a == (1 + )", 10),
        ("a == 1)", 6),
        ("a == ;1", 5),
        ("a = = 1", 4),
        ("a ==[z] 'x'", 5),
        ("a ==[c 'x'", 7),
        ("a == 12abc", 5),
        ("a == 0xZZ", 5),
        ("a == 1e999", 5),
        ("a BETWEEN {1}", 10),
        ("a BETWEEN 5", 10),
        ("a MATCHES '('", 10),
        ("a == frobnicate:(1)", 5),
        ("a == sqrt:(1, 2)", 5),
        ("a == SUBQUERY(items, x, x == 1)", 21),
        ("a == $", 6),
        ("a == #", 6),
        ("a. == 1", 3),
        ("a == b AND in == 1", 11),
        ("a == %@", 5),
        ("a == %", 5),
        ("a == %q", 5),
        ("a == 50%%", 7),
        ("a == {1, 2", 10),
        ("NOT", 3),
        ("a == 1 OR (b == 2 AND c =)", 25),
        ("é == 1 AND 🙂 == 2", 11),
    ]

    @Test(arguments: mistakes)
    func aMistakeIsReportedAtItsPlace(_ format: String, _ offset: Int) {
        let error = #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format) }
        #expect(error?.offset == offset, "\(error.map(String.init(describing:)) ?? "")")
        #expect(error?.format == format)
    }

    @Test func theRenderingPointsAtThePlace() throws {
        let error = try #require(throws: PredicateFormatError.self) { try NSPredicate.parse("price > > 10") }
        #expect(error.rendering == "price > > 10\n        ^")
        #expect(error.description.contains("an expression was expected, not \">\""))
        #expect((error as any Error).localizedDescription == error.description)
    }

    @Test func theRenderingOfALongTextShowsTheLineAroundThePlace() throws {
        let format = "a == 1\nAND " + String(repeating: "b == 2 AND ", count: 20) + "c == =\nOR d == 1"
        let error = try #require(throws: PredicateFormatError.self) { try NSPredicate.parse(format) }
        let lines = error.rendering.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("..."))
        #expect(lines[1].last == "^")
    }

    @Test func anArgumentOfTheWrongTypeIsAnError() {
        for (format, argument) in [("a == %d", "x" as Any), ("a == %f", "x"), ("%K == 1", 3), ("a == %s", 3)] {
            #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format, arguments: [argument]) }
        }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("%K == 1", arguments: [nil]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == %d", arguments: [1e300]) }
    }

    /// More levels than a stack has room for.
    private static let tooMany = LongTests.areEnabled ? 100_000 : 20_000

    @Test(arguments: [
        String(repeating: "(", count: tooMany) + "a == 1",
        String(repeating: "NOT ", count: tooMany) + "a == 1",
        "a == " + String(repeating: "-", count: tooMany) + "b",
        "a == " + String(repeating: "{", count: tooMany),
        "a == b" + String(repeating: " + 1", count: tooMany),
        "a == b" + String(repeating: "[0]", count: tooMany),
        "a == b" + String(repeating: " ** b", count: tooMany),
        "a == " + String(repeating: "abs:(", count: tooMany),
        "a == " + String(repeating: "TERNARY(", count: tooMany),
    ])
    func nestingTooDeepIsAnErrorAndNotACrash(_ format: String) {
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format) }
    }

    @Test func nestingOfAHundredLevelsIsAccepted() throws {
        let format = String(repeating: "(", count: 100) + "a == 1" + String(repeating: ")", count: 100)
        #expect(try NSPredicate.parse(format) == NSPredicate(format: "a == 1"))
        let sum = "a == " + String(repeating: "(1 + ", count: 50) + "1" + String(repeating: ")", count: 50)
        #expect(try NSPredicate.parse(sum).evaluate(with: ["a": 51]))
    }

    @Test func aLongFlatPredicateIsAccepted() throws {
        let format = Array(repeating: "a == 1", count: 5000).joined(separator: " OR ")
        #expect((try NSPredicate.parse(format) as? NSCompoundPredicate)?.operands.count == 5000)
    }

    @Test func everyPrefixOfAPredicateIsParsedOrRefused() {
        let format =
            "NOT (ANY a.b[FIRST] CONTAINS[cd] 'x\\u00e9' OR SUBQUERY(c, $x, $x.d BETWEEN {1, -2.5e3}).@count > 0)"
        for length in 0...format.count {
            _ = try? NSPredicate.parse(String(format.prefix(length)))
            _ = try? NSPredicate.parse(String(format.suffix(length)))
        }
        #expect((try? NSPredicate.parse(format)) != nil)
    }
}
