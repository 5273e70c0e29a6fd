import Foundation

/// The set that `mutableSetValue(forKey:)` returns. It reads and writes the relationship itself.
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

    override func description(withLocale locale: Locale?) -> String {
        NSSet(array: Array(current)).description(withLocale: locale)
    }

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
