import Foundation
import Testing

@testable import CoreData

@Suite("Variables of stored predicates")
struct PredicateVariablesTests {
    /// Behaviour 19.
    @Test(arguments: [
        ("name == $NAME", ["NAME"]), ("price < $FETCH_SOURCE.price AND a IN {1, $B}", ["B", "FETCH_SOURCE"]),
        ("SUBQUERY(items, $i, $i.stock > $LEAST).@count > 0", ["LEAST"]), ("name == \"$NO\"", []),
        ("max($A, 3) == TERNARY($B == 1, $C, 2)", ["A", "B", "C"]),
    ])
    func variablesThatNeedAValueAreFound(format: String, names: [String]) throws {
        #expect(PredicateVariables.unbound(in: try NSPredicate.parse(format)).sorted() == names)
    }

    /// Behaviour 19.
    @Test func aTemplateTakesItsValues() throws {
        var template = FetchRequestTemplate(entityName: "Item")
        template.predicate = try NSPredicate.parse("name == $NAME")
        #expect(template.substituting(["NAME": "Bolt"]).predicate?.predicateFormat == "name == \"Bolt\"")
        #expect(template.predicate?.predicateFormat == "name == $NAME")
    }

    /// Behaviour 19.
    @Test func aTemplateWithoutAValueStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            var template = FetchRequestTemplate(entityName: "Item")
            template.predicate = try NSPredicate.parse("name == $NAME")
            _ = template.substituting([:])
        }
    }
}
