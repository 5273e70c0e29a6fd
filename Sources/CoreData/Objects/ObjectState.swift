/// Where an object stands: its identity in a store, its committed row, what is unsaved, and what its context knows of it.
///
/// The parts depend on each other, and are changed in this file alone, by transitions that `NSManagedObject` names below. Each
/// leaves a state that `isConsistent`, which debug builds check.
@usableFromInline
struct ObjectState {
    // What reading needs comes first, so that it lies in one or two cache lines.

    /// The committed row when it may be read directly: the object is loaded. Nil for faults and new objects.
    @usableFromInline fileprivate(set) var row: RowPointer?
    /// The layout's table for accessors. Unretained: the registry, the page or the extras of an object own the model's layouts.
    @usableFromInline fileprivate(set) var accessorTable: AccessorTable
    fileprivate(set) var flags: ObjectFlags
    /// Number of the store that holds the object; -1 before it has one.
    fileprivate(set) var storeNumber: Int16 = -1
    /// The committed row whether or not the fault has fired.
    fileprivate(set) var committedRow: RowPointer?
    /// Unsaved values and which properties changed. Owned: read without counting references by the accessors.
    fileprivate(set) var pendingReference: Unmanaged<PendingValues>?
    /// Owned, as above.
    fileprivate(set) var extrasReference: Unmanaged<ObjectExtras>?
    /// The registry of the object's context: owned.
    fileprivate(set) var heldRegistry: Unmanaged<ObjectRegistry>?
    /// Keeps `committedRow` alive: owned.
    fileprivate(set) var heldPage: Unmanaged<RowPage>?
    /// Primary key; 0 before one is reserved.
    fileprivate(set) var key: Int64 = 0

    @inline(__always)
    fileprivate mutating func hold(_ page: Unmanaged<RowPage>?) {
        let former = heldPage
        heldPage = page?.retain()
        former?.release()
    }

    @inline(__always)
    fileprivate mutating func commit(_ row: RowPointer) {
        // A row of the parent may have been made before, or after, the object's key became permanent.
        if row.rowKey != key { return Snapshot(retaining: row).withCopy(key: key) { commit($0) } }
        committedRow = row
        hold(row.rowPage)
    }
}

// MARK: - Class, entity and context

extension NSManagedObject {
    /// Uses the accessors of the class that the object turned out to have.
    final func useAccessors(of objectClass: NSManagedObject.Type) {
        state.accessorTable = layout.objects.accessorTable(for: objectClass)
        transitionEnded()
    }

    /// Becomes an object that only records which properties are read.
    final func becomeProbe() { changeFlags { $0.insert(.probe) } }

    /// Becomes a new object of a context, at the end of the current event's changes.
    @inline(__always)
    final func beginInsertion(in registry: ObjectRegistry) {
        join(registry)
        changeFlags { $0.insert([.inserted, .inEvent, .insertedInEvent, .changedInSave]) }
    }

    /// Belongs to a context from now on.
    @inline(__always)
    private final func join(_ registry: ObjectRegistry?) {
        let former = state.heldRegistry
        state.heldRegistry = registry.map(Unmanaged.passRetained)
        former?.release()
    }

    /// A new object that was deleted belongs to no context any more; it may be inserted again.
    final func leaveContext() {
        state.flags.remove([.inserted, .deleted, .discarded, .propagated, .changedInSave])
        // The registry kept the layouts alive.
        withExtras { $0.modelLayout = layout.model }
        join(nil)
        transitionEnded()
    }
}

// MARK: - Identity

extension NSManagedObject {
    /// Takes a place in a store, which it keeps for good once it is saved.
    @inline(__always)
    final func take(key: Int64, store: Int) {
        state.key = key
        state.storeNumber = Int16(truncatingIfNeeded: store)
        transitionEnded()
    }

    /// What was saved to a parent context has reached a store, which has another key for it.
    final func takePermanentKey(_ key: Int64, store: Int) {
        state.key = key
        if let committedRow = state.committedRow {
            state.commit(committedRow)
            if state.row != nil { state.row = state.committedRow }
        }
        take(key: key, store: store)
    }

    /// Has no place in a store any more, and takes another one at the next attempt to save.
    final func giveUpKey() { take(key: 0, store: -1) }

    /// Another object stands for the row: this one goes unregistered.
    final func leavePlaceToTwin() { take(key: state.key, store: -1) }
}

// MARK: - Faults and rows

extension NSManagedObject {
    /// Makes a new object the fault of a fetched row. The row's page and the registry were retained for it.
    @inline(__always)
    final func becomeFault(of row: RowPointer, store: Int16, registry: Unmanaged<ObjectRegistry>) {
        state.committedRow = row
        becomeFault(key: row.rowKey, store: store, registry: registry, page: row.rowPage)
    }

