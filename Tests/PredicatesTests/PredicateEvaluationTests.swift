import Predicates
import Testing

/// Evaluation in memory (behaviours 197 to 200, 206).
struct PredicateEvaluationTests {
    @Test func dictionariesInACollectionStayWhole() throws {
        let jam: NSDictionary = ["name": "Jam", "count": 4]
        let tea: NSDictionary = ["name": "Tea", "count": 2]
        for list in [["children": [jam, tea]] as [String: Any], ["children": NSArray(array: [jam, tea])]] {
            #expect(NSPredicate(format: "ANY children == %@", jam).evaluate(with: list))
            #expect(!NSPredicate(format: "ALL children == %@", jam).evaluate(with: list))
            #expect(NSPredicate(format: "ANY children IN %@", [tea]).evaluate(with: list))
            #expect(NSPredicate(format: "SUBQUERY(children, $c, $c.count > 3).@count == 1").evaluate(with: list))
            #expect(NSPredicate(format: "SUBQUERY(children, $c, $c.name == 'Tea').@count == 1").evaluate(with: list))
        }
    }

    /// A predicate that must hold for the object below, and one that must not.
    static let comparisons: [(String, Bool)] = [
        ("name == 'Bolt'", true), ("name == 'bolt'", false), ("name ==[c] 'bolt'", true),
        ("name != 'Nut'", true), ("name < 'Cog'", true), ("name > 'Cog'", false), ("name >=[c] 'bolt'", true),
        ("accented == 'cafe'", false), ("accented ==[d] 'cafe'", true), ("accented ==[cd] 'CAFE'", true),
        ("accented ==[c] 'CAFÉ'", true), ("accented ==[c] 'CAFE'", false), ("accented ==[n] 'café'", true),
        ("name BEGINSWITH 'Bo'", true), ("name BEGINSWITH 'bo'", false), ("name BEGINSWITH[c] 'bo'", true),
        ("name ENDSWITH 'lt'", true), ("name ENDSWITH[c] 'LT'", true), ("name ENDSWITH 'x'", false),
        ("name CONTAINS 'ol'", true), ("name CONTAINS[c] 'OL'", true), ("accented CONTAINS[cd] 'FE'", true),
        ("name CONTAINS ''", true), ("'ol' IN name", true), ("'OL' IN[c] name", true),
        ("name LIKE 'B*'", true), ("name LIKE 'B?lt'", true), ("name LIKE '?'", false), ("name LIKE[c] '*OL*'", true),
        ("name LIKE 'Bolt*'", true), ("name LIKE 'olt'", false), ("accented LIKE[d] 'c?fe'", true),
        ("star LIKE 'a\\\\*b'", true), ("name LIKE 'B\\\\*'", false),
        ("name MATCHES 'B.*t'", true), ("name MATCHES 'ol'", false), ("name MATCHES[c] 'b[a-z]+'", true),
        ("name MATCHES 'Bo|Bolt'", true), ("accented MATCHES[d] 'cafe'", true),
        ("count == 5", true), ("count == 5.0", true), ("count > 4.5", true), ("count <= 5", true),
        ("count != 5", false),
        ("flag == TRUE", true), ("flag == 1", true), ("flag == NO", false), ("flag == YES", true),
        ("price == 0.12", true), ("price < 0.2", true), ("price + 0.01 == 0.13", true),
        ("count BETWEEN {1, 5}", true), ("count BETWEEN {6, 9}", false), ("name BETWEEN {'A', 'C'}", true),
        ("count IN {1, 5}", true), ("count IN {1, 2}", false), ("name IN {'Bolt'}", true),
        ("name IN[c] {'BOLT'}", true),
        ("made == CAST(1000, 'NSDate')", true), ("made < now()", true),
        ("made - CAST(900, 'NSDate') == 100", true), ("made BETWEEN {CAST(0, 'NSDate'), now()}", true),
        ("dictionary.inner == 1", true), ("2 IN dictionary", false), ("1 IN dictionary", true),
        ("name.length == 4", true), ("big == 9223372036854775807", true), ("big < 9223372036854775807.0", true),
        ("name == 5", false), ("name < 5", false), ("count BEGINSWITH '5'", true),
    ]

