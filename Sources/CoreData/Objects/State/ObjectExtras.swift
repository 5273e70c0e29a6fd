import Foundation

/// The state that an object needs only once its relationships or its temporary ID are used.
final class ObjectExtras {
    /// Whether the object keeps its store and key though it is not saved there: its ID is
    /// permanent, or it will be saved again in place of its deleted row.
    var keepsPlace: Bool { objectID?.isTemporaryID == false || deletedRow != nil || isRevived }

    /// Values of transient and undefined properties.
    var transient: PendingValues?
    var objectID: NSManagedObjectID?
    /// Keeps the layouts alive for an object without a context.
    var modelLayout: ModelLayout?
    var probe: KeyPathProbe?
    private var rarities: Rarities?

    /// The collections, which are changed in place. They are nil instead of empty, so that making
    /// and freeing extras counts no references.
    private struct Collections {
        var decodedObjects: [Int: Any]?
        var toManyStates: [(slot: Int, state: ToManyState)]?
        var toOneObjects = SlotObjects<NSManagedObject>()
    }

    // Unchecked exclusivity: objects are confined to one queue, and nothing that runs during a
    // change of a collection uses the extras.
    @exclusivity(unchecked) private var collections = Collections()

    init(keeping modelLayout: ModelLayout?) {
        self.modelLayout = modelLayout
    }

    /// State that hardly any object has.
    private final class Rarities {
        var deletedRow: Snapshot?
        var isRevived = false
        var oneSided: OneSidedChanges?
        weak var kept: KeptReferences?
    }

    private func makeRarities() -> Rarities {
        if let rarities { return rarities }
        let made = Rarities()
        rarities = made
        return made
    }

    /// The row that another writer deleted, of an object that is to be saved as a new row with the
    /// same key. Completing a save, in the layer above, resets it.
    var deletedRow: Snapshot? {
        get { rarities?.deletedRow }
        set { if rarities != nil || newValue != nil { makeRarities().deletedRow = newValue } }
    }

    /// Whether that deletion was its own, saved and undone: deleting it again leaves nothing.
    var isRevived: Bool {
        get { rarities?.isRevived ?? false }
        set { if rarities != nil || newValue { makeRarities().isRevived = newValue } }
    }

    /// Changes of relationships by primitive setters of which the inverses were not updated yet.
    var oneSided: OneSidedChanges? {
        get { rarities?.oneSided }
        set { if rarities != nil || newValue != nil { makeRarities().oneSided = newValue } }
    }

    /// The holder of the references of an object that left and that an undo may bring back.
    var kept: KeptReferences? {
        get { rarities?.kept }
        set { makeRarities().kept = newValue }
    }

    /// Whether other managed objects may be released with the extras.
    @inline(__always)
    var mayHoldOthers: Bool {
        collections.toManyStates != nil || !collections.toOneObjects.isEmpty || transient != nil || rarities != nil
            || collections.decodedObjects != nil
    }

    /// Decoded objects of transformable attributes.
    func decoded(_ slot: Int) -> Any? { collections.decodedObjects?[slot] }

    func setDecoded(_ slot: Int, _ object: Any?) {
        if collections.decodedObjects == nil {
            if object == nil { return }
            collections.decodedObjects = [:]
        }
        collections.decodedObjects?[slot] = object
    }

    func forgetDecoded() { collections.decodedObjects = nil }

    func toMany(_ slot: Int) -> ToManyState? {
        guard let toManyStates = collections.toManyStates else { return nil }
        for entry in toManyStates where entry.slot == slot { return entry.state }
        return nil
    }

    func setToMany(_ slot: Int, _ state: ToManyState?) {
        if let index = collections.toManyStates?.firstIndex(where: { $0.slot == slot }) {
            if let state {
                collections.toManyStates?[index].state = state
            } else {
                collections.toManyStates?.remove(at: index)
            }
        } else if let state {
            if collections.toManyStates == nil {
                collections.toManyStates = [(slot, state)]
            } else {
                collections.toManyStates?.append((slot, state))
            }
        }
    }

    @inline(__always)
    var hasToMany: Bool { collections.toManyStates != nil }

    var allToMany: [(slot: Int, state: ToManyState)] { collections.toManyStates ?? [] }

    /// The destination of an unchanged to-one relationship that was already looked up.
    func toOne(_ slot: Int) -> NSManagedObject? { collections.toOneObjects[slot] }

    func setToOne(_ slot: Int, _ object: NSManagedObject?) {
        if let object {
            collections.toOneObjects.set(slot, object)
        } else if !collections.toOneObjects.isEmpty {
            collections.toOneObjects.remove(slot)
        }
    }

    func forgetDestinations() {
        collections.toOneObjects = SlotObjects()
    }

    /// Releases the related objects and returns them to the caller.
    func takeRelations() -> (toOne: SlotObjects<NSManagedObject>, toMany: [(slot: Int, state: ToManyState)]) {
        defer {
            forgetDestinations()
            collections.toManyStates = nil
            oneSided = nil
        }
        return (collections.toOneObjects, allToMany)
    }

    /// Drops everything but the identity: the object turns into a fault or leaves its context.
    func dropValues() {
        transient = nil
        collections = Collections()
        oneSided = nil
    }
}

/// A to-many relationship of one object: a fault until read, with pending changes.
final class ToManyState {
    // Unchecked exclusivity: objects are confined to one queue, and nothing that runs during a
    // change of a list uses the state that the list belongs to.

    /// Whether `members` is complete. Until then it is empty.
    var isLoaded = false
    /// Current members, in order for an ordered relationship.
    @exclusivity(unchecked) var members = ObjectList()
    /// Members that the store does not have yet, and below, members that it still has.
    @exclusivity(unchecked) var added = ObjectList()
    @exclusivity(unchecked) var removed = ObjectList()
    /// Whether primitive setters have added members that may not refer back to the owner.
    var mayHaveOneSidedMembers = false
    /// The order in the store, once it was changed; nil otherwise.
    @exclusivity(unchecked) var committedOrder: [NSManagedObject]?
    /// Whether the order was changed, by more than additions at the end of an unread one.
    var orderChanged = false
    /// The changed order of members that are to be read again; it is applied when they are read.
    @exclusivity(unchecked) var wantedOrder: ContiguousArray<NSManagedObject>?

    /// Whether the members, or the order of an ordered relationship, differ from the store's.
    /// Compares each member if only the order may have changed.
    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || orderChanged && !isInCommittedOrder }

    private var isInCommittedOrder: Bool {
        guard isLoaded, let committedOrder else { return false }
        return members.objects.elementsEqual(committedOrder) { $0 === $1 }
    }

    /// The members in the store, where the current ones are loaded.
    var committedMembers: [NSManagedObject] {
        if let committedOrder { return committedOrder }
        var committed: [NSManagedObject] = []
        for member in members.objects where !added.contains(member) { committed.append(member) }
        return committed + removed.objects
    }

    /// Treats the current members as the store's.
    func changesWereSaved() {
        added.removeAll()
        removed.removeAll()
        committedOrder = nil
        orderChanged = false
        wantedOrder = nil
    }

    /// Makes all members additions, as those of a new object.
    func becomeNew(with members: ContiguousArray<NSManagedObject>) {
        changesWereSaved()
        isLoaded = true
        self.members.replaceAll(members)
        for member in members { added.appendNew(member) }
    }
}

/// A weak reference to an object.
struct WeakObject {
    weak var object: NSManagedObject?
    init(_ object: NSManagedObject) { self.object = object }
}
