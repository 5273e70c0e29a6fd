/// The objects of the new version during a migration step.
public struct MigratedObjects {
    private let manager: NSMigrationManager

    init(_ manager: NSMigrationManager) { self.manager = manager }

    /// The context of the new objects, for the initializers of further ones. The migration saves it.
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
        manager.made(from: old.object) { $0.isKindOf(entityNamed: new.describeEntity().name) }
            .compactMap { $0 as? New }
    }
}

extension NSMigrationManager {
    /// Returns what the mappings to entities that fit made from a source object.
    func made(from source: NSManagedObject, _ fits: (NSEntityDescription) -> Bool) -> [NSManagedObject] {
        (mappingModel.entityMappings ?? []).filter { destinationEntity(for: $0).map(fits) ?? false }
            .flatMap { destinationInstances(forEntityMappingName: $0.name, sourceInstances: [source]) }
    }
}

extension NSEntityDescription {
    fileprivate func isKindOf(entityNamed name: String) -> Bool {
        self.name == name || superentity?.isKindOf(entityNamed: name) ?? false
    }
}
