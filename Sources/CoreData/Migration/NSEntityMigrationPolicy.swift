import Foundation

/// The steps by which one entity mapping of a migration is carried out.
///
/// A subclass overrides the steps in which the program's own code makes objects or relationships.
/// `NSEntityMapping.entityMigrationPolicyClassName` names it, and the migration manager creates one
/// object of it for each mapping. The steps run on the thread that migrates. An error that a step
/// throws ends the migration.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsentitymigrationpolicy>
///
/// ```swift
/// final class PersonPolicy: NSEntityMigrationPolicy {
///     override func createDestinationInstances(
///         forSource source: NSManagedObject, in mapping: NSEntityMapping,
///         manager: NSMigrationManager
///     ) throws {
///         try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
///         let person = manager.destinationInstances(
///             forEntityMappingName: mapping.name, sourceInstances: [source]).first
///         person?.setValue("unknown", forKey: "origin")
///     }
/// }
/// ```
open class NSEntityMigrationPolicy: NSObject, PredicateFunctionTarget {
    /// The function that an expression called and no class implements.
    final var missingFunction: Selector?

    /// Creates a policy; the migration manager does this.
    public required override init() {
        super.init()
    }

    /// Called before the mapping's objects are made. The default does nothing.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes the destination objects for one source object.
    ///
    /// The default makes one object, sets the attributes by the mapping's expressions, and
    /// associates both. It makes none if the mapping has no destination entity. An override that
    /// does not call the default calls `associate(sourceInstance:withDestinationInstance:for:)`
    /// itself.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.createDestinationInstance(for: sInstance, in: mapping)
    }

    /// Called when the mapping's objects have been made. The default does nothing.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of one destination object. The objects of all mappings exist.
    ///
    /// The default sets them by the mapping's expressions.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.createRelationships(of: dInstance, in: mapping)
    }

    /// Whether the policy's class makes relationships in its own way.
    final var relatesObjects: Bool { Self.relating.exists(in: type(of: self)) }

    private static let relating = MethodOverride(
        of: RelatingPolicyProbe.self, comparedWith: PlainPolicyProbe.self, in: NSEntityMigrationPolicy.self)

    /// Called when the relationships of the mapping's objects have been set. The default does
    /// nothing.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Checks the mapping's objects; their relationships are set. The default does nothing. The
    /// rules of the destination model are checked after the last mapping.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called last for the mapping. The default does nothing.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Returns the value of `FUNCTION($entityPolicy, "name:", …)` in the mapping's expressions.
    ///
    /// On a Mac the expression calls the method of that name. Here an override does, by the name.
    /// It calls super for names that it does not know; the migration then ends with an error. A
    /// function ends the migration itself with `manager.cancelMigrationWithError(_:)`, where the
    /// expression passes `$manager`.
    ///
    /// ```swift
    /// override func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any? {
    ///     switch selector.name {
    ///     case "fullName:": fullName(of: arguments[0] as? NSManagedObject)
    ///     default: super.performPredicateFunction(selector, arguments: arguments)
    ///     }
    /// }
    /// ```
    open func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any? {
        missingFunction = selector
        return nil
    }
}

private final class PlainPolicyProbe: NSEntityMigrationPolicy {}

private final class RelatingPolicyProbe: NSEntityMigrationPolicy {
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
}
