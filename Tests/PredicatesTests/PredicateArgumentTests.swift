import Predicates
import Testing

/// `%@`, `%K` and numbers (behaviour 201).
struct PredicateArgumentTests {
    @Test func everyNaturalCallSiteCompilesAndBindsItsValue() {
        let optionalText: String? = "x"
        let noText: String? = nil
        let date = Date(timeIntervalSinceReferenceDate: 568_000_000)
        let id = UUID()
        let names = ["x", "y"]
        #expect(NSPredicate(format: "a == %@", "x").predicateFormat == "a == \"x\"")
        #expect(NSPredicate(format: "a == %@", 3).predicateFormat == "a == 3")
        #expect(NSPredicate(format: "a == %@", 1.5).predicateFormat == "a == 1.5")
        #expect(NSPredicate(format: "a == %@", true).predicateFormat == "a == 1")
        #expect(NSPredicate(format: "a == %@", Int32(3)).predicateFormat == "a == 3")
        #expect(NSPredicate(format: "a == %@", UInt64.max).predicateFormat == "a == 18446744073709551615")
        #expect(NSPredicate(format: "a == %@", NSNumber(value: 3)).predicateFormat == "a == 3")
        #expect(NSPredicate(format: "a == %@", NSNumber(value: true)).predicateFormat == "a == 1")
        #expect(NSPredicate(format: "a == %@", "x" as NSString).predicateFormat == "a == \"x\"")
        #expect(NSPredicate(format: "a == %@", "x" as CVarArg).predicateFormat == "a == \"x\"")
        #expect(NSPredicate(format: "a == %@", 3 as CVarArg).predicateFormat == "a == 3")
        #expect(NSPredicate(format: "a == %@", NSNumber(value: 3) as CVarArg).predicateFormat == "a == 3")
        #expect(NSPredicate(format: "a == %@", date as CVarArg) == NSPredicate(format: "a == %@", date))
        #expect(NSPredicate(format: "a == %@", date as NSDate) == NSPredicate(format: "a == %@", date))
        #expect(NSPredicate(format: "a == %@", id as CVarArg) == NSPredicate(format: "a == %@", id))
        #expect(NSPredicate(format: "a IN %@", names as CVarArg) == NSPredicate(format: "a IN %@", names))
        #expect(NSPredicate(format: "a IN %@", Set(names)).predicateFormat == "a IN {\"x\", \"y\"}")
        #expect(NSPredicate(format: "a == %@", optionalText).predicateFormat == "a == \"x\"")
        #expect(NSPredicate(format: "a == %@", optionalText!).predicateFormat == "a == \"x\"")
        #expect(NSPredicate(format: "a == %@", noText).predicateFormat == "a == nil")
        #expect(NSPredicate(format: "a == %@", nil).predicateFormat == "a == nil")
        #expect(NSPredicate(format: "a == %@", NSNull()).predicateFormat == "a == nil")
        #expect(NSPredicate(format: "a == %@ AND b == %@", "x", 3).predicateFormat == "a == \"x\" AND b == 3")
        #expect(NSPredicate(format: "a == 1").predicateFormat == "a == 1")
    }

    @Test func anArgumentArrayBehavesLikeArguments() {
        let variadic = NSPredicate(format: "%K == %@ AND b > %d", "a", "x", 3)
        #expect(NSPredicate(format: "%K == %@ AND b > %d", argumentArray: ["a", "x", 3]) == variadic)
        #expect(NSPredicate(format: "a == 1", argumentArray: nil) == NSPredicate(format: "a == 1"))
        #expect(NSPredicate(format: "a == %@", argumentArray: [NSNull()]) == NSPredicate(format: "a == nil"))
    }

    @Test(arguments: [
        "%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%x", "%X", "%o", "%hd", "%hu", "%qd", "%zd", "%D", "%c",
    ])
    func aWholeNumberConversionTakesAnInteger(_ conversion: String) throws {
        let predicate = try NSPredicate.parse("a == \(conversion)", arguments: [65])
        #expect(predicate.predicateFormat == "a == 65")
    }

    @Test(arguments: ["%f", "%g", "%e", "%a", "%lf", "%F"])
    func aFloatingPointConversionTakesANumber(_ conversion: String) throws {
        #expect(try NSPredicate.parse("a == \(conversion)", arguments: [1.5]).predicateFormat == "a == 1.5")
        #expect(try NSPredicate.parse("a == \(conversion)", arguments: [2]).predicateFormat == "a == 2")
    }

    @Test(arguments: ["%s", "%S", "%c", "%C"])
    func aTextConversionTakesAString(_ conversion: String) throws {
        #expect(try NSPredicate.parse("a == \(conversion)", arguments: ["x"]).predicateFormat == "a == \"x\"")
    }

    @Test func aKeyPathArgumentIsAKeyPathWhateverItsWords() throws {
        let predicate = NSPredicate(format: "%K.@count > 0 AND $x.%K == 1", "orders.in", "and.b")
        #expect(predicate.predicateFormat == "orders.in.@count > 0 AND $x.#and.b == 1")
        #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate)
    }

    @Test func aPlaceholderInQuotesIsText() {
        #expect(NSPredicate(format: "a == '%@' AND b == %@", "x").predicateFormat == "a == \"%@\" AND b == \"x\"")
    }

    @Test func aValueIsBoundAndNeverPastedIntoTheText() throws {
        let text = "x' OR TRUEPREDICATE OR 'a' == 'a\" \\ \n\u{301}"
        let predicate = try #require(NSPredicate(format: "name == %@", text) as? NSComparisonPredicate)
        #expect(predicate.rightExpression.constantValue as? String == text)
        #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate)
    }

    static let constants: [any Sendable] = [
        Date(timeIntervalSinceReferenceDate: 568_000_000.123456789), UUID(), URL(string: "https://example.org/a?b=c")!,
        Data([0, 1, 255]), Decimal(string: "0.12345678901234567890")!, Decimal(12), 1e300, -0.1, Double.infinity,
        [1, 2, 3], Set([1, 2, 3]), ["b", nil], "\u{301}x",
    ]

    @Test(arguments: constants.indices)
    func aConstantOfEveryKindSurvivesPrintingAndParsing(_ index: Int) throws {
        let predicate = NSPredicate(format: "a == %@", Self.constants[index])
        #expect(try NSPredicate.parse(predicate.parsableFormat) == predicate)
    }

    @Test func expressionsAndPredicatesCanBeArguments() {
        let price = NSExpression(forKeyPath: "price")
        let cheap = NSPredicate(format: "price < 3")
        #expect(NSPredicate(format: "%@ < 3", price) == cheap)
        #expect(NSPredicate(format: "%@ AND a == 1", cheap).predicateFormat == "price < 3 AND a == 1")
    }
}
