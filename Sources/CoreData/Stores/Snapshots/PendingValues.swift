/// The unsaved values of one row, by slot.
///
/// For a store: values are in the store's form (`PropertyConversion.storeValue`): no `.object`, no `.custom`.
///
/// The values lie behind the header, in the same allocation; only slots of the mask are initialized.
final class PendingValues: ManagedBuffer<PendingValues.Header, PropertyValue> {
    struct Header {
        let slotCount: Int
        /// Bit n: slot n has a value here.
        var mask: SlotMask
        /// For a managed object: properties changed through accessors (not primitive setters) since the last save.
        var tracked: SlotMask
        /// For a managed object: properties changed since the last `processPendingChanges`.
        var eventMask: SlotMask
    }

    /// - Parameters:
    ///   - slotCount: how many slots may have values.
    ///   - propertyCount: how many properties changes are tracked of; 0 for none.
    static func make(slotCount: Int, propertyCount: Int = 0) -> PendingValues {
        let made = create(minimumCapacity: slotCount) { _ in
            Header(
                slotCount: slotCount, mask: SlotMask(count: slotCount), tracked: SlotMask(count: propertyCount),
                eventMask: SlotMask(count: propertyCount))
        }
        return unsafeDowncast(made, to: PendingValues.self)
    }

    deinit {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.forEach(below: header.pointee.slotCount) { (values + $0).deinitialize(count: 1) }
        }
    }

    var slotCount: Int {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.slotCount } }
    }

    var mask: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.mask } }
    }

    var tracked: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.tracked } }
    }

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

    @inline(__always)
    func endEvent() { withUnsafeMutablePointerToHeader { $0.pointee.eventMask.removeAll() } }

    @inline(__always)
    func has(_ slot: Int) -> Bool { withUnsafeMutablePointerToHeader { $0.pointee.mask.contains(slot) } }

    /// A slot's value: `.null` for one that has none.
    @inline(__always)
    subscript(slot: Int) -> PropertyValue {
        get { withUnsafeMutablePointers { header, values in header.pointee.mask.contains(slot) ? values[slot] : .null } }
        set {
            withUnsafeMutablePointers { header, values in
                if header.pointee.mask.contains(slot) {
                    values[slot] = newValue
                } else {
                    (values + slot).initialize(to: newValue)
                    header.pointee.mask.insert(slot)
                }
            }
        }
    }

    /// The value of a slot that is an integer now; nil for any other value, and for none.
    @inline(__always)
    func integer(_ slot: Int) -> Int64? {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot), case .integer(let integer) = values[slot] else { return nil }
            return integer
        }
    }

    func remove(_ slot: Int) {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot) else { return }
            (values + slot).deinitialize(count: 1)
            header.pointee.mask.remove(slot)
        }
    }

    /// Takes all values away, so that the object serves for another row.
    func removeAll() {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.forEach(below: header.pointee.slotCount) { (values + $0).deinitialize(count: 1) }
            header.pointee.mask.removeAll()
        }
    }

    func copy() -> PendingValues {
        let copy = PendingValues.make(slotCount: slotCount)
        withUnsafeMutablePointers { header, values in
            copy.withUnsafeMutablePointers { copiedHeader, copied in
                copiedHeader.pointee.mask = header.pointee.mask
                header.pointee.mask.forEach(below: header.pointee.slotCount) { (copied + $0).initialize(to: values[$0]) }
            }
        }
        return copy
    }
}
