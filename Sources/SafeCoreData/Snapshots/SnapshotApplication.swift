/// Applies snapshots to a context: finds or creates every object, then sets the values.
struct SnapshotApplication {
    let context: NSManagedObjectContext
    let danglingReferences: DanglingReferences
    private var objects: [ObjectReference: NSManagedObject] = [:]

    init(context: NSManagedObjectContext, danglingReferences: DanglingReferences) {
        self.context = context
        self.danglingReferences = danglingReferences
    }

    mutating func apply(_ snapshots: [any EntitySnapshot]) throws -> [NSManagedObject] {
        var links = SnapshotLinks()
        for snapshot in snapshots { try snapshot.visit(&links) }
        let shown = Set(snapshots.map(\.objectID))
        try find(shown.union(links.all.map(\.reference)))

        // All errors are found before anything changes.
        let missing = shown.subtracting(objects.keys)
        let classes = try newClasses(for: missing)
        let unknown = Set(links.all.map(\.reference)).subtracting(shown).subtracting(objects.keys)
        guard unknown.isEmpty || danglingReferences == .drop else {
            throw SnapshotError.unknownObjects(unknown.sorted { $0.description < $1.description })
        }
        for snapshot in snapshots {
            try Self.require(snapshot.objectClass, for: "A snapshot", snapshot.objectID, classes, objects)
        }
        try requireAllProperties(of: missing, in: snapshots, classes)
        for link in links.all {
            try Self.require(link.destination, for: link.property, link.reference, classes, objects)
        }

        for reference in snapshots.map(\.objectID) where objects[reference] == nil {
            objects[reference] = NSEntityDescription.insertNewObject(forEntityName: reference.entityName, into: context)
        }
        return try snapshots.map { try assign($0, without: unknown) }
    }

    private func assign(_ snapshot: any EntitySnapshot, without unknown: Set<ObjectReference>) throws -> NSManagedObject
    {
        guard let object = objects[snapshot.objectID] else { throw SnapshotError.unknownObjects([snapshot.objectID]) }
        var assignment = SnapshotAssignment(object: object, objects: objects, unknown: unknown)
        try snapshot.visit(&assignment)
        return object
    }

    // MARK: Finding

    /// The greatest number of objects in one fetch: databases limit the values in a statement.
    private static let chunk = 400

    private mutating func find(_ references: Set<ObjectReference>) throws {
        if references.contains(where: \.isTemporary) {
            for object in context.insertedObjects {
                let reference = ObjectReference(object)
                if references.contains(reference) { objects[reference] = object }
            }
        }
        guard let coordinator = context.persistentStoreCoordinator else { return }
        var waiting: [String: [NSManagedObjectID]] = [:]
        for reference in references where !reference.isTemporary {
            guard let objectID = coordinator.managedObjectID(forURIRepresentation: reference.uri) else { continue }
            if let object = context.registeredObject(for: objectID), !object.isFault {
                if !object.isDeleted { objects[reference] = object }
            } else {
                waiting[reference.entityName, default: []].append(objectID)
            }
        }
        for (entityName, objectIDs) in waiting {
            for start in stride(from: 0, to: objectIDs.count, by: Self.chunk) {
                let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
                request.predicate = NSPredicate(
                    format: "SELF IN %@", Array(objectIDs[start..<min(start + Self.chunk, objectIDs.count)]))
                for object in try context.fetch(request) { objects[ObjectReference(object)] = object }
            }
        }
    }

    /// Returns the classes of the objects that must be created.
    private func newClasses(for references: Set<ObjectReference>) throws -> [ObjectReference: NSManagedObject.Type] {
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        var classes: [ObjectReference: NSManagedObject.Type] = [:]
        for reference in references {
            guard let entity = entities[reference.entityName], !entity.isAbstract else {
                throw SnapshotError.noEntity(reference)
            }
            classes[reference] = entity.objectClass
        }
        return classes
    }

    /// Checks that each new object has a snapshot with all properties of its class, not only that
    /// of a superclass.
    private func requireAllProperties(
        of references: Set<ObjectReference>, in snapshots: [any EntitySnapshot],
        _ classes: [ObjectReference: NSManagedObject.Type]
    ) throws {
        if references.isEmpty { return }
        var problems: [ObjectReference: any Error] = [:]
        var complete: Set<ObjectReference> = []
        for snapshot in snapshots where references.contains(snapshot.objectID) {
            guard let objectClass = classes[snapshot.objectID] else { continue }
            do {
                try type(of: snapshot)._requireAll(of: objectClass)
                complete.insert(snapshot.objectID)
            } catch {
                problems[snapshot.objectID] = error
            }
        }
        if let problem = problems.first(where: { !complete.contains($0.key) }) { throw problem.value }
    }

    private static func require(
        _ expected: NSManagedObject.Type, for property: String, _ reference: ObjectReference,
        _ classes: [ObjectReference: NSManagedObject.Type], _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        let found: NSManagedObject.Type? = objects[reference].map { type(of: $0) } ?? classes[reference]
        if found?.isSubclass(of: expected) ?? true { return }
        throw SnapshotError.wrongClass(property: property, reference: reference, expected: "\(expected)")
    }
}

extension EntitySnapshot {
    fileprivate var objectClass: NSManagedObject.Type { Object.self }
}

/// Collects the objects that snapshots refer to.
private struct SnapshotLinks: _SnapshotVisitor {
    struct Link {
        let reference: ObjectReference
        let property: String
        let destination: NSManagedObject.Type
    }

    private(set) var all: [Link] = []

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        guard let stored = property.stored, let destination = Kind._destination else { return }
        for reference in Kind._references(stored) {
            all.append(Link(reference: reference, property: name.description, destination: destination))
        }
    }
}

/// Sets the values of one snapshot that differ from the object's. For an unsaved object it sets all
/// attributes, because nil reads like a value where the property is required.
private struct SnapshotAssignment: _SnapshotVisitor {
    let object: NSManagedObject
    let objects: [ObjectReference: NSManagedObject]
    /// Dangling references, which are dropped.
    let unknown: Set<ObjectReference>
    let isInserted: Bool

    init(object: NSManagedObject, objects: [ObjectReference: NSManagedObject], unknown: Set<ObjectReference>) {
        self.object = object
        self.objects = objects
        self.unknown = unknown
        isInserted = object.isInserted
    }

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) throws {
        guard let all = property.stored, !isDerived,
            let stored = unknown.isEmpty ? all : Kind._stored(all, without: unknown),
            isInserted && Kind._destination == nil || !KeptValue.areSame(Kind._stored(object, name), stored)
        else { return }
        try Kind._assign(stored, object, name, objects)
    }
}
