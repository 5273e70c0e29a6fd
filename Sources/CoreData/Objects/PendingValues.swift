/// The unsaved values of an object, which a save gives to a store as they are.
///
/// What only contexts know, a destination or a transformable's object, is kept beside the values. Its slot has the value that a store
/// gets once `store(_:_:)` was called for it, and any value before.
final class PendingValues: RowValues {
    /// - Parameters:
    ///   - slotCount: how many slots may have values.
    ///   - propertyCount: how many properties changes are tracked of; 0 for none.
    static func make(slotCount: Int, propertyCount: Int) -> PendingValues {
        let made = create(minimumCapacity: slotCount) { _ in
            Header(
                slotCount: slotCount, mask: SlotMask(count: slotCount), tracked: SlotMask(count: propertyCount),
                eventMask: SlotMask(count: propertyCount))
        }
        // `create` makes an instance of the class that it is called for.
        return unsafeDowncast(made, to: PendingValues.self)
    }

    /// A copy of the values, without the changes that are tracked.
    func copyOfValues() -> PendingValues {
        let copy = PendingValues.make(slotCount: slotCount, propertyCount: 0)
        copyValues(to: copy)
        let objects = withUnsafeMutablePointerToHeader { $0.pointee.objects }
        copy.withUnsafeMutablePointerToHeader { $0.pointee.objects = objects }
        return copy
    }

    // MARK: Changes

    /// Properties changed through accessors (not primitive setters) since the last save.
    var tracked: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.tracked } }
    }

    /// Properties changed since the last `processPendingChanges`.
    var eventMask: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.eventMask } }
    }

    @inline(__always)
    func noteChange(_ property: Int) {
        withUnsafeMutablePointerToHeader {
            $0.pointee.tracked.insert(property)
            $0.pointee.eventMask.insert(property)
        }
    }

    func track(_ property: Int) { withUnsafeMutablePointerToHeader { $0.pointee.tracked.insert(property) } }

    /// What the object was when the present event began; nil for one that was as its store has it, or new.
    var former: FormerState? {
        get {
            withUnsafeMutablePointerToHeader { header in
                // Nothing else is put there.
                header.pointee.former.map { unsafeDowncast($0, to: FormerState.self) }
            }
        }
        set { withUnsafeMutablePointerToHeader { $0.pointee.former = newValue } }
    }

    @inline(__always)
    func endEvent() {
        withUnsafeMutablePointerToHeader { header in
            header.pointee.eventMask.removeAll()
            if header.pointee.former != nil { header.pointee.former = nil }
        }
    }

    // MARK: Values

    /// Whether other managed objects may be released with the values.
    @inline(__always)
    var mayHoldOthers: Bool { withUnsafeMutablePointerToHeader { !$0.pointee.objects.isEmpty || $0.pointee.former != nil } }

    /// Whether a value stands for an object.
    private var hasObjects: Bool {
        @inline(__always) get { withUnsafeMutablePointerToHeader { !$0.pointee.objects.isEmpty } }
    }

    /// A slot's value: null for one that has none.
    func value(_ slot: Int) -> PropertyValue {
        guard hasObjects, let object = object(slot) else { return .stored(self[slot]) }
        return Self.value(object)
    }

    private static func value(_ object: AnyObject) -> PropertyValue {
        // `set` appends objects of these two kinds, and `CustomValue` is final.
        if type(of: object) == CustomValue.self { return .custom(unsafeDowncast(object, to: CustomValue.self)) }
        return .object(unsafeDowncast(object, to: NSManagedObject.self))
    }

    /// Calls a function with each value that is an object; it may give the slot another value for the store.
    func forEachObject(_ body: (Int, PropertyValue) throws -> Void) rethrows {
        guard hasObjects else { return }
        let objects = withUnsafeMutablePointerToHeader { $0.pointee.objects }
        try objects.forEach { slot, object in try body(slot, Self.value(object)) }
    }

    func set(_ slot: Int, _ value: PropertyValue) {
        switch value {
        case .stored(let value):
            if hasObjects { removeObject(slot) }
            self[slot] = value
        case .object(let destination):
            self[slot] = .reference(destination.rowReference)
            setObject(slot, destination)
        case .custom(let custom):
            self[slot] = .null
            setObject(slot, custom)
        }
    }

    /// Replaces references of rows for which there are no objects.
    func replaceReferences(_ replacement: (RowReference) -> RowReference?) {
        for slot in 0..<slotCount where has(slot) {
            if let reference = value(slot).reference { self[slot] = replacement(reference).map(StoredValue.reference) ?? .null }
        }
    }

    /// Gives a slot the value that a store gets for its object.
    func store(_ slot: Int, _ value: StoredValue) { self[slot] = value }

    func remove(_ slot: Int) {
        if hasObjects { removeObject(slot) }
        clear(slot)
    }

    /// The destination in a slot; nil for any other value, and for none.
    @inline(__always)
    func destination(_ slot: Int) -> NSManagedObject? {
        hasObjects ? value(slot).destination : nil
    }

    /// Gives away all destinations.
    ///
    /// - Parameter keepingKeys: whether their slots keep the keys of those that have rows; they are null otherwise.
    func takeDestinations(keepingKeys: Bool) -> [(slot: Int, object: NSManagedObject)] {
        var taken: [(slot: Int, object: NSManagedObject)] = []
        forEachObject { slot, value in
            if let destination = value.destination { taken.append((slot, destination)) }
        }
        for (slot, destination) in taken {
            removeObject(slot)
            self[slot] = keepingKeys && destination.storeNumber >= 0 ? .reference(destination.rowReference) : .null
        }
        return taken
    }

    private func object(_ slot: Int) -> AnyObject? {
        withUnsafeMutablePointerToHeader { $0.pointee.objects[slot] }
    }

    @inline(__always)
    private func setObject(_ slot: Int, _ object: AnyObject) {
        withUnsafeMutablePointerToHeader { $0.pointee.objects.set(slot, object) }
    }

    private func removeObject(_ slot: Int) {
        withUnsafeMutablePointerToHeader { $0.pointee.objects.remove(slot) }
    }
}
