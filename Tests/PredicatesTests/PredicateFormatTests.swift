import Predicates
import Testing

/// The grammar of Apple's "Predicate Format String Syntax" (behaviours 197, 201).
struct PredicateFormatTests {
    /// The text of a predicate, and the canonical text it prints as (behaviour 207).
    static let comparisons: [(String, String)] = [
        ("a = 1", "a == 1"),
        ("a == 1", "a == 1"),
        ("a >= 1", "a >= 1"),
        ("a => 1", "a >= 1"),
        ("a <= 1", "a <= 1"),
        ("a =< 1", "a <= 1"),
        ("a > 1", "a > 1"),
        ("a < 1", "a < 1"),
        ("a != 1", "a != 1"),
        ("a <> 1", "a != 1"),
        ("a BETWEEN {1, 10}", "a BETWEEN {1, 10}"),
        ("a between { $LOW , $HIGH }", "a BETWEEN {$LOW, $HIGH}"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("falsepredicate", "FALSEPREDICATE"),
        ("a BEGINSWITH 'x'", "a BEGINSWITH \"x\""),
        ("a contains[cd] 'x'", "a CONTAINS[cd] \"x\""),
        ("a ENDSWITH[n] 'x'", "a ENDSWITH[n] \"x\""),
        ("a like[c] 'x*'", "a LIKE[c] \"x*\""),
        ("a MATCHES '[a-z]+'", "a MATCHES \"[a-z]+\""),
        ("a ==[dc] 'x'", "a ==[cd] \"x\""),
        ("a ==[l] 'x'", "a ==[l] \"x\""),
        ("a IN {'x', 'y'}", "a IN {\"x\", \"y\"}"),
        ("'x' IN a", "\"x\" IN a"),
        ("ANY items.price > 100", "ANY items.price > 100"),
        ("SOME items.price > 100", "ANY items.price > 100"),
        ("ALL items.price > 100", "ALL items.price > 100"),
        ("NONE items.price > 100", "NOT ANY items.price > 100"),
        ("#any.x == 1", "#any.x == 1"),
        ("SELF == 1", "SELF == 1"),
        ("self.name == 'x'", "name == \"x\""),
    ]

    static let compounds: [(String, String)] = [
        ("a == 1 AND b == 2", "a == 1 AND b == 2"),
        ("a == 1 && b == 2 && c == 3", "a == 1 AND b == 2 AND c == 3"),
        ("a == 1 || b == 2", "a == 1 OR b == 2"),
        ("a == 1 or b == 2 and c == 3", "a == 1 OR (b == 2 AND c == 3)"),
        ("(a == 1 or b == 2) and c == 3", "(a == 1 OR b == 2) AND c == 3"),
        ("NOT a == 1", "NOT a == 1"),
        ("!(a == 1)", "NOT a == 1"),
        ("NOT (a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"),
        ("NOT NOT a == 1", "NOT NOT a == 1"),
        ("((a == 1))", "a == 1"),
        ("(a) == (1)", "a == 1"),
        ("((a + 1) * 2) == 4 AND (b == 1)", "(a + 1) * 2 == 4 AND b == 1"),
        ("(a == 1 AND b == 2) AND c == 3", "(a == 1 AND b == 2) AND c == 3"),
    ]

    static let literals: [(String, String)] = [
        ("a == 'it\\'s'", "a == \"it's\""),
        ("a == \"say \\\"x\\\"\"", "a == \"say \\\"x\\\"\""),
        ("a == 'tab\\tnew\\n'", "a == \"tab\\tnew\\n\""),
        ("a == '\\u00e9\\x41'", "a == \"éA\""),
        ("a == 'back\\\\slash'", "a == \"back\\\\slash\""),
        ("a == '100%'", "a == \"100%\""),
        ("a == 0x1F", "a == 31"),
        ("a == 0o17", "a == 15"),
        ("a == 0b101", "a == 5"),
        ("a == -5", "a == -5"),
        ("a == 1.5", "a == 1.5"),
        ("a == .5", "a == 0.5"),
        ("a == 1e3", "a == 1000"),
        ("a == -1.5E-3", "a == -0.0015"),
        ("a == 9223372036854775807", "a == 9223372036854775807"),
        ("a == -9223372036854775808", "a == -9223372036854775808"),
        ("a == 18446744073709551615", "a == 18446744073709551615"),
        ("a == NULL", "a == nil"),
        ("a == nil", "a == nil"),
        ("a == TRUE", "a == 1"),
        ("a == yes", "a == 1"),
        ("a == FALSE", "a == 0"),
        ("a == No", "a == 0"),
        ("a == {}", "a == {}"),
        ("a == $NAME", "a == $NAME"),
        ("a == CAST(568000000.000000, 'NSDate')", "a == CAST(568000000.000000, \"NSDate\")"),
    ]

    static let expressions: [(String, String)] = [
        ("a.b.c == 1", "a.b.c == 1"),
        ("items.@count > 0", "items.@count > 0"),
        ("@sum.items.price < 1000", "@sum.items.price < 1000"),
        ("items.@avg.price == items.@max.price", "items.@avg.price == items.@max.price"),
        ("#in == 1", "#in == 1"),
        ("#SELF.name == 1", "#SELF.name == 1"),
        ("a[0] == 1", "a[0] == 1"),
        ("a[first] == a[LAST]", "a[FIRST] == a[LAST]"),
        ("a[SIZE] > 1", "a[SIZE] > 1"),
        ("a[0].name == 'x'", "a[0].name == \"x\""),
        ("$x.price > 1", "$x.price > 1"),
        ("a + 1 - 2 == 3", "a + 1 - 2 == 3"),
        ("a - (1 - 2) == 3", "a - (1 - 2) == 3"),
        ("a * b / 2 == 3", "a * b / 2 == 3"),
        ("a ** 2 ** 3 == 3", "a ** 2 ** 3 == 3"),
        ("(a ** 2) ** 3 == 3", "(a ** 2) ** 3 == 3"),
        ("-a == 3", "0 - a == 3"),
        ("count:(a) == 3", "count:(a) == 3"),
        ("count(a) == 3", "count:(a) == 3"),
        ("MAX(1, 5, 10) == 10", "max:(1, 5, 10) == 10"),
        ("add:to:(a, 1) == 2", "a + 1 == 2"),
        ("modulus:by:(a, 2) == 0", "modulus:by:(a, 2) == 0"),
        ("now() > a", "now() > a"),
        ("a < random()", "a < random()"),
        ("uppercase:(a) == 'X'", "uppercase:(a) == \"X\""),
        ("CAST(a, 'NSDate') < now()", "CAST(a, \"NSDate\") < now()"),
        ("FUNCTION(a, 'valueForKeyPath:', 'b.c') == 1", "FUNCTION(a, \"valueForKeyPath:\", \"b.c\") == 1"),
        ("SUBQUERY(items, $x, $x.price > 3).@count > 0", "SUBQUERY(items, $x, $x.price > 3).@count > 0"),
        ("TERNARY(a == 1, 'x', 'y') == 'x'", "TERNARY(a == 1, \"x\", \"y\") == \"x\""),
        ("a UNION b == c", "a UNION b == c"),
        ("(a MINUS b) INTERSECT c == d", "(a MINUS b) INTERSECT c == d"),
        ("ANYKEY == 'x'", "ANYKEY == \"x\""),
        ("bitwiseAnd:with:(a, 4) != 0", "a & 4 != 0"),
        ("first == 1 AND size == 2 AND last == 3", "first == 1 AND size == 2 AND last == 3"),
        ("größe == 1", "größe == 1"),
        ("#'a/b' == 1", "#\"a/b\" == 1"),
        ("a.#\"-1\".b == 1", "#\"a.-1.b\" == 1"),
        ("$x.#'\"' == 1", "$x.#\"\\\"\" == 1"),
    ]

    @Test(arguments: comparisons + compounds + literals + expressions)
    func aFormatPrintsCanonicallyAndParsesBackToAnEqualPredicate(_ format: String, _ canonical: String) throws {
        let predicate = try NSPredicate.parse(format)
        #expect(predicate.predicateFormat == canonical)
        let again = try NSPredicate.parse(predicate.predicateFormat)
        #expect(again == predicate)
        #expect(again.hash == predicate.hash)
    }

    @Test(arguments: [
        "-1", "a/b", "#x", "a b", "1a", "a-b", "a\"b", "a\\b", "a:b", "a(b)", "$x", "%K", "@", "@a/b", "a.b-c", "a..b",
        ".a", "a.", ".", "",
        "\n", "ä ö", "and", "not.a", "a.not", "self", "count:", "{", "'", "🙂", "\u{300}", "\0",
    ])
    func keysOfAnyTextParseBack(key: String) throws {
        for left in [NSExpression(forKeyPath: key), NSExpression(format: "SUBQUERY(a, $x, $x.b == 1)")] {
            let predicate = NSComparisonPredicate(
                leftExpression: left, rightExpression: NSExpression(forKeyPath: key), modifier: .direct, type: .equalTo)
            let again = try #require(
                try NSPredicate.parse(predicate.predicateFormat) as? NSComparisonPredicate, "\(predicate)")
            #expect(again == predicate)
            #expect(again.rightExpression.keyPath.unicodeScalars.elementsEqual(key.unicodeScalars))
        }
    }

