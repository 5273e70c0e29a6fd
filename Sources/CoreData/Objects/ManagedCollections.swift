import Foundation

/// The set that `mutableSetValue(forKey:)` gives: reads and writes the relationship itself.
final class ManagedMutableSet: NSMutableSet {
    private let owner: NSManagedObject
    private let slot: Int

    init(owner: NSManagedObject, slot: Int) {
        self.owner = owner
        self.slot = slot
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        preconditionFailure("This set is a view of a relationship: get it with mutableSetValue(forKey:).")
    }

    required convenience init?(coder: NSCoder) { nil }

    private var current: ContiguousArray<NSManagedObject> { owner.toManyMembers(slot).objects }

    override var count: Int { current.count }

    // Foundation describes only sets of its own classes.
    override var description: String { NSSet(array: Array(current)).description }

    override func description(withLocale locale: Locale?) -> String { NSSet(array: Array(current)).description(withLocale: locale) }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, owner.isMember(object, slot: slot) else { return nil }
        return object
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(current)).objectEnumerator() }

    override var allObjects: [Any] { Array(current) }

    override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(current)) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(current)) }

    override func add(_ object: Any) { owner.addRelated(owner.member(object, slot: slot), slot: slot) }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner.removeRelated(object, slot: slot)
    }

    override func addObjects(from array: [Any]) { for object in array { add(object) } }

    override func removeAllObjects() { for object in current { owner.removeRelated(object, slot: slot) } }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        owner.setToMany(RelationshipValues.objects(in: otherSet) ?? [], slot: slot)
    }

    override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }

    override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }

    override func intersect(_ otherSet: Set<AnyHashable>) {
        for object in current where !otherSet.contains(object) { owner.removeRelated(object, slot: slot) }
    }
}

/// The ordered set that `mutableOrderedSetValue(forKey:)` gives, and `primitiveValue(forKey:)`: reads and writes the relationship
/// itself.
///
/// Foundation's `NSOrderedSet` has members that cannot be overridden and that look at its own storage only: iteration,
/// `array`, `set`, `firstObject`, `lastObject`, `reversed`. So the superclass holds the members as well. They follow every
/// change made through this set; changes made elsewhere with the next one made through it, or with `count` if that differs.
final class ManagedMutableOrderedSet: NSMutableOrderedSet {
    private let owner: NSManagedObject
    private let slot: Int
    /// Whether changes are neither tracked nor told to the other side.
    private let isPrimitive: Bool
    /// What the superclass holds.
    private var mirrored: ContiguousArray<ObjectIdentifier>
    /// Whether the superclass is at work on its own storage: it asks for `count` and `contains(_:)` and means that.
    private var isMirroring = false

    /// Cost: O(n) in the members of the relationship.
    init(owner: NSManagedObject, slot: Int, isPrimitive: Bool = false) {
        self.owner = owner
        self.slot = slot
        self.isPrimitive = isPrimitive
        let members = owner.toManyMembers(slot).objects
        mirrored = ContiguousArray(members.map { ObjectIdentifier($0) })
        super.init(objects: members.map { $0 as AnyObject }, count: members.count)
    }

