import Predicates
import Testing

/// The operators on bits in formats, with the precedence that C gives them.
struct BitwiseFormatTests {
    @Test(arguments: [
        ("6 & 3", 2), ("6 | 3", 7), ("6 ^ 3", 5), ("~5", -6), ("1 << 4", 16), ("-16 >> 2", -4), ("1 | 6 & 3", 3),
        ("1 ^ 3 & 2", 3),
        ("1 << 2 + 1", 8), ("~1 + 2", 0), ("-~1", 2), ("~-1", 0), ("~~7", 7), ("8 >> 1 << 2", 16), ("(1 | 6) & 3", 3),
        ("~2 ** 2", -5),
        ("(~2) ** 2", 9), ("1 << 70", 0), ("-1 >> 70", -1), ("7 & 2.9", 2),
    ])
    func theyComputeAsInC(format: String, value: Int) throws {
        #expect(try NSExpression.parse(format).expressionValue(with: nil, context: nil) as? Int == value)
    }

    @Test func theyAreTheFunctionsOfTheirNames() throws {
        let (flags, mask) = (NSExpression(forKeyPath: "flags"), NSExpression(forConstantValue: 4))
        for (name, sign) in [
            ("bitwiseAnd:with:", "&"), ("bitwiseOr:with:", "|"), ("bitwiseXor:with:", "^"), ("leftshift:by:", "<<"),
            ("rightshift:by:", ">>"),
        ] {
            let function = NSExpression(forFunction: name, arguments: [flags, mask])
            #expect(function.description == "flags \(sign) 4")
            #expect(try NSExpression.parse("flags \(sign) 4") == function)
            #expect(try NSExpression.parse("\(name)(flags, 4)") == function)
        }
        let complement = NSExpression(forFunction: "onesComplement:", arguments: [flags])
        #expect(complement.description == "~flags")
        #expect(try NSExpression.parse("~flags") == complement)
    }

    @Test(arguments: [
        "flags & 4 != 0", "flags & (1 | 2) == 3", "(flags & 4) + 1 > 0", "~(a | b) == c", "(~a) ** 2 == 4",
        "2 ** ~a == 4",
        "a << b + 1 == 2",
        "(a << b) << c == 1", "a << (b << c) == 1", "a | b ^ c & d == 0", "((a | b) ^ c) & d == 0", "~a.b == 1",
        "(~a).b == 1",
        "(~a)[0] == 1",
        "~~a == 1", "~-5 == 4", "(a & b) UNION c == d", "a - (b & c) == 1", "ANY items.flags & 1 == 1",
    ])
    func whatIsPrintedReadsTheSame(format: String) throws {
        let predicate = try NSPredicate.parse(format)
        #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate, "\(predicate.predicateFormat)")
    }

    @Test func aComparisonBindsLooserThanTheOperators() throws {
        #expect(try NSPredicate.parse("flags & 6 == 4").evaluate(with: ["flags": 5]))
        #expect(
            try NSPredicate.parse("flags & 1 == 1 && flags | 8 == 13 || FALSEPREDICATE").evaluate(with: ["flags": 5]))
    }
}
