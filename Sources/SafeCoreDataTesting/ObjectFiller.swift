import SafeCoreData

/// Creates objects and sets every property to a generated value.
struct ObjectFiller {
    let context: NSManagedObjectContext
    let serials: SerialNumbers
    /// The values of the object, by property; to-many relationships and values are read back for
    /// comparison.
    private(set) var values: [String: RoundTripValue] = [:]
    private(set) var problems: [String] = []

    init(context: NSManagedObjectContext, serials: SerialNumbers) {
        self.context = context
        self.serials = serials
    }

    /// Creates an object with values for all its properties. Related objects get only required
    /// values.
    mutating func make(_ entity: NSEntityDescription) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        fill(object)
        return object
    }

    mutating func fill(_ object: NSManagedObject) {
        let serial = serials.next()
        for attribute in object.entity.attributes where !attribute.isReadOnly {
            guard let value = AttributeSamples(attribute, of: object).value(serial) else {
                problems.append(
                    "\(attribute.name): no value that it accepts could be made: give it an initial value.")
                continue
            }
            object.setValue(value, forKey: attribute.name)
            values[attribute.name] = RoundTripValue(value)
        }
        for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
            fill(relationship, of: object)
        }
    }

    private mutating func fill(_ relationship: NSRelationshipDescription, of object: NSManagedObject) {
        if relationship.isTransient { return }
        guard let destination = relationship.destinationEntity?.concrete else {
            if !relationship.isOptional {
                problems.append(
                    "\(relationship.name): \(relationship.destinationEntity?.name ?? "its destination") is abstract, "
                        + "and the model has no "
                        + "entity that inherits from it: give a model that has one.")
            }
            return
        }
        let count = relationship.isToMany ? max(relationship.minCount, 2) : 1
        let wanted = relationship.maxCount == 0 ? count : min(count, relationship.maxCount)
        let others = (0..<wanted).map { _ in bare(destination, depth: 0, back: relationship.inverseRelationship) }
        object.setValue(relationship.isToMany ? relationship.collection(others) : others[0], forKey: relationship.name)
        for other in others { complete(relationship.inverseRelationship, of: other, depth: 0) }
        // Object IDs become permanent with the save: saved first, they are comparable afterwards.
        try? context.obtainPermanentIDs(for: [object] + others)
        values[relationship.name] = RoundTripValue(object.value(forKey: relationship.name))
    }

    /// The greatest depth to which required relationships are followed; beyond it, new objects
    /// cannot satisfy the model.
    private static let depthLimit = 4

    /// Creates an object with its required values only.
    ///
    /// - Parameter back: the relationship to the object that needs this one; it is set through its
    ///   inverse.
    private func bare(_ entity: NSEntityDescription, depth: Int, back: NSRelationshipDescription?) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        let serial = serials.next()
        for attribute in entity.attributes where !attribute.isReadOnly && isNeeded(attribute, of: object) {
            if let value = AttributeSamples(attribute, of: object).value(serial) {
                object.setValue(value, forKey: attribute.name)
            }
        }
        guard depth < Self.depthLimit else { return object }
        for relationship in entity.relationshipsByName.values
        where !relationship.isOptional && relationship.name != back?.name {
            guard let destination = relationship.destinationEntity?.concrete else { continue }
            func others(_ count: Int) -> [NSManagedObject] {
                (0..<count).map { _ in bare(destination, depth: depth + 1, back: relationship.inverseRelationship) }
            }
            var added: [NSManagedObject] = []
            if !relationship.isToMany {
                guard object.value(forKey: relationship.name) == nil else { continue }
                added = others(1)
                object.setValue(added[0], forKey: relationship.name)
            } else if relationship.minCount > 0 {
                added = others(relationship.minCount)
                object.setValue(relationship.collection(added), forKey: relationship.name)
            }
            for other in added { complete(relationship.inverseRelationship, of: other, depth: depth + 1) }
        }
        return object
    }

    /// Whether an object cannot be saved without its own value: the attribute is required, or its
    /// default would violate a uniqueness constraint.
    private func isNeeded(_ attribute: NSAttributeDescription, of object: NSManagedObject) -> Bool {
        if !attribute.isOptional { return true }
        guard attribute.defaultValue != nil else { return false }
        return sequence(first: object.entity, next: \.superentity).contains { entity in
            entity.uniquenessConstraints.contains { $0.contains { $0 as? String == attribute.name } }
        }
    }

    /// Adds the objects that a relationship needs beyond its first one.
    private func complete(_ relationship: NSRelationshipDescription?, of object: NSManagedObject, depth: Int) {
        guard let relationship, relationship.isToMany, relationship.minCount > 1, depth < Self.depthLimit,
            let destination = relationship.destinationEntity?.concrete
        else { return }
        let present = relationship.members(of: object)
        guard present.count < relationship.minCount else { return }
        let added = (present.count..<relationship.minCount).map { _ in
            bare(destination, depth: depth + 1, back: relationship.inverseRelationship)
        }
        object.setValue(relationship.collection(present + added), forKey: relationship.name)
    }
}

/// A counter whose numbers make the values of each object differ from those of all others in a run.
final class SerialNumbers {
    private var last = 0

    func next() -> Int {
        last += 1
        return last
    }
}

extension NSEntityDescription {
    fileprivate var attributes: [NSAttributeDescription] { attributesByName.values.sorted { $0.name < $1.name } }

    /// The entity itself or its first concrete subentity.
    fileprivate var concrete: NSEntityDescription? {
        if !isAbstract { return self }
        return subentities.lazy.compactMap(\.concrete).first
    }
}

extension NSRelationshipDescription {
    /// Returns the value of a relationship with these objects.
    fileprivate func collection(_ objects: [NSManagedObject]) -> Any {
        isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }

    fileprivate func members(of object: NSManagedObject) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

extension NSAttributeDescription {
    fileprivate var isReadOnly: Bool { isTransient || self is NSDerivedAttributeDescription }
}