    /// Makes a new object the fault of a row that is not read yet, but with those of others if there is a page without rows for that. The
    /// page and the registry were retained for it.
    @inline(__always)
    final func becomeFault(key: Int64, store: Int16, registry: Unmanaged<ObjectRegistry>, page: Unmanaged<RowPage>?) {
        state.flags.insert(.fault)
        state.key = key
        state.storeNumber = store
        state.heldPage = page
        state.heldRegistry = registry
        transitionEnded()
    }

    /// Makes a new object a fault that has no row.
    final func becomeFault(in registry: ObjectRegistry) {
        join(registry)
        changeFlags { $0.insert(.fault) }
    }

    /// Turns back into a fault: drops values and relationships, changed ones too.
    ///
    /// The object keeps its page: the row cache holds a row as long as some object of the row lives, fault or not.
    final func becomeFaultAgain() {
        state.row = nil
        state.committedRow = nil
        dropValues()
        state.flags.remove([.inaccessible, .changedInSave])
        changeFlags { $0.insert(.fault) }
    }

    /// Gives a fault the row that it loads when it fires.
    @inline(__always)
    final func keep(_ row: RowPointer) {
        state.commit(row)
        transitionEnded()
    }

    /// Has a fault load its row with those of others.
    final func awaitRow(in placeholder: RowPage) {
        state.hold(.passUnretained(placeholder))
        transitionEnded()
    }

    /// A fault's row may be outdated: the next access asks the row cache, then the store.
    final func forgetRow() {
        state.committedRow = nil
        transitionEnded()
    }

    /// As `forgetRow`, and lets the row cache let go of the row, too.
    final func forgetRowAndPage() {
        state.committedRow = nil
        state.hold(nil)
        transitionEnded()
    }

    /// The fault fires: its values may be read.
    @inline(__always)
    final func becomeLoaded() {
        state.flags.remove(.fault)
        if let row = state.committedRow, row.rowLayoutIndex != layout.index {
            // A fault made through a relationship to a superentity turns out to be of a subentity.
            let actual = layout.model.layouts[row.rowLayoutIndex]
            state.accessorTable = actual.objects.accessorTable(for: Swift.type(of: self))
        }
        state.row = hasPendingValues ? nil : state.committedRow
        transitionEnded()
    }

    /// The fault has no row to load: it reads as nil, and where `isDeleted` says so counts as deleted.
    final func becomeInaccessible(isDeleted: Bool = false) {
        state.flags.remove(.fault)
        state.flags.insert(isDeleted ? [.inaccessible, .deleted] : .inaccessible)
        transitionEnded()
    }

    /// Its store is gone: it reads as nil, and cannot be loaded any more.
    final func becomeInvalid() { changeFlags { $0.insert(.invalid) } }

    /// Takes everything but its identity from an object, which reads as nil from now on.
    final func invalidate() {
        state.row = nil
        state.committedRow = nil
        state.hold(nil)
        state.flags = [.fault, .invalid]
        dropValues()
        transitionEnded()
    }

    /// A newer row takes the place of the committed one; pending changes stay.
    final func replaceCommittedRow(by row: RowPointer) {
        state.commit(row)
        state.row = !hasPendingValues && !state.flags.contains(.fault) ? state.committedRow : nil
        transitionEnded()
    }

    /// The saved row becomes the committed one, and pending changes are done.
    @inline(__always)
    final func adoptSavedRow(_ row: RowPointer) {
        state.commit(row)
        state.flags.remove([.inserted, .updated, .changedInSave])
        releasePending()
        state.row = state.committedRow
        transitionEnded()
    }

    /// Reads like the row that others deleted, and is to be saved as a new row in its place.
    ///
    /// - Parameter values: of all stored slots.
    final func becomeNewInPlaceOfDeletedRow(_ values: [PropertyValue]) {
        withExtras { [row = state.committedRow] in $0.deletedRow = row.map(Snapshot.init(retaining:)) }
        if state.flags.contains(.deletionSaved) {
            // Its deletion is undone.
            extras?.isRevived = true
            state.flags.remove([.deletionSaved, .propagated])
            state.flags.insert([.inEvent, .insertedInEvent, .changedInSave])
        }
        state.flags.remove(.updated)
        state.flags.insert(.inserted)
        state.committedRow = nil
        state.row = nil
        state.hold(nil)
        for (slot, value) in values.enumerated() { store(value, slot: slot) }
        transitionEnded()
    }

    /// Is a changed object again: of its own row after `becomeNewInPlaceOfDeletedRow`, or of the row that has its unique values.
    final func becomeChanged(in row: RowPointer) {
        state.flags.remove(.inserted)
        state.flags.insert(.updated)
        if let extras { (extras.deletedRow, extras.isRevived) = (nil, false) }
        state.key = row.rowKey
        state.commit(row)
        state.row = nil
        transitionEnded()
    }
}

// MARK: - Unsaved values

