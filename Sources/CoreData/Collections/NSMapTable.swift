import Foundation

/// A dictionary of objects whose keys and values it need not keep. An entry goes when one of its two objects goes.
///
/// Unlike on a Mac, entries that have gone are never counted. A table is for one thread at a time.
///
/// Source: <https://developer.apple.com/documentation/foundation/nsmaptable>
///
/// Setting, finding and removing cost O(1) on average.
///
/// ```swift
/// let views = NSMapTable<NSManagedObjectID, Observer>.strongToWeakObjects()
/// views.setObject(view, forKey: item.objectID)
/// let shown = views.object(forKey: item.objectID)
/// ```
open class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
    private var objects: HeldObjects
    private let valueOptions: NSPointerFunctions.Options

    /// A table that holds its keys and values so. The capacity is without effect.
    public init(keyOptions: NSPointerFunctions.Options = [], valueOptions: NSPointerFunctions.Options = [], capacity: Int = 0) {
        objects = HeldObjects(options: keyOptions)
        self.valueOptions = valueOptions
    }

    /// A table that keeps keys and values.
    public static func strongToStrongObjects() -> NSMapTable<KeyType, ObjectType> { NSMapTable() }
    /// A table that keeps its keys.
    public static func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> { NSMapTable(valueOptions: .weakMemory) }
    /// A table that keeps its values, for as long as their keys are there.
    ///
    /// ```swift
    /// let notes = NSMapTable<Item, NSString>.weakToStrongObjects()    // of objects that others keep
    /// ```
    public static func weakToStrongObjects() -> NSMapTable<KeyType, ObjectType> { NSMapTable(keyOptions: .weakMemory) }
    /// A table that keeps neither.
    public static func weakToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable(keyOptions: .weakMemory, valueOptions: .weakMemory)
    }

    /// How many entries are there. Cost: O(*n*).
    open var count: Int { objects.living.count }

    /// The value of a key; nil when there is none.
    open func object(forKey key: KeyType?) -> ObjectType? { key.flatMap { objects.entry(of: $0)?.value?.object as? ObjectType } }

    /// Gives a key another value. Nil removes it.
    open func setObject(_ object: ObjectType?, forKey key: KeyType?) {
        guard let key else { return }
        objects.remove(key)
        guard let object else { return }
        objects.add(.init(key: HeldObject(key, objects.options), value: HeldObject(object, valueOptions)), for: key)
    }

    /// Removes a key and its value.
    open func removeObject(forKey key: KeyType?) {
        if let key { objects.remove(key) }
    }

    /// Removes all keys and values.
    open func removeAllObjects() { objects.removeAll() }

    /// The keys, one by one. They are kept until the enumeration is over.
    open func keyEnumerator() -> NSEnumerator { (objects.living.compactMap(\.key.object) as NSArray).objectEnumerator() }

    /// The values, one by one. They are kept until the enumeration is over.
    open func objectEnumerator() -> NSEnumerator? { (objects.living.compactMap { $0.value?.object } as NSArray).objectEnumerator() }

    /// The keys and values as a dictionary that keeps them; keys that are equal in Swift's sense are one.
    open func dictionaryRepresentation() -> [AnyHashable: ObjectType] {
        var dictionary: [AnyHashable: ObjectType] = [:]
        for entry in objects.living {
            guard let key = entry.key.object, let value = entry.value?.object as? ObjectType else { continue }
            dictionary[(key as? NSObject).map(AnyHashable.init) ?? AnyHashable(ObjectIdentifier(key))] = value
        }
        return dictionary
    }
}
