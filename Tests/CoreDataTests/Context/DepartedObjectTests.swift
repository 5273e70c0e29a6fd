import CoreData
import Foundation
import TestSupport
import Testing

/// Objects that have left their context keep each other alive no longer.
struct DepartedObjectTests {
    /// The context that the objects are in.
    enum ContextKind: CaseIterable { case privateQueue, mainQueue, child, retaining, undoing }

    /// How the objects leave it.
    enum Way: CaseIterable {
        case deletedTogether, deletedOneByOne, fetchedAndDeleted, revivedAndDeleted
        case deletedNew, deletedNewAndRolledBack
        case rolledBack, rolledBackInParent, undone, undoneTwice, refreshed
        case merged, reset, savedAndReset, storeRemoved
    }

    struct Case: CustomStringConvertible, Sendable {
        let store: StoreKind
        let context: ContextKind
        var description: String { "\(store), \(context)" }
    }

    static let cases = StoreKind.allCases.flatMap { store in
        ContextKind.allCases.map { Case(store: store, context: $0) }
    }

    /// Each context and each way; in the short run not each way out of each context.
    private static let departures: [(Case, Way)] = LongTests.some(
        43, of: cases.flatMap { setup in Way.allCases.map { (setup, $0) } })

    @MainActor
    @Test("Both ends of a relationship are freed once they have left their context", arguments: departures)
    func bothEndsAreFreed(_ setup: Case, _ way: Way) throws {
        let desk = try Desk(setup)
        let objects = try desk.leave(way)
        #expect(objects.left == [])
        withExtendedLifetime(desk) {}
    }

    @Test("A loop of cycles leaves no object behind", arguments: StoreKind.allCases.filter { $0 != .postgreSQL })
    func aLoopOfCyclesLeavesNothing(store: StoreKind) throws {
        let desk = try Desk(Case(store: store, context: .privateQueue))
        let count = LongTests.areEnabled ? 20_000 : 200
        let objects = Objects()
        for _ in 0..<count {
            try desk.make(objects).forEach(desk.context.delete)
            try desk.save()
            try desk.context.fetchAll().forEach(desk.context.delete)
            _ = try desk.make(objects)
            desk.context.rollback()
        }
        #expect(objects.left == [])
    }

    @Test("An object whose deletion was saved is related to nothing", arguments: StoreKind.allCases)
    func aDeletedObjectIsRelatedToNothing(store: StoreKind) throws {
        let library = try Library(store)
        let (context, ada) = (library.context, library.context.author("Ada"))
        let (notes, letters) = (context.book("Notes", by: ada), context.book("Letters", by: ada))
        try context.save()
        for object in [ada, notes, letters] { context.delete(object) }
        try context.save()
        #expect(ada.books.isEmpty)
        #expect(notes.author == nil)
        #expect(notes.title == "Notes")
        #expect(!context.hasChanges)
    }

    @Test("Who is told of a saved deletion finds what the object was related to", arguments: StoreKind.allCases)
    func whoIsToldFindsWhatTheObjectWasRelatedTo(store: StoreKind) throws {
        let library = try Library(store)
        let (context, ada) = (library.context, library.context.author("Ada"))
        let notes = context.book("Notes", by: ada)
        try context.save()
        context.delete(ada)
        context.delete(notes)
        var told = 0
        // Called on this thread.
        nonisolated(unsafe) let observe = { (_: Notification) in
            told += 1
            #expect(notes.author === ada)
            #expect(ada.books == [notes])
        }
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
        ) { observe($0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        #expect(told == 1)
    }

    @Test("Undo brings back both ends of a relationship with a saved deletion", arguments: StoreKind.allCases)
    func undoBringsBackWhatWasDeletedTogether(store: StoreKind) throws {
        let library = try Library(store)
        let context = library.context
        let notes = context.book("Notes", by: context.author("Ada"), tags: [context.tag("old")])
        try context.save()
        context.undoManager = UndoManager()
        let (ada, tag) = (try #require(notes.author), try #require(notes.tags.first))
        for object in [ada, notes, tag] { context.delete(object) }
        try context.save()
        context.undo()
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        #expect(notes.tags == [tag])
        #expect(tag.books == [notes])
        try context.save()
        let saved = try #require(try library.newContext().books().first)
        #expect(saved.author?.name == "Ada")
        #expect(saved.tags.map(\.label) == ["old"])
        context.redo()
        try context.save()
        #expect(try library.newContext().books().isEmpty)
    }

    @Test(
        "An object that comes back finds what is still there of what it was related to", arguments: StoreKind.allCases)
    func anObjectThatComesBackFindsWhatIsStillThere(store: StoreKind) throws {
        let library = try Library(store)
        let context = library.context
        let book = context.book("Notes", by: context.author("Ada"))
        let other = context.book("Letters", by: context.author("Bob"))
        try context.save()
        let bob = try #require(other.author)
        for object in [book, other, bob] { context.delete(object) }
        try context.save()
        context.insert(book)
        context.insert(other)
        #expect(book.author?.name == "Ada")
        #expect(other.author == nil)
        try context.save()
        #expect(
            try library.newContext().books().map { $0.author?.name }.sorted { ($0 ?? "") < ($1 ?? "") } == [nil, "Ada"])
    }
}

/// Weak references to objects that are to be freed.
private final class Objects {
    private final class Reference {
        weak var object: NSManagedObject?
        let name: String
        init(_ object: NSManagedObject) {
            self.object = object
            name = object.entity.name ?? ""
        }
    }

    private var references: [Reference] = []

    func watch(_ objects: [NSManagedObject]) { references += objects.map(Reference.init) }

    func forget() { references = [] }

