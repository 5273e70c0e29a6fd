import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Values in the columns of composite attributes that a hand or another program has changed.
struct ChangedCompositesTests {
    let workplace: Workplace
    let path: String

    init() throws {
        workplace = try Workplace()
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [
            NSAttributeDescription("x", .doubleAttributeType), NSAttributeDescription("code", .UUIDAttributeType),
        ]
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [
            NSAttributeDescription("zip", .integer32AttributeType),
            NSAttributeDescription("city", .stringAttributeType), place,
        ]
        let person = NSEntityDescription("Person", [NSAttributeDescription("name", .stringAttributeType), address])
        let url = workplace.folder.appendingPathComponent("People.sqlite")
        path = url.path
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([person]))
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            for name in ["Ann", "Bob"] {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(name, forKey: "name")
                person.setValue(["zip": 10115, "city": "Berlin", "place": ["x": 1.5]], forKey: "address")
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func change(_ statement: String) { #expect(SQLiteFile(URL(fileURLWithPath: path)).execute(statement)) }

    private func query(_ options: String...) -> ToolRun {
        ToolRun(["query", path, "Person", "--sort", "name", "--format", "json"] + options)
    }

    @Test func anElementOfAnotherKindIsNamedAndShownAsItIs() throws {
        change("UPDATE ZPERSON SET ZZIP = 'abc' WHERE ZNAME = 'Ann'")
        let run = query("--columns", "address")
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("coredata: Person.address.zip of 1 object (p"), "\(run.errors)")
        #expect(run.errors.hasSuffix("the value is shown as it is in the file.\n"))
        let berlin = #""city": "Berlin", "place": {"x": 1.5}}}"#
        #expect(run.lines.contains { $0.contains(#"{"address": {"zip": "abc", "# + berlin) }, "\(run.output)")
        #expect(run.lines.contains { $0.contains(#"{"address": {"zip": 10115, "# + berlin) }, "\(run.output)")
        #expect(query().errors == run.errors)
        #expect(query("--columns", "address.city").errors == "")
        #expect(query("--columns", "name").errors == "")
    }

    @Test func elementsOfInnerCompositesAreNamedToo() throws {
        change("UPDATE ZPERSON SET ZX = 'far', ZCODE = x'0102' WHERE ZNAME = 'Bob'")
        for columns in ["address", "address.place"] {
            let run = query("--columns", columns)
            #expect(run.errors.contains("Person.address.place.x of 1 object (p"), "\(run.errors)")
            #expect(run.errors.contains("Person.address.place.code of 1 object (p"), "\(run.errors)")
            #expect(run.lines.contains { $0.contains(#"{"x": "far", "code": "AQI="}"#) }, "\(run.output)")
        }
    }
}
