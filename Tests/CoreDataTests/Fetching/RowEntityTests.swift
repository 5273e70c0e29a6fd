import CoreData
import TestSupport
import Testing

/// The ID of a row has the row's entity, whichever entity of the hierarchy was asked for.
@Suite(.everyStore) struct RowEntityTests {
    private let stack: TestStack
    private let tea: NSManagedObjectID

    init() throws {
        let drink = NSEntityDescription("Drink", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let tea = NSEntityDescription("Tea", class: "NSManagedObject", [.init("leaf", .stringAttributeType)])
        let coffee = NSEntityDescription("Coffee", class: "NSManagedObject", [.init("bean", .stringAttributeType)])
        let cup = NSEntityDescription("Cup", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        drink.subentities = [tea, coffee]
        relate(cup, "drink", drink, inverse: "cups", inverseToMany: true)
        let stack = try TestStack([drink, tea, coffee, cup])
        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSManagedObject(entity: stack.entity(entity), insertInto: stack.context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let earlGrey = insert("Tea", ["name": "Earl Grey", "leaf": "black"])
        _ = insert("Coffee", ["name": "Mokka", "bean": "arabica"])
        _ = insert("Drink", ["name": "Water"])
        _ = insert("Cup", ["name": "blue", "drink": earlGrey])
        try stack.context.save()
        self.stack = stack
        self.tea = earlGrey.objectID
    }

    /// The entities of the IDs in a column, by the names of the rows.
    private func entities(
        _ entity: String, _ column: Any, _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
    ) throws -> [String: String] {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", column]
        change(request)
        let key = (column as? NSExpressionDescription)?.name ?? column as? String ?? ""
        return Dictionary(
            uniqueKeysWithValues: try stack.newContext().fetch(request).map { row in
                (row["name"] as? String ?? "", (row[key] as? NSManagedObjectID)?.entity.name ?? "none")
            })
    }

    private static func column(
        _ format: String, _ arguments: [Any] = [], _ type: NSAttributeType = .undefinedAttributeType
    )
        -> NSExpressionDescription
    {
        NSExpressionDescription("id", NSExpression(format: format, argumentArray: arguments), type)
    }

    private static let all = ["Earl Grey": "Tea", "Mokka": "Coffee", "Water": "Drink"]

    @Test(arguments: ["objectID", "self", "SELF"]) func aNamedColumnHasIt(name: String) throws {
        #expect(try entities("Drink", name) == Self.all)
    }

    @Test(arguments: ["objectID", "self", "SELF"]) func anExpressionHasIt(format: String) throws {
        #expect(try entities("Drink", Self.column(format)) == Self.all)
        #expect(try entities("Drink", Self.column(format, [], .objectIDAttributeType)) == Self.all)
        #expect(try entities("Drink", Self.column(format)) { $0.returnsDistinctResults = true } == Self.all)
    }

    @Test func aGroupHasIt() throws {
        let column = Self.column("objectID")
        #expect(try entities("Drink", column) { $0.propertiesToGroupBy = ["name", column] } == Self.all)
        #expect(try entities("Drink", "objectID") { $0.propertiesToGroupBy = ["name", "objectID"] } == Self.all)
        #expect(try entities("Cup", "drink") { $0.propertiesToGroupBy = ["name", "drink"] } == ["blue": "Tea"])
        #expect(try entities("Cup", "objectID") { $0.propertiesToGroupBy = ["name", "objectID"] } == ["blue": "Cup"])
    }

    @Test func aConditionHasIt() throws {
        #expect(
            try entities("Drink", Self.column("TERNARY(name == 'Water', SELF, objectID)")) == Self.all)
        #expect(
            try entities("Drink", Self.column("TERNARY(name == 'Water', SELF, %@)", [tea]))
                == ["Earl Grey": "Tea", "Mokka": "Tea", "Water": "Drink"])
        #expect(
            try entities("Drink", Self.column("TERNARY(name == 'Mokka', SELF, nil)"))
                == ["Earl Grey": "none", "Mokka": "Coffee", "Water": "none"])
        #expect(try entities("Cup", Self.column("TERNARY(name == 'blue', drink, drink.self)")) == ["blue": "Tea"])
    }

