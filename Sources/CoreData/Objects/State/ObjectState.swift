/// The state of an object: its identity in a store, its committed row, its unsaved changes, and its
/// status in its context.
///
/// Only this file changes the parts, which depend on each other, by the transitions below. Each
/// transition leaves a state for which `isConsistent` is true, which debug builds check.
@usableFromInline
struct ObjectState {
    // The fields needed for reading come first, so that they lie in one or two cache lines.

    /// The address of the committed row, 0 without one; plus one unless it may be read directly.
    // One word in place of two, as programs hold millions of objects. Rows lie at multiples of
    // eight.
    @usableFromInline fileprivate(set) var rowAddress: UInt = 0
    /// The layout's table for accessors. Unretained: the object's registry, page or extras own the
    /// model's layouts.
    @usableFromInline fileprivate(set) var accessorTable: AccessorTable
    fileprivate(set) var flags: ObjectFlags
    /// Number of the store that holds the object; -1 before it has one.
    fileprivate(set) var storeNumber: Int16 = -1
    /// Unsaved values and the set of changed properties. Owned: accessors read it without counting
    /// references.
    fileprivate(set) var pendingReference: Retained<PendingValues>?
    /// Extras. Owned, for the same reason.
    fileprivate(set) var extrasReference: Retained<ObjectExtras>?
    /// The registry of the object's context: owned.
    fileprivate(set) var heldRegistry: Retained<ObjectRegistry>?
    /// Keeps `committedRow` alive: owned.
    fileprivate(set) var heldPage: Retained<RowPage>?
    /// Primary key; 0 before one is reserved.
    fileprivate(set) var key: Int64 = 0

    /// Sets the committed row, and whether it may be read directly.
    @inline(__always)
    fileprivate mutating func setRow(_ row: RowPointer?, isRead: Bool) {
        rowAddress = UInt(bitPattern: row) | (isRead ? 0 : 1)
    }

    @inline(__always)
    fileprivate mutating func hold(_ page: Unretained<RowPage>?) {
        let former = heldPage
        heldPage = page.map { Retained($0) }
        former?.release()
    }

    @inline(__always)
    fileprivate mutating func commit(_ row: RowPointer, isRead: Bool = false) {
        // A row of the parent may have been made before, or after, the object's key became
        // permanent.
        if row.rowKey != key { return Snapshot(retaining: row).withCopy(key: key) { commit($0, isRead: isRead) } }
        setRow(row, isRead: isRead)
        hold(row.rowPage)
    }
}

// MARK: - Class, entity and context

extension NSManagedObject {
    /// Uses the accessors of the object's actual class.
    final func useAccessors(of objectClass: NSManagedObject.Type) {
        state.accessorTable = layout.objects.accessorTable(for: objectClass)
        transitionEnded()
    }

    /// Becomes an object that only records which properties are read.
    final func becomeProbe() { changeFlags(inserting: .probe) }

    /// Makes the object a new object of a context, at the end of the current event's changes.
    @inline(__always)
    final func beginInsertion(in registry: ObjectRegistry) {
        join(registry)
        changeFlags(inserting: [.inserted, .inEvent, .insertedInEvent, .changedInSave])
    }

    /// Assigns the object to a context.
    @inline(__always)
    private final func join(_ registry: ObjectRegistry?) {
        let former = state.heldRegistry
        state.heldRegistry = registry.map { Retained($0) }
        former?.release()
    }

    /// Removes a deleted new object from its context; it may be inserted again.
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
    /// Sets the key and the store, which are final once the object is saved.
    @inline(__always)
    final func take(key: Int64, store: Int) {
        state.key = key
        state.storeNumber = Int16(truncatingIfNeeded: store)
        transitionEnded()
    }

    /// Replaces the provisional key of an object saved to a parent context by the key that a store
    /// has assigned.
    final func takePermanentKey(_ key: Int64, store: Int) {
        state.key = key
        if let committedRow { state.commit(committedRow, isRead: row != nil) }
        take(key: key, store: store)
    }
}

// MARK: - Faults and rows

extension NSManagedObject {
    /// Makes a new object the fault of a fetched row. The caller has retained the row's page and
    /// the registry for it.
    @inline(__always)
    final func becomeFault(
        of row: RowPointer, store: Int16, registry: Retained<ObjectRegistry>, page: Retained<RowPage>?
    ) {
        state.setRow(row, isRead: false)
        becomeFault(key: row.rowKey, store: store, registry: registry, page: page)
    }