extension NSManagedObject {
    /// Gives the object a place for unsaved values where it has none.
    final func makePending() {
        if state.pendingReference != nil { return }
        state.pendingReference = .passRetained(
            PendingValues.make(slotCount: layout.storedCount, propertyCount: layout.slots.count))
        transitionEnded()
    }

    final func makeExtras() -> ObjectExtras {
        if let extras { return extras }
        let hasModel = state.heldRegistry?._withUnsafeGuaranteedRef { $0.modelIdentity != nil } ?? false
        let made = ObjectExtras(keeping: hasModel ? nil : layout.model)
        state.extrasReference = .passRetained(made)
        transitionEnded()
        return made
    }

    /// An unsaved value was set: reads must look at the pending values from now on.
    @inline(__always)
    final func readThroughPending() {
        state.row = nil
        transitionEnded()
    }

    /// Has each read tell the registry first, as checked objects do, until `endNotingReads`.
    final func beginNotingReads() {
        state.row = nil
        changeFlags { $0.insert(.checked) }
    }

    final func endNotingReads() {
        if !ConcurrencyDebug.isOn { state.flags.remove(.checked) }
        let isReadable = state.flags.isDisjoint(with: [.fault, .inaccessible, .invalid]) && !hasPendingValues
        state.row = isReadable ? state.committedRow : nil
        transitionEnded()
    }

    /// Unsaved values are gone; the committed row is read again.
    final func dropPendingValues() {
        releasePending()
        state.row = state.flags.contains(.fault) ? nil : state.committedRow
        transitionEnded()
    }

    /// Drops everything but the identity.
    private final func dropValues() {
        releasePending()
        extras?.dropValues()
    }

    @inline(__always)
    private final func releasePending() {
        let former = state.pendingReference
        state.pendingReference = nil
        former?.release()
    }

    /// Runs a block whose changes of the object are not tracked.
    final func silently(_ body: () -> Void) {
        changeFlags { $0.insert(.silent) }
        body()
        changeFlags { $0.remove(.silent) }
    }
}

// MARK: - What the context knows

extension NSManagedObject {
    /// A transition of flags alone.
    @inline(__always)
    private final func changeFlags(_ change: (inout ObjectFlags) -> Void) {
        change(&state.flags)
        transitionEnded()
    }

    /// Joins the changes of the current event.
    @inline(__always)
    final func joinEvent() { changeFlags { $0.insert(.inEvent) } }

    /// The changes of the event were processed.
    @inline(__always)
    final func leaveEvent() { changeFlags { $0.remove([.inEvent, .insertedInEvent]) } }

    /// Has changed since its last `willSave`.
    @inline(__always)
    final func markChangedInSave() { changeFlags { $0.insert(.changedInSave) } }

    /// `willSave` is called, or need not be.
    @inline(__always)
    final func unmarkChangedInSave() { changeFlags { $0.remove(.changedInSave) } }

    @inline(__always)
    final func markUpdated() { changeFlags { $0.insert(.updated) } }

    final func unmarkUpdated() { changeFlags { $0.remove(.updated) } }

    /// Is to be deleted by the next save. A new object leaves the context with it.
    final func markDeleted() {
        state.flags.insert(state.flags.contains(.inserted) ? [.deleted, .discarded, .changedInSave] : [.deleted, .changedInSave])
        changeFlags { $0.remove(.updated) }
    }

    /// Is to be deleted, but others did so already: nothing is left to propagate or to write.
    final func markDeletedElsewhere() {
        state.flags.remove(.updated)
        changeFlags { $0.insert([.deleted, .propagated, .deletedElsewhere]) }
    }

    /// The deletion is taken back.
    final func unmarkDeleted() { changeFlags { $0.remove([.deleted, .propagated]) } }

    /// The deletion is taken back, also one that came from elsewhere.
    final func undelete() { changeFlags { $0.remove([.deleted, .propagated, .deletedElsewhere]) } }

    /// The delete rules of its relationships were applied, or need not be.
    final func markPropagated() { changeFlags { $0.insert(.propagated) } }

    /// Has its delete rules applied again.
    final func unmarkPropagated() { changeFlags { $0.remove(.propagated) } }

    /// The row is gone, and so is the object, which leaves the context.
    final func endDeletion() {
        state.flags.remove([.updated, .deleted, .deletedElsewhere])
        changeFlags { $0.insert(.deletionSaved) }
    }

    /// A new object leaves its context without having been saved.
    final func discardInsertion() {
        state.flags.remove([.inserted, .updated])
        changeFlags { $0.insert(.discarded) }
    }

    /// A new object that was deleted in the present event is as it was.
    final func takeBackDiscarding() {
        state.flags.remove([.deleted, .discarded, .propagated])
        changeFlags { $0.insert([.inserted, .changedInSave]) }
    }

    /// Neither changed nor deleted any more.
    final func forgetChanges() { changeFlags { $0.remove([.updated, .deleted, .propagated, .changedInSave]) } }
}
