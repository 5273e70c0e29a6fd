import SafeCoreData

/// One run of the check for one class, on a store of its own.
final class RoundTrip {
    private let folder: URL
    private let coordinator: NSPersistentStoreCoordinator
    private let entity: NSEntityDescription?
    private let model: NSManagedObjectModel
    private let objectClass: NSManagedObject.Type
    private let serials = SerialNumbers()
    private var found: [String] = []
    private var contexts: [NSManagedObjectContext] = []

    init(_ objectClass: NSManagedObject.Type, model: NSManagedObjectModel) throws {
        self.objectClass = objectClass
        self.model = model
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("RoundTrip-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("store.sqlite"))
        entity = model.entities.first { $0.objectClass == objectClass }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func differences() -> [String] {
        guard let entity else { return ["\(ModelText.of(model)) has no entity whose class is \(objectClass)."] }
        guard !entity.isAbstract else { return ["\(objectClass) is abstract: check its subclasses."] }
        do {
            try check(entity)
        } catch {
            found.append("\(objectClass): \(RoundTripText.of(error))")
        }
        return found
    }

    private func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        contexts.append(context)
        return context
    }

    // MARK: Steps

    private func check(_ entity: NSEntityDescription) throws {
        let context = newContext()
        var filler = ObjectFiller(context: context, serials: serials)
        let object = filler.make(entity)
        found += filler.problems
        var expected = filler.values
        verify(object, expected, "after setting")
        reportUncodedProperties()
        verifyCoding(object)
        // An object without a generated required value cannot be saved; the missing value has been
        // reported.
        if !filler.problems.isEmpty, (try? object.validateForInsert()) == nil { return }
        try context.save()
        verify(object, expected, "after saving")

        let second = newContext()
        let fetched = try second.existingObject(with: object.objectID)
        verify(fetched, expected, "after fetching")
        verifySnapshots(object, fetched, "after fetching")

        var changer = ObjectFiller(context: second, serials: serials)
        changer.fill(fetched)
        expected = changer.values
        verify(fetched, expected, "after changing")
        verifyCoding(fetched)
        // Former destinations of the object may be invalid without it.
        for other in second.updatedObjects where other !== fetched {
            if (try? other.validateForUpdate()) == nil { second.delete(other) }
        }
        try second.save()

        let last = try newContext().existingObject(with: object.objectID)
        verify(last, expected, "after saving the change")
        verifySnapshots(fetched, last, "after saving the change")
        checkRequired(entity)
    }

    private func verify(_ object: NSManagedObject, _ expected: [String: RoundTripValue], _ step: String) {
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
            let read = RoundTripValue(object.value(forKey: name))
            if read != value { found.append("\(name): \(value) was given, \(step) it is \(read).") }
        }
    }

    /// Reports losses of `Codable` values. A value is encoded when it is set, and properties that
    /// its type does not encode are lost silently.
    private func verifyCoding(_ object: NSManagedObject) {
        for loss in (object as? any EntityObject)?._codingLosses() ?? [] {
            found.append("\(loss.name): \(loss.value) was encoded, decoded it is \(loss.decoded).")
        }
    }

    /// Reports stored properties without a coding key. They are lost too, but a value made by
    /// decoding always has the same value for them, so `verifyCoding` does not see that.
    private func reportUncodedProperties() {
        for (name, properties) in (objectClass as? any EntityObject.Type)?._uncodedPropertiesByEntity() ?? [] {
            found.append(
                "\(name): the type's CodingKeys leave out \(properties.joined(separator: ", ")), whose value is lost.")
        }
    }

    /// Compares snapshots: they use the class's own types, which key-value coding does not see.
    private func verifySnapshots(_ first: NSManagedObject, _ second: NSManagedObject, _ step: String) {
        guard let first = first as? any EntityObject, let second = second as? any EntityObject else { return }
        if AnyHashable(first.snapshotOfOwnClass) != AnyHashable(second.snapshotOfOwnClass) {
            found.append("\(objectClass): snapshots of the object differ \(step).")
        }
    }

    private func checkRequired(_ entity: NSEntityDescription) {
        for property in entity.properties.sorted(by: { $0.name < $1.name }) where Self.isRequired(property) {
            let context = newContext()
            var filler = ObjectFiller(context: context, serials: serials)
            let object = filler.make(entity)
            object.setValue(nil, forKey: property.name)
            do {
                try object.validateForInsert()
                found.append("\(property.name): it is required, but an object without it is accepted.")
            } catch {
                // Expected: the save fails without a required value.
            }
        }
    }

    private static func isRequired(_ property: NSPropertyDescription) -> Bool {
        // A to-many relationship that is not optional may still be empty, unless it has a minimum.
        if let relationship = property as? NSRelationshipDescription, relationship.isToMany, relationship.minCount == 0
        {
            return false
        }
        return !property.isOptional && !property.isTransient && !(property is NSDerivedAttributeDescription)
            && !(property is NSFetchedPropertyDescription)
    }
}

enum ModelText {
    static func of(_ model: NSManagedObjectModel) -> String {
        let names = model.entities.compactMap(\.name).sorted().joined(separator: ", ")
        let source = model.fileURL.map { "of \($0.path)" } ?? "made in the program"
        return "The model \(source) (\(names))"
    }
}

enum RoundTripText {
    /// Returns an error in one line, with its detailed errors.
    static func of(_ error: any Error) -> String {
        let error = error as NSError
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return details.isEmpty ? error.localizedDescription : details.map(\.localizedDescription).joined(separator: " ")
    }
}
