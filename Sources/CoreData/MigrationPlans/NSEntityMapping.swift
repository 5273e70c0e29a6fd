import Foundation

/// The kind of change that a migration makes to the objects of an entity.
///
/// ```swift
/// let removed = mapping.entityMappings.filter { $0.mappingType == .removeEntityMappingType
/// }.compactMap(\.sourceEntityName)
/// ```
public enum NSEntityMappingType: UInt, Sendable, Hashable {
    /// Not specified: the mapping's expressions set the destination entity's properties.
    case undefinedEntityMappingType = 0
    /// The program's own policy creates the objects.
    case customEntityMappingType = 1
    /// The entity is new: it has no objects.
    case addEntityMappingType = 2
    /// The entity was removed, and its objects with it.
    case removeEntityMappingType = 3
    /// The entity is the same in both models.
    case copyEntityMappingType = 4
    /// The entity has changed.
    case transformEntityMappingType = 5
}

/// A mapping from the objects of a source entity to objects of a destination entity.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsentitymapping>
///
/// ```swift
/// let item = mapping.entityMappingsByName["IEM_Transform_Item"]
/// let former = item?.sourceEntityName
/// ```
open class NSEntityMapping: NSObject {
    private var givenName: String?

    /// The mapping's name, unique in its model. `Source->Destination` unless set.
    open var name: String! {
        get { givenName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { givenName = newValue }
    }

    /// The kind of change that is made to the source's objects.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType

    /// The entity of the older model; nil when the destination entity is new.
    open var sourceEntityName: String?

    /// The version hash of the source entity.
    open var sourceEntityVersionHash: Data?

    /// The entity of the newer model; nil when the source entity was removed.
    open var destinationEntityName: String?

    /// The version hash of the destination entity.
    open var destinationEntityVersionHash: Data?

    /// The mappings of the destination's attributes. If nil in a mapping of the type
    /// `copyEntityMappingType`, each attribute has the value of the source's attribute of its name.
    open var attributeMappings: [NSPropertyMapping]?

    /// The mappings of the destination's relationships. If nil in a mapping of the type
    /// `copyEntityMappingType`, each relationship leads to what was made of the objects that the
    /// source's relationship of its name leads to.
    open var relationshipMappings: [NSPropertyMapping]?

    /// The expression for the source objects, in which `$manager` is the migration manager. If nil,
    /// the mapping applies to all objects of the source entity, without those of its subentities.
    open var sourceExpression: NSExpression?

    /// The name of the `NSEntityMigrationPolicy` subclass that creates the destination's objects,
    /// with or without its module. If nil, the property mappings say how they are made.
    open var entityMigrationPolicyClassName: String?

    /// Facts about the mapping.
    ///
    /// An inferred mapping of an entity in both models has sets of names: `mappedProperties` and
    /// `addedProperties` of the newer entity, `removedProperties` of the older one.
    open var userInfo: [AnyHashable: Any]?

    /// Creates a mapping without entities.
    public override init() {
        super.init()
    }
}

extension NSEntityMapping: CustomReflectable {
    /// The properties of the mapping, which expressions read as `$entityMapping.name`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "mappingType": mappingType.rawValue, "sourceEntityName": sourceEntityName as Any,
                "destinationEntityName": destinationEntityName as Any, "userInfo": userInfo as Any,
            ])
    }
}
