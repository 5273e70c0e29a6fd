import SafeCoreData

/// Makes objects and gives every property a generated value.
struct ObjectFiller {
    let context: NSManagedObjectContext
    let serials: SerialNumbers
    /// What the object was given, by property; to-many relationships and values are read back for comparison.
    private(set) var values: [String: RoundTripValue] = [:]
    private(set) var problems: [String] = []

    init(context: NSManagedObjectContext, serials: SerialNumbers) {
        self.context = context
        self.serials = serials
    }

    /// A new object with values for all its properties. Related objects get what they require and no more.
    mutating func make(_ entity: NSEntityDescription) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        fill(object)
        return object
    }

    /// Gives an object other values than it has.
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
                    "\(relationship.name): \(relationship.destinationEntity?.name ?? "its destination") is abstract, and the model has no "
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

    /// How far required relationships are followed: beyond, the model cannot be satisfied by new objects.
    private static let depthLimit = 4

    /// An object with what it requires.
    ///
    /// - Parameter back: the relationship that leads to the object which needs this one, and is set by giving it to that.
    private func bare(_ entity: NSEntityDescription, depth: Int, back: NSRelationshipDescription?) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        let serial = serials.next()
        for attribute in entity.attributes where !attribute.isReadOnly && isNeeded(attribute, of: object) {
            if let value = AttributeSamples(attribute, of: object).value(serial) {
                object.setValue(value, forKey: attribute.name)
            }
        }
        guard depth < Self.depthLimit else { return object }
        for relationship in entity.relationshipsByName.values where !relationship.isOptional && relationship.name != back?.name {
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

    /// Whether an object cannot be saved without a value of its own: it needs one, or shares that which makes it unique.
    private func isNeeded(_ attribute: NSAttributeDescription, of object: NSManagedObject) -> Bool {
        if !attribute.isOptional { return true }
        guard attribute.defaultValue != nil else { return false }
        return sequence(first: object.entity, next: \.superentity).contains { entity in
            entity.uniquenessConstraints.contains { $0.contains { $0 as? String == attribute.name } }
        }
    }

    /// Adds the objects that a relationship still needs which has the first of them.
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

/// Numbers that make the values of each object differ from those of all others in a run.
final class SerialNumbers {
    private var last = 0

    func next() -> Int {
        last += 1
        return last
    }
}

extension NSEntityDescription {
    fileprivate var attributes: [NSAttributeDescription] { attributesByName.values.sorted { $0.name < $1.name } }

    /// The entity itself or the first below it that has objects.
    fileprivate var concrete: NSEntityDescription? {
        if !isAbstract { return self }
        return subentities.lazy.compactMap(\.concrete).first
    }
}

extension NSRelationshipDescription {
    /// The value of a relationship with these objects.
    fileprivate func collection(_ objects: [NSManagedObject]) -> Any {
        isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }

    /// The objects in a to-many relationship.
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
