import Predicates
import Testing

/// Archiving with secure coding.
@Suite struct CodingTests {
    @Test(arguments: [
        "a == 'x' AND (b > 1.5 OR NOT c == nil)", "TRUEPREDICATE", "ANY a.b CONTAINS[cd] 'é'",
        "SUBQUERY(a, $x, $x.b == 1).@count > 0",
    ])
    func aPredicateSurvivesArchiving(_ format: String) throws {
        let predicate = NSPredicate(format: format)
        let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
        #expect(decoded == predicate)
        #expect(decoded.map { type(of: $0) == type(of: predicate) } == true)
    }

    @Test func anExpressionSurvivesArchiving() throws {
        let expression = NSExpression(format: "price * %@", Decimal(string: "1.19")!)
        let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data) == expression)
    }

    @Test func aSortDescriptorSurvivesArchiving() throws {
        let descriptor = NSSortDescriptor(key: "a.b", ascending: false, selector: .localizedStandardCompare)
        let data = try NSKeyedArchiver.archivedData(withRootObject: descriptor, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSSortDescriptor.self, from: data) == descriptor)
    }

    @Test func aCopyIsTheSame() {
        let predicate = NSPredicate(format: "a == 1")
        #expect(predicate.copy() as? NSPredicate === predicate)
    }
}
