/// Objects by slot. Mostly there is only one, which is stored inline; further objects are in
/// separate memory.
struct SlotObjects<Object: AnyObject> {
    typealias Entry = (slot: Int, object: Object)

    // `first` is nil only if there are no others.
    private var first: Entry?
    private var others: ContiguousArray<Entry>?

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    @inline(__always)
    subscript(slot: Int) -> Object? {
        guard let first else { return nil }
        return first.slot == slot ? first.object : others?.first { $0.slot == slot }?.object
    }

    /// Sets the object of a slot, and replaces the one that it may have.
    @inline(__always)
    mutating func set(_ slot: Int, _ object: Object) {
        if first == nil || first?.slot == slot { first = (slot, object) } else { setOther(slot, object) }
    }

    private mutating func setOther(_ slot: Int, _ object: Object) {
        if let index = others?.firstIndex(where: { $0.slot == slot }) {
            others?[index].object = object
        } else if others == nil {
            others = [(slot, object)]
        } else {
            others?.append((slot, object))
        }
    }

    /// Removes the object of a slot, if it has one.
    mutating func remove(_ slot: Int) {
        if first?.slot == slot {
            first = others?.popLast()
        } else if let index = others?.firstIndex(where: { $0.slot == slot }) {
            others?.remove(at: index)
        }
    }

    func forEach(_ body: (Int, Object) throws -> Void) rethrows {
        guard let first else { return }
        try body(first.slot, first.object)
        guard let others else { return }
        for other in others { try body(other.slot, other.object) }
    }
}
