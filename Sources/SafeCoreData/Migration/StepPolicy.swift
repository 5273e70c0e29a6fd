import Foundation

/// Carries out the maps of a step as the policy of their entity mappings.
final class StepPolicy: NSEntityMigrationPolicy {
    private var entity: StepMapping.Entity?
    /// The objects that further ones with equal keys are merged into.
    private var merged: [ValuesKey: NSManagedObjectID] = [:]

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        entity = (manager.userInfo?[StepMapping.key] as? StepMapping)?.entities[mapping.name]
    }

    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let map = entity?.classMap
        let key = try naming(source) { () throws -> ValuesKey?? in
            try map?.isIncluded?(source) == false ? .none : .some(try map?.key?(source))
        }
        guard let key else { return }
        if let key, let known = merged[key] {
            let object = manager.destinationContext.object(with: known)
            return manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
        }
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        guard let key else { return }
        merged[key] =
            manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first?.objectID
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        merged = [:]
    }

    override func createRelationships(
        forDestination destination: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [destination])
        for relationship in entity?.relationships ?? [] {
            let made = sources.flatMap { Self.related(relationship.former, of: $0) }.flatMap { source in
                relationship.makers.flatMap {
                    manager.destinationInstances(forEntityMappingName: $0, sourceInstances: [source])
                }
            }
            if !made.isEmpty { Self.set(made, as: relationship.name, of: destination) }
        }
        guard let body = entity?.classMap?.body else { return }
        for source in sources {
            try naming(source) { try body(source, destination, MigratedObjects(manager)) }
        }
    }

    private static func related(_ name: String, of source: NSManagedObject) -> [NSManagedObject] {
        switch source.value(forKey: name) {
        case let object as NSManagedObject: [object]
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    private static func set(_ objects: [NSManagedObject], as name: String, of owner: NSManagedObject) {
        guard let relationship = owner.entity.relationshipsByName[name] else { return }
        let many: Any = relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
        owner.setValue(relationship.isToMany ? many : objects[0], forKey: name)
    }

    /// - Throws: the error of a closure, with the object for which it ran.
    private func naming<Output>(_ source: NSManagedObject, _ body: () throws -> Output) throws -> Output {
        do { return try body() } catch { throw ObjectFailure(objectID: source.objectID, error: error) }
    }
}

/// An error that a closure of a step threw.
struct ObjectFailure: Error {
    let objectID: NSManagedObjectID
    let error: any Error
}
