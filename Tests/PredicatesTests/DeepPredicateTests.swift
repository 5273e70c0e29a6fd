import Predicates
import Testing

/// Predicates that nest deeply are used, or are errors.
struct DeepPredicateTests {
    private let one = NSPredicate(format: "a == 1")

    private func nested(_ levels: Int, _ type: (Int) -> NSCompoundPredicate.LogicalType) -> NSPredicate {
        var predicate = NSPredicate(format: "a == 2")
        for level in 0..<levels {
            predicate = NSCompoundPredicate(
                type: type(level), subpredicates: type(level) == .not ? [predicate] : [one, predicate])
        }
        return predicate
    }

    @Test(arguments: [NSCompoundPredicate.LogicalType.or, .and])
    func manyPartsMayBeJoinedOneByOne(type: NSCompoundPredicate.LogicalType) throws {
        let count = LongTests.areEnabled ? 50_000 : 10_000
        let joined = nested(count) { _ in type }
        #expect(try joined.result(for: ["a": 1]) == (type == .or))
        #expect(try joined.result(for: ["a": 2]) == (type == .or))
        #expect(joined.predicateFormat.utf8.count > count * 6)
        #expect(joined == nested(count) { _ in type })
    }

    @Test func partsJoinedOneByOneKeepTheirOrder() {
        let parts = (0..<1_000).map { NSPredicate(format: "a == \($0)") }
        // Some are joined ahead of the others, as a list of their own.
        let head = parts[..<300].dropFirst().reduce(parts[0]) {
            NSCompoundPredicate(andPredicateWithSubpredicates: [$0, $1])
        }
        let joined = parts[300...].reduce(head) { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, $1]) }
        let text = joined.predicateFormat.replacing(#/[()]/#, with: "")
        #expect(text == parts.map(\.predicateFormat).joined(separator: " AND "))
    }

    @Test(arguments: [50_000, 50_001])
    func manyNegationsAreUsed(levels: Int) throws {
        let negated = nested(levels) { _ in .not }
        #expect(try negated.result(for: ["a": 2]) == levels.isMultiple(of: 2))
        #expect(try NSPredicate.parse(nested(100) { _ in .not }.predicateFormat).result(for: ["a": 2]))
    }

    @Test func mixedNestingBeyondTheLimitIsAnError() {
        let deep = nested(50_000) { $0.isMultiple(of: 2) ? .and : .or }
        let error = #expect(throws: PredicateEvaluationError.self) { try deep.result(for: ["a": 1]) }
        #expect(error?.description.contains("512 levels") == true)
        #expect(deep.predicateFormat.contains("512 levels"))
        #expect(throws: PredicateEvaluationError.self) {
            try NSCompoundPredicate(notPredicateWithSubpredicate: deep).result(for: ["a": 1])
        }
    }

    @Test func mixedNestingUpToTheLimitIsUsed() throws {
        let tall = nested(500) { $0.isMultiple(of: 2) ? .and : .or }
        #expect(try tall.result(for: ["a": 1]))
        #expect(try !tall.result(for: ["a": 3]))
        #expect(tall == nested(500) { $0.isMultiple(of: 2) ? .and : .or })
        #expect(tall.withSubstitutionVariables(["x": 1]) == tall)
    }

    @Test func expressionsBeyondTheLimitAreErrors() {
        var sum = NSExpression(forKeyPath: "a")
        for _ in 0..<50_000 { sum = NSExpression(forFunction: "add:to:", arguments: [sum, 1]) }
        let predicate = NSComparisonPredicate(
            leftExpression: sum, rightExpression: NSExpression(forConstantValue: 50_001), modifier: .direct,
            type: .equalTo)
        #expect(throws: PredicateEvaluationError.self) { try predicate.result(for: ["a": 1]) }
        var subquery = one
        for _ in 0..<50_000 {
            let items = NSExpression(
                forSubquery: NSExpression(forKeyPath: "items"), usingIteratorVariable: "x", predicate: subquery)
            subquery = NSComparisonPredicate(
                leftExpression: items, rightExpression: NSExpression(forConstantValue: 0), modifier: .direct,
                type: .notEqualTo)
        }
        #expect(throws: PredicateEvaluationError.self) { try subquery.result(for: ["items": [Int]()]) }
    }

    @Test func aKeyPathOfManyPartsIsRead() throws {
        let path = Array(repeating: "next", count: 100_000).joined(separator: ".")
        let predicate = try NSPredicate.parse(path + " == nil")
        #expect((predicate as? NSComparisonPredicate)?.leftExpression.keyPath == path)
        #expect(try predicate.result(for: ["next": "end"]))
    }

    @Test func tensOfThousandsOfPartsAreRead() throws {
        let count = LongTests.areEnabled ? 100_000 : 20_000
        let format = (0..<count).map { "a == \($0)" }.joined(separator: " OR ")
        let predicate = try NSPredicate.parse(format)
        #expect(try predicate.result(for: ["a": count - 1]))
        #expect(try !predicate.result(for: ["a": -1]))
    }

    @Test func aVariableWithoutAValueIsAnError() throws {
        let predicate = try NSPredicate.parse("a == $x OR b == 1")
        let error = #expect(throws: PredicateEvaluationError.self) { try predicate.result(for: ["a": 1]) }
        #expect(error?.description.contains("$x") == true)
        #expect(try predicate.result(for: ["a": 1], substitutionVariables: ["x": 1]))
    }

    @Test func aRegularExpressionThatTakesTooLongIsAnError() throws {
        let text = String(repeating: "a", count: 40) + "!"
        let predicate = try NSPredicate.parse("a MATCHES '(a|aa|a*)*b(a+)+$'")
        let error = #expect(throws: PredicateEvaluationError.self) { try predicate.result(for: ["a": text]) }
        #expect(error?.description.contains("MATCHES") == true)
        #expect(try !predicate.result(for: ["a": "x"]))
    }
}
