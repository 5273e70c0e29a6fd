import CoreData
import TestSupport
import Testing

/// Constraints that a subentity has on what it inherits: all rows of the hierarchy that have the
/// attributes are subject to them.
struct InheritedConstraintTests {
    /// Plants: trees, which have unique names and heights, and herbs, which have heights of their
    /// own.
    private final class Garden {
        private let folder: TemporaryFolder
        private let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            let plant = NSEntityDescription(
                "Plant", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
            let tree = NSEntityDescription(
                "Tree", class: "NSManagedObject", [NSAttributeDescription("height", .integer32AttributeType)])
            let herb = NSEntityDescription(
                "Herb", class: "NSManagedObject", [NSAttributeDescription("height", .integer32AttributeType)])
            tree.uniquenessConstraints = [["name"], ["height"]]
            plant.subentities = [tree, herb]
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([plant, tree, herb]))
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
            context = coordinator.newContext()
        }

        @discardableResult
        func plant(_ entity: String, _ name: String, height: Int? = nil) -> NSManagedObject {
            let plant = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            plant.setValue(name, forKey: "name")
            if let height { plant.setValue(height, forKey: "height") }
            return plant
        }

        func names() throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Plant")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let context = coordinator.newContext()
            return try context.fetch(request).map { "\($0.entity.name ?? "") \($0.value(forKey: "name") ?? "nil")" }
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [["Plant", "Tree"], ["Tree", "Plant"], ["Herb", "Tree"], ["Tree", "Herb"], ["Plant", "Herb"]])
    func rowsOfTheWholeHierarchyAreInConflict(kind: StoreKind, entities: [String]) throws {
        let garden = try Garden(kind)
        garden.plant(entities[0], "Oak")
        try garden.context.save()
        let second = garden.plant(entities[1], "Oak")
        let error = #expect(throws: CocoaError.self) { try garden.context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.map(\.constraint) == [["name"]])
        #expect(conflicts?.first?.conflictingObjects == [second])
        #expect(conflicts?.first?.databaseObject?.entity.name == entities[0])
        #expect(try garden.names() == ["\(entities[0]) Oak"])
    }

    @Test(arguments: StoreKind.allCases)
    func anAttributeOfTheSameNameInASisterIsAnother(kind: StoreKind) throws {
        let garden = try Garden(kind)
        garden.plant("Tree", "Oak", height: 1)
        garden.plant("Herb", "Thyme", height: 1)
        garden.plant("Herb", "Sage", height: 1)
        try garden.context.save()
        garden.plant("Tree", "Elm", height: 1)
        #expect(throws: CocoaError.self) { try garden.context.save() }
        #expect(try garden.names() == ["Tree Oak", "Herb Sage", "Herb Thyme"])
    }

    @Test(arguments: StoreKind.allCases)
    func namesAreExchangedBetweenEntities(kind: StoreKind) throws {
        let garden = try Garden(kind)
        let (tree, herb) = (garden.plant("Tree", "Oak"), garden.plant("Herb", "Sage"))
        try garden.context.save()
        tree.setValue("Sage", forKey: "name")
        herb.setValue("Oak", forKey: "name")
        try garden.context.save()
        #expect(try garden.names() == ["Herb Oak", "Tree Sage"])
    }

    @Test(arguments: StoreKind.complete)
    func batchesMeetTheSameConflicts(kind: StoreKind) throws {
        let garden = try Garden(kind)
        garden.plant("Tree", "Oak")
        try garden.context.save()
        let insert = NSBatchInsertRequest(entityName: "Herb", objects: [["name": "Oak"]])
        #expect((#expect(throws: NSError.self) { try garden.context.execute(insert) })?.code == 133021)
        garden.plant("Plant", "Sage")
        try garden.context.save()
        let update = NSBatchUpdateRequest(entityName: "Plant")
        update.propertiesToUpdate = ["name": "Elm"]
        #expect((#expect(throws: NSError.self) { try garden.context.execute(update) })?.code == 133021)
        #expect(try garden.names() == ["Tree Oak", "Plant Sage"])
    }
}
