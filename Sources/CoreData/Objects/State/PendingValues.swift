/// The unsaved values of an object, which a save passes to a store unchanged.
///
/// Objects that only contexts know, destinations and transformables' objects, are kept beside the
/// values. The slot of such an object holds the store's value after a call of `store(_:_:)`, and an
/// arbitrary value before.
final class PendingValues: RowValues {
    /// - Parameters:
    ///   - slotCount: the number of slots that may have values.
    ///   - propertyCount: the number of properties with change tracking; 0 for none.
    static func make(slotCount: Int, propertyCount: Int) -> PendingValues {
        let made = create(minimumCapacity: slotCount) { _ in
            Header(
                slotCount: slotCount, mask: SlotMask(count: slotCount), tracked: SlotMask(count: propertyCount),
                eventMask: SlotMask(count: propertyCount))
        }
        // `create` makes an instance of the class that it is called for.
        return unsafeDowncast(made, to: PendingValues.self)
    }

    /// A copy of the values, without the tracked changes.
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

    /// The state when the event began; nil if it was that of the store, or new.
    var former: FormerState? {
        get {
            withUnsafeMutablePointerToHeader { header in
                // Only former states are stored there.
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
    var mayHoldOthers: Bool {
        withUnsafeMutablePointerToHeader { !$0.pointee.objects.isEmpty || $0.pointee.former != nil }
    }

    /// Whether a slot holds an object.
    private var hasObjects: Bool {
        @inline(__always) get { withUnsafeMutablePointerToHeader { !$0.pointee.objects.isEmpty } }
    }

    /// The value of a slot; null if it has none.
    func value(_ slot: Int) -> PropertyValue {
        guard hasObjects, let object = object(slot) else { return .stored(self[slot]) }
        return Self.value(object)
    }

    private static func value(_ object: AnyObject) -> PropertyValue {
        // `set` appends objects of these two kinds, and `CustomValue` is final.
        if type(of: object) == CustomValue.self { return .custom(unsafeDowncast(object, to: CustomValue.self)) }
        return .object(unsafeDowncast(object, to: NSManagedObject.self))
    }

    /// Calls a function with each object; it may set the store's value of the slot.
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

    /// Replaces the references in slots that hold no object.
    func replaceReferences(_ replacement: (RowReference) -> RowReference?) {
        for slot in 0..<slotCount where has(slot) {
            if let reference = value(slot).reference {
                self[slot] = replacement(reference).map(StoredValue.reference) ?? .null
            }
        }
    }

    /// Sets the store's value of a slot that holds an object.
    func store(_ slot: Int, _ value: StoredValue) { self[slot] = value }

    func remove(_ slot: Int) {
        if hasObjects { removeObject(slot) }
        clear(slot)
    }

    /// The destination in a slot; nil for any other value, and for no value.
    @inline(__always)
    func destination(_ slot: Int) -> NSManagedObject? {
        hasObjects ? value(slot).destination : nil
    }

    /// Removes all destinations and returns them.
    ///
    /// - Parameter keepingKeys: whether their slots keep the keys of destinations that have rows;
    ///   otherwise the slots become null.
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
