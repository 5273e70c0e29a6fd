import CoreData
import TestSupport
import Testing

final class EventBox: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<EventItem>

    /// Set by tests that fetch in methods which the context calls.
    static let hookKey = "hook"

    private func runHook() { (managedObjectContext?.userInfo[Self.hookKey] as? () -> Void)?() }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        runHook()
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        runHook()
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        runHook()
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        runHook()
    }

    override func willSave() {
        super.willSave()
        runHook()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        runHook()
    }
}

final class EventItem: NSManagedObject {
    @Managed var name: String?
    @Managed var box: EventBox?

    override func awakeFromFetch() {
        super.awakeFromFetch()
        (managedObjectContext?.userInfo[EventBox.hookKey] as? () -> Void)?()
    }
}

/// A context that looks at what it has whenever changes are processed.
private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: as its superclass; nothing is added.

    override func processPendingChanges() {
        _ = try? count(for: NSFetchRequest<EventItem>(entityName: "Item"))
        super.processPendingChanges()
    }
}

/// Effects of fetches on pending changes.
@Suite(.everyStore) struct FetchEventTests {
    enum Form: CaseIterable {
        case objects, untyped, identifiers, count, untypedCount, dictionaries, request, asynchronous
    }

    let stack: TestStack
    let context: NSManagedObjectContext
    let box: EventBox
    let item: EventItem

    init() throws {
        let box = NSEntityDescription("Box", class: "EventBox", [.init("name", .stringAttributeType)])
        let item = NSEntityDescription("Item", class: "EventItem", [.init("name", .stringAttributeType)])
        relate(box, "items", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "box")
        stack = try TestStack([box, item])
        context = stack.context
        self.box = EventBox(context: context)
        self.box.name = "box"
        self.item = EventItem(context: context)
        self.item.name = "item"
        self.item.box = self.box
        try context.save()
    }

    private func eventLog() -> NotificationLog {
        NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
    }

    /// How many items a fetch finds; nil where it gives no number at once.
    private func found(_ form: Form, includesPendingChanges: Bool = true, _ ended: DispatchSemaphore? = nil) throws
        -> Int?
    {
        let request = NSFetchRequest<EventItem>(entityName: "Item")
        request.includesPendingChanges = includesPendingChanges
        let untyped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        untyped.includesPendingChanges = includesPendingChanges
        switch form {
        case .objects: return try context.fetch(request).count
        case .untyped: return try context.fetch(untyped).count
        case .identifiers:
            untyped.resultType = .managedObjectIDResultType
            return try context.fetch(untyped).count
        case .count: return try context.count(for: request)
        case .untypedCount: return try context.count(for: untyped)
        case .dictionaries:
            untyped.resultType = .dictionaryResultType
            untyped.propertiesToFetch = ["name"]
            _ = try context.fetch(untyped)
            return nil
        case .request:
            return (try context.execute(request) as? NSAsynchronousFetchResult<EventItem>)?.finalResult?.count
        case .asynchronous:
            try context.execute(NSAsynchronousFetchRequest(fetchRequest: request) { _ in ended?.signal() })
            return nil
        }
    }

    @Test("91, 341: a fetch processes the pending changes that it includes", arguments: Form.allCases)
    func aFetchProcessesPendingChanges(form: Form) throws {
        let log = eventLog()
        let new = EventBox(context: context)
        context.delete(box)
        let ended = DispatchSemaphore(value: 0)
        // An asynchronous fetch ends on the context's queue, beside which nothing else may use it.
        func find() throws -> Int? {
            let number = try found(form, ended)
            if form == .asynchronous { ended.wait() }
            return context.performAndWait { number }
        }
        let number = try find()
        #expect(number == nil || number == 0)
        #expect(log.all.map { $0.objects(NSInsertedObjectsKey) } == [[new]])
        #expect(log.all.map { $0.objects(NSDeletedObjectsKey) } == [[box, item]])
        #expect(item.isDeleted)
        _ = try find()
        context.processPendingChanges()
        #expect(log.count == 1)
    }

    // An asynchronous one ends in a turn of the queue of its own, which processes what is pending.
    @Test(
        "91, 341: a fetch without pending changes leaves them alone",
        arguments: Form.allCases.filter { $0 != .asynchronous })
    func aFetchWithoutPendingChangesLeavesThemAlone(form: Form) throws {
        let log = eventLog()
        context.delete(box)
        let number = try found(form, includesPendingChanges: false)
        #expect(number == nil || number == 1)
        #expect(log.count == 0)
        #expect(!item.isDeleted)
    }

    @Test("91, 341: delete rules that wait for the save wait") func rulesThatWaitForTheSaveWait() throws {
        context.propagatesDeletesAtEndOfEvent = false
        let log = eventLog()
        context.delete(box)
        #expect(try found(.objects) == 1)
        #expect(log.all.map { $0.objects(NSDeletedObjectsKey) } == [[box]])
        #expect(try found(.count) == 1)
        #expect(log.count == 1)
        try context.save()
        #expect(try found(.objects) == 0)
    }

