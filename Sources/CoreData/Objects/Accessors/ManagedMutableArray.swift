import Foundation

/// The array that `mutableArrayValue(forKey:)` returns. It reads and writes the property itself: an
/// ordered relationship or an attribute whose values are arrays.
///
/// A relationship contains each object once: an object that is a member already is not added again.
final class ManagedMutableArray: NSMutableArray {
    private let owner: NSManagedObject
    private let slot: Int
    /// The members of a relationship; nil for an attribute.
    private let related: OrderedMembers?

    /// A view of an attribute whose values are arrays.
    init(attribute slot: Int, of owner: NSManagedObject) {
        self.owner = owner
        self.slot = slot
        related = nil
        super.init(capacity: 0)
    }

    /// A view of an ordered relationship.
    init(_ members: OrderedMembers) {
        owner = members.owner
        slot = members.slot
        related = members
        super.init(capacity: 0)
    }

    required convenience init(objects: UnsafePointer<AnyObject>?, count: Int) {
        preconditionFailure("This array is a view of a property: get it with mutableArrayValue(forKey:).")
    }

    required convenience init(arrayLiteral elements: Any...) {
        preconditionFailure("This array is a view of a property: get it with mutableArrayValue(forKey:).")
    }

    required convenience init?(coder: NSCoder) { nil }

    /// An attribute's array; empty for nil.
    private var values: [Any] {
        guard let value = owner.objectValue(slot) else { return [] }
        guard let values = value as? [Any] ?? (value as? NSArray).map({ Array($0) }) else {
            preconditionFailure(
                "\(owner.layout.name).\(owner.layout.slots[slot].name) is no array, but a \(type(of: value)).")
        }
        return values
    }

    /// Changes an attribute's array, as the attribute's accessor would.
    private func change(_ change: (inout [Any]) -> Void) {
        var values = values
        change(&values)
        owner.setObjectValue(values, slot: slot)
    }

    // MARK: Reading

    override var count: Int { related?.list.count ?? values.count }

    override func object(at index: Int) -> Any { related?.list[index] ?? values[index] }

    override func index(of value: Any) -> Int {
        if let related { return related.index(of: value) ?? NSNotFound }
        return super.index(of: value)
    }

    override func contains(_ value: Any) -> Bool { related?.contains(value) ?? super.contains(value) }

    private var all: [Any] { related.map { Array($0.list.objects) } ?? values }

    override func copy(with zone: NSZone? = nil) -> Any { NSArray(array: all) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableArray(array: all) }

    // MARK: Changing

    override func insert(_ value: Any, at index: Int) {
        guard let related else { return change { $0.insert(value, at: index) } }
        related.insert(related.object(value), at: index)
    }

    override func add(_ value: Any) {
        guard let related else { return change { $0.append(value) } }
        related.add(related.object(value))
    }

    override func addObjects(from array: [Any]) {
        if related == nil { return change { $0 += array } }
        for value in array { add(value) }
    }

    override func removeObject(at index: Int) {
        guard let related else { return change { $0.remove(at: index) } }
        related.remove(related.list[index])
    }

    override func removeLastObject() {
        let count = count
        if count > 0 { removeObject(at: count - 1) }
    }

    override func replaceObject(at index: Int, with value: Any) {
        guard let related else { return change { $0[index] = value } }
        related.replace(at: index, with: related.object(value))
    }

    override func removeAllObjects() { setArray([]) }

    override func setArray(_ array: [Any]) {
        guard let related else { return change { $0 = array } }
        related.setAll(NSOrderedSet(array: array).map(related.object))
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        guard let related else { return changeAll { $0.exchangeObject(at: first, withObjectAt: second) } }
        related.exchange(first, second)
    }

    override func remove(_ value: Any) {
        guard let related else { return changeAll { $0.remove(value) } }
        if let object = value as? NSManagedObject { related.remove(object) }
    }

    override func removeObjects(at indexes: IndexSet) {
        guard let related else { return changeAll { $0.removeObjects(at: indexes) } }
        related.remove(at: indexes)
    }

    // The following methods change a copy of the array and then set it, as an intermediate state
    // may contain an object twice, which a relationship cannot.

    private func changeAll(_ change: (NSMutableArray) -> Void) {
        let changed = NSMutableArray(array: all)
        change(changed)
        setArray(Array(changed))
    }

    override func insert(_ objects: [Any], at indexes: IndexSet) { changeAll { $0.insert(objects, at: indexes) } }

    override func remove(_ value: Any, in range: NSRange) { changeAll { $0.remove(value, in: range) } }

    override func removeObject(identicalTo value: Any) { changeAll { $0.removeObject(identicalTo: value) } }

    override func removeObject(identicalTo value: Any, in range: NSRange) {
        changeAll { $0.removeObject(identicalTo: value, in: range) }
    }

    override func removeObjects(in array: [Any]) { changeAll { $0.removeObjects(in: array) } }

    override func removeObjects(in range: NSRange) { changeAll { $0.removeObjects(in: range) } }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        changeAll { $0.replaceObjects(at: indexes, with: objects) }
    }

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
