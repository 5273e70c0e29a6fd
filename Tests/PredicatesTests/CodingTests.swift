import Predicates
import Testing

/// Archiving with secure coding.
struct CodingTests {
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

    @Test func aCompoundOfAnyNumberOfPartsSurvivesArchiving() throws {
        let part = NSPredicate(format: "a == 1")
        let all = NSCompoundPredicate(andPredicateWithSubpredicates: [part])
        let compounds = [
            all, NSCompoundPredicate(orPredicateWithSubpredicates: [part]),
            NSCompoundPredicate(andPredicateWithSubpredicates: []),
            NSCompoundPredicate(orPredicateWithSubpredicates: []),
            NSCompoundPredicate(notPredicateWithSubpredicate: all),
            NSCompoundPredicate(andPredicateWithSubpredicates: [all, NSPredicate(format: "b == 2")]),
        ]
        for compound in compounds {
            let data = try NSKeyedArchiver.archivedData(withRootObject: compound, requiringSecureCoding: true)
            for decoded in [
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data),
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: data),
            ] {
                #expect(decoded == compound, "\(compound)")
                #expect((decoded as? NSCompoundPredicate)?.compoundPredicateType == compound.compoundPredicateType)
            }
        }
    }

    @Test func aPredicateWithAListOfExpressionsSurvivesArchiving() throws {
        let bounds = [NSExpression(forKeyPath: "low"), NSExpression(forConstantValue: 5)]
        let predicate = NSPredicate(format: "a BETWEEN %@", bounds)
        #expect(NSPredicate(format: predicate.predicateFormat) == predicate)
        #expect(NSPredicate(format: "a BETWEEN %@", bounds) == predicate)
        #expect(NSPredicate(format: "a BETWEEN {low, 6}") != predicate)
        let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data) == predicate)
    }

    @Test func anExpressionSurvivesArchiving() throws {
        let expression = NSExpression(format: "price * %@", Decimal(string: "1.19")!)
        let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data) == expression)
    }

    @Test func constantsWithoutALiteralSurviveArchiving() throws {
        let constants: [Any] = [UUID(), Float(55.8), NSNull(), [UUID()], [Float(0.1), Float(2)]]
        for constant in constants {
            let expression = NSExpression(forConstantValue: constant)
            let aggregate = NSExpression(forAggregate: [expression, NSExpression(forKeyPath: "a")])
            for expression in [expression, aggregate] {
                let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
                #expect(
                    try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data) == expression,
                    "\(constant)")
            }
        }
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