    @Test("341: a fetch that fails has processed them") func aFetchThatFails() throws {
        let log = eventLog()
        item.name = "changed"
        let request = NSFetchRequest<EventItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "missing == 1")
        #expect(errorThrown { _ = try context.fetch(request) } != nil)
        #expect(log.all.map { $0.objects(NSUpdatedObjectsKey) } == [[item]])
    }

    // MARK: - In the middle of what the context does

    enum Step: CaseIterable {
        case insertion, deletion, cascade, save, refresh, rollback, undo, merge, observer
    }

    @Test("341: in the middle of what the context does it processes nothing", arguments: Step.allCases)
    func inTheMiddleNothingIsProcessed(step: Step) throws {
        let other = stack.newContext()
        if step == .undo {
            context.undoManager = UndoManager()
            box.name = "changed"
            context.processPendingChanges()
        }
        if step == .merge, let same = try other.existingObject(with: box.objectID) as? EventBox {
            same.name = "theirs"
            try other.save()
        }
        let log = eventLog()
        var told: [Int] = []
        func fetchInside() {
            let before = log.count
            #expect(errorThrown { _ = try found(.objects) } == nil)
            told.append(log.count - before)
        }
        context.userInfo[EventBox.hookKey] = fetchInside
        defer { context.userInfo.removeAllObjects() }
        item.name = "changed"
        switch step {
        case .insertion: _ = EventBox(context: context)
        case .deletion: context.delete(box)
        case .cascade:
            box.name = "changed"
            context.delete(item)
            context.delete(box)
            context.processPendingChanges()
        case .save:
            box.name = "changed"
            try context.save()
        case .refresh:
            box.name = "changed"
            context.refresh(box, mergeChanges: true)
        case .rollback:
            box.name = "changed"
            context.rollback()
        case .undo: context.undo()
        case .merge:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [box.objectID]], into: [context])
        case .observer:
            // Called on this thread.
            nonisolated(unsafe) let observe = {
                item.name = "changed again"
                fetchInside()
            }
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
            ) { _ in observe() }
            context.processPendingChanges()
            NotificationCenter.default.removeObserver(observer)
        }
        #expect(!told.isEmpty)
        #expect(told.allSatisfy { $0 == 0 })
        told = []
        context.userInfo.removeAllObjects()
        context.processPendingChanges()
        log.clear()
        _ = EventItem(context: context)
        #expect(try found(.objects) == (step == .deletion || step == .cascade ? 1 : 2))
        #expect(log.count == 1)
    }

    @Test(
        "91, 341: what delete rules change is kept, whatever a method of a changed object fetches",
        arguments: [false, true])
    func deleteRulesAreKeptWhileObjectsAwake(byRelationship: Bool) throws {
        let box = NSEntityDescription("Box", class: "EventBox", [.init("name", .stringAttributeType)])
        let item = NSEntityDescription("Item", class: "EventItem", [.init("name", .stringAttributeType)])
        relate(box, "items", toMany: true, deleteRule: .nullifyDeleteRule, item, inverse: "box")
        let stack = try TestStack([box, item])
        let context = stack.context
        let (full, inside) = (EventBox(context: context), EventItem(context: context))
        inside.box = full
        try context.save()
        context.refreshAllObjects()
        context.userInfo[EventBox.hookKey] = {
            _ = try? context.count(for: NSFetchRequest<EventItem>(entityName: "Item"))
        }
        defer { context.userInfo.removeAllObjects() }
        context.delete(full)
        if byRelationship { _ = inside.box } else { _ = inside.name }
        try context.save()
        #expect(stack.stored("box", of: "Item") == [nil])
        #expect(inside.box == nil)
    }

    @Test("341: a subclass may fetch where it processes changes") func aSubclassMayFetch() throws {
        let counting = CountingContext(concurrencyType: .mainQueueConcurrencyType)
        counting.persistentStoreCoordinator = stack.coordinator
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: counting)
        let new = EventBox(context: counting)
        counting.processPendingChanges()
        #expect(log.all.map { $0.objects(NSInsertedObjectsKey) } == [[new]])
        #expect(try counting.count(for: NSFetchRequest<EventItem>(entityName: "Item")) == 1)
        try counting.save()
    }

    @Test("91, 341: a child's fetch processes what is pending in its parents") func aChildsFetchProcessesItsParents()
        throws
    {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        let grandchild = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        (child.parent, grandchild.parent) = (context, child)
        let request = NSFetchRequest<EventItem>(entityName: "Item")
        for reader in [child, grandchild] {
            let log = eventLog()
            context.delete(box)
            #expect(try reader.fetch(request).isEmpty)
            #expect(item.isDeleted)
            #expect(log.count == 1)
            #expect(try reader.count(for: request) == 0)
            context.rollback()
            #expect(try reader.fetch(request).count == 1)
        }
    }

    @Test("139, 341: what a fetch has processed is undone with its group") func aGroupIsUndoneAsAWhole() throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        manager.beginUndoGrouping()
        box.name = "first"
        _ = try found(.objects)
        item.name = "second"
        _ = try found(.count)
        box.name = "third"
        context.processPendingChanges()
        manager.endUndoGrouping()
        context.undo()
        #expect(box.name == "box")
        #expect(item.name == "item")
        #expect(!context.hasChanges)
        context.redo()
        #expect(box.name == "third")
        #expect(item.name == "second")
    }
}
