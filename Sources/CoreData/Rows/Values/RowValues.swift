/// The new values of one row, by slot.
///
/// The values are in the same allocation, after the header. Only slots in the mask are initialized.
package class RowValues: ManagedBuffer<RowValues.Header, StoredValue> {
    package struct Header {
        let slotCount: Int
        /// Bit n: whether slot n has a value here.
        var mask: SlotMask
        /// Further state for `PendingValues`, which collects the values; empty for a store.
        var tracked: SlotMask
        var eventMask: SlotMask
        /// The objects that the values of slots represent.
        var objects = SlotObjects<AnyObject>()
        var former: AnyObject?
    }

    /// - Parameter slotCount: the number of slots that may have values.
    package static func make(slotCount: Int) -> RowValues {
        let made = create(minimumCapacity: slotCount) { _ in
            Header(
                slotCount: slotCount, mask: SlotMask(count: slotCount), tracked: SlotMask(count: 0),
                eventMask: SlotMask(count: 0))
        }
        // `create` makes an instance of the class that it is called for.
        return unsafeDowncast(made, to: RowValues.self)
    }

    deinit {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.forEach(below: header.pointee.slotCount) { (values + $0).deinitialize(count: 1) }
        }
    }

    final var slotCount: Int {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.slotCount } }
    }

    package final var mask: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.mask } }
    }

    @inline(__always)
    package final func has(_ slot: Int) -> Bool { withUnsafeMutablePointerToHeader { $0.pointee.mask.contains(slot) } }

    /// Whether a slot has a value here that is not null. A value that is not a number is kept as
    /// null.
    @inline(__always)
    final func hasValue(_ slot: Int) -> Bool {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot) else { return false }
            switch values[slot] {
            case .null: return false
            case .double(let number): return !number.isNaN
            default: return true
            }
        }
    }

    /// The value of a slot; `.null` for a slot without a value.
    @inline(__always)
    package final subscript(slot: Int) -> StoredValue {
        get {
            withUnsafeMutablePointers { header, values in header.pointee.mask.contains(slot) ? values[slot] : .null }
        }
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

    /// Returns the value of a slot if it is an integer; nil for any other value, and for none.
    @inline(__always)
    final func integer(_ slot: Int) -> Int64? {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot), case .integer(let integer) = values[slot] else { return nil }
            return integer
        }
    }

    /// Removes the value of a slot.
    final func clear(_ slot: Int) {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot) else { return }
            (values + slot).deinitialize(count: 1)
            header.pointee.mask.remove(slot)
        }
    }

    /// Removes all values, so that the object can be used for another row.
    package final func removeAll() {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.forEach(below: header.pointee.slotCount) { (values + $0).deinitialize(count: 1) }
            header.pointee.mask.removeAll()
        }
    }

    final func copy() -> RowValues {
        let copy = RowValues.make(slotCount: slotCount)
        copyValues(to: copy)
        return copy
    }

    /// Copies all values to another object that has none yet.
    final func copyValues(to copy: RowValues) {
        withUnsafeMutablePointers { header, values in
            copy.withUnsafeMutablePointers { copiedHeader, copied in
                copiedHeader.pointee.mask = header.pointee.mask
                header.pointee.mask.forEach(below: header.pointee.slotCount) {
                    (copied + $0).initialize(to: values[$0])
                }
            }
        }
    }
}
