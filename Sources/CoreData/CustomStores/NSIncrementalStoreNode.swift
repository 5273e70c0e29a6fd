import Foundation

/// One record of an incremental store as it was read: values by property name, and a version.
///
/// Attributes have their values, to-one relationships an `NSManagedObjectID` or `NSNull`; to-many
/// relationships are not part of a node. If a node leaves out a to-one relationship, the store's
/// `newValue(forRelationship:forObjectWith:with:)` is called when the record is read.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsincrementalstorenode>
///
/// ```swift
/// let values: [String: Any] = ["title": "Emma", "author": authorID]
/// let node = NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 3)
/// ```
open class NSIncrementalStoreNode: NSObject {
    /// The object that the record belongs to.
    public let objectID: NSManagedObjectID

    private var values: [String: Any]

    /// The version of the record. It should increase with each change of the record.
    open private(set) var version: UInt64

    /// A record with values by property name.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Adopts the values and the version of a changed record. Properties that are not named keep
    /// their values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { _, new in new }
        self.version = version
    }

    /// The value of an attribute or to-one relationship.
    ///
    /// `NSNull` for a to-one relationship without destination; nil for an attribute without value
    /// and for a relationship that the node leaves out.
    open func value(for property: NSPropertyDescription) -> Any? {
        let value = values[property.name]
        if property is NSRelationshipDescription { return value }
        return value is NSNull ? nil : value
    }
}