    /// Makes a new object the fault of a row that is not read yet. A page without rows lets it load
    /// together with other rows. The caller has retained the page and the registry for it.
    @inline(__always)
    final func becomeFault(key: Int64, store: Int16, registry: Retained<ObjectRegistry>, page: Retained<RowPage>?) {
        state.flags.insert(.fault)
        state.key = key
        state.storeNumber = store
        state.heldPage = page
        state.heldRegistry = registry
        transitionEnded()
    }

    /// Makes a new object a fault without a row.
    final func becomeFault(in registry: ObjectRegistry) {
        join(registry)
        changeFlags(inserting: .fault)
    }

    /// Turns the object back into a fault: drops values and relationships, including changed ones.
    ///
    /// The object keeps its page: the row cache holds a row as long as any object of the row lives,
    /// fault or not.
    final func becomeFaultAgain() {
        dropValues()
        changeFlags(removing: [.inaccessible, .changedInSave], inserting: .fault)
    }

    /// Gives a fault the row that it will use when it fires.
    @inline(__always)
    final func keep(_ row: RowPointer) {
        state.commit(row)
        transitionEnded()
    }

    /// Makes a fault load its row together with the other rows of a placeholder page.
    final func awaitRow(in placeholder: RowPage) {
        state.hold(Unretained(placeholder))
        transitionEnded()
    }

    /// Forgets a fault's row, which may be outdated: the next access asks the row cache, then the
    /// store.
    final func forgetRow() {
        state.setRow(nil, isRead: false)
        transitionEnded()
    }

    /// Does the same as `forgetRow`, and also lets the row cache release the row.
    final func forgetRowAndPage() {
        forgetRow()
        state.hold(nil)
    }

    /// Fires the fault: its values may be read from now on.
    @inline(__always)
    final func becomeLoaded() {
        state.flags.remove(.fault)
        if let row = state.committedRow, row.rowLayoutIndex != layout.index {
            // A fault made through a relationship to a superentity turns out to be of a subentity.
            let actual = layout.model.layouts[row.rowLayoutIndex]
            state.accessorTable = actual.objects.accessorTable(for: Swift.type(of: self))
        }
        state.setRow(committedRow, isRead: !hasPendingValues)
        transitionEnded()
    }

    /// Marks a fault whose row cannot be loaded: it reads as nil and, if `isDeleted` is true,
    /// counts as deleted.
    final func becomeInaccessible(isDeleted: Bool = false) {
        changeFlags(removing: .fault, inserting: isDeleted ? [.inaccessible, .deleted] : .inaccessible)
    }

    /// Marks an object whose store is gone: it reads as nil and cannot be loaded any more.
    final func becomeInvalid() { changeFlags(inserting: .invalid) }

    /// Removes everything except the identity; the object reads as nil from now on.
    final func invalidate() {
        state.flags = [.fault, .invalid]
        dropValues()
        state.hold(nil)
        transitionEnded()
    }

    /// Replaces the committed row by a newer one; pending changes stay.
    final func replaceCommittedRow(by row: RowPointer) {
        state.commit(row, isRead: !hasPendingValues && !flags.contains(.fault))
        transitionEnded()
    }

    /// Makes the saved row the committed one and ends pending changes.
    @inline(__always)
    final func adoptSavedRow(_ row: RowPointer) {
        state.commit(row, isRead: true)
        state.flags.remove([.inserted, .updated, .changedInSave])
        releasePending()
        transitionEnded()
    }

    /// Makes the object a new one that will be saved in place of a row that another context or
    /// program deleted.
    ///
    /// - Parameter values: the values of all stored slots.
    final func becomeNewInPlaceOfDeletedRow(_ values: [PropertyValue]) {
        withExtras { [row = state.committedRow] in $0.deletedRow = row.map(Snapshot.init(retaining:)) }
        if state.flags.contains(.deletionSaved) {
            // The object's own deletion is undone.
            extras?.isRevived = true
            state.flags.remove([.deletionSaved, .propagated, .inaccessible])
            state.flags.insert([.inEvent, .insertedInEvent, .changedInSave])
        }
        state.flags.remove(.updated)
        state.flags.insert(.inserted)
        state.setRow(nil, isRead: false)
        state.hold(nil)
        for (slot, value) in values.enumerated() { store(value, slot: slot) }
        transitionEnded()
    }

    /// Makes the object a changed one again: of its own row after `becomeNewInPlaceOfDeletedRow`,
    /// or of the row that has its unique values.
    final func becomeChanged(in row: RowPointer) {
        state.flags.remove(.inserted)
        state.flags.insert(.updated)
        if let extras { (extras.deletedRow, extras.isRevived) = (nil, false) }
        state.key = row.rowKey
        state.commit(row)
        transitionEnded()
    }
}

// MARK: - Unsaved values

