import CoreData
import Foundation
import TestSupport
import Testing
#if canImport(AppKit)
    import AppKit  // NSDiffableDataSourceSnapshotReference
#endif

// NSFetchedResultsController. The context's changes reach the controller with ObjectsDidChange,
// so the tests call processPendingChanges() where an app would return to its run loop.

private func pathText(_ path: IndexPath?) -> String {
    guard let path else { return "-" }
    return "\(path[0]).\(path[1])"
}

private final class ResultsDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var events: [String] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        events.append("will")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .insert: events.append("section insert \(sectionIndex) \(sectionInfo.name)")
        case .delete: events.append("section delete \(sectionIndex) \(sectionInfo.name)")
        default: events.append("section ?")
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let paths = "\(pathText(indexPath)) \(pathText(newIndexPath))"
        switch type {
        case .insert: events.append("insert \(paths)")
        case .delete: events.append("delete \(paths)")
        case .move: events.append("move \(paths)")
        case .update: events.append("update \(pathText(indexPath))")
        @unknown default: events.append("?")
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        events.append("did")
    }

    func take() -> [String] {
        defer { events = [] }
        return events
    }
}

private final class ResultsEndDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var calls = 0
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls += 1 }
}

private final class ResultsTitleDelegate: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    )
        -> String?
    {
        "<\(sectionName)>"
    }
}

private final class ResultsSnapshotDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var sections: [[String]] = []
    var items: [[NSManagedObjectID]] = []
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        sections.append(snapshot.sectionIdentifiers.compactMap { $0 as? String })
        items.append(snapshot.itemIdentifiers.compactMap { $0 as? NSManagedObjectID })
    }
}

private final class ResultsDifferenceDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var differences: [CollectionDifference<NSManagedObjectID>] = []
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        differences.append(diff)
    }
}

/// "initial" is a transient attribute that the class computes.
class MacResultsItem: NSManagedObject {
    override func value(forKey key: String) -> Any? {
        if key == "initial" {
            return (super.value(forKey: "name") as? String).map { String($0.prefix(1)).uppercased() }
        }
        return super.value(forKey: key)
    }
}

