import Foundation

// The three passes of a migration over its mappings.
extension NSMigrationManager {
    /// The number of objects that are held at once.
    static let batchSize = 1_000
    /// The approximate number of bytes of values that are held before they are written.
    private static let batchBytes = 8 << 20
    /// The approximate number of bytes that a link holds: an object and its row.
    static let linkBytes = 1 << 10

    /// Migrates the objects of one store into another, which is opened or made.
    func run(_ steps: [MappingStep], from source: StorePlace, to destination: StorePlace) throws {
        let reading = try source.open(sourceModel, .migrationManagerSourceStore, isReadOnly: true)
        defer { reading.close() }
        let writing = try destination.open(destinationModel, .migrationManagerDestinationStore)
        defer { writing.close() }
        useContexts(reading.coordinator, writing.coordinator)
        for step in steps where step.isInSQL || step.keySharers != nil {
            if let former = EqualKeys.End(step.source, in: reading),
                let new = EqualKeys.End(step.destination, in: writing)
            {
                step.links = InstanceLinks(
                    EqualKeys(source: former, destination: new, keys: step.isInSQL ? nil : []))
            }
        }
        writing.copyMetadata(from: reading)
        try pass(0, createInstances)
        try pass(1, createRelationships)
        try pass(2) { step in
            try step.policy.performCustomValidation(forMapping: step.mapping, manager: self)
            try throwCancellation()
            try step.policy.end(step.mapping, manager: self)
        }
        try validate()
        // Without changes: the metadata.
        try writing.coordinator.execute(NSSaveChangesRequest(), with: destinationContext)
    }

    /// Takes a step of each mapping that the database did not carry out, and writes what it
    /// changed.
    private func pass(_ number: Int, _ body: (MappingStep) throws -> Void) throws {
        let steps = steps.filter { !$0.isInSQL }
        for (index, step) in steps.enumerated() {
            currentEntityMapping = step.mapping
            try throwCancellation()
            try body(step)
            try throwCancellation()
            try write()
            sourceContext.refreshAllObjects()
            report(Float(number * steps.count + index + 1) / Float(3 * steps.count))
        }
    }

    // MARK: Instances

    private func createInstances(_ step: MappingStep) throws {
        try step.policy.begin(step.mapping, with: self)
        try throwCancellation()
        // Nothing is made of removed objects, unless by the program.
        if step.destination != nil || step.hasOwnPolicy {
            try forEachBatch(of: try sources(of: step), in: sourceContext) { source in
                try step.policy.createDestinationInstances(forSource: source, in: step.mapping, manager: self)
            }
        }
        try step.policy.endInstanceCreation(forMapping: step.mapping, manager: self)
    }

    private func sources(of step: MappingStep) throws -> [NSManagedObjectID] {
        if let expression = step.mapping.sourceExpression {
            let variables: [String: Any] = [
                NSMigrationManagerKey: self, NSMigrationEntityMappingKey: step.mapping,
                NSMigrationEntityPolicyKey: step.policy,
            ]
            let value = try evaluate(expression, for: nil, variables, step, nil)
            // An expression cannot throw: the context keeps the error.
            if let failure = sourceContext.readFailure {
                sourceContext.readFailure = nil
                throw failure
            }
            guard let objects = RelationshipValues.objects(in: value) else {
                throw MigrationErrors.policy(
                    step.mapping, nil, "its source expression \(expression) does not give objects",
                    recovery: "Correct the source expression in the mapping model.")
            }
            return objects.map(\.objectID)
        }
        return try step.source.map { try ids(of: $0, in: sourceContext) } ?? []
    }

    // MARK: Relationships

