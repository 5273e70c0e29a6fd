import Foundation

/// A dictionary of objects that need not retain its keys and values. An entry disappears when one
/// of its two objects is released.
///
/// Unlike on a Mac, such entries are never counted. A table may be used by one thread at a time.
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

    /// A table that holds its keys and values as the options say. The capacity is without effect.
    public init(
        keyOptions: NSPointerFunctions.Options = [], valueOptions: NSPointerFunctions.Options = [], capacity: Int = 0
    ) {
        objects = HeldObjects(options: keyOptions)
        self.valueOptions = valueOptions
    }

    /// A table that retains keys and values.
    public static func strongToStrongObjects() -> NSMapTable<KeyType, ObjectType> { NSMapTable() }
    /// A table that retains its keys only.
    public static func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable(valueOptions: .weakMemory)
    }
    /// A table that retains its values, as long as their keys exist.
    ///
    /// ```swift
    /// let notes = NSMapTable<Item, NSString>.weakToStrongObjects()  // of objects that others keep
    /// ```
    public static func weakToStrongObjects() -> NSMapTable<KeyType, ObjectType> { NSMapTable(keyOptions: .weakMemory) }
    /// A table that retains neither.
    public static func weakToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable(keyOptions: .weakMemory, valueOptions: .weakMemory)
    }

    /// The number of entries. Cost: O(*n*).
    open var count: Int { objects.living.count }

    /// The value of a key; nil if there is none.
    open func object(forKey key: KeyType?) -> ObjectType? {
        key.flatMap { objects.entry(of: $0)?.value?.object as? ObjectType }
    }

    /// Sets the value of a key. Nil removes the key.
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

    /// An enumerator of the keys. It retains them until the enumeration is over.
    open func keyEnumerator() -> NSEnumerator {
        (objects.living.compactMap(\.key.object) as NSArray).objectEnumerator()
    }

    /// An enumerator of the values. It retains them until the enumeration is over.
    open func objectEnumerator() -> NSEnumerator? {
        (objects.living.compactMap { $0.value?.object } as NSArray).objectEnumerator()
    }

    /// The keys and values as a dictionary that retains them; keys that are equal in Swift's sense
    /// become one.
    open func dictionaryRepresentation() -> [AnyHashable: ObjectType] {
        var dictionary: [AnyHashable: ObjectType] = [:]
        for entry in objects.living {
            guard let key = entry.key.object, let value = entry.value?.object as? ObjectType else { continue }
            dictionary[(key as? NSObject).map(AnyHashable.init) ?? AnyHashable(ObjectIdentifier(key))] = value
        }
        return dictionary
    }
}
