import Foundation

/// The ordered set that `mutableOrderedSetValue(forKey:)` and `primitiveValue(forKey:)` return. It
/// reads and writes the relationship itself.
///
/// Some members of Foundation's `NSOrderedSet` cannot be overridden and read only its own array:
/// iteration, `array`, `set`, `firstObject`, `lastObject`, `reversed`, `sort(using:)`. That array
/// is therefore a live view of the relationship, too (`OrderedSetArray`).
final class ManagedMutableOrderedSet: NSMutableOrderedSet {
    private let members: OrderedMembers

    init(owner: NSManagedObject, slot: Int, isPrimitive: Bool = false) {
        members = OrderedMembers(owner: owner, slot: slot, isPrimitive: isPrimitive)
        super.init(capacity: 0)
        OrderedSetArray.replace(in: self, by: ManagedMutableArray(members))
    }

    required convenience init?(coder: NSCoder) { nil }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure(
            "This ordered set is a view of a relationship: get it with mutableOrderedSetValue(forKey:).")
    }

    private var current: ContiguousArray<NSManagedObject> { members.list.objects }

    // MARK: Reading

    override var count: Int { members.list.count }

    override func object(at index: Int) -> Any { members.list[index] }

    override func index(of value: Any) -> Int { members.index(of: value) ?? NSNotFound }

    override func contains(_ value: Any) -> Bool { members.contains(value) }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: Array(current)) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: Array(current)) }

    // MARK: Changing

    override func insert(_ value: Any, at index: Int) { members.insert(members.object(value), at: index) }

    override func removeObject(at index: Int) { members.remove(members.list[index]) }

    override func replaceObject(at index: Int, with value: Any) {
        members.replace(at: index, with: members.object(value))
    }

    override func add(_ value: Any) { members.add(members.object(value)) }

    override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
        for object in UnsafeBufferPointer(start: objects, count: count) { add(object) }
    }

    override func addObjects(from array: [Any]) { for value in array { add(value) } }

    override func remove(_ value: Any) { if let object = value as? NSManagedObject { members.remove(object) } }

    override func removeObjects(in array: [Any]) { for value in array { remove(value) } }

    override func removeObjects(at indexes: IndexSet) { members.remove(at: indexes) }

    override func removeAllObjects() { for object in current { members.remove(object) } }

    override func intersect(_ other: NSOrderedSet) {
        for object in current where !other.contains(object) { members.remove(object) }
    }

    override func intersectSet(_ other: Set<AnyHashable>) {
        for object in current where !other.contains(object) { members.remove(object) }
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) { members.exchange(first, second) }

    override func moveObjects(at indexes: IndexSet, to index: Int) { members.move(at: indexes, to: index) }

    // `sort(comparator:)` calls this method.
    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult
    ) {
        var sorted = current
        let part = NSArray(array: Array(sorted[range.location..<(range.location + range.length)]))
        for (offset, value) in part.sortedArray(options: options, usingComparator: compare).enumerated() {
            sorted[range.location + offset] = members.object(value)
        }
        members.reorder(to: sorted)
    }
}

/// The members of an ordered relationship, as its live views read and change them.
struct OrderedMembers {
    let owner: NSManagedObject
    let slot: Int
    /// Whether changes are neither tracked nor applied to the inverse.
    let isPrimitive: Bool

    var list: ObjectList { owner.toManyMembers(slot) }

    func object(_ value: Any) -> NSManagedObject { owner.member(value, slot: slot) }

    func index(of value: Any) -> Int? { (value as? NSManagedObject).flatMap { owner.position(of: $0, slot: slot) } }

    func contains(_ value: Any) -> Bool { (value as? NSManagedObject).map { owner.isMember($0, slot: slot) } ?? false }

    /// Adds an object at the end; records a change even if it is a member already.
    func add(_ object: NSManagedObject) { include(object, at: nil) }

    /// Inserts an object that is not a member yet.
    func insert(_ object: NSManagedObject, at index: Int) { if !contains(object) { include(object, at: index) } }

    private func include(_ object: NSManagedObject, at index: Int?) {
        if !isPrimitive { return owner.addRelated(object, slot: slot, at: index) }
        owner.addPrimitiveMember(object, slot: slot, at: index)
        noteUntracked()
    }

    func remove(_ object: NSManagedObject) {
        if !isPrimitive { return owner.removeRelated(object, slot: slot) }
        owner.removePrimitiveMember(object, slot: slot)
        noteUntracked()
    }

    func remove(at indexes: IndexSet) {
        let members = list.objects
        for index in indexes { remove(members[index]) }
    }

    func replace(at index: Int, with new: NSManagedObject) {
        let old = list[index]
        if old === new { return }
        remove(old)
        include(new, at: index)
    }

    func setAll(_ members: [NSManagedObject]) {
        if !isPrimitive { return owner.setToMany(members, slot: slot) }
        owner.setPrimitiveMembers(members, slot: slot)
        noteUntracked()
    }

    func exchange(_ first: Int, _ second: Int) { changeOrder { owner.exchangeMembers(first, second, slot: slot) } }

    func move(at indexes: IndexSet, to index: Int) {
        changeOrder { owner.moveMembers(at: indexes, to: index, slot: slot) }
    }

    func reorder(to order: ContiguousArray<NSManagedObject>) { changeOrder { owner.setOrder(order, slot: slot) } }

    private func changeOrder(_ change: () -> Bool) {
        owner.prepareForChange()
        let isChanged = change()
        if isPrimitive { noteUntracked() } else if isChanged { owner.noteChange(slot) }
    }

    private func noteUntracked() { owner.noteUntracked(owner.layout.slots[slot]) }
}

/// The array in which `NSMutableOrderedSet` keeps its members in order.
private enum OrderedSetArray {
    /// The offsets of an ordered set's two references to its array. They are private, and nothing
    /// else in an empty set is a mutable array.
    private static let offsets: [Int] = {
        let sample = NSMutableOrderedSet(capacity: 0)
        let start = UnsafeRawPointer(Unretained(sample).pointer)
        let word = MemoryLayout<UInt>.size
        // Safe: both classes declare only references, and an object begins with its class.
        let found = withExtendedLifetime(sample) {
            stride(from: 2 * word, to: instanceSize(of: NSMutableOrderedSet.self), by: word).filter { offset in
                let object = start.load(fromByteOffset: offset, as: UnsafeRawPointer?.self)
                return object?.load(as: UInt.self) == unsafeBitCast(NSMutableArray.self, to: UInt.self)
            }
        }
        precondition(
            found.count == 2, "This version of Foundation keeps the members of NSMutableOrderedSet in another way.")
        return found
    }()

    /// Makes an ordered set that is not in use yet keep its members in another array.
    static func replace(in set: NSMutableOrderedSet, by array: NSMutableArray) {
        let start = Unretained(set).pointer
        for offset in offsets { (start + offset).assumingMemoryBound(to: NSMutableArray.self).pointee = array }
    }
}
