import Foundation
import Synchronization

/// One record of an atomic store, in memory: an object ID and values by property name.
///
/// To-one relationships hold a node, to-many ones a set of nodes.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsatomicstorecachenode>
///
/// ```swift
/// let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: book, withReferenceObject: 7))
/// node.setValue("Emma", forKey: "title")
/// node.setValue(authorNode, forKey: "author")             // another node
/// store.addCacheNodes([node])
/// ```
open class NSAtomicStoreCacheNode: NSObject, KeyValueCoding, @unchecked Sendable {
    // Sendable: the store's save and load are serialised, and only they touch nodes.

    /// The object that the record belongs to.
    public let objectID: NSManagedObjectID

    /// The values by property name; nil until the first one is set.
    open var propertyCache: NSMutableDictionary?

    /// A record without values.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// The value of a property. A subclass may keep values elsewhere.
    open func value(forKey key: String) -> Any? {
        propertyCache?.object(forKey: key as NSString)
    }

    /// Sets the value of a property. A subclass may keep values elsewhere.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let value else {
            propertyCache?.removeObject(forKey: key as NSString)
            return
        }
        let cache = propertyCache ?? NSMutableDictionary()
        cache.setObject(value, forKey: key as NSString)
        propertyCache = cache
    }
}