    static let nils: [(String, Bool)] = [
        ("missing == nil", true), ("missing != nil", false), ("name == nil", false), ("name != nil", true),
        ("missing == 0", false), ("missing != 0", true), ("missing < 1", false), ("missing > 1", false),
        ("missing <= 1", false), ("missing >= nil", false), ("missing BEGINSWITH 'x'", false),
        ("missing CONTAINS 'x'", false), ("missing LIKE '*'", false), ("missing MATCHES '.*'", false),
        ("missing IN {1}", false), ("missing IN {nil}", true), ("missing BETWEEN {1, 2}", false),
        ("missing.deeper == nil", true), ("null == nil", true), ("missing == null", true),
        ("ANY missing == 1", false), ("ALL missing == 1", true), ("NONE missing == 1", true),
        ("missing.@count == 0", true),
    ]

    static let collections: [(String, Bool)] = [
        ("ANY items.price > 4", true), ("ANY items.price > 5", false), ("ALL items.price >= 1", true),
        ("ALL items.price > 1", false), ("NONE items.price > 5", true), ("NONE items.price == 5", false),
        ("SOME items.name == 'a'", true), ("ANY items.name IN {'b', 'z'}", true), ("ANY items.name LIKE '?'", true),
        ("ALL empty.price > 1", true), ("ANY empty.price > 1", false), ("NONE empty.price > 1", true),
        ("ANY items.tags == 'x'", true), ("ANY items.tags == 'y'", true), ("ANY items.tags == 'z'", false),
        ("items.@count == 3", true), ("items.@sum.price == 9", true), ("items.@avg.price == 3", true),
        ("items.@min.price == 1", true), ("items.@max.price == 5", true), ("empty.@count == 0", true),
        ("items.@distinctUnionOfObjects.name.@count == 2", false), ("count:(items) == 3", true),
        ("SUBQUERY(items, $x, $x.price > 2).@count == 2", true),
        ("SUBQUERY(items, $x, $x.price > 2 AND $x.name == 'a').@count == 1", true),
        ("SUBQUERY(items, $x, ANY $x.tags == 'y').@count > 1", false),
        ("SUBQUERY(items, $x, SUBQUERY(items, $y, $y.price > $x.price).@count == 0).@count == 1", true),
        ("numbers CONTAINS 2", true), ("numbers CONTAINS 9", false), ("words CONTAINS[c] 'ONE'", true),
        ("2 IN numbers", true), ("numbers == {1, 2, 3}", true), ("numbers == {3, 2, 1}", false),
        ("set == {3, 2, 1}", true), ("set == {1, 2}", false), ("numbers[0] == 1", true), ("numbers[LAST] == 3", true),
        ("numbers[SIZE] == 3", true), ("numbers[7] == nil", true), ("items[FIRST].name == 'a'", true),
        ("sum:(numbers) == 6", true), ("max:(1, 7, 3) == 7", true), ("average:(numbers) == 2", true),
        ("median:(numbers) == 2", true), ("stddev:({1, 3}) == 1", true), ("mode:({1, 1, 2}) == {1}", true),
        ("(numbers UNION {9}) CONTAINS 9", true), ("count:(numbers INTERSECT {1, 2, 9}) == 2", true),
        ("count:(numbers MINUS {1}) == 2", true), ("ANY numbers > 2", true), ("ALL numbers > 0", true),
        ("@count == 14", false),
    ]

    static let functions: [(String, Bool)] = [
        ("1 + 2 * 3 == 7", true), ("(1 + 2) * 3 == 9", true), ("2 ** 3 ** 2 == 512", true), ("-count == -5", true),
        ("5 / 2 == 2", true), ("5.0 / 2 == 2.5", true), ("1 / 0 == nil", true), ("7 - 2 - 1 == 4", true),
        ("modulus:by:(7, 4) == 3", true), ("sqrt:(9) == 3", true), ("abs:(-4) == 4", true), ("floor:(1.7) == 1", true),
        ("ceiling:(1.2) == 2", true), ("trunc:(-1.7) == -1", true), ("ln:(exp:(2)) == 2", true),
        ("log:(1000) >= 2.99", true),
        ("raise:toPower:(2, 10) == 1024", true), ("uppercase:(name) == 'BOLT'", true),
        ("lowercase:(name) == 'bolt'", true),
        ("canonical:('CAFÉ') == 'cafe'", true), ("length:(name) == 4", true), ("noindex:(name) == 'Bolt'", true),
        ("bitwiseAnd:with:(6, 3) == 2", true), ("bitwiseOr:with:(6, 3) == 7", true),
        ("bitwiseXor:with:(6, 3) == 5", true),
        ("leftshift:by:(1, 4) == 16", true), ("rightshift:by:(16, 4) == 1", true), ("onesComplement:(0) == -1", true),
        ("randomn:(10) < 10", true), ("random() < 1", true), ("CAST('12', 'NSNumber') == 12", true),
        ("CAST(12, 'NSString') == '12'", true), ("CAST(made, 'NSNumber') == 1000", true),
        ("CAST('0.10', 'NSDecimalNumber') == 0.1", true),
        ("TERNARY(count > 3, 'many', 'few') == 'many'", true),
        ("FUNCTION(dictionary, 'valueForKeyPath:', 'inner') == 1", true),
        ("FUNCTION(name, 'uppercaseString') == 'BOLT'", true),
        ("FUNCTION(name, 'stringByAppendingString:', '!') == 'Bolt!'", true),
        ("name + 1 == nil", true), ("9223372036854775807 + 1 > 9223372036854775807", true),
    ]

