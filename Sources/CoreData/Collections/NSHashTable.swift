import Foundation

/// A set of objects that need not retain them.
///
/// Unlike on a Mac, released objects are never counted. A table may be used by one thread at a
/// time.
///
/// Source: <https://developer.apple.com/documentation/foundation/nshashtable>
///
/// Adding, finding and removing cost O(1) on average.
///
/// ```swift
/// let observers = NSHashTable<Observer>.weakObjects()
/// observers.add(observer)                                 // forgotten when nobody else keeps it
/// for observer in observers.allObjects { observer.update() }
/// ```
open class NSHashTable<ObjectType: AnyObject>: NSObject {
    private var objects: HeldObjects

    /// A table that holds and compares its objects as the options say. The capacity is without
    /// effect.
    public init(options: NSPointerFunctions.Options = [], capacity: Int = 0) { objects = HeldObjects(options: options) }

    /// A table that does not retain its objects.
    public static func weakObjects() -> NSHashTable<ObjectType> { NSHashTable(options: .weakMemory) }

    /// The number of objects. Cost: O(*n*).
    open var count: Int { objects.living.count }

    /// The objects, in no order.
    open var allObjects: [ObjectType] { objects.living.compactMap { $0.key.object as? ObjectType } }

    /// One of the objects; nil if there are none.
    open var anyObject: ObjectType? { allObjects.first }

    /// The object that is equal to another one; nil if there is none.
    open func member(_ object: ObjectType?) -> ObjectType? {
        object.flatMap { objects.entry(of: $0)?.key.object as? ObjectType }
    }

    /// Whether the table contains an equal object.
    open func contains(_ object: ObjectType?) -> Bool { member(object) != nil }

    /// Adds an object, unless the table contains an equal one.
    open func add(_ object: ObjectType?) {
        guard let object, !contains(object) else { return }
        objects.add(.init(key: HeldObject(object, objects.options), value: nil), for: object)
    }

    /// Removes the object that is equal to another one.
    open func remove(_ object: ObjectType?) {
        if let object { objects.remove(object) }
    }

    /// Removes all objects.
    open func removeAllObjects() { objects.removeAll() }

    /// An enumerator of the objects. It retains them until the enumeration is over.
    open func objectEnumerator() -> NSEnumerator { (allObjects as NSArray).objectEnumerator() }

    /// Adds the objects of another table.
    open func union(_ other: NSHashTable<ObjectType>) {
        for object in other.allObjects { add(object) }
    }

    /// Removes the objects of another table.
    open func minus(_ other: NSHashTable<ObjectType>) {
        for object in other.allObjects { remove(object) }
    }

    /// Removes the objects that another table does not have.
    open func intersect(_ other: NSHashTable<ObjectType>) {
        for object in allObjects where !other.contains(object) { remove(object) }
    }

    /// Whether the tables have an object in common.
    open func intersects(_ other: NSHashTable<ObjectType>) -> Bool { allObjects.contains { other.contains($0) } }

    /// Whether another table contains all objects of this one.
    open func isSubset(of other: NSHashTable<ObjectType>) -> Bool { allObjects.allSatisfy { other.contains($0) } }
}
