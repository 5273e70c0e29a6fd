import Testing

@testable import CoreData

@Suite("The store in memory")
struct InMemoryStoreTests {
    private func stack() throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = try SampleStacks.inMemory()
        let context = SampleStacks.context(coordinator)
        try context.performAndWait {
            let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: context)
            let lab = try SampleStacks.insert("Department", ["name": "Lab"], into: context)
            let red = try SampleStacks.insert("Tag", ["name": "red"], into: context)
            let people: [(String, String, Int, NSManagedObject?)] = [
                ("Employee", "Ann", 300, sales), ("Employee", "Bob", 100, sales), ("Manager", "Cid", 500, lab),
                ("Employee", "Dee", 200, nil),
            ]
            for (entity, name, salary, department) in people {
                let person = try SampleStacks.insert(
                    entity, ["name": name, "salary": salary, "rating": Double(salary) / 100], into: context)
                person.setValue(department, forKey: "department")
                if name < "C" { person.setValue(NSSet(object: red), forKey: "tags") }
            }
            try context.save()
        }
        return (coordinator, context)
    }

    private func withFreshContext<Result>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = SampleStacks.context(coordinator)
        return try context.performAndWait { try body(context) }
    }

    @Test(arguments: [
        ("Employee", "salary > 150", ["Ann", "Cid", "Dee"]),
        ("Employee", "department.name == 'Sales'", ["Ann", "Bob"]),
        ("Employee", "department == nil", ["Dee"]),
        ("Employee", "ANY tags.name == 'red'", ["Ann", "Bob"]),
        ("Employee", "name BEGINSWITH[c] 'a' OR rating == 5", ["Ann", "Cid"]),
        ("Manager", "salary > 0", ["Cid"]),
        ("Department", "employees.@count == 2", ["Sales"]),
        ("Department", "SUBQUERY(employees, $e, $e.salary > 400).@count > 0", ["Lab"]),
        ("Department", "employees.@max.salary < 400", ["Sales"]),
    ])
    func predicatesSelectRows(entity: String, format: String, names: [String]) throws {
        let (coordinator, _) = try stack()
        #expect(try withFreshContext(coordinator) { try SampleStacks.names($0, entity, format) } == names)
    }

    @Test func predicatesCompareRowsWithObjectsAndIDs() throws {  // 127
        let (coordinator, _) = try stack()
        try withFreshContext(coordinator) { context throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.predicate = NSPredicate(format: "name == 'Sales'")
            let sales = try #require(context.fetch(request).first)
            for value in [sales, sales.objectID] as [Any] {
                let employees = NSFetchRequest<NSManagedObject>(entityName: "Employee")
                employees.predicate = NSPredicate(format: "department == %@", argumentArray: [value])
                #expect(try context.count(for: employees) == 2)
                request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [[value]])
                #expect(try context.count(for: request) == 1)
            }
        }
    }

    @Test func sortDescriptorsOrderRows() throws {
        let (coordinator, _) = try stack()
        try withFreshContext(coordinator) { context throws in
            let salary = NSSortDescriptor(key: "salary", ascending: false)
            #expect(try SampleStacks.names(context, "Employee", sort: [salary]) == ["Cid", "Ann", "Dee", "Bob"])
            let department = NSSortDescriptor(key: "department.name", ascending: true)
            let name = NSSortDescriptor(key: "name", ascending: false)
            #expect(
                try SampleStacks.names(context, "Employee", sort: [department, name]) == ["Dee", "Cid", "Bob", "Ann"])
        }
    }

    @Test func limitsAndOffsetsCutTheResult() throws {
        let (coordinator, _) = try stack()
        try withFreshContext(coordinator) { context throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchOffset = 1
            request.fetchLimit = 2
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Bob", "Cid"])
            request.includesSubentities = false
            #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Bob", "Dee"])
        }
    }

    @Test func dictionariesCarryColumnsGroupsAndAggregates() throws {
        let (coordinator, _) = try stack()
        try withFreshContext(coordinator) { context throws in
            let total = NSExpressionDescription()
            total.name = "total"
            total.expression = NSExpression(
                forFunction: "sum:", arguments: [NSExpression(forKeyPath: "salary")])
            total.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["department.name", total]
            request.propertiesToGroupBy = ["department.name"]
            request.havingPredicate = NSPredicate(format: "total > 200")
            request.sortDescriptors = [NSSortDescriptor(key: "total", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.compactMap { ($0.object(forKey: "total" as NSString) as? NSNumber)?.intValue } == [400, 500])
            let names = NSFetchRequest<NSDictionary>(entityName: "Employee")
            names.resultType = .dictionaryResultType
            names.propertiesToFetch = ["department.name"]
            names.returnsDistinctResults = true
            #expect(try context.fetch(names).count == 3)
        }
    }

    @Test func relationshipsAreReadFromBothSides() throws {
        let (coordinator, _) = try stack()
        try withFreshContext(coordinator) { context throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            let red = try #require(context.fetch(request).first)
            #expect(NodeValue.elements(of: red.value(forKey: "employees")).count == 2)
            let sales = try SampleStacks.names(context, "Employee", "department.name == 'Sales'")
            #expect(sales.count == 2)
        }
    }

    @Test func orderIsKeptAcrossSaves() throws {
        let (coordinator, context) = try stack()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name == 'Ann'")
            let ann = try #require(context.fetch(request).first)
            let tasks = try ["c", "a", "b"].map { try SampleStacks.insert("Task", ["title": $0], into: context) }
            ann.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            try context.save()
        }
        try withFreshContext(coordinator) { context throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name == 'Ann'")
            let ann = try #require(context.fetch(request).first)
            let titles = NodeValue.elements(of: ann.value(forKey: "tasks")).compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "title") as? String
            }
            #expect(titles == ["c", "a", "b"])
        }
    }

    @Test func aRowThatChangedUnderneathIsAConflict() throws {  // 208, 210
        let (coordinator, first) = try stack()
        let second = SampleStacks.context(coordinator)
        func ann(_ context: NSManagedObjectContext) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name == 'Ann'")
            return try #require(context.fetch(request).first)
        }
        let stale = try second.performAndWait { try ann(second) }
        #expect(stale.value(forKey: "salary") as? Int == 300)
        try first.performAndWait {
            try ann(first).setValue(301, forKey: "salary")
            try first.save()
        }
        second.performAndWait {
            stale.setValue(302, forKey: "salary")
            #expect(throws: CocoaError.self) { try second.save() }
        }
    }

    @Test func deletedRowsAreGoneFromFetchesAndRelationships() throws {
        let (coordinator, context) = try stack()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = NSPredicate(format: "name == 'Ann'")
            context.delete(try #require(context.fetch(request).first))
            try context.save()
        }
        try withFreshContext(coordinator) { context throws in
            #expect(try SampleStacks.names(context, "Employee") == ["Bob", "Cid", "Dee"])
            #expect(try SampleStacks.names(context, "Department", "employees.@count == 1") == ["Lab", "Sales"])
        }
    }

    @Test func aStoreCanBeCopiedToAnother() throws {  // 305
        let (coordinator, _) = try stack()
        let old = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(["author": "me"], for: old)
        let url = try #require(URL(string: "memory://copy"))
        let new = try coordinator.migratePersistentStore(old, to: url, type: .inMemory)
        #expect(coordinator.persistentStores == [new])
        #expect(coordinator.metadata(for: new)["author"] as? String == "me")
        #expect(new.identifier != old.identifier)
        try withFreshContext(coordinator) { context throws in
            #expect(try SampleStacks.names(context, "Employee") == ["Ann", "Bob", "Cid", "Dee"])
            #expect(try SampleStacks.names(context, "Employee", "ANY tags.name == 'red'") == ["Ann", "Bob"])
            #expect(try SampleStacks.names(context, "Employee", "department.name == 'Lab'") == ["Cid"])
        }
    }
}