extension NSManagedObject {
    /// Makes the storage for unsaved values if there is none.
    final func makePending() {
        if state.pendingReference != nil { return }
        let made = PendingValues.make(slotCount: layout.storedCount, propertyCount: layout.slots.count)
        state.pendingReference = Retained(made)
        transitionEnded()
    }

    final func makeExtras() -> ObjectExtras {
        if let extras { return extras }
        let registryHasModel = state.heldRegistry?.withObject { $0.modelIdentity != nil } == true
        let made = ObjectExtras(keeping: registryHasModel ? nil : layout.model)
        state.extrasReference = Retained(made)
        transitionEnded()
        return made
    }

    /// Makes reads use the pending values first, after an unsaved value was set.
    @inline(__always)
    final func readThroughPending() {
        state.setRow(committedRow, isRead: false)
        transitionEnded()
    }

    /// Makes each read notify the registry first, as in checked objects, until `endNotingReads`.
    final func beginNotingReads() {
        state.setRow(committedRow, isRead: false)
        changeFlags(inserting: .checked)
    }

    final func endNotingReads() {
        if !ConcurrencyDebug.isOn { state.flags.remove(.checked) }
        let isReadable = state.flags.isDisjoint(with: [.fault, .inaccessible, .invalid]) && !hasPendingValues
        state.setRow(committedRow, isRead: isReadable)
        transitionEnded()
    }

    /// Drops unsaved values; reads use the committed row again.
    final func dropPendingValues() {
        releasePending()
        state.setRow(committedRow, isRead: !state.flags.contains(.fault))
        transitionEnded()
    }

    /// Drops everything except the identity.
    private final func dropValues() {
        state.setRow(nil, isRead: false)
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
        changeFlags(inserting: .silent)
        body()
        changeFlags(removing: .silent)
    }
}

// MARK: - Status in the context

extension NSManagedObject {
    /// Performs a transition that changes only flags.
    @inline(__always)
    private final func changeFlags(removing removed: ObjectFlags = [], inserting inserted: ObjectFlags = []) {
        state.flags.subtract(removed)
        state.flags.formUnion(inserted)
        transitionEnded()
    }

    /// Adds the object to the changes of the current event.
    @inline(__always)
    final func joinEvent() { changeFlags(inserting: .inEvent) }

    /// Removes the object from the event's changes, which were processed.
    @inline(__always)
    final func leaveEvent() { changeFlags(removing: [.inEvent, .insertedInEvent]) }

    /// Records a change since the last `willSave`.
    @inline(__always)
    final func markChangedInSave() { changeFlags(inserting: .changedInSave) }

    /// Ends that mark: `willSave` is called, or need not be.
    @inline(__always)
    final func unmarkChangedInSave() { changeFlags(removing: .changedInSave) }

    @inline(__always)
    final func markUpdated() { changeFlags(inserting: .updated) }

    final func unmarkUpdated() { changeFlags(removing: .updated) }

    /// Marks the object for deletion by the next save. A new object leaves the context with it.
    final func markDeleted() {
        if state.flags.contains(.inserted) { state.flags.insert(.discarded) }
        changeFlags(removing: .updated, inserting: [.deleted, .changedInSave])
    }

    /// Marks the object for deletion when another context or program has deleted its row: nothing
    /// is left to propagate or to write.
    final func markDeletedElsewhere() {
        changeFlags(removing: .updated, inserting: [.deleted, .propagated, .deletedElsewhere])
    }

    /// Takes the deletion back.
    final func unmarkDeleted() { changeFlags(removing: [.deleted, .propagated]) }

    /// Takes the deletion back, also one made elsewhere.
    final func undelete() { changeFlags(removing: [.deleted, .propagated, .deletedElsewhere]) }

    /// Records that the delete rules of its relationships were applied, or need not be.
    final func markPropagated() { changeFlags(inserting: .propagated) }

    /// Lets its delete rules be applied again.
    final func unmarkPropagated() { changeFlags(removing: .propagated) }

    /// Ends a deletion whose row is gone: the object leaves the context.
    final func endDeletion() {
        changeFlags(removing: [.updated, .deleted, .deletedElsewhere], inserting: .deletionSaved)
    }

    /// Ends the insertion of a new object that leaves its context without being saved.
    final func discardInsertion() {
        changeFlags(removing: [.inserted, .updated], inserting: .discarded)
    }

    /// Restores a new object that was deleted in the present event.
    final func takeBackDiscarding() {
        changeFlags(removing: [.deleted, .discarded, .propagated], inserting: [.inserted, .changedInSave])
    }

    /// Marks the object as neither changed nor deleted.
    final func forgetChanges() { changeFlags(removing: [.updated, .deleted, .propagated, .changedInSave]) }
}
