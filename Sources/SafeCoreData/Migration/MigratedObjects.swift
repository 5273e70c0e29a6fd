/// The objects of the new version during a migration step.
public struct MigratedObjects {
    private let manager: NSMigrationManager

    init(_ manager: NSMigrationManager) { self.manager = manager }

    /// The context of the new objects, for the initializers of further ones. The migration saves
    /// it.
    ///
    /// ```swift
    /// let address = ShopV2.Address(context: objects.context, street: old.street)
    /// ```
    public var context: NSManagedObjectContext { manager.destinationContext }

    /// Returns the objects of a class that the maps of the step made from an old object.
    ///
    /// ```swift
    /// new.supplier = old.company.flatMap { objects.made(ShopV2.Supplier.self, from: $0).first }
    /// ```
    public func made<Old: EntityObject, New: EntityObject>(_ new: New.Type, from old: ReadOnly<Old>) -> [New] {
        let name = new.describeEntity().name
        return (manager.mappingModel.entityMappings ?? [])
            .filter { manager.destinationEntity(for: $0)?.isKindOf(entityNamed: name) == true }
            .flatMap { manager.destinationInstances(forEntityMappingName: $0.name, sourceInstances: [old.object]) }
            .compactMap { $0 as? New }
    }
}

extension NSEntityDescription {
    fileprivate func isKindOf(entityNamed name: String) -> Bool {
        self.name == name || superentity?.isKindOf(entityNamed: name) ?? false
    }
}
