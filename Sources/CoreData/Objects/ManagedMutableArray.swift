import Foundation

/// The array that `mutableArrayValue(forKey:)` gives: reads and writes the property itself, an ordered relationship or an attribute whose
/// values are arrays.
///
/// A relationship has each of its objects once: what is a member already is not added again.
final class ManagedMutableArray: NSMutableArray {
    private let owner: NSManagedObject
    private let slot: Int
    private let isRelationship: Bool

    init(owner: NSManagedObject, slot: Int) {
        self.owner = owner
        self.slot = slot
        isRelationship = owner.layout.slots[slot].relationship != nil
        super.init(capacity: 0)
    }

    required convenience init(objects: UnsafePointer<AnyObject>?, count: Int) {
        preconditionFailure("This array is a view of a property: get it with mutableArrayValue(forKey:).")
    }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure("This array is a view of a property: get it with mutableArrayValue(forKey:).")
    }

    required convenience init?(coder: NSCoder) { nil }

    private var members: ContiguousArray<NSManagedObject> { owner.toManyMembers(slot).objects }

    /// An attribute's array; empty for nil.
    private var values: [Any] {
        guard let value = owner.objectValue(slot) else { return [] }
        guard let values = value as? [Any] ?? (value as? NSArray).map({ Array($0) }) else {
            preconditionFailure("\(owner.layout.name).\(owner.layout.slots[slot].name) is no array, but a \(type(of: value)).")
        }
        return values
    }

    private func object(_ value: Any) -> NSManagedObject { owner.member(value, slot: slot) }

    /// Changes an attribute's array, as its accessor would.
    private func change(_ change: (inout [Any]) -> Void) {
        var values = values
        change(&values)
        owner.setObjectValue(values, slot: slot)
    }

    // MARK: Reading

    override var count: Int { isRelationship ? members.count : values.count }

    override func object(at index: Int) -> Any { isRelationship ? members[index] : values[index] }

    override func copy(with zone: NSZone? = nil) -> Any { NSArray(array: isRelationship ? Array(members) : values) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableArray(array: isRelationship ? Array(members) : values) }

    // MARK: Changing

    override func insert(_ value: Any, at index: Int) {
        guard isRelationship else { return change { $0.insert(value, at: index) } }
        let object = object(value)
        if !owner.isMember(object, slot: slot) { owner.addRelated(object, slot: slot, at: index) }
    }

    override func add(_ value: Any) {
        guard isRelationship else { return change { $0.append(value) } }
        owner.addRelated(object(value), slot: slot)
    }

    override func addObjects(from array: [Any]) {
        guard isRelationship else { return change { $0 += array } }
        for value in array { add(value) }
    }

    override func removeObject(at index: Int) {
        guard isRelationship else { return change { $0.remove(at: index) } }
        owner.removeRelated(members[index], slot: slot)
    }

    override func removeLastObject() {
        let count = count
        if count > 0 { removeObject(at: count - 1) }
    }

    override func replaceObject(at index: Int, with value: Any) {
        guard isRelationship else { return change { $0[index] = value } }
        let (old, new) = (members[index], object(value))
        if old === new { return }
        owner.removeRelated(old, slot: slot)
        owner.addRelated(new, slot: slot, at: index)
    }

    override func removeAllObjects() { setArray([]) }

    override func setArray(_ array: [Any]) {
        guard isRelationship else { return change { $0 = array } }
        owner.setToMany(NSOrderedSet(array: array).map(object), slot: slot)
    }

    // What follows is put together from the array that there would be, as a relationship has no two places for one object meanwhile.

    private func changeAll(_ change: (NSMutableArray) -> Void) {
        let changed = NSMutableArray(array: isRelationship ? Array(members) : values)
        change(changed)
        setArray(Array(changed))
    }

    override func insert(_ objects: [Any], at indexes: IndexSet) { changeAll { $0.insert(objects, at: indexes) } }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        changeAll { $0.exchangeObject(at: first, withObjectAt: second) }
    }

    override func remove(_ value: Any) { changeAll { $0.remove(value) } }

    override func remove(_ value: Any, in range: NSRange) { changeAll { $0.remove(value, in: range) } }

    override func removeObject(identicalTo value: Any) { changeAll { $0.removeObject(identicalTo: value) } }

    override func removeObject(identicalTo value: Any, in range: NSRange) { changeAll { $0.removeObject(identicalTo: value, in: range) } }

    override func removeObjects(in array: [Any]) { changeAll { $0.removeObjects(in: array) } }

    override func removeObjects(in range: NSRange) { changeAll { $0.removeObjects(in: range) } }

    override func removeObjects(at indexes: IndexSet) { changeAll { $0.removeObjects(at: indexes) } }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) { changeAll { $0.replaceObjects(at: indexes, with: objects) } }

    override func replaceObjects(in range: NSRange, withObjectsFrom array: [Any]) {
        changeAll { $0.replaceObjects(in: range, withObjectsFrom: array) }
    }

    override func replaceObjects(in range: NSRange, withObjectsFrom array: [Any], range other: NSRange) {
        changeAll { $0.replaceObjects(in: range, withObjectsFrom: array, range: other) }
    }

    override func sort(options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult) {
        changeAll { $0.sort(options: options, usingComparator: compare) }
    }
}
