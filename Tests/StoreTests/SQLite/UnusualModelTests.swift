import TestSupport
import Testing

@testable import CoreData

/// Indexes and orders that models have although no column can.
struct UnusualModelTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func index(_ name: String, _ properties: [String], of entity: NSEntityDescription) throws
        -> NSFetchIndexDescription
    {
        let elements = try properties.map {
            NSFetchIndexElementDescription(property: try #require(entity.propertiesByName[$0]), collationType: .binary)
        }
        return NSFetchIndexDescription(name: name, elements: elements)
    }

    @Test func anIndexIsOfItsElementsThatHaveColumns() throws {
        let model = TestModel.company()
        let employee = try #require(model.entitiesByName["Employee"])
        employee.indexes = [
            try index("byTagsAndAge", ["tags", "department", "age"], of: employee),
            try index("byTasks", ["tasks"], of: employee),
        ]
        let url = folder.file("store.sqlite")
        try OpenStore(model: model, url: url).close()
        let rows = SQLiteFile(url).rows(
            "SELECT name, sql FROM sqlite_master WHERE name LIKE 'Z\\_Employee\\_by%' ESCAPE '\\'")
        #expect(rows.map { $0[0] } == ["Z_Employee_byTagsAndAge"])
        #expect(
            rows.first?[1]?.hasSuffix("(ZDEPARTMENT COLLATE BINARY ASC, ZAGE COLLATE BINARY ASC)") == true, "\(rows)")
    }

    @Test func aRelationshipToOneObjectMayBeMarkedAsOrdered() throws {
        let model = TestModel.company()
        try #require(model.entitiesByName["Employee"]?.relationshipsByName["department"]).isOrdered = true
        let url = folder.file("store.sqlite")
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try OpenStore(model: model, url: url).coordinator
        let employee = try context.performAndWait {
            let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
            let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
            employee.setValue(department, forKey: "department")
            try context.save()
            context.reset()
            return employee.objectID
        }
        try context.performAndWait {
            let department = try context.existingObject(with: employee).value(forKey: "department") as? NSManagedObject
            #expect((department?.value(forKey: "employees") as? NSSet)?.count == 1)
        }
        #expect(
            SQLiteFile(url).value("SELECT count(*) FROM ZEMPLOYEE JOIN ZDEPARTMENT ON ZDEPARTMENT = ZDEPARTMENT.Z_PK")
                == "1")
    }
}