    @Test func theInitializerGivesTheConcreteClass() throws {
        let comparison = NSPredicate(format: "a.b ==[c] 'x'")
        let typed = try #require(comparison as? NSComparisonPredicate)
        #expect(typed.leftExpression.keyPath == "a.b")
        #expect(typed.rightExpression.constantValue as? String == "x")
        #expect(typed.predicateOperatorType == .equalTo)
        #expect(typed.options == .caseInsensitive)
        #expect(typed.comparisonPredicateModifier == .direct)

        let compound = try #require(NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .or)
        #expect(compound.subpredicates.count == 2)
        #expect(compound.operands.first is NSComparisonPredicate)

        #expect(NSPredicate(value: true).description == "TRUEPREDICATE")
        #expect(NSComparisonPredicate(format: "a == 1").predicateOperatorType == .equalTo)
    }

    @Test func differentPredicatesAreNotEqual() {
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "b == 1"))
        #expect(NSPredicate(format: "a == 'x'") != NSPredicate(format: "a ==[c] 'x'"))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "ANY a == 1"))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "NOT a == 1"))
        #expect(NSPredicate(value: true) != NSPredicate(value: false))
    }

    @Test func anEmptyConjunctionIsTrueAndAnEmptyDisjunctionFalse() {
        let all = NSCompoundPredicate(andPredicateWithSubpredicates: [])
        let any = NSCompoundPredicate(orPredicateWithSubpredicates: [])
        #expect(all.evaluate(with: nil))
        #expect(!any.evaluate(with: nil))
        #expect(all.predicateFormat == "TRUEPREDICATE")
        #expect(any.predicateFormat == "FALSEPREDICATE")
    }

    @Test func constantsPrintAsAppleDoesIt() throws {
        let id = UUID()
        #expect(NSPredicate(format: "id == %@", id as NSUUID).predicateFormat == "id == \(id.uuidString)")
        #expect(NSPredicate(format: "id IN %@", [id]).predicateFormat == "id IN {\(id.uuidString)}")
        func comparison(_ constant: Any?) -> NSComparisonPredicate {
            NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "a"),
                rightExpression: NSExpression(forConstantValue: constant), modifier: .direct,
                type: .equalTo)
        }
        func wrapped<Value>(_ value: Value) -> NSComparisonPredicate { comparison(value) }
        #expect(comparison(nil).predicateFormat == "a == nil")
        #expect(comparison(NSNull()).predicateFormat == "a == <null>")
        #expect(wrapped(String?.none).predicateFormat == "a == <null>")
        #expect(wrapped(String?.none).rightExpression.constantValue is NSNull)
        #expect(comparison(Float(55.8)).predicateFormat == "a == 55.8")
        #expect(comparison(NSNumber(value: Float(2))).predicateFormat == "a == 2")
        for predicate in [comparison(nil), comparison(NSNull()), wrapped(String?.none)] {
            #expect(predicate.evaluate(with: NSDictionary()))
            #expect(!predicate.evaluate(with: ["a": 1]))
        }
        // What is archived says all.
        for predicate in [comparison(id), comparison(Float(55.8)), comparison(NSNull())] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data) == predicate)
        }
    }

    @Test func notIsInParenthesesAmongOthers() {
        let both = NSPredicate(format: "NOT a == 1 AND NOT (b == 2 OR c == 3)")
        #expect(both.predicateFormat == "(NOT a == 1) AND (NOT (b == 2 OR c == 3))")
        #expect(NSPredicate(format: both.predicateFormat) == both)
        #expect(NSPredicate(format: "NOT a == 1").predicateFormat == "NOT a == 1")
    }

    @Test func argumentsAfterAPointAreKeys() {
        #expect(NSPredicate(format: "SELF.%@ == %@", "name", "x") == NSPredicate(format: "name == 'x'"))
        #expect(NSPredicate(format: "a.%@.c > 1", "b") == NSPredicate(format: "a.b.c > 1"))
        #expect(
            NSPredicate(format: "%@.%@ == 1", NSExpression(forKeyPath: "a"), NSExpression(forKeyPath: "b.c"))
                == NSPredicate(format: "a.b.c == 1"))
        #expect(throws: (any Error).self) { try NSPredicate.parse("a.%@ == 1", arguments: [3]) }
        #expect(throws: (any Error).self) {
            try NSPredicate.parse("a.%@ == 1", arguments: [NSExpression(forConstantValue: 3)])
        }
    }

    /// A predicate of a program's own, with the evaluation of its own and with that of its
    /// superclass.
    private final class EvenPredicate: NSPredicate, @unchecked Sendable {
        // Sendable: as its superclass; nothing is added.
        override func evaluate(with object: Any?, substitutionVariables: [String: Any]?) -> Bool {
            (object as? Int ?? 1) % 2 == 0
        }
    }

    private final class TruePredicate: NSPredicate, @unchecked Sendable {
        // Sendable: as its superclass; nothing is added.
        override func evaluate(with object: Any?) -> Bool { true }
    }

    @Test func predicatesOfOnesOwnAreAskedWithinOthers() throws {
        for (predicate, expected) in [
            (EvenPredicate(), [false, true]), (EvenPredicate(value: true), [false, true]),
            (TruePredicate(), [true, true]),
        ] {
            for (index, number) in [1, 2].enumerated() {
                #expect(predicate.evaluate(with: number) == expected[index])
                #expect(
                    NSCompoundPredicate(notPredicateWithSubpredicate: predicate).evaluate(with: number) == !expected[
                        index])
                #expect(
                    NSCompoundPredicate(andPredicateWithSubpredicates: [predicate]).evaluate(with: number)
                        == expected[index])
                #expect(try predicate.result(for: number) == expected[index])
            }
        }
        #expect(NSPredicate(value: true).evaluate(with: nil))
        #expect(NSPredicate { object, _ in object == nil }.evaluate(with: nil))
    }

    @Test func placesForOthersAreEqualToThemselvesOnly() {
        let (first, second) = (NSPredicate(), NSPredicate())
        #expect(first == first)
        #expect(first != second)
        #expect(NSCompoundPredicate().evaluate(with: nil))
        #expect(NSSortDescriptor().key == nil)
        #expect(!NSSortDescriptor().ascending)
    }
}