    required convenience init?(coder: NSCoder) { nil }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure(
            "This ordered set is a view of a relationship: get it with mutableOrderedSetValue(forKey:).")
    }

    private var current: ContiguousArray<NSManagedObject> { owner.toManyMembers(slot).objects }

    /// Makes the superclass hold the relationship's members: replaces what lies between the first and the last difference.
    private func mirror() {
        let wanted = current
        let shorter = Swift.min(wanted.count, mirrored.count)
        var start = 0
        while start < shorter, ObjectIdentifier(wanted[start]) == mirrored[start] { start += 1 }
        var same = 0
        while same < shorter - start,
            ObjectIdentifier(wanted[wanted.count - 1 - same]) == mirrored[mirrored.count - 1 - same]
        {
            same += 1
        }
        isMirroring = true
        defer { isMirroring = false }
        for index in (start..<(mirrored.count - same)).reversed() { super.removeObject(at: index) }
        for index in start..<(wanted.count - same) { super.insert(wanted[index], at: index) }
        mirrored = ContiguousArray(wanted.map { ObjectIdentifier($0) })
    }

    private func object(_ value: Any) -> NSManagedObject { owner.member(value, slot: slot) }

    private func include(_ object: NSManagedObject, at index: Int? = nil) {
        if !isPrimitive { return owner.addRelated(object, slot: slot, at: index) }
        owner.addPrimitiveMember(object, slot: slot, at: index)
        owner.noteUntracked(owner.layout.slots[slot])
    }

    private func exclude(_ object: NSManagedObject) {
        if !isPrimitive { return owner.removeRelated(object, slot: slot) }
        owner.removePrimitiveMember(object, slot: slot)
        owner.noteUntracked(owner.layout.slots[slot])
    }

    private func append(_ object: NSManagedObject) {
        include(object)
        let count = owner.toManyMembers(slot).objects.count
        guard count == mirrored.count + 1, current[count - 1] === object else { return }
        // The usual case, without looking for differences.
        isMirroring = true
        defer { isMirroring = false }
        super.insert(object, at: count - 1)
        mirrored.append(ObjectIdentifier(object))
    }

    private func reorder(to order: ContiguousArray<NSManagedObject>) {
        owner.prepareForChange()
        if isPrimitive {
            owner.setOrder(order, slot: slot)
            owner.noteUntracked(owner.layout.slots[slot])
        } else {
            owner.reorder(to: order, slot: slot)
        }
        mirror()
    }

    // MARK: Reading

    override var count: Int {
        if isMirroring { return super.count }
        let count = current.count
        if count != mirrored.count { mirror() }
        return count
    }

    override func object(at index: Int) -> Any { current[index] }

    override func index(of value: Any) -> Int {
        guard let object = value as? NSManagedObject else { return NSNotFound }
        var members = owner.toManyMembers(slot)
        return members.position(of: object) ?? NSNotFound
    }

    override func contains(_ value: Any) -> Bool {
        isMirroring ? super.contains(value) : index(of: value) != NSNotFound
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: Array(current)) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: Array(current)) }

    // MARK: Changing

    override func insert(_ value: Any, at index: Int) {
        let object = object(value)
        if owner.isMember(object, slot: slot) { return }
        include(object, at: index)
        mirror()
    }

    override func removeObject(at index: Int) {
        exclude(current[index])
        mirror()
    }

    override func replaceObject(at index: Int, with value: Any) {
        let new = object(value)
        let old = current[index]
        if old === new { return }
        exclude(old)
        include(new, at: index)
        mirror()
    }

    override func add(_ value: Any) {
        append(object(value))
        if mirrored.count != current.count { mirror() }
    }

    override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
        for object in UnsafeBufferPointer(start: objects, count: count) { add(object) }
    }

    override func addObjects(from array: [Any]) { for value in array { add(value) } }

    override func remove(_ value: Any) {
        guard let object = value as? NSManagedObject else { return }
        exclude(object)
        mirror()
    }

    override func removeObjects(in array: [Any]) {
        for case let object as NSManagedObject in array { exclude(object) }
        mirror()
    }

    override func removeObjects(at indexes: IndexSet) {
        let members = current
        for index in indexes { exclude(members[index]) }
        mirror()
    }

    override func removeAllObjects() {
        for object in current { exclude(object) }
        mirror()
    }

    override func intersect(_ other: NSOrderedSet) {
        for object in current where !other.contains(object) { exclude(object) }
        mirror()
    }

    override func intersectSet(_ other: Set<AnyHashable>) {
        for object in current where !other.contains(object) { exclude(object) }
        mirror()
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        var order = current
        order.swapAt(first, second)
        reorder(to: order)
    }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        let order = current
        let moved = indexes.map { order[$0] }
        var rest = ContiguousArray(order.enumerated().filter { !indexes.contains($0.offset) }.map(\.element))
        rest.insert(contentsOf: moved, at: Swift.min(index, rest.count))
        reorder(to: rest)
    }

    // `sort(comparator:)` leads here. `sort(using:)` cannot be overridden either and sorts only what the superclass holds.
    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult
    ) {
        let order = Array(current)
        let part = NSArray(array: Array(order[range.location..<(range.location + range.length)]))
        var sorted = current
        for (offset, value) in part.sortedArray(options: options, usingComparator: compare).enumerated() {
            sorted[range.location + offset] = object(value)
        }
        reorder(to: sorted)
    }
}
