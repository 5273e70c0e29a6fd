import CoreData
import TestSupport
import Testing

/// A class whose accessors are written by hand, in the form of Apple's templates.
final class HandItem: NSManagedObject {
    @Managed var name: String?

    var owner: HandOwner? {
        get {
            willAccessValue(forKey: "owner")
            defer { didAccessValue(forKey: "owner") }
            return primitiveValue(forKey: "owner") as? HandOwner
        }
        set {
            willChangeValue(forKey: "owner")
            setPrimitiveValue(newValue, forKey: "owner")
            didChangeValue(forKey: "owner")
        }
    }
}

final class HandOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var primitiveItems: NSMutableSet

    var items: Set<HandItem> {
        get {
            willAccessValue(forKey: "items")
            defer { didAccessValue(forKey: "items") }
            return primitiveValue(forKey: "items") as? Set<HandItem> ?? []
        }
        set {
            willChangeValue(forKey: "items")
            setPrimitiveValue(newValue, forKey: "items")
            didChangeValue(forKey: "items")
        }
    }

    func addItemsObject(_ item: HandItem) {
        willChangeValue(forKey: "items", withSetMutation: .union, using: [item])
        primitiveItems.add(item)
        didChangeValue(forKey: "items", withSetMutation: .union, using: [item])
    }

    func removeItemsObject(_ item: HandItem) {
        willChangeValue(forKey: "items", withSetMutation: .minus, using: [item])
        (primitiveValue(forKey: "items") as? NSMutableSet)?.remove(item)
        didChangeValue(forKey: "items", withSetMutation: .minus, using: [item])
    }
}

struct HandWrittenAccessorTests {
    private final class Shop {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        let owner: HandOwner
        let items: [HandItem]

