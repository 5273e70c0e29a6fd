/// Objects with one kind of pending change, in order; each knows its place.
struct ChangeList {
    private var slots: ContiguousArray<NSManagedObject?> = []
    private(set) var count = 0
    /// Grows with every insertion and removal.
    private(set) var changeCount = 0

    mutating func append(_ object: NSManagedObject) {
        changeCount += 1
        object.listIndex = Int32(slots.count)
        slots.append(object)
        count += 1
    }

    mutating func remove(_ object: NSManagedObject) {
        let index = Int(object.listIndex)
        guard index >= 0, index < slots.count, slots[index] === object else { return }
        slots[index] = nil
        changeCount += 1
        object.listIndex = -1
        count -= 1
        if count == 0 { slots.removeAll() }
    }

    /// Removes many objects of the list at once.
    mutating func remove(_ objects: ContiguousArray<NSManagedObject>) {
        guard objects.count == count, slots.count == count else {
            for object in objects { remove(object) }
            return
        }
        objects.forEachUnretained { $0.listIndex = -1 }
        removeAll()
    }

    mutating func removeAll() {
        slots.removeAll()
        changeCount += 1
        count = 0
    }

    /// The objects that were added last, back to the first one that does not meet a condition.
    func last(while condition: (NSManagedObject) -> Bool) -> [NSManagedObject] {
        var result: [NSManagedObject] = []
        for case let object? in slots.reversed() {
            guard condition(object) else { break }
            result.append(object)
        }
        return result
    }

    /// The objects in order of their change.
    var objects: ContiguousArray<NSManagedObject> {
        if slots.count == count {
            // No gaps: an optional reference is laid out like a reference.
            return unsafeBitCast(slots, to: ContiguousArray<NSManagedObject>.self)
        }
        var result = ContiguousArray<NSManagedObject>()
        result.reserveCapacity(count)
        for case let object? in slots { result.append(object) }
        return result
    }
}
