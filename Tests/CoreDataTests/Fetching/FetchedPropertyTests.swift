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

/// Fetched properties.
@Suite struct FetchedPropertyTests {
    private let folder: TemporaryFolder
    private let stack: TestStack

    init() throws {
        folder = try TemporaryFolder()
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
        let model = NSManagedObjectModel()
        model.entities = [shelf, box]
        stack = try TestStack(model, url: folder.file("store.sqlite"))
    }

    private func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

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

    @Test func anErrorOfTheStoreGivesNothingUntilTheNextRead() throws {
        let shelf = insert("Shelf", ["code": "A"])
        _ = insert("Box", ["code": "A", "number": 2])
        try stack.context.save()
        #expect(stack.file.execute("ALTER TABLE ZBOX RENAME TO ZAWAY"))
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.isEmpty == true)
        #expect(stack.file.execute("ALTER TABLE ZAWAY RENAME TO ZBOX"))
        #expect((shelf.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
        // The next save tells, as it does for faults; the one after it saves.
        shelf.setValue(1, forKey: "room")
        let error = errorThrown { try stack.context.save() }
        #expect(error?.localizedDescription.contains("no such table") == true)
        #expect(stack.file.column("SELECT ZROOM FROM ZSHELF") == [nil])
        try stack.context.save()
        #expect(stack.file.column("SELECT ZROOM FROM ZSHELF") == ["1"])
    }

    @Test func theObjectsOfAnUnreadableOneAreNotKept() throws {
        let shelf = insert("Shelf", ["code": "A"])
        _ = insert("Box", ["code": "A", "number": 2])
        try stack.context.save()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url)
        let context = coordinator.newContext()
        let objectID = try #require(coordinator.managedObjectID(forURIRepresentation: shelf.objectID.uriRepresentation()))
        let unread = context.object(with: objectID)
        #expect(stack.file.execute("ALTER TABLE ZSHELF RENAME TO ZAWAY"))
        #expect((unread.value(forKey: "boxes") as? [NSManagedObject])?.isEmpty == true)
        #expect(stack.file.execute("ALTER TABLE ZAWAY RENAME TO ZSHELF"))
        #expect((unread.value(forKey: "boxes") as? [NSManagedObject])?.count == 1)
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

    @Test func aRequestThatCannotBeResolvedStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")
            request.predicate = NSPredicate(format: "colour == 3")
            let property = NSFetchedPropertyDescription()
            property.name = "coloured"
            property.fetchRequest = request
            let shelf = NSEntityDescription("Shelf", class: "NSManagedObject", [NSAttributeDescription("code", .stringAttributeType)])
            shelf.properties.append(property)
            let stack = try TestStack([shelf])
            let object = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: stack.context)
            try stack.context.save()
            _ = object.value(forKey: "coloured")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("The fetched property Shelf.coloured cannot be evaluated", "colour") == [])
    }

    @Test func settingAFetchedPropertyStopsTheProgram() async {  // 195
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let tests = try FetchedPropertyTests()
            tests.insert("Shelf", [:]).setValue([], forKey: "boxes")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("Shelf.boxes is a fetched property and cannot be set.") == [])
    }
}
