import CoreData
import Foundation
import TestSupport
import Testing

// Fetch requests, predicates, aggregates and the three kinds of batch request.

private final class RequestCounter: @unchecked Sendable { var value = 0 }

private enum RequestKit: MacModelKit {
    /// Department <->> Employee (Manager is a subentity), Employee <<->> Skill, Tag unique by
    /// "key".
    static func model(constraint: Bool) -> NSManagedObjectModel {
        let employee = NSEntityDescription()
        employee.name = "Employee"
        let manager = NSEntityDescription()
        manager.name = "Manager"
        let department = NSEntityDescription()
        department.name = "Department"
        let skill = NSEntityDescription()
        skill.name = "Skill"
        let tag = NSEntityDescription()
        tag.name = "Tag"

        let wellPaid = NSFetchedPropertyDescription()
        wellPaid.name = "wellPaid"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = employee
        request.predicate = CoreData.NSPredicate(format: "department == $FETCH_SOURCE AND salary > 85000")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        wellPaid.fetchRequest = request

        employee.properties = [
            attribute("name", .stringAttributeType), attribute("title", .stringAttributeType),
            attribute("salary", .doubleAttributeType, default: 0.0),
            attribute("age", .integer32AttributeType, default: 18),
            attribute("hired", .dateAttributeType), attribute("active", .booleanAttributeType, default: true),
            attribute("email", .stringAttributeType),
        ]
        manager.properties = [attribute("level", .integer16AttributeType)]
        employee.subentities = [manager]
        department.properties = [attribute("name", .stringAttributeType), wellPaid]
        skill.properties = [attribute("name", .stringAttributeType)]
        relate(department, "employees", toMany: true, employee, inverse: "department")
        relate(employee, "skills", toMany: true, skill, inverse: "holders", inverseToMany: true)
        tag.properties = [attribute("key", .stringAttributeType), attribute("value", .stringAttributeType)]
        if constraint { tag.uniquenessConstraints = [["key"]] }
        let model = NSManagedObjectModel()
        model.entities = [employee, manager, department, skill, tag]
        let template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = employee
        template.predicate = CoreData.NSPredicate(format: "salary >= $MINIMUM AND name BEGINSWITH[c] $PREFIX")
        model.setFetchRequestTemplate(template, forName: "paid")
        return model
    }

    static func container(_ type: String = NSSQLiteStoreType, constraint: Bool = false) throws -> NSPersistentContainer
    {
        let container = NSPersistentContainer(name: "Request", managedObjectModel: model(constraint: constraint))
        let description = NSPersistentStoreDescription(
            url: MacFolder.url.appendingPathComponent("MacRequest-\(UUID().uuidString).sqlite"))
        description.type = type
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static let dayZero = Date(timeIntervalSinceReferenceDate: 600_000_000)

    /// Engineering: Ada (Manager), Bob, Élodie. Sales: Carl, Dora. Empty: nobody. Zoe has no
    /// department.
    static func filled(_ type: String = NSSQLiteStoreType) throws -> NSPersistentContainer {
        let container = try RequestKit.container(type)
        let context = container.viewContext
        var departments: [String: NSManagedObject] = [:]
        for name in ["Engineering", "Sales", "Empty"] {
            let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
            department.setValue(name, forKey: "name")
            departments[name] = department
        }
        let swift = NSEntityDescription.insertNewObject(forEntityName: "Skill", into: context)
        swift.setValue("Swift", forKey: "name")
        let talk = NSEntityDescription.insertNewObject(forEntityName: "Skill", into: context)
        talk.setValue("Talk", forKey: "name")
        let rows: [(String, String, Double, Int, String?, Bool)] = [
            ("Ada", "Lead", 120_000, 45, "Engineering", true), ("Bob", "Engineer", 80_000, 25, "Engineering", true),
            ("Élodie", "Engineer", 90_000, 36, "Engineering", false), ("Carl", "Seller", 50_000, 29, "Sales", true),
            ("Dora", "Seller", 70_000, 52, "Sales", true), ("Zoe", "Guest", 0, 19, nil, false),
        ]
        for (index, row) in rows.enumerated() {
            let employee = NSEntityDescription.insertNewObject(
                forEntityName: row.0 == "Ada" ? "Manager" : "Employee", into: context)
            employee.setValue(row.0, forKey: "name")
            employee.setValue(row.1, forKey: "title")
            employee.setValue(row.2, forKey: "salary")
            employee.setValue(row.3, forKey: "age")
            employee.setValue(row.4.flatMap { departments[$0] }, forKey: "department")
            employee.setValue(row.5, forKey: "active")
            employee.setValue(dayZero.addingTimeInterval(Double(index) * 86_400), forKey: "hired")
            if row.0 != "Zoe" { employee.setValue("\(row.0.lowercased())@example.org", forKey: "email") }
            if row.1 == "Engineer" || row.1 == "Lead" { employee.mutableSetValue(forKey: "skills").add(swift) }
            if row.1 == "Seller" || row.1 == "Lead" { employee.mutableSetValue(forKey: "skills").add(talk) }
        }
        try context.save()
        return container
    }
}

/// Fetches, aggregates, predicates and batch requests, as programs for a Mac use them.
@MainActor
struct MacRequestTests {
    private func names(
        _ context: NSManagedObjectContext, _ predicate: CoreData.NSPredicate? = nil, entity: String = "Employee"
    ) throws
        -> [String]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    private func one(_ name: String, _ context: NSManagedObjectContext, entity: String = "Employee") throws
        -> NSManagedObject
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = CoreData.NSPredicate(format: "name == %@", name)
        request.fetchLimit = 1
        return try #require(try context.fetch(request).first)
    }