        init(_ kind: StoreKind = .inMemory) throws {
            let item = NSEntityDescription("Item", class: "HandItem", [.init("name", .stringAttributeType)])
            let owner = NSEntityDescription("Owner", class: "HandOwner", [.init("name", .stringAttributeType)])
            relate(owner, "items", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "owner")
            relate(owner, "ranked", toMany: true, ordered: true, item, inverse: "ranks", inverseToMany: true)
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, owner]))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("shop.sqlite")))
            context = coordinator.newContext()
            self.owner = HandOwner(context: context)
            self.owner.name = "first"
            items = "ABC".map { [context] name in
                let item = HandItem(context: context)
                item.name = String(name)
                return item
            }
            try context.save()
        }

        /// The items' names by their owner's, as another context reads them from the items, and
        /// from the owners.
        func stored() throws -> [[String: String]] {
            let other = coordinator.newContext()
            return try withExtendedLifetime(other) {
                var fromItems: [String: [String]] = [:]
                for item in try other.fetch(NSFetchRequest<HandItem>(entityName: "Item")) {
                    fromItems[item.owner?.name ?? "-", default: []].append(item.name ?? "?")
                }
                other.refreshAllObjects()
                var fromOwners: [String: [String]] = [:]
                for owner in try other.fetch(NSFetchRequest<HandOwner>(entityName: "Owner")) where !owner.items.isEmpty
                {
                    fromOwners[owner.name ?? "?"] = owner.items.map { $0.name ?? "?" }
                }
                fromItems["-"] = nil
                return [fromItems, fromOwners].map { $0.mapValues { $0.sorted().joined() } }
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func aSetOfMembersIsSavedAndKeepsTheInverse(kind: StoreKind) throws {
        let shop = try Shop(kind)
        shop.owner.items = [shop.items[0], shop.items[1]]
        #expect(shop.items[0].owner === shop.owner)
        #expect(shop.items[0].isUpdated)
        #expect(!shop.items[2].isUpdated)
        try shop.context.save()
        shop.context.refreshAllObjects()
        #expect(shop.owner.items == [shop.items[0], shop.items[1]])
        #expect(try shop.stored() == [["first": "AB"], ["first": "AB"]])
        shop.owner.items = [shop.items[1], shop.items[2]]
        #expect(shop.items[0].owner == nil)
        try shop.context.save()
        #expect(try shop.stored() == [["first": "BC"], ["first": "BC"]])
    }

    @Test(arguments: StoreKind.allCases) func aDestinationIsSavedAndKeepsTheInverse(kind: StoreKind) throws {
        let shop = try Shop(kind)
        let second = HandOwner(context: shop.context)
        second.name = "second"
        shop.items[0].owner = shop.owner
        #expect(shop.owner.items == [shop.items[0]])
        shop.items[0].owner = second
        #expect(shop.owner.items.isEmpty)
        #expect(second.items == [shop.items[0]])
        try shop.context.save()
        #expect(second.items == [shop.items[0]])
        #expect(try shop.stored() == [["second": "A"], ["second": "A"]])
        // The owner has the item, so that it goes with the owner.
        shop.context.delete(second)
        try shop.context.save()
        #expect(try shop.context.fetch(NSFetchRequest<HandItem>(entityName: "Item")).count == 2)
    }

    @Test(arguments: StoreKind.allCases) func aMutablePrimitiveSetIsTheRelationship(kind: StoreKind) throws {
        let shop = try Shop(kind)
        shop.owner.addItemsObject(shop.items[0])
        shop.owner.addItemsObject(shop.items[0])
        shop.owner.addItemsObject(shop.items[1])
        shop.owner.removeItemsObject(shop.items[0])
        shop.owner.removeItemsObject(shop.items[0])
        #expect(shop.items.map(\.owner) == [nil, shop.owner, nil])
        #expect(shop.owner.primitiveItems.count == 1)
        try shop.context.save()
        #expect(try shop.stored() == [["first": "B"], ["first": "B"]])
        shop.context.refreshAllObjects()
        #expect(shop.owner.primitiveValue(forKey: "items") == nil)
        shop.owner.willAccessValue(forKey: "items")
        #expect((shop.owner.primitiveValue(forKey: "items") as? NSMutableSet)?.contains(shop.items[1]) == true)
        #expect(shop.owner.primitiveValue(forKey: "items") as? Set<HandItem> == [shop.items[1]])
    }

    @Test func aMutablePrimitiveSetAloneIsNoChange() throws {
        let shop = try Shop()
        let members = try #require(shop.owner.primitiveValue(forKey: "items") as? NSMutableSet)
        members.addObjects(from: [shop.items[0], shop.items[1]])
        #expect(shop.owner.items == [shop.items[0], shop.items[1]])
        #expect(shop.items[0].owner == nil)
        #expect(!shop.context.hasChanges)
        members.setSet([shop.items[2]])
        #expect(shop.owner.items == [shop.items[2]])
        members.removeAllObjects()
        shop.owner.willChangeValue(forKey: "items")
        shop.owner.didChangeValue(forKey: "items")
        #expect(shop.items.allSatisfy { $0.owner == nil && !$0.isUpdated })
    }

    @Test(arguments: StoreKind.allCases) func anOrderedPrimitiveSetTakesOrder(kind: StoreKind) throws {
        let shop = try Shop(kind)
        func change(_ body: (NSMutableOrderedSet) -> Void) throws {
            shop.owner.willChangeValue(forKey: "ranked")
            body(try #require(shop.owner.primitiveValue(forKey: "ranked") as? NSMutableOrderedSet))
            shop.owner.didChangeValue(forKey: "ranked")
        }
        try change { $0.addObjects(from: [shop.items[0], shop.items[1]]) }
        try change { $0.insert(shop.items[2], at: 0) }
        #expect(shop.items.allSatisfy { ($0.value(forKey: "ranks") as? Set<HandOwner>) == [shop.owner] })
        try shop.context.save()
        try change { $0.exchangeObject(at: 0, withObjectAt: 2) }
        try change { $0.removeObject(at: 1) }
        try shop.context.save()
        shop.context.refreshAllObjects()
        let ranked = shop.owner.value(forKey: "ranked") as? NSOrderedSet
        #expect(ranked?.array as? [HandItem] == [shop.items[1], shop.items[2]])
        #expect((shop.items[0].value(forKey: "ranks") as? NSSet)?.count == 0)
    }

    @Test func notificationsAndControllersLearnOfBothSides() throws {
        let shop = try Shop()
        let request = NSFetchRequest<HandItem>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.predicate = NSPredicate(format: "owner = %@", shop.owner)
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: shop.context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: shop.context)
        shop.owner.addItemsObject(shop.items[1])
        shop.context.processPendingChanges()
        #expect(changes.all.last?.objects(NSUpdatedObjectsKey) == [shop.owner, shop.items[1]])
        #expect(controller.fetchedObjects == [shop.items[1]])
        shop.items[1].owner = nil
        shop.context.processPendingChanges()
        #expect(controller.fetchedObjects == [])
        #expect(!shop.owner.hasPersistentChangedValues)
    }

    @Test(arguments: [true, false]) func theyAreUndone(isFromTheItem: Bool) throws {
        let shop = try Shop()
        let manager = UndoManager()
        manager.groupsByEvent = false
        shop.context.undoManager = manager
        manager.beginUndoGrouping()
        if isFromTheItem { shop.items[0].owner = shop.owner } else { shop.owner.addItemsObject(shop.items[0]) }
        shop.owner.willChangeValue(forKey: "name")
        shop.owner.setPrimitiveValue("other", forKey: "name")
        shop.owner.didChangeValue(forKey: "name")
        shop.context.processPendingChanges()
        manager.endUndoGrouping()
        shop.context.undo()
        #expect(shop.owner.items.isEmpty)
        #expect(shop.items[0].owner == nil)
        #expect(shop.owner.name == "first")
        #expect(!shop.context.hasChanges)
        shop.context.redo()
        #expect(shop.owner.items == [shop.items[0]])
        #expect(shop.items[0].owner === shop.owner)
        #expect(shop.owner.name == "other")
    }

    // MARK: Primitive setters alone

    @Test(arguments: StoreKind.allCases) func whatIsSetPrimitivelyIsKeptByTheSaveOfItsObject(kind: StoreKind) throws {
        let shop = try Shop(kind)
        shop.owner.setPrimitiveValue(Set([shop.items[0], shop.items[1]]), forKey: "items")
        #expect(shop.items[0].owner == nil)
        #expect(!shop.context.hasChanges)
        shop.owner.name = "changed"
        try shop.context.save()
        #expect(shop.items[0].owner === shop.owner)
        #expect(try shop.stored() == [["changed": "AB"], ["changed": "AB"]])
        let second = HandOwner(context: shop.context)
        second.name = "second"
        shop.items[0].setPrimitiveValue(second, forKey: "owner")
        #expect(shop.owner.items == [shop.items[0], shop.items[1]])
        shop.items[0].name = "D"
        try shop.context.save()
        #expect(second.items == [shop.items[0]])
        #expect(shop.owner.items == [shop.items[1]])
        #expect(try shop.stored() == [["changed": "B", "second": "D"], ["changed": "B", "second": "D"]])
        #expect(!shop.context.hasChanges)
    }

    @Test func whatIsSetPrimitivelyAndReadAgainIsForgotten() throws {
        let shop = try Shop()
        shop.owner.items = [shop.items[0]]
        try shop.context.save()
        shop.owner.setPrimitiveValue(Set([shop.items[1]]), forKey: "items")
        shop.context.refresh(shop.owner, mergeChanges: false)
        shop.items[1].setPrimitiveValue(shop.owner, forKey: "owner")
        shop.items[1].name = "changed"
        shop.context.rollback()
        #expect(shop.items[1].owner == nil)
        shop.owner.name = "changed"
        shop.items[1].name = "D"
        try shop.context.save()
        #expect(try shop.stored() == [["changed": "A"], ["changed": "A"]])
    }

    @Test func theOtherSideMayBeSetByTheProgram() throws {
        let shop = try Shop()
        shop.context.refreshAllObjects()
        shop.items[0].willAccessValue(forKey: nil)
        shop.items[0].setPrimitiveValue(shop.owner, forKey: "owner")
        shop.owner.mutableSetValue(forKey: "items").add(shop.items[0])
        try shop.context.save()
        #expect(shop.owner.items == [shop.items[0]])
        #expect(try shop.stored() == [["first": "A"], ["first": "A"]])
    }
}