    /// The entities of those that are still there.
    var left: [String] { references.compactMap { $0.object == nil ? nil : $0.name } }
}

/// A context with an owner that has a part by each kind of relationship.
private final class Desk {
    private let folder: TemporaryFolder
    private let coordinator: NSPersistentStoreCoordinator
    private var parent: NSManagedObjectContext?
    let context: NSManagedObjectContext

    init(_ setup: DepartedObjectTests.Case) throws {
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        _ = try coordinator.addPersistentStore(
            ofType: setup.store.type, configurationName: nil, at: setup.store.url(folder.file("parts.sqlite")))
        switch setup.context {
        case .mainQueue:
            context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
        case .child:
            let parent = coordinator.newContext()
            context = parent.newChild()
            self.parent = parent
        default: context = coordinator.newContext()
        }
        if setup.context == .retaining { context.retainsRegisteredObjects = true }
        if setup.context == .undoing { context.undoManager = UndoManager() }
    }

    private static let toMany = ["cascaded", "nullified", "shared"]
    private static let toOne = ["single", "denied", "kept", "free", "transient"]

    private static var model: NSManagedObjectModel {
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(owner, "cascaded", toMany: true, deleteRule: .cascadeDeleteRule, part, inverse: "cascadedOwner")
        relate(
            owner, "ordered", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, part, inverse: "orderedOwner"
        )
        relate(owner, "nullified", toMany: true, part, inverse: "nullifiedOwner")
        relate(owner, "shared", toMany: true, part, inverse: "sharedOwners", inverseToMany: true)
        relate(owner, "single", part, inverse: "singleOwner")
        relate(
            owner, "denied", deleteRule: .noActionDeleteRule, part, inverse: "deniedOwner",
            inverseDeleteRule: .noActionDeleteRule)
        relate(owner, "kept", deleteRule: .noActionDeleteRule, part, inverse: "keptOwner")
        owner.properties += [NSRelationshipDescription("free", to: part)]
        part.properties += [NSRelationshipDescription("freeOwners", to: owner, toMany: true)]
        for (entity, other) in [(owner, part), (part, owner)] {
            let transient = NSRelationshipDescription("transient", to: other)
            transient.isTransient = true
            entity.properties += [transient]
        }
        return NSManagedObjectModel([owner, part])
    }

    func save() throws {
        try context.save()
        try parent?.save()
    }

    /// New objects, each part in a relationship of its own.
    func make(_ objects: Objects) throws -> [NSManagedObject] {
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        owner.setValue("owner", forKey: "name")
        func part() -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: "Part", into: context) }
        var parts = Self.toMany.map { name in
            let part = part()
            owner.mutableSetValue(forKey: name).add(part)
            return part
        }
        parts += Self.toOne.map { name in
            let part = part()
            owner.setValue(part, forKey: name)
            if name == "free" { part.mutableSetValue(forKey: "freeOwners").add(owner) }
            if name == "transient" { part.setValue(owner, forKey: name) }
            return part
        }
        parts.append(part())
        owner.mutableOrderedSetValue(forKey: "ordered").add(parts[parts.count - 1])
        context.processPendingChanges()
        objects.watch([owner] + parts)
        return [owner] + parts
    }

    /// Has objects leave the context.
    func leave(_ way: DepartedObjectTests.Way) throws -> Objects {
        let objects = Objects()
        try leave(way, objects)
        context.undoManager?.removeAllActions()
        context.processPendingChanges()
        return objects
    }

    private func leave(_ way: DepartedObjectTests.Way, _ objects: Objects) throws {
        if way == .undone || way == .undoneTwice, context.undoManager == nil { context.undoManager = UndoManager() }
        let made = try make(objects)
        switch way {
        case .deletedTogether:
            try save()
            made.forEach(context.delete)
            try save()
        case .deletedOneByOne:
            try save()
            for object in made {
                context.delete(object)
                try save()
            }
        case .fetchedAndDeleted, .merged:
            try save()
            objects.forget()
            context.reset()
            parent?.reset()
            let fetched = try context.fetchAll()
            objects.watch(fetched)
            if way == .merged { return try mergeDeletions() }
            fetched.forEach(context.delete)
            try save()
        case .revivedAndDeleted:
            try save()
            made.forEach(context.delete)
            try save()
            made.forEach(context.insert)
            try save()
            made.forEach(context.delete)
            try save()
        case .deletedNew:
            made.forEach(context.delete)
            try save()
        case .deletedNewAndRolledBack:
            made.forEach(context.delete)
            context.rollback()
        case .rolledBack: context.rollback()
        case .rolledBackInParent:
            if let parent {
                try context.save()
                parent.rollback()
                context.reset()
            } else {
                context.rollback()
            }
        case .undone: context.undo()
        case .undoneTwice:
            context.undo()
            context.redo()
            context.undo()
        case .refreshed: for object in made { context.refresh(object, mergeChanges: false) }
        case .reset: context.reset()
        case .savedAndReset:
            try save()
            context.reset()
            parent?.reset()
        case .storeRemoved:
            try save()
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            context.performAndWait {}
            parent?.performAndWait {}
        }
    }

    /// Deletes everything in another context, and takes that over.
    private func mergeDeletions() throws {
        let other = coordinator.newContext()
        try other.fetchAll().forEach(other.delete)
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        let notification = try #require(saves.all.first)
        parent?.mergeChanges(fromContextDidSave: notification)
        context.mergeChanges(fromContextDidSave: notification)
        try save()
    }
}

extension NSManagedObjectContext {
    /// All objects with all that they are related to.
    fileprivate func fetchAll() throws -> [NSManagedObject] {
        let objects = try ["Owner", "Part"].flatMap { try fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }
        for object in objects {
            for name in object.entity.relationshipsByName.keys { _ = object.value(forKey: name) }
        }
        return objects
    }
}