private enum ResultsKit: MacModelKit {
    static func model() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.managedObjectClassName = NSStringFromClass(MacResultsItem.self)
        let owner = NSEntityDescription()
        owner.name = "Owner"
        let initial = attribute("initial", .stringAttributeType)
        initial.isTransient = true
        item.properties = [
            attribute("name", .stringAttributeType), attribute("category", .stringAttributeType),
            attribute("rank", .integer32AttributeType), attribute("note", .stringAttributeType), initial,
        ]
        owner.properties = [attribute("name", .stringAttributeType)]
        relate(owner, "items", toMany: true, item, inverse: "owner")
        let model = NSManagedObjectModel()
        model.entities = [item, owner]
        return model
    }

    static func container() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Results", managedObjectModel: model())
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: MacFolder.url.appendingPathComponent("MacResults-\(UUID().uuidString).sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @discardableResult
    static func item(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject { item(name, "c", context) }

    @discardableResult
    static func item(_ name: String, _ category: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        item.setValue(category, forKey: "category")
        return item
    }
}

/// Fetched results controllers, as programs for a Mac use them.
@MainActor
struct MacResultsTests {
    private struct Setup {
        let container: NSPersistentContainer
        let controller: NSFetchedResultsController<NSManagedObject>
        let delegate = ResultsDelegate()
        var context: NSManagedObjectContext { container.viewContext }
        var names: [String] { (controller.fetchedObjects ?? []).compactMap { $0.value(forKey: "name") as? String } }
        var layout: [[String]] {
            (controller.sections ?? []).map { section in
                [section.name]
                    + (section.objects ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            }
        }
        @MainActor func object(_ name: String) throws -> NSManagedObject {
            try #require(controller.fetchedObjects?.first { $0.value(forKey: "name") as? String == name })
        }
    }

    /// A fetched controller over the saved items ["name": "category"], with a delegate.
    private func setup(
        _ items: [(String, String)], sections: String? = nil, predicate: CoreData.NSPredicate? = nil,
        delegate: Bool = true
    )
        throws -> Setup
    {
        let container = try ResultsKit.container()
        for (name, category) in items { ResultsKit.item(name, category, container.viewContext) }
        try container.viewContext.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = predicate
        request.sortDescriptors =
            (sections == "category" ? [CoreData.NSSortDescriptor(key: "category", ascending: true)] : []) + [
                CoreData.NSSortDescriptor(key: "name", ascending: true)
            ]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: sections,
            cacheName: nil)
        let setup = Setup(container: container, controller: controller)
        if delegate { controller.delegate = setup.delegate }
        try controller.performFetch()
        setup.delegate.events = []
        return setup
    }

    private let food = [("apple", "fruit"), ("carrot", "vegetable"), ("banana", "fruit"), ("leek", "vegetable")]

    // MARK: Contents

    @Test func nothingBeforePerformFetch() throws {
        let container = try ResultsKit.container()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: "category",
            cacheName: nil)
        #expect(controller.fetchedObjects == nil)
        #expect(controller.managedObjectContext === container.viewContext)
        #expect(controller.fetchRequest === request)
        #expect(controller.sectionNameKeyPath == "category")
        #expect(controller.cacheName == nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.isEmpty == true)
        #expect(controller.sections?.isEmpty == true)
    }

    @Test func fetchedObjectsAreSorted() throws {
        let s = try setup(food)
        #expect(s.names == ["apple", "banana", "carrot", "leek"])
    }

    @Test func oneSectionWithoutAKeyPath() throws {
        let s = try setup(food)
        #expect(s.controller.sections?.count == 1)
        #expect(s.controller.sections?[0].numberOfObjects == 4)
        #expect(s.controller.sections?[0].objects?.count == 4)
    }

    @Test func sectionsByKeyPath() throws {
        let s = try setup(food, sections: "category")
        #expect(s.layout == [["fruit", "apple", "banana"], ["vegetable", "carrot", "leek"]])
        #expect(s.controller.sections?.map(\.numberOfObjects) == [2, 2])
        #expect(s.names == ["apple", "banana", "carrot", "leek"])
    }

    @Test func indexPathsAndObjects() throws {
        let s = try setup(food, sections: "category")
        let leek = s.controller.object(at: [1, 1])
        #expect(leek.value(forKey: "name") as? String == "leek")
        #expect(s.controller.indexPath(forObject: leek) == [1, 1])
        for object in s.controller.fetchedObjects ?? [] {
            let path = try #require(s.controller.indexPath(forObject: object))
            #expect(s.controller.object(at: path) === object)
        }
        let other = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        other.persistentStoreCoordinator = s.container.persistentStoreCoordinator
        let foreign = ResultsKit.item("zebra", "animal", other)
        #expect(s.controller.indexPath(forObject: foreign) == nil)
    }

    @Test func sectionIndexTitles() throws {
        let s = try setup(food, sections: "category")
        #expect(s.controller.sectionIndexTitles == ["F", "V"])
        #expect(s.controller.sectionIndexTitle(forSectionName: "apple") == "A")
        #expect(s.controller.sections?[0].indexTitle == "F")
        #expect(s.controller.section(forSectionIndexTitle: "V", at: 1) == 1)
        #expect(s.controller.section(forSectionIndexTitle: "F", at: 0) == 0)
    }

    @Test func customSectionIndexTitles() throws {
        let s = try setup(food, sections: "category", delegate: false)
        let delegate = ResultsTitleDelegate()
        s.controller.delegate = delegate
        try s.controller.performFetch()
        #expect(s.controller.sectionIndexTitles == ["<fruit>", "<vegetable>"])
        s.controller.delegate = nil
    }

    @Test func sectionsByARelationshipKeyPath() throws {
        let container = try ResultsKit.container()
        let context = container.viewContext
        for (name, items) in [("Ann", ["x", "y"]), ("Bob", ["a"])] {
            let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
            owner.setValue(name, forKey: "name")
            for item in items { ResultsKit.item(item, context).setValue(owner, forKey: "owner") }
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [
            CoreData.NSSortDescriptor(key: "owner.name", ascending: true),
            CoreData.NSSortDescriptor(key: "name", ascending: true),
        ]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "owner.name", cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["Ann", "Bob"])
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
    }

    @Test func sectionsByAComputedTransientAttribute() throws {
        let s = try setup([("apple", "c"), ("avocado", "c"), ("banana", "c")], sections: "initial")
        #expect(s.layout == [["A", "apple", "avocado"], ["B", "banana"]])
    }

    @Test func predicatesLimitTheObjects() throws {
        let s = try setup(food, predicate: CoreData.NSPredicate(format: "category == %@", "fruit"))
        #expect(s.names == ["apple", "banana"])
        s.controller.fetchRequest.predicate = CoreData.NSPredicate(format: "category == %@", "vegetable")
        #expect(s.names == ["apple", "banana"])
        try s.controller.performFetch()
        #expect(s.names == ["carrot", "leek"])
    }

    @Test func descendingOrder() throws {
        let s = try setup(food)
        s.controller.fetchRequest.sortDescriptors = [CoreData.NSSortDescriptor(key: "name", ascending: false)]
        try s.controller.performFetch()
        #expect(s.names == ["leek", "carrot", "banana", "apple"])
    }

    @Test func cachesAreNamedAndDeleted() throws {
        let container = try ResultsKit.container()
        for (name, category) in food { ResultsKit.item(name, category, container.viewContext) }
        try container.viewContext.save()
        let cache = "cache-\(UUID().uuidString)"
        for _ in 0..<2 {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [
                CoreData.NSSortDescriptor(key: "category", ascending: true),
                CoreData.NSSortDescriptor(key: "name", ascending: true),
            ]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: "category",
                cacheName: cache)
            #expect(controller.cacheName == cache)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["fruit", "vegetable"])
        }
        NSFetchedResultsController<any NSFetchRequestResult>.deleteCache(withName: cache)
        NSFetchedResultsController<any NSFetchRequestResult>.deleteCache(withName: cache)  // unknown names are fine
    }

    // MARK: Changes

    @Test func withoutADelegateNothingIsTracked() throws {
        let s = try setup(food, delegate: false)
        ResultsKit.item("date", "fruit", s.context)
        s.context.processPendingChanges()
        #expect(s.names == ["apple", "banana", "carrot", "leek"])
        try s.controller.performFetch()
        #expect(s.names == ["apple", "banana", "carrot", "date", "leek"])
    }

    @Test func didChangeContentAloneIsEnoughToTrack() throws {
        let s = try setup(food, delegate: false)
        let delegate = ResultsEndDelegate()
        s.controller.delegate = delegate
        try s.controller.performFetch()
        ResultsKit.item("date", "fruit", s.context)
        s.context.processPendingChanges()
        #expect(delegate.calls == 1)
        #expect(s.names == ["apple", "banana", "carrot", "date", "leek"])
        s.controller.delegate = nil
    }

    @Test func insertion() throws {
        let s = try setup(food)
        ResultsKit.item("blueberry", "fruit", s.context)
        #expect(s.delegate.events.isEmpty)
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "insert - 0.2", "did"])
        #expect(s.names == ["apple", "banana", "blueberry", "carrot", "leek"])
    }

    @Test func deletion() throws {
        let s = try setup(food)
        s.context.delete(try s.object("banana"))
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "delete 0.1 -", "did"])
        #expect(s.names == ["apple", "carrot", "leek"])
    }

    @Test func update() throws {
        let s = try setup(food)
        try s.object("carrot").setValue("fresh", forKey: "note")
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "update 0.2", "did"])
    }

    @Test func move() throws {
        let s = try setup(food)
        try s.object("apple").setValue("zucchini", forKey: "name")
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "move 0.0 0.3", "did"])
        #expect(s.names == ["banana", "carrot", "leek", "zucchini"])
    }

    @Test func aNewSectionComesBeforeItsObject() throws {
        let s = try setup(food, sections: "category")
        ResultsKit.item("bread", "bakery", s.context)
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "section insert 0 bakery", "insert - 0.0", "did"])
        #expect(s.layout.map { $0[0] } == ["bakery", "fruit", "vegetable"])
    }

    @Test func anEmptiedSectionIsDeleted() throws {
        let s = try setup(food, sections: "category")
        s.context.delete(try s.object("apple"))
        s.context.delete(try s.object("banana"))
        s.context.processPendingChanges()
        let events = s.delegate.take()
        #expect(events.first == "will")
        #expect(events.last == "did")
        #expect(events.contains("section delete 0 fruit"))
        #expect(Set(events.filter { $0.hasPrefix("delete") }) == ["delete 0.0 -", "delete 0.1 -"])
        #expect(s.layout == [["vegetable", "carrot", "leek"]])
    }

    @Test func moveBetweenSections() throws {
        let s = try setup(food, sections: "category")
        try s.object("banana").setValue("vegetable", forKey: "category")
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "move 0.1 1.0", "did"])
        #expect(s.layout == [["fruit", "apple"], ["vegetable", "banana", "carrot", "leek"]])
    }

    @Test func severalChangesUseOldAndNewPaths() throws {
        let s = try setup(food)
        s.context.delete(try s.object("apple"))
        ResultsKit.item("mango", "fruit", s.context)
        ResultsKit.item("aubergine", "vegetable", s.context)
        s.context.processPendingChanges()
        let events = s.delegate.take()
        #expect(events.first == "will")
        #expect(events.last == "did")
        #expect(Set(events.dropFirst().dropLast()) == ["delete 0.0 -", "insert - 0.0", "insert - 0.4"])
        #expect(s.names == ["aubergine", "banana", "carrot", "leek", "mango"])
    }

    @Test func objectsEnterAndLeaveByThePredicate() throws {
        let s = try setup(food, predicate: CoreData.NSPredicate(format: "category == 'fruit'"))
        let apple = try s.object("apple")
        apple.setValue("vegetable", forKey: "category")
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "delete 0.0 -", "did"])
        #expect(s.names == ["banana"])
        apple.setValue("fruit", forKey: "category")
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "insert - 0.0", "did"])
    }

    @Test func unrelatedChangesAreNotReported() throws {
        let s = try setup(food, predicate: CoreData.NSPredicate(format: "category == 'fruit'"))
        ResultsKit.item("radish", "vegetable", s.context)
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: s.context)
        owner.setValue("x", forKey: "name")
        s.context.processPendingChanges()
        #expect(s.delegate.take().filter { $0 != "will" && $0 != "did" }.isEmpty)
        #expect(s.names == ["apple", "banana"])
    }

    @Test func aSaveReportsPendingChangesOnce() throws {
        let s = try setup(food)
        ResultsKit.item("date", "fruit", s.context)
        try s.context.save()
        // A save turns the new object's ID into a permanent one without another insert.
        #expect(s.delegate.take().filter { $0.hasPrefix("insert") } == ["insert - 0.3"])
        #expect(s.names.count == 5)
    }

    @Test func rollbackRemovesInsertedObjects() throws {
        let s = try setup(food)
        ResultsKit.item("date", "fruit", s.context)
        s.context.processPendingChanges()
        s.delegate.events = []
        s.context.rollback()
        s.context.processPendingChanges()
        #expect(s.delegate.take().contains("delete 0.3 -"))
        #expect(s.names == ["apple", "banana", "carrot", "leek"])
    }

    @Test func resetNeedsANewFetch() throws {
        let s = try setup(food)
        s.context.reset()
        #expect(s.delegate.take().filter { $0.hasPrefix("delete") }.isEmpty)
        try s.controller.performFetch()
        #expect(s.names == ["apple", "banana", "carrot", "leek"])
    }

    @Test func mergedBackgroundChangesAreReported() async throws {
        let s = try setup(food)
        s.context.automaticallyMergesChangesFromParent = true
        let carrot = try s.object("carrot").objectID
        let background = s.container.newBackgroundContext()
        try await background.perform { @Sendable in
            ResultsKit.item("date", "fruit", background)
            background.delete(background.object(with: carrot))
            try background.save()
        }
        let isTold = await comesTrue { s.delegate.events.last == "did" }
        #expect(isTold)
        let events = s.delegate.take()
        #expect(events.contains("delete 0.2 -"))
        #expect(events.contains("insert - 0.2"))
        #expect(s.names == ["apple", "banana", "date", "leek"])
    }

    @Test func mergedUpdatesAreReported() throws {
        let s = try setup(food)
        let id = try s.object("leek").objectID
        _ = try s.object("leek").value(forKey: "note")
        let background = s.container.newBackgroundContext()
        try background.performAndWait {
            background.object(with: id).setValue("remote", forKey: "note")
            try background.save()
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [s.context])
        s.context.processPendingChanges()
        #expect(s.delegate.take() == ["will", "update 0.3", "did"])
        #expect(try s.object("leek").value(forKey: "note") as? String == "remote")
    }

    // MARK: Snapshots and differences

    @Test func snapshotsComeWithTheFetchAndWithEachChange() throws {
        let s = try setup(food, sections: "category", delegate: false)
        let delegate = ResultsSnapshotDelegate()
        s.controller.delegate = delegate
        try s.controller.performFetch()
        #expect(delegate.sections == [["fruit", "vegetable"]])
        #expect(delegate.items.last == s.controller.fetchedObjects?.map(\.objectID))
        let bread = ResultsKit.item("bread", "bakery", s.context)
        try s.context.obtainPermanentIDs(for: [bread])
        s.context.processPendingChanges()
        #expect(delegate.sections.last == ["bakery", "fruit", "vegetable"])
        #expect(delegate.items.last?.first == bread.objectID)
        #expect(delegate.items.last?.count == 5)
        let apple = try s.object("apple"), banana = try s.object("banana")
        s.context.delete(apple)
        s.context.delete(banana)
        s.context.processPendingChanges()
        #expect(delegate.sections.last == ["bakery", "vegetable"])
        #expect(delegate.items.last?.count == 3)
        s.controller.delegate = nil
    }

    @Test func differencesWithoutSections() throws {
        // Not documented: whether performFetch() already sends a difference; so the list is emptied
        // after it.
        let s = try setup(food, delegate: false)
        let delegate = ResultsDifferenceDelegate()
        s.controller.delegate = delegate
        try s.controller.performFetch()
        delegate.differences = []
        let date = ResultsKit.item("date", "fruit", s.context)
        try s.context.obtainPermanentIDs(for: [date])
        s.context.processPendingChanges()
        #expect(delegate.differences.count == 1)
        let insertions = try #require(delegate.differences.last).insertions
        #expect(insertions.count == 1)
        if case .insert(let offset, let element, _)? = insertions.first {
            #expect(offset == 3)
            #expect(element == date.objectID)
        }
        let apple = try s.object("apple")
        let id = apple.objectID
        s.context.delete(apple)
        s.context.processPendingChanges()
        if case .remove(let offset, let element, _)? = delegate.differences.last?.removals.first {
            #expect(offset == 0)
            #expect(element == id)
        } else {
            Issue.record("no removal")
        }
        s.controller.delegate = nil
    }
}
