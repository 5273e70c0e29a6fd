import Foundation

/// One record of an incremental store as it was read: values by property name, and a version.
///
/// Attributes have their values, to-one relationships an `NSManagedObjectID` or `NSNull`; to-many relationships are not
/// part of a node. For a to-one relationship that is left out the store is asked with
/// `newValue(forRelationship:forObjectWith:with:)` when the record is read.
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

    /// The version of the record. It should grow with each change of it.
    open private(set) var version: UInt64

    /// A record with values by property name.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Takes over the values and version of a changed record. Properties that are not named keep their values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { _, new in new }
        self.version = version
    }

    /// The value of an attribute or to-one relationship; `NSNull` for a to-one relationship without destination, nil for
    /// an attribute without value and for a relationship that the node leaves out.
    open func value(for property: NSPropertyDescription) -> Any? {
        let value = values[property.name]
        if property is NSRelationshipDescription { return value }
        return value is NSNull ? nil : value
    }
}
