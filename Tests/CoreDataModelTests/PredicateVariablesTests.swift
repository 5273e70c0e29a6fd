import Foundation
import TestSupport
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
    @Test func aRequestOfTheModelIsACopyWithItsValues() throws {
        let item = NSEntityDescription()
        item.name = "Item"
        let model = NSManagedObjectModel()
        model.entities = [item]
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        template.predicate = try NSPredicate.parse("name == $NAME OR code IN {$CODE, $NAME}")
        model.setFetchRequestTemplate(template, forName: "Named")
        let values: [String: Any] = ["NAME": "Bolt", "CODE": 7]
        let request = try #require(model.fetchRequestFromTemplate(withName: "Named", substitutionVariables: values))
        #expect(request.entityName == "Item")
        #expect(request.predicate?.predicateFormat == "name == \"Bolt\" OR code IN {7, \"Bolt\"}")
        request.predicate = nil
        let stored = try #require(model.fetchRequestTemplate(forName: "Named"))
        #expect(stored.predicate?.predicateFormat == template.predicate?.predicateFormat)
        #expect(model.fetchRequestFromTemplate(withName: "Unnamed", substitutionVariables: values) == nil)
    }

    /// Behaviour 19.
    @Test func nullStandsForNilInATemplate() throws {
        var template = FetchRequestTemplate(entityName: "Item")
        template.predicate = try NSPredicate.parse("name == $NAME")
        let predicate = try #require(template.substituting(["NAME": NSNull()]).predicate)
        #expect(predicate.evaluate(with: [:] as NSDictionary))
        #expect(!predicate.evaluate(with: ["name": "Bolt"] as NSDictionary))
    }

    /// Behaviour 19.
    @Test func aTemplateWithoutAValueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var template = FetchRequestTemplate(entityName: "Item")
            template.predicate = try NSPredicate.parse("name == $NAME")
            _ = template.substituting([:])
        }
        #expect(Complaint(result?.standardErrorContent).lacks("'Item'", "\"NAME\"", "use NSNull for nil") == [])
    }
}