    private func createRelationships(_ step: MappingStep) throws {
        if step.policy.relatesObjects || !step.relationships.isEmpty || !step.otherEnds.isEmpty {
            try settle(step)
            // To-many relationships are loaded for a few owners at a time, when they are read.
            let sourceNames = step.source?.relationshipsByName.values.filter { !$0.isToMany }.map(\.name) ?? []
            try forEachBatch(of: step.links.recordedDestinations, in: destinationContext) { ids in
                let sources = ids.flatMap { step.links.sources(of: $0) }
                return try self.load(sources[...], in: self.sourceContext, prefetching: sourceNames)
            } body: { object in
                linkOtherEnds(of: object, step)
                try step.policy.createRelationships(forDestination: object, in: step.mapping, manager: self)
            }
        }
        try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: self)
    }

    // MARK: Validation

    /// Checks the rules of the destination model for all objects.
    private func validate() throws {
        let copied = steps.filter(\.isInSQL).compactMap(\.destination)
        for entity in destinationModel.entities where !entity.isAbstract && destinationContext.validates(entity) {
            if copied.contains(where: { $0 === entity }) {
                try validate(
                    incompleteObjects(of: entity) + addedToCopies.filter { $0.entity === entity && isThere($0) })
            } else {
                try validate(ids(of: entity, in: destinationContext))
            }
        }
    }

    /// The objects of an entity without the objects that a relationship requires. All else that the
    /// model says of copied rows was checked when they were copied.
    private func incompleteObjects(of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
        try entity.relationshipsByName.values.filter { MappingInference.isStored($0) && !$0.isOptional }.flatMap {
            required in
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
            request.includesSubentities = false
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(
                format: required.isToMany ? "%K.@count == 0" : "%K == nil", required.name)
            return try destinationContext.fetch(request)
        }
    }

    private func isThere(_ id: NSManagedObjectID) -> Bool { (try? destinationContext.existingObject(with: id)) != nil }

    private func validate(_ ids: [NSManagedObjectID]) throws {
        var errors: [any Error] = []
        for start in stride(from: 0, to: ids.count, by: Self.batchSize) {
            let batch = ids[start..<min(start + Self.batchSize, ids.count)]
            for object in try load(batch, in: destinationContext) {
                do { try object.validateForInsert() } catch { errors += ValidationErrors.flattened(error) }
            }
            if errors.count == 1 { throw errors[0] }
            if errors.count > 1 { throw ValidationErrors.combined(errors) }
            destinationContext.refreshAllObjects()
        }
    }

    // MARK: Batches

    /// Calls a body for objects, which are read, written and released in batches.
    ///
    /// - Parameter reading: Reads other objects for a batch, which are held with it.
    private func forEachBatch(
        of ids: [NSManagedObjectID], in context: NSManagedObjectContext,
        reading: ([NSManagedObjectID]) throws -> [NSManagedObject] = { _ in [] },
        body: (NSManagedObject) throws -> Void
    ) throws {
        var done = 0
        // Grows while the values of a batch are few.
        var size = 16
        while done < ids.count {
            let batch = ids[done..<min(done + size, ids.count)]
            let objects = try load(batch, in: context)
            let others = try reading(Array(batch))
            defer { withExtendedLifetime(others) {} }
            size = min(4 * size, Self.batchSize)
            for (index, object) in objects.enumerated() {
                try body(object)
                try throwCancellation()
                done += 1
                if pendingBytes > Self.batchBytes {
                    size = index + 1
                    break
                }
            }
            try write()
            sourceContext.refreshAllObjects()
        }
    }

    /// Returns the objects with some IDs, in their order. Those of the first one's entity are read
    /// at once, others when they are used.
    private func load(
        _ ids: ArraySlice<NSManagedObjectID>, in context: NSManagedObjectContext, prefetching names: [String] = []
    ) throws -> [NSManagedObject] {
        guard let name = ids.first?.entity.name else { return [] }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.predicate = NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(),
            rightExpression: NSExpression(forConstantValue: Array(ids)),
            modifier: .direct, type: .in)
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = names
        let read = try context.fetch(request)
        defer { withExtendedLifetime(read) {} }
        return ids.map { context.object(with: $0) }
    }

    /// Writes the changes of the destination without validation, and releases its objects.
    private func write() throws {
        pendingBytes = 0
        let context = destinationContext
        if context.hasChanges, let coordinator = context.persistentStoreCoordinator {
            context.processPendingChanges()
            let copied = steps.filter(\.isInSQL).compactMap(\.destination)
            let (inserted, deleted) = (context.insertedObjects, context.deletedObjects.map(\.objectID))
            let request = NSSaveChangesRequest(
                inserted: inserted, updated: context.updatedObjects, deleted: context.deletedObjects, locked: nil)
            try coordinator.execute(request, with: context)
            if !deleted.isEmpty { for step in steps { step.links.forget(deleted) } }
            if !copied.isEmpty {
                addedToCopies += inserted.filter { object in copied.contains { $0 === object.entity } }.map(\.objectID)
            }
        }
        // The new objects have permanent IDs now.
        for step in steps { step.links.recordNewPairs() }
        context.refreshAllObjects()
    }
}

extension NSManagedObjectContext {
    /// Whether a store of the context holds objects of an entity that have rules to break.
    fileprivate func validates(_ entity: NSEntityDescription) -> Bool {
        guard let layout = modelLayout?.layoutByName[entity.name ?? ""] else { return false }
        return layout.objects.accessorTable.hooks.contains(.validation)
            && persistentStoreCoordinator?.addedStores.contains { $0.holds(layout.index) } ?? false
    }
}
