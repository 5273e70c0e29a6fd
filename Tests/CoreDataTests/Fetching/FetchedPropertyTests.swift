import CoreData
import TestSupport
import Testing

/// A context whose fetches fail for a while.
private final class BusyContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: used on one thread.
    var isBusy = false

    override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        if isBusy { throw NSError(domain: "Busy", code: 5) }
        return try super.fetch(request)
    }
}

/// A store of shelves, each with the boxes of its code as a fetched property.
private struct Shelves {
    let stack: TestStack

    init() throws {
        let shelf = NSEntityDescription(
            "Shelf", class: "NSManagedObject",
            [
                NSAttributeDescription("code", .stringAttributeType),
                NSAttributeDescription("room", .integer16AttributeType),
            ])
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject",
            [
                NSAttributeDescription("code", .stringAttributeType),
                NSAttributeDescription("number", .integer16AttributeType),
            ])
        let boxes = NSFetchedPropertyDescription()
        boxes.name = "boxes"
        boxes.userInfo = ["least": 2]
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = box
        request.predicate = NSPredicate(
            format: "code == $FETCH_SOURCE.code AND number >= $FETCHED_PROPERTY.userInfo.least")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        boxes.fetchRequest = request
        shelf.properties += [boxes]
        stack = try TestStack([shelf, box])
    }

    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}

/// Fetched properties.
@Suite(.everyStore) struct FetchedPropertyTests {
    private let shelves: Shelves
    private var stack: TestStack { shelves.stack }

    init() throws { shelves = try Shelves() }

    private func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject { shelves.insert(entity, values) }

    @Test func aFetchedPropertyIsAnOrderedArrayOfWhatItsRequestFinds() throws {  // 195, 196
        let shelf = insert("Shelf", ["code": "A"])
        for number in 1...4 { _ = insert("Box", ["code": "A", "number": number]) }
        _ = insert("Box", ["code": "B", "number": 9])
        try stack.context.save()
        let boxes = try #require(shelf.value(forKey: "boxes") as? [NSManagedObject])
        #expect(boxes.map { $0.value(forKey: "number") as? Int } == [4, 3, 2])
    }

    @Test func theResultIsKeptUntilTheObjectIsAFaultAgain() throws {  // 195
        let shelf = insert("Shelf", ["code": "A"])
        _ = insert("Box", ["code": "A", "number": 2])
        try stack.context.save()
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
        _ = insert("Box", ["code": "A", "number": 3])
        try stack.context.save()
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
        stack.context.refresh(shelf, mergeChanges: false)
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 2)
    }

    @Test func settingThePropertysUserInfoGivesAnotherResult() throws {  // 195, 196
        let shelf = insert("Shelf", ["code": "A"])
        for number in 1...4 { _ = insert("Box", ["code": "A", "number": number]) }
        try stack.context.save()
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 3)
        stack.entity("Shelf").propertiesByName["boxes"]?.userInfo?["least"] = 4
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
    }

    @Test(arguments: [false, true]) func anErrorOfAFetchIsToldByTheNextSave(isChild: Bool) throws {
        let shelf = insert("Shelf", ["code": "A"])
        try stack.context.save()
        let context = BusyContext(concurrencyType: .privateQueueConcurrencyType)
        if isChild { context.parent = stack.context } else { context.persistentStoreCoordinator = stack.coordinator }
        let other = try context.existingObject(with: shelf.objectID)
        context.isBusy = true
        #expect((other.value(forKey: "boxes") as? [NSManagedObject])?.isEmpty == true)
        context.isBusy = false
        other.setValue(2, forKey: "room")
        #expect(errorThrown { try context.save() }?.domain == "Busy")
        try context.save()
    }
}

/// Fetched properties that cannot be read for a while.
@Suite(.stores(StoreKind.persistent)) struct UnreadableFetchedPropertyTests {
    private let shelves: Shelves
    private var stack: TestStack { shelves.stack }

    init() throws { shelves = try Shelves() }

    private func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject { shelves.insert(entity, values) }

    /// Does something while a table is not there.
    private func without(_ table: String, _ body: () -> Void) {
        #expect(stack.tables?.execute("ALTER TABLE {\(table)} RENAME TO {away}") == true)
        body()
        #expect(stack.tables?.execute("ALTER TABLE {away} RENAME TO {\(table)}") == true)
    }

    @Test func anErrorOfTheStoreGivesNothingUntilTheNextRead() throws {
        let shelf = insert("Shelf", ["code": "A"])
        _ = insert("Box", ["code": "A", "number": 2])
        try stack.context.save()
        without("box") { #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.isEmpty == true) }
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
        // The next save tells, as it does for faults; the one after it saves.
        shelf.setValue(1, forKey: "room")
        let error = errorThrown { try stack.context.save() }
        #expect(
            error?.localizedDescription.contains(stack.kind == .sqlite ? "no such table" : "does not exist") == true)
        #expect(stack.stored("room", of: "Shelf") == [nil])
        try stack.context.save()
        #expect(stack.stored("room", of: "Shelf") == ["1"])
    }

    @Test func theObjectsOfAnUnreadableOneAreNotKept() throws {
        let shelf = insert("Shelf", ["code": "A"])
        _ = insert("Box", ["code": "A", "number": 2])
        try stack.context.save()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        _ = try coordinator.addPersistentStore(ofType: stack.kind.type, configurationName: nil, at: stack.url)
        let context = coordinator.newContext()
        let objectID = try #require(
            coordinator.managedObjectID(forURIRepresentation: shelf.objectID.uriRepresentation()))
        let unread = context.object(with: objectID)
        without("shelf") { #expect((unread.value(forKey: "boxes") as? [NSManagedObject])?.isEmpty == true) }
        #expect((unread.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
    }
}

struct FetchedPropertyStopTests {
    /// Models come from files, too: what a request asks for in vain is an error of the next save.
    @Test(arguments: [("colour == 3", "colour"), ("code == $nobody", "$nobody")])
    func aRequestThatCannotBeResolvedGivesNothing(predicate: String, reason: String) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")
        request.predicate = NSPredicate(format: predicate)
        let property = NSFetchedPropertyDescription()
        property.name = "coloured"
        property.fetchRequest = request
        let shelf = NSEntityDescription(
            "Shelf", class: "NSManagedObject", [NSAttributeDescription("code", .stringAttributeType)])
        shelf.properties.append(property)
        let stack = try TestStack([shelf])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: stack.context)
        try stack.context.save()
        #expect((object.value(forKey: "coloured") as? NSArray)?.count == 0)
        object.setValue("A", forKey: "code")
        let error = errorThrown { try stack.context.save() }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("The fetched property Shelf.coloured cannot be evaluated"), "\(text)")
        #expect(text.contains(reason), "\(text)")
        try stack.context.save()
    }

    @Test func settingAFetchedPropertyStopsTheProgram() async {  // 195
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let shelves = try Shelves()
            shelves.insert("Shelf", [:]).setValue([], forKey: "boxes")
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks("Shelf.boxes is a fetched property and cannot be set.") == [])
    }
}