    private struct Item {
        let name: String
        let price: Int?
        let tags: Set<String>
    }

    private let object: [String: Any?] = [
        "name": "Bolt", "accented": "café", "star": "a*b", "count": 5, "flag": true, "missing": nil, "null": NSNull(),
        "price": Decimal(string: "0.12")!, "made": Date(timeIntervalSinceReferenceDate: 1000), "big": Int.max,
        "dictionary": ["inner": 1], "numbers": [1, 2, 3], "words": ["one", "two"], "set": Set([1, 2, 3]),
        "empty": [Item](),
        "items": [
            Item(name: "a", price: 5, tags: ["x", "y"]), Item(name: "b", price: 3, tags: ["x"]),
            Item(name: "c", price: 1, tags: []),
        ],
    ]

    @Test func aBlockIsGivenTheVariablesThatWereSubstituted() {
        let predicate = NSPredicate { object, bindings in object as? Int == bindings?["wanted"] as? Int }
        #expect(!predicate.evaluate(with: 1))
        #expect(predicate.withSubstitutionVariables(["wanted": 1]).evaluate(with: 1))
        #expect(
            predicate.withSubstitutionVariables(["wanted": 1]).evaluate(with: 2, substitutionVariables: ["wanted": 2]))
    }

    @Test(arguments: comparisons + nils + collections + functions)
    func aPredicateHoldsOrNot(_ format: String, _ expected: Bool) throws {
        #expect(try NSPredicate.parse(format).evaluate(with: object) == expected)
    }

    @Test func andOrAndNotCombine() throws {
        let table: [(String, Bool)] = [
            ("count == 5 AND name == 'Bolt'", true), ("count == 5 AND name == 'x'", false),
            ("count == 1 OR name == 'Bolt'", true), ("count == 1 OR name == 'x'", false), ("NOT count == 1", true),
            ("NOT (count == 5 OR name == 'x')", false), ("TRUEPREDICATE AND NOT FALSEPREDICATE", true),
        ]
        for (format, expected) in table {
            #expect(try NSPredicate.parse(format).evaluate(with: object) == expected, "\(format)")
        }
    }

    @Test func numbersOfEveryTypeCompareByValue() {
        let fives: [Any] = [
            5, Int8(5), Int16(5), Int32(5), Int64(5), UInt(5), UInt8(5), UInt64(5), Float(5), 5.0, Decimal(5),
            NSNumber(value: 5), NSNumber(value: 5.0), NSDecimalNumber(value: 5), Optional(5) as Any,
        ]
        for left in fives {
            for right in fives {
                #expect(NSPredicate(format: "SELF == %@", right).evaluate(with: left))
                #expect(NSPredicate(format: "SELF < %@", right).evaluate(with: 4.5))
            }
        }
        #expect(NSPredicate(format: "SELF == %@", UInt64.max).evaluate(with: UInt64.max))
        #expect(!NSPredicate(format: "SELF == %@", UInt64.max).evaluate(with: Double(UInt64.max)))
        #expect(!NSPredicate(format: "SELF == %@", Double.nan).evaluate(with: Double.nan))
        #expect(!NSPredicate(format: "SELF == %@", Decimal.nan).evaluate(with: Decimal.nan))
        #expect(!NSPredicate(format: "SELF > %@", Decimal.nan).evaluate(with: 5))
        #expect(NSPredicate(format: "SELF > %@", Decimal.nan) == NSPredicate(format: "SELF > %@", Decimal.nan))
    }

    @Test func foundationAndSwiftValuesAreEqual() {
        let id = UUID()
        let pairs: [(Any, Any)] = [
            ("x", NSString(string: "x")),
            (Date(timeIntervalSinceReferenceDate: 1), NSDate(timeIntervalSinceReferenceDate: 1)),
            (id, NSUUID(uuidString: id.uuidString)!), (Data([1]), NSData(data: Data([1]))),
            (URL(string: "https://a.b")!, NSURL(string: "https://a.b")!), ([1, 2], NSArray(array: [1, 2])),
            (Set([1]), NSSet(array: [1])), (true, NSNumber(value: true)),
            (["a": 1], NSDictionary(dictionary: ["a": 1])),
        ]
        for (left, right) in pairs {
            #expect(NSPredicate(format: "SELF == %@", left).evaluate(with: right), "\(left)")
            #expect(NSPredicate(format: "SELF == %@", right).evaluate(with: left), "\(left)")
            #expect(NSPredicate(format: "%@ IN %@", left, [right]).evaluate(with: nil), "\(left)")
        }
    }

    @Test func aMembershipTestOfManyConstantsFindsEachOfThem() {
        let numbers = NSPredicate(format: "SELF IN %@", Array(0..<1000))
        #expect(numbers.evaluate(with: 999))
        #expect(numbers.evaluate(with: 999.0))
        #expect(numbers.evaluate(with: NSNumber(value: 0)))
        #expect(!numbers.evaluate(with: 1000))
        #expect(!numbers.evaluate(with: 1.5))
        #expect(!numbers.evaluate(with: nil))
        let words = NSPredicate(format: "SELF IN %@", Set(["a", "b"]))
        #expect(words.evaluate(with: "a"))
        #expect(!words.evaluate(with: "A"))
        #expect(NSPredicate(format: "SELF IN[c] %@", ["a"]).evaluate(with: "A"))
        #expect(!words.evaluate(with: 1))
    }

    @Test func variablesTakeTheirValueAtEvaluation() {
        let predicate = NSPredicate(format: "count == $N AND name == $NAME")
        #expect(predicate.evaluate(with: object, substitutionVariables: ["N": 5, "NAME": "Bolt"]))
        #expect(!predicate.evaluate(with: object, substitutionVariables: ["N": 6, "NAME": "Bolt"]))
        let half = predicate.withSubstitutionVariables(["N": 5])
        #expect(half.predicateFormat == "count == 5 AND name == $NAME")
        #expect(half.withSubstitutionVariables(["NAME": "Bolt"]).evaluate(with: object))
    }

    @Test func aSubquerysOwnVariableIsNotSubstituted() {
        let predicate = NSPredicate(format: "SUBQUERY(items, $x, $x.price > $LOW).@count == 2")
        let bound = predicate.withSubstitutionVariables(["x": 1, "LOW": 2])
        #expect(bound.predicateFormat == "SUBQUERY(items, $x, $x.price > 2).@count == 2")
        #expect(bound.evaluate(with: object))
    }

    @Test func aBlockPredicateSeesTheObjectAndTheVariables() {
        let predicate = NSPredicate { object, variables in
            object as? Int == 3 && variables?["x"] as? Int == 4
        }
        #expect(predicate.evaluate(with: 3, substitutionVariables: ["x": 4]))
        #expect(!predicate.evaluate(with: 3))
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, NSPredicate(format: "SELF == $y")])
        #expect(both.evaluate(with: 3, substitutionVariables: ["x": 4, "y": 3]))
    }

    private final class Record: PredicateComparable {
        let id: Int
        init(id: Int) { self.id = id }
        func isEqualInPredicate(to other: Any) -> Bool { (other as? RecordID)?.id == id || other as AnyObject === self }
    }

    private final class RecordID {
        let id: Int
        init(id: Int) { self.id = id }
    }

    @Test("An object may equal its ID (behaviour 127)")
    func anObjectMayEqualItsID() {
        let record = Record(id: 1)
        #expect(NSPredicate(format: "SELF == %@", RecordID(id: 1)).evaluate(with: record))
        #expect(NSPredicate(format: "SELF == %@", record).evaluate(with: RecordID(id: 1)))
        #expect(!NSPredicate(format: "SELF == %@", RecordID(id: 2)).evaluate(with: record))
        #expect(NSPredicate(format: "SELF IN %@", [RecordID(id: 2), RecordID(id: 1)]).evaluate(with: record))
        #expect(NSPredicate(format: "ANY SELF == %@", RecordID(id: 1)).evaluate(with: [record]))
    }
}
