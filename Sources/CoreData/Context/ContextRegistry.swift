import Foundation
import Synchronization

/// The registry of a context. It passes the requests of objects on to the context.
final class ContextRegistry: ObjectRegistry {
    /// Not the context's own reference, which leads to it also once it has another registry.
    private let contextReference = BackReference<NSManagedObjectContext>()
    private let coordinatorReference: BackReference<NSPersistentStoreCoordinator>?

    /// A row of a table, identified by its provisional or permanent key.
    private struct Place: Hashable {
        let root: Int
        let key: Int64
    }

    /// Rows that the context has inserted and saved to its parent, whose save reports them.
    /// Used on the context's queue.
    private var ownInsertions: Set<Place> = []

    private var coordinator: NSPersistentStoreCoordinator? { coordinatorReference?.object }

    init(context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator?, parent: ContextRegistry? = nil) {
        coordinatorReference = coordinator?.reference
        super.init(
            modelLayout: coordinator?.modelLayout, coordinatorSerial: coordinator?.serialNumber ?? 0,
            isOnMainQueue: context.concurrencyType == .mainQueueConcurrencyType, parent: parent)
        contextReference.lead(to: context)
    }

    /// The context; nil once it is being deallocated, or has another registry.
    @inline(__always)
    var context: NSManagedObjectContext? { contextReference.object }

    // MARK: - Stores that were removed

    /// Removed stores whose objects the context has not released yet.
    private let removedStores = Mutex<[RemovedStore]>([])
    private let hasRemovedStores = Atomic<Bool>(false)

    func noteRemoval(_ removed: RemovedStore) {
        removedStores.withLock { $0.append(removed) }
        hasRemovedStores.store(true, ordering: .releasing)
    }

    func takeRemovedStores() -> [RemovedStore] {
        guard hasRemovedStores.exchange(false, ordering: .acquiringAndReleasing) else { return [] }
        return removedStores.withLock { removed in
            defer { removed = [] }
            return removed
        }
    }

    /// Called by the context's deinit, and before it gets another registry.
    func leaveContext() { contextReference.clear() }

    func removeAll() {
        ownInsertions.removeAll()
        var tokens = coordinator?.formerStoreTokens ?? [:]
        for store in coordinator?.persistentStores ?? [] { tokens[store.number] = store.token }
        removeAll(remembering: tokens)
    }

    /// Returns the ID of a row in this context's coordinator, for an ID of another coordinator.
    ///
    /// - Returns: Nil if this coordinator lacks the store or the entity.
    func ownID(of objectID: NSManagedObjectID) -> NSManagedObjectID? {
        guard let coordinator else { return nil }
        for added in coordinator.addedStores {
            guard let reference = objectID.rowReference(inTwin: added.store) else { continue }
            return NSManagedObjectID(
                key: reference.key, layout: coordinator.modelLayout.layouts[reference.layoutIndex], store: added.store)
        }
        return nil
    }

    // MARK: Insertions of a child

    /// Notes objects that the context has inserted and saved to its parent.
    func noteOwnInsertions(_ objects: ContiguousArray<NSManagedObject>) {
        for object in objects { ownInsertions.insert(Place(root: object.layout.rootIndex, key: object.key)) }
    }

    /// Returns the IDs of inserted objects without those that this context inserted. An insertion
    /// is this context's own until the root context has saved it.
    func withoutOwnInsertions(_ objectIDs: [NSManagedObjectID]) -> [NSManagedObjectID] {
        if ownInsertions.isEmpty { return objectIDs }
        ownInsertions = Set(ownInsertions.map { Place(root: $0.root, key: currentKey($0.key)) })
        return objectIDs.filter { objectID in
            let root = objectID.layout.rootIndex
            if let key = objectID.key { return ownInsertions.remove(Place(root: root, key: key)) == nil }
            guard let serial = objectID.serial(in: identities) else { return true }
            return !ownInsertions.contains(Place(root: root, key: currentKey(0 &- serial)))
        }
    }

    override func store(number: Int) -> NSPersistentStore? { coordinator?.store(number: number) }

