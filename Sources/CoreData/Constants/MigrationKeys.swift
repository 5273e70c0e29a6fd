// Names of the variables in the expressions of mapping models, without the dollar sign.
//
// Source: <https://developer.apple.com/documentation/coredata/nsmigrationmanagerkey>

/// The variable for the migration manager: `$manager`.
///
/// ```swift
/// let context = NSExpression(forVariable: NSMigrationManagerKey)
/// ```
public let NSMigrationManagerKey = "manager"

/// The variable for the source object: `$source`.
public let NSMigrationSourceObjectKey = "source"

/// The variable for the destination object: `$destination`.
public let NSMigrationDestinationObjectKey = "destination"

/// The variable for the entity mapping: `$entityMapping`.
public let NSMigrationEntityMappingKey = "entityMapping"

/// The variable for the property mapping: `$propertyMapping`.
public let NSMigrationPropertyMappingKey = "propertyMapping"

/// The variable for the policy object of the entity mapping: `$entityPolicy`.
public let NSMigrationEntityPolicyKey = "entityPolicy"
