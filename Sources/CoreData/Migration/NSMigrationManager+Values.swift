import Foundation

// The default steps of policies: objects and relationships by the expressions of a mapping.
extension NSMigrationManager {
    func createDestinationInstance(for source: NSManagedObject, in mapping: NSEntityMapping) throws {
        let step = try step(of: mapping)
        guard let name = step.destination?.name else { return }
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: destinationContext)
        let copies = step.copies(from: source.layout, to: object.layout)
        func evaluate(_ index: Int) throws {
            let made = try value(step.attributes[index], step, source, object)
            if made == nil, copies.keepsDefault[index] { return }
            try set(made, step.attributes[index], of: object, step)
        }
        if MethodOverride.ofSetValue.exists(in: type(of: object)) {
            for index in step.attributes.indices { try evaluate(index) }
        } else {
            for slots in copies.slots where !copy(slots.source, of: source, to: slots.destination, of: object) {
                try evaluate(slots.index)
            }
            for index in copies.expressions { try evaluate(index) }
        }
        associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
    }

    /// - Returns: false for nil, which a class may replace (`setNilValueForKey(_:)`).
    private func copy(
        _ slot: Int, of source: NSManagedObject, to destination: Int, of object: NSManagedObject
    ) -> Bool {
        source.fireFaultIfNeeded(slot)
        guard case .stored(let value) = source.currentValue(slot), !value.isNull else { return false }
        if case .data(let data) = value { pendingBytes += data.count }
        object.prepareForChange()
        object.storeTracked(AttributeCopies.fitted(value, object.layout.slots[destination].kind), slot: destination)
        return true
    }

    func createRelationships(of object: NSManagedObject, in mapping: NSEntityMapping) throws {
        let step = try step(of: mapping)
        if step.relationships.isEmpty { return }
        let source = sourceInstances(of: step, of: [object]).first
        for value in step.relationships {
            try link(try self.value(value, step, source, object), value, of: object, step)
        }
    }

    /// Sets the relationships that lead to an object from objects that the database made.
    func linkOtherEnds(of object: NSManagedObject, _ step: MappingStep) {
        var found: [String: [NSManagedObject]] = [:]
        for end in step.otherEnds {
            let sources = sourceInstances(of: step, of: [object]).filter { source in
                // A to-one relationship leads to the first object that was made of its destination.
                end.isToMany || destinationInstances(of: [step], from: [source]).first === object
            }
            let owners = sources.flatMap { source in
                (source.value(forKey: end.source) as? NSManagedObject).map { [$0] }
                    ?? RelationshipValues.objects(in: source.value(forKey: end.source)) ?? []
            }
            found[end.destination, default: []] += destinationInstances(of: [end.step], from: owners)
        }
        // The owners may be of several entities.
        for (name, objects) in found where !objects.isEmpty {
            pendingBytes += objects.count * Self.linkBytes
            set(objects, name, of: object)
        }
    }

    private func step(of mapping: NSEntityMapping) throws -> MappingStep {
        if let step = stepsByName[mapping.name] { return step }
        throw MigrationErrors.mapping(mapping, "it does not belong to the mapping model of the migration")
    }

    private func value(
        _ value: MappingStep.Value, _ step: MappingStep, _ source: NSManagedObject?, _ destination: NSManagedObject
    ) throws -> Any? {
        var variables: [String: Any] = [
            NSMigrationManagerKey: self, NSMigrationDestinationObjectKey: destination,
            NSMigrationEntityMappingKey: step.mapping, NSMigrationPropertyMappingKey: value.mapping,
            NSMigrationEntityPolicyKey: step.policy,
        ]
        variables[NSMigrationSourceObjectKey] = source
        return try evaluate(value.expression, for: source, variables, step, value.name)
    }

    /// - Throws: 134170 for an expression that cannot be evaluated; the error with which a function
    ///   cancelled the migration.
    func evaluate(
        _ expression: NSExpression, for object: Any?, _ variables: [String: Any], _ step: MappingStep,
        _ property: String?
    ) throws -> Any? {
        let result: Any?
        do {
            result = try expression.result(for: object, variables: variables)
        } catch {
            throw failure(step, property, "its expression \(expression) cannot be evaluated: \(error)")
        }
        if let missing = step.policy.missingFunction {
            throw failure(
                step, property,
                "\(type(of: step.policy)) has no function \"\(missing.name)\", which its expression calls; "
                    + "override performPredicateFunction(_:arguments:)")
        }
        try throwCancellation()
        return result
    }

    private func set(
        _ value: Any?, _ property: MappingStep.Value, of object: NSManagedObject, _ step: MappingStep
    ) throws {
        guard let slot = object.layout.slotByName[property.name] else { return }
        let kind = object.layout.slots[slot].kind
        var problem: String?
        if let composite = object.layout.slots[slot].composite {
            do { _ = try object.layout.elementValues(of: value, composite) } catch { problem = error.reason }
        } else if PropertyConversion.value(from: value, kind: kind) == nil {
            problem = object.wrongType(value, object.layout.slots[slot])
        }
        if let problem {
            throw failure(step, property.name, "its expression \(property.expression) gives a wrong value: \(problem)")
        }
        if let data = value as? Data { pendingBytes += data.count }
        object.setValue(value, forKey: property.name)
    }

    private func link(
        _ value: Any?, _ property: MappingStep.Value, of object: NSManagedObject, _ step: MappingStep
    ) throws {
        guard let relationship = object.entity.relationshipsByName[property.name] else { return }
        guard let objects = (value as? NSManagedObject).map({ [$0] }) ?? RelationshipValues.objects(in: value) else {
            throw failure(step, property.name, "its expression \(property.expression) does not give objects")
        }
        for destination in objects {
            guard destination.managedObjectContext === destinationContext,
                relationship.destinationEntity.map({ destination.entity.isKindOf(entity: $0) }) ?? true
            else {
                throw failure(
                    step, property.name,
                    "its expression \(property.expression) gives an object of the entity "
                        + "'\(destination.entity.name ?? "")' "
                        + (destination.managedObjectContext === destinationContext
                            ? "instead of '\(relationship.destinationEntity?.name ?? "")'"
                            : "that is not one of the destination"))
            }
        }
        pendingBytes += objects.count * Self.linkBytes
        set(objects, property.name, of: object)
    }

    private func set(_ objects: [NSManagedObject], _ name: String, of object: NSManagedObject) {
        guard let relationship = object.entity.relationshipsByName[name] else { return }
        if !relationship.isToMany {
            object.setValue(objects.first, forKey: name)
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: objects), forKey: name)
        } else {
            object.setValue(NSSet(array: objects), forKey: name)
        }
    }

    private func failure(_ step: MappingStep, _ property: String?, _ problem: String) -> NSError {
        MigrationErrors.policy(
            step.mapping, property, problem, recovery: "Correct the expression in the mapping model, or the policy.")
    }
}
