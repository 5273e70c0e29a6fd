import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Variables of stored predicates")
struct PredicateVariablesTests {
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

    @Test func aVariableWithoutAValueStays() throws {
        var template = FetchRequestTemplate(entityName: "Item")
        template.predicate = try NSPredicate.parse("name == $NAME AND size > $LEAST")
        #expect(template.substituting(["LEAST": 3]).predicate?.predicateFormat == "name == $NAME AND size > 3")
    }
}
