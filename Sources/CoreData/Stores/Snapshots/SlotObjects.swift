/// Objects by slot, of which there is mostly one: that lies here, and only others in memory of their own.
struct SlotObjects<Object: AnyObject> {
    typealias Entry = (slot: Int, object: Object)

    // Nil before the others are.
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

    /// Gives a slot an object, in place of the one that it may have.
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

    /// Takes the object of a slot away, if it has one.
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