    private func aggregate(_ name: String, _ function: String, _ key: String, _ type: NSAttributeType)
        -> NSExpressionDescription
    {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = CoreData.NSExpression(
            forFunction: function, arguments: [CoreData.NSExpression(forKeyPath: key)])
        description.expressionResultType = type
        return description
    }

    // MARK: Predicates

    @Test func comparisons() throws {
        let context = try RequestKit.filled().viewContext
        #expect(try names(context, CoreData.NSPredicate(format: "salary > 80000")) == ["Ada", "Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "salary >= %f", 80_000.0)) == ["Ada", "Bob", "Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "age < %d AND active == YES", 30)) == ["Bob", "Carl"])
        #expect(try names(context, CoreData.NSPredicate(format: "%K == %@", "title", "Seller")) == ["Carl", "Dora"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "title != 'Engineer' AND title <> 'Seller'")) == [
                "Ada", "Zoe",
            ])
        #expect(
            try names(context, CoreData.NSPredicate(format: "active == %@", NSNumber(value: false))) == [
                "Zoe", "Élodie",
            ])
        #expect(try names(context, CoreData.NSPredicate(format: "NOT (age > 20)")) == ["Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "age == 45 || age == 52")) == ["Ada", "Dora"])
    }

    @Test func datesCompare() throws {
        let context = try RequestKit.filled().viewContext
        let third = RequestKit.dayZero.addingTimeInterval(2 * 86_400)
        #expect(try names(context, CoreData.NSPredicate(format: "hired < %@", third as NSDate)) == ["Ada", "Bob"])
        #expect(try names(context, CoreData.NSPredicate(format: "hired == %@", third as NSDate)) == ["Élodie"])
    }

    @Test func betweenAndIn() throws {
        let context = try RequestKit.filled().viewContext
        #expect(try names(context, CoreData.NSPredicate(format: "age BETWEEN {25, 36}")) == ["Bob", "Carl", "Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "age BETWEEN %@", [25, 29])) == ["Bob", "Carl"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "name IN %@", ["Ada", "Zoe", "Nobody"])) == ["Ada", "Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "name IN {'Bob', 'Carl'}")) == ["Bob", "Carl"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "NOT (name IN %@)", ["Ada", "Bob", "Carl"])) == [
                "Dora", "Zoe", "Élodie",
            ])
        #expect(try names(context, CoreData.NSPredicate(format: "name IN %@", [String]())).isEmpty)
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func stringOperators(type: String) throws {
        let context = try RequestKit.filled(type).viewContext
        #expect(try names(context, CoreData.NSPredicate(format: "name BEGINSWITH %@", "A")) == ["Ada"])
        #expect(try names(context, CoreData.NSPredicate(format: "name BEGINSWITH %@", "a")).isEmpty)
        #expect(try names(context, CoreData.NSPredicate(format: "name BEGINSWITH[c] %@", "a")) == ["Ada"])
        #expect(try names(context, CoreData.NSPredicate(format: "name BEGINSWITH[cd] %@", "el")) == ["Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "name BEGINSWITH %@", "El")).isEmpty)
        #expect(try names(context, CoreData.NSPredicate(format: "name ENDSWITH 'a'")) == ["Ada", "Dora"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "name CONTAINS[cd] %@", "O")) == [
                "Bob", "Dora", "Zoe", "Élodie",
            ])
        #expect(try names(context, CoreData.NSPredicate(format: "name ==[c] 'ADA'")) == ["Ada"])
        #expect(try names(context, CoreData.NSPredicate(format: "name ==[cd] 'elodie'")) == ["Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "name LIKE '?o*'")) == ["Bob", "Dora", "Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "name LIKE[c] %@", "*DA")) == ["Ada"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "name MATCHES %@", "[A-C].*")) == ["Ada", "Bob", "Carl"])
        // The whole string must match.
        #expect(try names(context, CoreData.NSPredicate(format: "name MATCHES 'o'")).isEmpty)
        #expect(try names(context, CoreData.NSPredicate(format: "name MATCHES[c] 'ada|bob'")) == ["Ada", "Bob"])
    }

    @Test func nilComparisons() throws {
        let context = try RequestKit.filled().viewContext
        #expect(try names(context, CoreData.NSPredicate(format: "department == nil")) == ["Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "department = NULL")) == ["Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "email == nil")) == ["Zoe"])
        #expect(try names(context, CoreData.NSPredicate(format: "email != nil AND department != nil")).count == 5)
        #expect(try names(context, CoreData.NSPredicate(format: "%K == %@", "email", NSNull())) == ["Zoe"])
    }

    @Test func relationshipAndIdentityComparisons() throws {
        let context = try RequestKit.filled().viewContext
        let sales = try one("Sales", context, entity: "Department")
        let ada = try one("Ada", context), zoe = try one("Zoe", context)
        #expect(try names(context, CoreData.NSPredicate(format: "department == %@", sales)) == ["Carl", "Dora"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "department == %@", sales.objectID)) == ["Carl", "Dora"])
        #expect(try names(context, CoreData.NSPredicate(format: "department IN %@", [sales])) == ["Carl", "Dora"])
        #expect(try names(context, CoreData.NSPredicate(format: "department.name == %@", "Sales")) == ["Carl", "Dora"])
        #expect(try names(context, CoreData.NSPredicate(format: "SELF == %@", ada)) == ["Ada"])
        #expect(try names(context, CoreData.NSPredicate(format: "self == %@", ada.objectID)) == ["Ada"])
        #expect(try names(context, CoreData.NSPredicate(format: "SELF IN %@", [ada, zoe])) == ["Ada", "Zoe"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "SELF IN %@", [ada.objectID, zoe.objectID])) == [
                "Ada", "Zoe",
            ])
        #expect(
            try names(context, CoreData.NSPredicate(format: "NOT (SELF IN %@)", [ada, zoe])) == [
                "Bob", "Carl", "Dora", "Élodie",
            ])
        #expect(try names(context, CoreData.NSPredicate(format: "objectID IN %@", [ada.objectID])) == ["Ada"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "employees CONTAINS %@", ada), entity: "Department") == [
                "Engineering"
            ])
    }

    @Test func anyNoneAndSubquery() throws {
        let context = try RequestKit.filled().viewContext
        func departments(_ format: String) throws -> [String] {
            try names(context, CoreData.NSPredicate(format: format), entity: "Department")
        }
        #expect(try departments("ANY employees.salary > 100000") == ["Engineering"])
        #expect(try departments("ANY employees.age > 40") == ["Engineering", "Sales"])
        // Not documented: old systems made wrong SQL of NONE for joins; this is the documented
        // meaning.
        #expect(try departments("NONE employees.salary > 100000") == ["Empty", "Sales"])
        #expect(
            try departments("SUBQUERY(employees, $e, $e.age < 40 AND $e.salary > 60000).@count == 2") == ["Engineering"]
        )
        #expect(try departments("SUBQUERY(employees, $e, $e.age > 40).@count > 0") == ["Engineering", "Sales"])
        #expect(try departments("SUBQUERY(employees, $e, NOT ($e.active == YES)).@count == 0") == ["Empty", "Sales"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "ANY skills.name == 'Talk'")) == ["Ada", "Carl", "Dora"])
        #expect(
            try names(context, CoreData.NSPredicate(format: "ANY skills.name IN %@", ["Swift"])) == [
                "Ada", "Bob", "Élodie",
            ])
        #expect(
            try names(context, CoreData.NSPredicate(format: "ANY department.employees.age > 50")) == ["Carl", "Dora"])
    }

    @Test func allOverAToMany() throws {
        // Not documented: Apple's SQLite store has long refused ALL ("Unsupported predicate"); so
        // in memory only.
        let context = try RequestKit.filled(NSInMemoryStoreType).viewContext
        #expect(
            try names(
                context, CoreData.NSPredicate(format: "employees.@count > 0 AND ALL employees.salary < 100000"),
                entity: "Department")
                == ["Sales"])
        #expect(
            try names(
                context, CoreData.NSPredicate(format: "employees.@count > 0 AND ALL employees.age > 20"),
                entity: "Department") == [
                    "Engineering", "Sales",
                ])
    }

    @Test func countOfARelationship() throws {
        let context = try RequestKit.filled().viewContext
        #expect(
            try names(context, CoreData.NSPredicate(format: "employees.@count == 0"), entity: "Department") == ["Empty"]
        )
        #expect(
            try names(context, CoreData.NSPredicate(format: "employees.@count > 2"), entity: "Department") == [
                "Engineering"
            ])
        #expect(try names(context, CoreData.NSPredicate(format: "skills.@count == 2")) == ["Ada"])
    }

    @Test func collectionOperatorsInPredicatesAndKeyPaths() throws {
        // The in-memory store evaluates these with key-value coding. unsure: which of them Apple's
        // SQLite store translates.
        let context = try RequestKit.filled(NSInMemoryStoreType).viewContext
        func departments(_ format: String) throws -> [String] {
            try names(context, CoreData.NSPredicate(format: format), entity: "Department")
        }
        #expect(try departments("employees.@sum.salary > 200000") == ["Engineering"])
        #expect(try departments("employees.@max.salary < 100000") == ["Sales"])
        #expect(try departments("employees.@min.age == 29") == ["Sales"])
        #expect(try departments("employees.@avg.salary == 60000") == ["Sales"])
        let sales = try one("Sales", context, entity: "Department")
        #expect(sales.value(forKeyPath: "employees.@count") as? Int == 2)
        #expect((sales.value(forKeyPath: "employees.@sum.salary") as? NSNumber)?.doubleValue == 120_000)
        #expect((sales.value(forKeyPath: "employees.@avg.age") as? NSNumber)?.doubleValue == 40.5)
        #expect((sales.value(forKeyPath: "employees.@min.salary") as? NSNumber)?.doubleValue == 50_000)
        #expect((sales.value(forKeyPath: "employees.@max.age") as? NSNumber)?.intValue == 52)
        #expect(sales.value(forKeyPath: "employees.name") as? Set<String> == ["Carl", "Dora"])
    }

    @Test func compoundsAndConstantPredicates() throws {
        let context = try RequestKit.filled().viewContext
        let young = CoreData.NSPredicate(format: "age < 30"), active = CoreData.NSPredicate(format: "active == YES")
        #expect(
            try names(context, NSCompoundPredicate(andPredicateWithSubpredicates: [young, active])) == ["Bob", "Carl"])
        #expect(
            try names(context, NSCompoundPredicate(orPredicateWithSubpredicates: [young, active])) == [
                "Ada", "Bob", "Carl", "Dora", "Zoe",
            ])
        #expect(try names(context, NSCompoundPredicate(notPredicateWithSubpredicate: active)) == ["Zoe", "Élodie"])
        #expect(try names(context, CoreData.NSPredicate(value: true)).count == 6)
        #expect(try names(context, CoreData.NSPredicate(value: false)).isEmpty)
        #expect(try names(context, CoreData.NSPredicate(format: "TRUEPREDICATE")).count == 6)
        let built = NSComparisonPredicate(
            leftExpression: CoreData.NSExpression(forKeyPath: "age"),
            rightExpression: CoreData.NSExpression(forConstantValue: 50),
            modifier: .direct, type: .greaterThan, options: [])
        #expect(try names(context, built) == ["Dora"])
    }

    // MARK: Fetch options

    @Test func sortingLimitsAndOffsets() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.sortDescriptors = [
            CoreData.NSSortDescriptor(key: "title", ascending: true),
            CoreData.NSSortDescriptor(key: "age", ascending: false),
        ]
        func fetched() throws -> [String] {
            try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(try fetched() == ["Élodie", "Bob", "Zoe", "Ada", "Dora", "Carl"])
        request.fetchLimit = 2
        #expect(try fetched() == ["Élodie", "Bob"])
        request.fetchOffset = 2
        #expect(try fetched() == ["Zoe", "Ada"])
        request.fetchLimit = 0
        request.fetchOffset = 50
        #expect(try fetched().isEmpty)
        request.fetchOffset = 0
        request.predicate = CoreData.NSPredicate(format: "department != nil")
        request.sortDescriptors = [
            CoreData.NSSortDescriptor(key: "department.name", ascending: false),
            CoreData.NSSortDescriptor(key: "age", ascending: true),
        ]
        #expect(try fetched() == ["Carl", "Dora", "Bob", "Élodie", "Ada"])
    }

    @Test func subentities() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        #expect(request.includesSubentities)
        #expect(try context.count(for: request) == 6)
        request.includesSubentities = false
        #expect(try context.count(for: request) == 5)
        #expect(try names(context, entity: "Manager") == ["Ada"])
        #expect(try one("Ada", context).entity.name == "Manager")
    }

    @Test func pendingChanges() throws {
        let context = try RequestKit.filled().viewContext
        let bob = try one("Bob", context)
        bob.setValue("Robert", forKey: "name")
        context.delete(try one("Carl", context))
        NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context).setValue("New", forKey: "name")
        #expect(try names(context) == ["Ada", "Dora", "New", "Robert", "Zoe", "Élodie"])
        #expect(try names(context, CoreData.NSPredicate(format: "name == 'Bob'")).isEmpty)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee")) == 6)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        #expect(request.includesPendingChanges)
        request.includesPendingChanges = false
        request.predicate = CoreData.NSPredicate(format: "name == 'Bob'")
        #expect(try context.fetch(request) == [bob])
        request.predicate = CoreData.NSPredicate(format: "name == 'New'")
        #expect(try context.fetch(request).isEmpty)
    }

    @Test func faultsPrefetchingAndBatches() throws {
        let context = try RequestKit.filled().viewContext
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        #expect(request.returnsObjectsAsFaults)
        let faults = try context.fetch(request)
        #expect(faults.allSatisfy { $0.isFault })
        context.reset()
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = ["department"]
        let real = try context.fetch(request)
        #expect(real.allSatisfy { !$0.isFault })
        context.reset()
        request.returnsObjectsAsFaults = true
        request.fetchBatchSize = 2
        let batched = try context.fetch(request)
        #expect(batched.count == 6)
        #expect(batched.first?.value(forKey: "name") as? String == "Ada")
        #expect(Set(batched.map { $0.objectID }).count == 6)
    }

    @Test func idAndCountResults() throws {
        let context = try RequestKit.filled().viewContext
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
        ids.resultType = .managedObjectIDResultType
        ids.predicate = CoreData.NSPredicate(format: "name == 'Ada'")
        #expect(try context.fetch(ids) == [try one("Ada", context).objectID])
        let count = NSFetchRequest<NSNumber>(entityName: "Employee")
        count.resultType = .countResultType
        #expect(try context.fetch(count).map(\.intValue) == [6])
        count.predicate = CoreData.NSPredicate(format: "title == 'Seller'")
        #expect(try context.fetch(count).first?.intValue == 2)
    }

    @Test func requestDefaults() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        #expect(request.entityName == "Employee")
        #expect(request.fetchLimit == 0)
        #expect(request.fetchOffset == 0)
        #expect(request.fetchBatchSize == 0)
        #expect(request.resultType == .managedObjectResultType)
        #expect(request.includesPropertyValues)
        #expect(!request.returnsDistinctResults)
        #expect(!request.shouldRefreshRefetchedObjects)
        #expect(request.affectedStores == nil)
        #expect(request.requestType == .fetchRequestType)
        // Not documented: its effect (Apple's is reported broken), so only the property
        request.shouldRefreshRefetchedObjects = true
        #expect(request.shouldRefreshRefetchedObjects)
    }

    @Test nonisolated func executeInsideAPerformBlock() async throws {
        let container = try await MainActor.run { try RequestKit.filled() }
        let background = container.newBackgroundContext()
        let count = try await background.perform {
            try NSFetchRequest<NSManagedObject>(entityName: "Employee").execute().count
        }
        #expect(count == 6)
    }

    // MARK: Dictionaries and aggregates

    @Test func dictionariesOfProperties() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "age"]
        request.predicate = CoreData.NSPredicate(format: "title == 'Seller'")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        let rows = try context.fetch(request)
        #expect(rows.map { $0["name"] as? String } == ["Carl", "Dora"])
        #expect(rows.map { $0["age"] as? Int } == [29, 52])
        #expect(rows.allSatisfy { $0.count == 2 })
        request.propertiesToFetch = ["name", "department.name"]
        #expect(try context.fetch(request).first?["department.name"] as? String == "Sales")
    }

    @Test func dictionariesLeaveOutNil() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "email"]
        request.predicate = CoreData.NSPredicate(format: "name == 'Zoe'")
        let row = try #require(try context.fetch(request).first)
        #expect(row["name"] as? String == "Zoe")
        #expect(row["email"] == nil)
    }

    @Test func dictionariesIgnorePendingChanges() throws {
        let context = try RequestKit.filled().viewContext
        try one("Carl", context).setValue("Changed", forKey: "name")
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.includesPendingChanges = false
        request.propertiesToFetch = ["name"]
        request.predicate = CoreData.NSPredicate(format: "name == 'Carl'")
        #expect(try context.fetch(request).count == 1)
    }

    @Test func objectIDsInDictionaries() throws {
        let context = try RequestKit.filled().viewContext
        let id = NSExpressionDescription()
        id.name = "objectID"
        id.expression = CoreData.NSExpression.expressionForEvaluatedObject()
        id.expressionResultType = .objectIDAttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [id, "name"]
        request.predicate = CoreData.NSPredicate(format: "name == 'Bob'")
        let row = try #require(try context.fetch(request).first)
        #expect(row["objectID"] as? NSManagedObjectID == (try one("Bob", context)).objectID)
    }

    @Test func distinctResults() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.returnsDistinctResults = true
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "title", ascending: true)]
        #expect(
            try context.fetch(request).compactMap { $0["title"] as? String } == ["Engineer", "Guest", "Lead", "Seller"])
        request.returnsDistinctResults = false
        #expect(try context.fetch(request).count == 6)
    }

    @Test func aggregatesGiveOneDictionary() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            aggregate("total", "sum:", "salary", .doubleAttributeType),
            aggregate("mean", "average:", "age", .doubleAttributeType),
            aggregate("low", "min:", "age", .integer32AttributeType),
            aggregate("high", "max:", "age", .integer32AttributeType),
            aggregate("number", "count:", "name", .integer64AttributeType),
        ]
        request.predicate = CoreData.NSPredicate(format: "department.name == 'Sales'")
        let rows = try context.fetch(request)
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect(row["total"] as? Double == 120_000)
        #expect(row["mean"] as? Double == 40.5)
        #expect(row["low"] as? Int == 29)
        #expect(row["high"] as? Int == 52)
        #expect(row["number"] as? Int == 2)
    }

    @Test func grouping() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        let title = try #require(
            NSEntityDescription.entity(forEntityName: "Employee", in: context)?.attributesByName["title"])
        request.propertiesToFetch = [
            title, aggregate("number", "count:", "name", .integer64AttributeType),
            aggregate("total", "sum:", "salary", .doubleAttributeType),
        ]
        request.propertiesToGroupBy = [title]
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "title", ascending: true)]
        let rows = try context.fetch(request)
        #expect(rows.map { $0["title"] as? String } == ["Engineer", "Guest", "Lead", "Seller"])
        #expect(rows.map { $0["number"] as? Int } == [2, 1, 1, 2])
        #expect(rows.map { $0["total"] as? Double } == [170_000, 0, 120_000, 120_000])
    }

    @Test func havingFiltersGroups() throws {
        let context = try RequestKit.filled().viewContext
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", aggregate("number", "count:", "name", .integer64AttributeType)]
        request.propertiesToGroupBy = ["title"]
        request.havingPredicate = CoreData.NSPredicate(format: "%@ > 1", CoreData.NSExpression(forVariable: "number"))
        let titles = try context.fetch(request).compactMap { $0["title"] as? String }
        #expect(titles.sorted() == ["Engineer", "Seller"])
    }

    // MARK: Templates, fetched properties, stores, asynchronous

    @Test func fetchTemplatesWithVariables() throws {
        let container = try RequestKit.filled()
        let model = container.managedObjectModel
        #expect(model.fetchRequestTemplate(forName: "paid") != nil)
        #expect(model.fetchRequestTemplate(forName: "none") == nil)
        #expect(Array(model.fetchRequestTemplatesByName.keys) == ["paid"])
        let request = try #require(
            model.fetchRequestFromTemplate(withName: "paid", substitutionVariables: ["MINIMUM": 60_000, "PREFIX": "d"]))
        let found = try container.viewContext.fetch(request) as? [NSManagedObject]
        #expect(found?.map { $0.value(forKey: "name") as? String } == ["Dora"])
    }

    @Test func predicateVariables() {
        let template = CoreData.NSPredicate(format: "name == $NAME")
        let bound = template.withSubstitutionVariables(["NAME": "Ada"])
        #expect(bound.predicateFormat == "name == \"Ada\"")
        #expect(template.predicateFormat == "name == $NAME")
    }

    @Test func fetchedProperties() throws {
        let context = try RequestKit.filled().viewContext
        let engineering = try one("Engineering", context, entity: "Department")
        let paid = try #require(engineering.value(forKey: "wellPaid") as? [NSManagedObject])
        #expect(paid.map { $0.value(forKey: "name") as? String } == ["Ada", "Élodie"])
        let empty = try one("Empty", context, entity: "Department")
        #expect((empty.value(forKey: "wellPaid") as? [NSManagedObject])?.isEmpty == true)
    }

    @Test func affectedStores() throws {
        let container = try RequestKit.container()
        let coordinator = container.persistentStoreCoordinator
        let first = try #require(coordinator.persistentStores.first)
        let second = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = container.viewContext
        for (name, store) in [("in first", first), ("in second", second)] {
            let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
            employee.setValue(name, forKey: "name")
            context.assign(employee, to: store)
        }
        try context.save()
        #expect(try names(context) == ["in first", "in second"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.affectedStores = [second]
        let found = try context.fetch(request)
        #expect(found.map { $0.value(forKey: "name") as? String } == ["in second"])
        #expect(found.first?.objectID.persistentStore === second)
    }

    @Test func asynchronousFetch() async throws {
        let context = try RequestKit.filled().viewContext
        let fetched: [String] = try await withCheckedThrowingContinuation { continuation in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.sortDescriptors = [CoreData.NSSortDescriptor(key: "age", ascending: true)]
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                continuation.resume(
                    returning: (result.finalResult ?? []).compactMap { $0.value(forKey: "name") as? String })
            }
            do {
                let result = try context.execute(asynchronous)
                #expect(result is NSPersistentStoreAsynchronousResult)
                #expect((result as? NSPersistentStoreAsynchronousResult)?.managedObjectContext === context)
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(fetched == ["Zoe", "Bob", "Carl", "Élodie", "Ada", "Dora"])
    }

    // MARK: Batch insert

    @Test func batchInsertOfDictionaries() throws {
        let container = try RequestKit.container()
        let context = container.viewContext
        let request = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "a", "age": 1], ["name": "b"]])
        #expect(request.resultType == .statusOnly)
        #expect(request.requestType == .batchInsertRequestType)
        let status = try #require(try context.execute(request) as? NSBatchInsertResult)
        #expect(status.result as? Bool == true)
        #expect(!context.hasChanges)
        #expect(try names(context) == ["a", "b"])
        #expect(try one("a", context).value(forKey: "age") as? Int == 1)
        #expect(try one("b", context).value(forKey: "age") as? Int == 18)  // the default value
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
        request.resultType = .objectIDs
        let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
        #expect(ids.count == 2)
        #expect(ids.allSatisfy { !$0.isTemporaryID })
        #expect(Set(ids.compactMap { context.object(with: $0).value(forKey: "name") as? String }) == ["a", "b"])
    }

    @Test func batchInsertWithHandlers() throws {
        let container = try RequestKit.container()
        let context = container.viewContext
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Employee", in: context))
        let counter = RequestCounter()
        let first = NSBatchInsertRequest(
            entity: entity,
            dictionaryHandler: { dictionary in
                guard counter.value < 3 else { return true }
                counter.value += 1
                dictionary["name"] = "d\(counter.value)"
                return false
            })
        first.resultType = .count
        #expect((try context.execute(first) as? NSBatchInsertResult)?.result as? Int == 3)
        let other = RequestCounter()
        let second = NSBatchInsertRequest(
            entityName: "Employee",
            managedObjectHandler: { object in
                guard other.value < 2 else { return true }
                other.value += 1
                object.setValue("m\(other.value)", forKey: "name")
                return false
            })
        try context.execute(second)
        #expect(try names(context) == ["d1", "d2", "d3", "m1", "m2"])
    }

    @Test func batchInsertUpdatesUniqueRows() throws {
        let container = try RequestKit.container(constraint: true)
        let context = container.viewContext
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["key": "k", "value": "1"]]))
        try context.execute(
            NSBatchInsertRequest(
                entityName: "Tag", objects: [["key": "k", "value": "2"], ["key": "l", "value": "3"]]))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "key", ascending: true)]
        #expect(try context.fetch(request).map { $0.value(forKey: "value") as? String } == ["2", "3"])
    }

    // MARK: Batch update

    @Test func batchUpdateWithResults() throws {
        let container = try RequestKit.filled()
        let context = container.viewContext
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.predicate = CoreData.NSPredicate(format: "title == 'Seller'")
        request.propertiesToUpdate = ["title": "Agent"]
        #expect(request.resultType == .statusOnlyResultType)
        #expect(request.includesSubentities)
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Bool == true)
        request.predicate = CoreData.NSPredicate(format: "title == 'Agent'")
        request.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 2)
        request.resultType = .updatedObjectIDsResultType
        let ids = try #require((try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
        #expect(Set(ids) == Set([try one("Carl", context).objectID, try one("Dora", context).objectID]))
    }

    @Test func batchUpdateWithAnExpression() throws {
        let container = try RequestKit.filled()
        let background = container.newBackgroundContext()
        let ages = try background.performAndWait { () -> [Int] in
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.propertiesToUpdate = ["age": CoreData.NSExpression(format: "age + 10")]
            try background.execute(request)
            let fetch = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            fetch.sortDescriptors = [CoreData.NSSortDescriptor(key: "age", ascending: true)]
            return try background.fetch(fetch).compactMap { $0.value(forKey: "age") as? Int }
        }
        #expect(ages == [29, 35, 39, 46, 55, 62])
    }

    @Test func batchUpdatesReachTheContextByMerging() throws {
        let container = try RequestKit.filled()
        let context = container.viewContext
        let carl = try one("Carl", context)
        #expect(carl.value(forKey: "title") as? String == "Seller")
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.predicate = CoreData.NSPredicate(format: "name == 'Carl'")
        request.propertiesToUpdate = ["title": "Agent"]
        request.resultType = .updatedObjectIDsResultType
        let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
        #expect(carl.value(forKey: "title") as? String == "Seller")
        #expect(!carl.hasChanges)
        let ids = try #require(result.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
        #expect(carl.value(forKey: "title") as? String == "Agent")
    }

    // MARK: Batch delete

    @Test func batchDeleteWithResults() throws {
        let container = try RequestKit.filled()
        let context = container.viewContext
        func request(_ format: String) -> NSBatchDeleteRequest {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            fetch.predicate = CoreData.NSPredicate(format: format)
            return NSBatchDeleteRequest(fetchRequest: fetch)
        }
        let first = request("name == 'Zoe'")
        #expect(first.resultType == .resultTypeStatusOnly)
        #expect((try context.execute(first) as? NSBatchDeleteResult)?.result as? Bool == true)
        let second = request("title == 'Seller'")
        second.resultType = .resultTypeCount
        #expect((try context.execute(second) as? NSBatchDeleteResult)?.result as? Int == 2)
        let third = request("name == 'Bob'")
        third.resultType = .resultTypeObjectIDs
        #expect(((try context.execute(third) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])?.count == 1)
        context.reset()
        #expect(try names(context) == ["Ada", "Élodie"])
    }

    @Test func batchDeleteByIDsAndMerging() throws {
        let container = try RequestKit.filled()
        let context = container.viewContext
        let carl = try one("Carl", context), dora = try one("Dora", context)
        let request = NSBatchDeleteRequest(objectIDs: [carl.objectID, dora.objectID])
        request.resultType = .resultTypeObjectIDs
        let ids = try #require((try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
        context.processPendingChanges()
        #expect(try names(context) == ["Ada", "Bob", "Zoe", "Élodie"])
        #expect(!context.hasChanges)
    }

    @Test func batchDeleteNullifiesInverses() throws {
        let container = try RequestKit.filled()
        let context = container.viewContext
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
        fetch.predicate = CoreData.NSPredicate(format: "name == 'Sales'")
        try container.persistentStoreCoordinator.execute(NSBatchDeleteRequest(fetchRequest: fetch), with: context)
        context.reset()
        #expect(try names(context, entity: "Department") == ["Empty", "Engineering"])
        #expect(try one("Carl", context).value(forKey: "department") == nil)
        #expect(try names(context, CoreData.NSPredicate(format: "department == nil")) == ["Carl", "Dora", "Zoe"])
    }
}
