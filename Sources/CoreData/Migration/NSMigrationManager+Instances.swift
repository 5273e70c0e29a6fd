import Foundation

// Pairs of objects, and the functions of `$manager` in expressions.
extension NSMigrationManager {
    func destinationInstances(of steps: [MappingStep], from sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let sources else {
            settle(steps)
            return objects(
                steps.flatMap { step in copiedSources(of: step).flatMap { step.links.destinations(of: $0) } }
                    + steps.flatMap(\.links.recordedDestinations), in: destinationContext)
        }
        // Pairs are looked up while they are new, too: policies ask for what was just made.
        var found: [NSManagedObject] = []
        for source in sources {
            for step in steps { step.links.add(destinationsOf: source, in: destinationContext, to: &found) }
        }
        return Self.unique(found)
    }

    func sourceInstances(of step: MappingStep, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        settle([step])
        guard let destinations else {
            return objects(copiedSources(of: step) + step.links.recordedSources, in: sourceContext)
        }
        let found = objects(destinations.flatMap { step.links.sources(of: $0.objectID) }, in: sourceContext)
        // An object that a policy added has no source with its key.
        return step.isInSQL ? found.filter { (try? sourceContext.existingObject(with: $0.objectID)) != nil } : found
    }

    /// The source objects whose rows the database copied for a mapping.
    private func copiedSources(of step: MappingStep) -> [NSManagedObjectID] {
        guard step.isInSQL, let entity = step.source else { return [] }
        do { return try ids(of: entity, in: sourceContext) } catch {
            cancelMigrationWithError(error)
            return []
        }
    }

    /// The IDs of an entity's objects, without those of its subentities.
    func ids(of entity: NSEntityDescription, in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.includesSubentities = false
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
    }

    private func settle(_ steps: [MappingStep]) {
        do { for step in steps { try settle(step) } } catch { cancelMigrationWithError(error) }
    }

    /// Makes the look-ups of a mapping by ID complete: its new pairs get permanent IDs.
    func settle(_ step: MappingStep) throws {
        let temporary = step.links.newDestinationsWithTemporaryID
        if !temporary.isEmpty { try destinationContext.obtainPermanentIDs(for: temporary) }
        step.links.recordNewPairs()
    }

    /// Gives a new object the key of its source, if no object of a mapping into the same hierarchy
    /// has it.
    func keepKey(of source: NSManagedObject, for destination: NSManagedObject, _ step: MappingStep) {
        guard let sharers = step.keySharers, destination.key == 0,
            destination.managedObjectContext === destinationContext,
            source.entity.rootEntity === step.source?.rootEntity,
            destination.entity.rootEntity === step.destination?.rootEntity,
            !sharers.contains(where: { $0.links.usesKey(of: source) }),
            let store = destinationContext.persistentStoreCoordinator?.persistentStores.first
        else { return }
        destination.take(key: source.key, store: store.number)
    }

    private func objects(_ ids: [NSManagedObjectID], in context: NSManagedObjectContext) -> [NSManagedObject] {
        Self.unique(ids.map(context.object(with:)))
    }

    /// The objects that were not deleted, each once.
    private static func unique(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        if objects.count == 1 { return objects[0].isDeleted ? [] : objects }
        var known: Set<ObjectIdentifier> = []
        return objects.filter { !$0.isDeleted && known.insert(ObjectIdentifier($0)).inserted }
    }
}

extension NSMigrationManager: PredicateFunctionTarget {
    /// Returns the value of `FUNCTION($manager, "name:", …)` in the expressions of a mapping model.
    ///
    /// The functions are `fetchRequestForSourceEntityNamed:predicateString:`,
    /// `destinationInstancesForEntityMappingNamed:sourceInstances:`,
    /// `destinationInstancesForSourceRelationshipNamed:sourceInstances:` and
    /// `sourceInstancesForEntityMappingNamed:destinationInstances:`. Others end the migration with
    /// an error.
    public func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any? {
        do {
            return try value(of: selector, arguments)
        } catch {
            cancelMigrationWithError(error)
            return nil
        }
    }

    private func value(of selector: Selector, _ arguments: [Any?]) throws -> Any? {
        func failure(_ problem: String) -> NSError {
            MigrationErrors.policy(
                currentEntityMapping, nil,
                "FUNCTION($manager, \"\(selector.name)\", …) cannot be evaluated: \(problem)",
                recovery: "Correct the expression in the mapping model.")
        }
        func step(named name: String) throws -> MappingStep {
            guard let step = stepsByName[name] else {
                throw failure("the mapping model has no entity mapping '\(name)'")
            }
            return step
        }
        func instances() throws -> [NSManagedObject] {
            if let object = arguments[1] as? NSManagedObject { return [object] }
            guard let objects = RelationshipValues.objects(in: arguments[1]) else {
                throw failure("its second argument has no objects")
            }
            return objects
        }
        guard arguments.count == 2, let name = arguments[0] as? String else {
            throw failure("there is no such function, or its arguments are not a name and a second value")
        }
        switch selector.name {
        case "fetchRequestForSourceEntityNamed:predicateString:":
            guard sourceModel.entitiesByName[name] != nil else {
                throw failure("the source model has no entity '\(name)'")
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.includesSubentities = false
            request.fetchBatchSize = Self.batchSize
            if let format = arguments[1] as? String, !format.isEmpty {
                request.predicate = try NSPredicate.parse(format)
            }
            return request
        case RelationshipLookUp.byMapping:
            return destinationInstances(of: [try step(named: name)], from: try instances())
        case RelationshipLookUp.byRelationship:
            let destination = sourceEntity(for: currentEntityMapping)?.relationshipsByName[name]?.destinationEntity
            guard let destination else { throw failure("the source entity has no relationship '\(name)'") }
            let makers = steps.filter { $0.source?.isKindOf(entity: destination) == true }
            return destinationInstances(of: makers, from: try instances())
        case "sourceInstancesForEntityMappingNamed:destinationInstances:":
            return sourceInstances(of: try step(named: name), of: try instances())
        default: throw failure("there is no such function")
        }
    }
}
