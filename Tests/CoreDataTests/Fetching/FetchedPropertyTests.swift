import CoreData
import TestSupport
import Testing

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

    @Test func settingAFetchedPropertyStopsTheProgram() async {  // 195
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let tests = try FetchedPropertyTests()
            tests.insert("Shelf", [:]).setValue([], forKey: "boxes")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("Shelf.boxes is a fetched property and cannot be set.") == [])
    }
}
