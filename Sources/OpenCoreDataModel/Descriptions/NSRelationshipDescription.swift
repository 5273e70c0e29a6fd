import Foundation

/// A relationship of an entity to objects of another.
///
/// (developer.apple.com/documentation/coredata/nsrelationshipdescription)
///
/// ```swift
/// supplier.name = "supplier"
/// supplier.destinationEntity = supplierEntity
/// supplier.maxCount = 1                                   // 0 for to-many
/// supplier.inverseRelationship = items
/// supplier.deleteRule = .nullifyDeleteRule
/// ```
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity at the other end. Not retained: its model keeps it.
    open var destinationEntity: NSEntityDescription? {
        get { destination?.object }
        set {
            requireEditable()
            destination = newValue?.reference
        }
    }
    private var destination: BackReference<NSEntityDescription>?

    /// The relationship in the opposite direction. Not retained; both sides must be set.
    ///
    /// ```swift
    /// supplier.inverseRelationship = items                    // Item.supplier and Supplier.items
    /// items.inverseRelationship = supplier
    /// ```
    open weak var inverseRelationship: NSRelationshipDescription? { willSet { requireEditable() } }

    /// The greatest number of objects. 0, the default, means no limit; 1 makes it to-one.
    ///
    /// ```swift
    /// supplier.maxCount = 1                                   // to-one
    /// tags.minCount = 1
    /// tags.maxCount = 5                                       // a save with six tags throws 1590
    /// ```
    open var maxCount: Int = 0 { willSet { requireEditable() } }

    /// The least number of objects; 0 unless set.
    open var minCount: Int = 0 { willSet { requireEditable() } }

    /// The effect of deleting an object on the objects at the other end; nullify unless set.
    ///
    /// ```swift
    /// order.deleteRule = .nullifyDeleteRule
    /// lines.deleteRule = .cascadeDeleteRule                   // an order takes its lines with it
    /// ```
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireEditable() } }

    /// Whether the related objects have an order. False unless set.
    ///
    /// ```swift
    /// lines.isOrdered = true                                  // the values are NSOrderedSets
    /// ```
    open var isOrdered: Bool = false { willSet { requireEditable() } }

    /// Whether the relationship may refer to several objects: `maxCount` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// The hash by which a store recognises this relationship's version: 32 bytes.
    open override var versionHash: Data {
        Data(VersionHash.relationship(self))
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSRelationshipDescription else { return }
        destinationEntity = other.destinationEntity
        inverseRelationship = other.inverseRelationship
        maxCount = other.maxCount
        minCount = other.minCount
        deleteRule = other.deleteRule
        isOrdered = other.isOrdered
    }

    override var kindName: String { "relationship" }
}

/// The effect of deleting an object on the objects at the other end of a relationship.
///
/// ```swift
/// items.deleteRule = .denyDeleteRule
/// do {
///     try context.save()
/// } catch CocoaError.validationRelationshipDeniedDelete {    // 1600
///     context.rollback()
/// }
/// ```
public enum NSDeleteRule: UInt, Sendable, Hashable, CaseIterable {
    /// Nothing; the other objects keep a reference to an object that no longer exists.
    case noActionDeleteRule = 0
    /// The other objects' inverse relationships are cleared. The rule of a new relationship.
    case nullifyDeleteRule = 1
    /// The other objects are deleted too.
    case cascadeDeleteRule = 2
    /// The deletion fails in validation while there are other objects.
    case denyDeleteRule = 3
}