    override func formerStoreToken(number: Int) -> StoreToken? {
        coordinator?.formerStoreTokens[number] ?? knownToken(ofStore: number)
    }

    override func fulfillFault(_ object: NSManagedObject, triggeredBy slot: Int) -> Bool {
        guard let context else { return false }
        context.asOperation { context.fulfillFault(object, triggeredBy: slot) }
        return true
    }

    override func load(_ object: NSManagedObject) throws -> Bool {
        guard let context else { return false }
        return try context.asOperation { try context.load(object) }
    }

    override var readFailure: (any Error)? { context?.readFailure }

    override func object(for reference: RowReference, near source: NSManagedObject) -> NSManagedObject? {
        guard let context else { return nil }
        return context.asOperation { context.object(for: reference, near: source) }
    }

    override func destination(_ reference: RowReference, of source: NSManagedObject, slot: Int) -> NSManagedObject? {
        guard let context else { return nil }
        return context.asOperation { context.destination(reference, of: source, slot: slot) }
    }

    override func relatedObjects(to object: NSManagedObject, slot: Int) -> RelatedObjects {
        guard let context else { return .noContext }
        guard let objects = context.asOperation({ context.relatedObjects(to: object, slot: slot) }) else {
            return .unknown
        }
        return .objects(objects, mayBeDeleted: context.hasUnsavedDeletions)
    }

    override func fetchedPropertyValue(of object: NSManagedObject, _ slot: Int) -> Any? {
        context.flatMap { context in context.asOperation { object.fetchedPropertyValue(slot, in: context) } }
    }

    override func keepFormerState(of object: NSManagedObject) { context?.changes.keepFormerState(of: object) }

    override func toldState(of object: NSManagedObject) -> ToldState? { context?.changes.toldState(of: object) }

    override var isTellingChanges: Bool { context?.changes.isTelling ?? false }

    override func noteChanged(_ object: NSManagedObject) { context?.noteChanged(object) }

    override func noteUntracked(_ object: NSManagedObject, slot: Int) {
        context?.journal?.noteUntracked(object, slot: slot)
    }

    override func noteTracked(_ object: NSManagedObject, slot: Int) {
        context?.journal?.noteTracked(object, slot: slot)
    }

    override func readAgain(
        _ destination: NSManagedObject, ifOthersLedItTo object: NSManagedObject, _ slot: PropertySlot
    ) {
        context?.readAgain(destination, ifOthersLedItTo: object, slot)
    }

    override func willChangeTransient(_ object: NSManagedObject, slot: Int) {
        context?.journal?.willChangeTransient(object, slot: slot)
    }

    override func permanentID(ofNew object: NSManagedObject) -> NSManagedObjectID? {
        context?.permanentID(ofNew: object)
    }

    override func noteTemporaryID(_ objectID: NSManagedObjectID, of object: NSManagedObject) {
        context?.newObjects.note(object, objectID)
    }

    override func checkQueue(of object: NSManagedObject, slot: Int) {
        if isOnMainQueue { context?.tellListeners { $0.willRead(slot, of: object) } }
        if ConcurrencyDebug.isOn { ConcurrencyDebug.check(object, slot: slot) }
    }
}

/// The registry of a context, for other threads: a context that gets another coordinator replaces
/// its own reference on its queue.
final class SharedRegistry: Sendable {
    // Unchecked: other threads use only the parts of a registry that have locks of their own.
    private let registry = Mutex<Unchecked<ContextRegistry?>>(Unchecked(nil))

    var current: ContextRegistry? { registry.withLock { $0 }.value }

    /// Replaces the registry. The former one's last reference is released without the lock.
    func use(_ registry: ContextRegistry) -> ContextRegistry {
        let next = Unchecked<ContextRegistry?>(registry)
        let former = self.registry.withLock { current in
            defer { current = next }
            return current
        }
        withExtendedLifetime(former) {}
        return registry
    }
}

extension NSManagedObject {
    /// The context behind the registry, even if the object is deleted or has left the context.
    @inline(__always)
    final var registeredContext: NSManagedObjectContext? {
        // Contexts register objects only in registries of this class.
        registry.flatMap { unsafeDowncast($0, to: ContextRegistry.self).context }
    }
}