    @Test(arguments: ["drink", "drink.objectID", "drink.self"]) func aDestinationHasIt(path: String) throws {
        #expect(try entities("Cup", path) == ["blue": "Tea"])
        #expect(try entities("Cup", Self.column(path)) == ["blue": "Tea"])
    }

    @Test func anObjectByTheIDIsOfItAndSavesIntoItsColumns() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Drink")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [Self.column("objectID")]
        request.predicate = NSPredicate(format: "name == 'Earl Grey'")
        let context = stack.newContext()
        let id = try #require(try context.fetch(request).first?["id"] as? NSManagedObjectID)
        let object = context.object(with: id)
        #expect(object.entity.name == "Tea")
        #expect(object.value(forKey: "name") as? String == "Earl Grey")
        object.setValue("Assam", forKey: "name")
        try context.save()
        let stored = try #require(try stack.newContext().existingObject(with: tea) as NSManagedObject?)
        #expect(stored.value(forKey: "name") as? String == "Assam")
        #expect(stored.value(forKey: "leaf") as? String == "black")
    }

    // MARK: URIs

    private func uri(_ entity: String) -> URL {
        URL(string: tea.uriRepresentation().absoluteString.replacingOccurrences(of: "/Tea/", with: "/\(entity)/"))!
    }

    @Test(arguments: ["Drink", "Tea", "Coffee"]) func aURIOfAnyEntityOfTheHierarchyLeadsToTheRow(entity: String) throws
    {
        let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri(entity)))
        #expect(id == tea)
        #expect(id.entity.name == "Tea")
        let context = stack.newContext()
        #expect(context.object(with: id).value(forKey: "leaf") as? String == "black")
        #expect(try context.existingObject(with: id).entity.name == "Tea")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Drink")
        #expect(try Set(context.fetch(request).compactMap(\.entity.name)) == ["Drink", "Tea", "Coffee"])
    }

    @Test func aURIOfARowThatIsGoneKeepsItsEntity() throws {
        let context = stack.newContext()
        context.delete(context.object(with: tea))
        try context.save()
        let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri("Coffee")))
        #expect(id.entity.name == "Coffee")
        #expect(throws: (any Error).self) { try stack.newContext().existingObject(with: id) }
    }

    /// An ID that was made of a URI before its row was there.
    @Test func anObjectWhoseRowIsOfAnotherEntityIsNone() throws {
        let text = tea.uriRepresentation().absoluteString
        let key = try #require(text.lastIndex(of: "p").flatMap { Int(text[text.index(after: $0)...]) })
        // The keys of a few rows to come.
        let names = (key + 1...key + 20).map { "/Coffee/p\($0)" }
        let early = names.compactMap { name in
            stack.coordinator.managedObjectID(
                forURIRepresentation: URL(
                    string: String(
                        text.prefix(text.distance(from: text.startIndex, to: text.range(of: "/Tea/")!.lowerBound)))
                        + name)!)
        }
        let green = NSManagedObject(entity: stack.entity("Tea"), insertInto: stack.context)
        green.setValue("Sencha", forKey: "name")
        try stack.context.save()
        let wrong = try #require(early.first { $0 == green.objectID })
        #expect(wrong.entity.name == "Coffee")
        let context = stack.newContext()
        let fault = context.object(with: wrong)
        #expect(fault.value(forKey: "bean") == nil)
        #expect(fault.value(forKey: "name") == nil)
        let found = try #require(
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tea")).first { $0.objectID == wrong })
        #expect(found.entity.name == "Tea")
        #expect(found.value(forKey: "name") as? String == "Sencha")
        #expect(!context.hasChanges)

        let other = stack.newContext()
        _ = other.object(with: wrong)
        #expect(
            try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Drink")).allSatisfy {
                $0.entity.name != "Coffee" || $0.objectID != wrong
            })
        #expect(throws: (any Error).self) { try stack.newContext().existingObject(with: wrong) }
        // The row is in no cache any more.
        for context in [context, other, stack.context] { context.reset() }
        #expect(throws: (any Error).self) { try stack.newContext().existingObject(with: wrong) }
    }
}
