import CoreData

// Objects of rows: their values, validation and saves.
extension StoreImport {
    /// Writes all rows in one save.
    ///
    /// - Returns: false if refused rows stopped the import.
    func writeAll() throws -> Bool {
        while true {
            let before = problems.count
            try forEachKnownRow(options.isDryRun ? "checking objects" : "importing") { row in
                guard plan.rows[row.number].state == .pending else { return }
                try fill(row, attributes: true)
            }
            if try finishSave() { return true }
            if hasToStop || problems.count == before { return false }
            // The other rows are written without those that were refused.
            plan.restart()
            reset()
        }
    }

    /// Validates and saves the objects of the rows of this save.
    ///
    /// - Returns: false if rows were refused; then nothing was saved.
    func finishSave() throws -> Bool {
        let refused = plan.count(of: .refused)
        for number in saved { validate(number) }
        var isValid = plan.count(of: .refused) == refused
        if isValid, !options.isDryRun { isValid = try save() }
        if isValid {
            for number in saved where plan.rows[number].state == .pending { plan.set(.written, of: number) }
            reset()
        }
        return isValid
    }

    private func validate(_ number: Int) {
        guard let object = objects[number] else { return }
        let isNew = object.isInserted
        for mistake in mistakes({ isNew ? try object.validateForInsert() : try object.validateForUpdate() }) {
            refuse(number, mistake)
        }
    }

    /// - Returns: false if rows were refused because of conflicts.
    private func save() throws -> Bool {
        if !isOneSave, context.hasChanges {
            progress.rows += saved.count
            setProgress(progress.propertyList)
        }
        do {
            try context.save()
            return true
        } catch {
            let userInfo = (error as NSError).userInfo
            let conflicts = userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] ?? []
            let numbers = Dictionary(
                objects.map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
            var isRefused = false
            for case let conflict as NSConstraintConflict in conflicts {
                for object in conflict.conflictingObjects {
                    guard let number = numbers[ObjectIdentifier(object)] else { continue }
                    let keys = conflict.constraint.joined(separator: ", ")
                    refuse(number, RowMistake(property: keys, reason: "another object has this value already"))
                    isRefused = true
                }
            }
            if !isRefused { throw error }
            return false
        }
    }

    /// Writes the progress of this import with the next save; nil at the end.
    func setProgress(_ value: [String: Any]?) {
        var metadata = store.store.metadata ?? [:]
        metadata[ImportProgress.key] = value
        store.model.coordinator.setMetadata(metadata, for: store.store)
    }

    // MARK: Objects

    /// Returns the object of a row, which may be one that comes later in this save.
    func object(of number: Int) -> NSManagedObject? {
        if let object = objects[number] { return object }
        let row = plan.rows[number]
        guard row.isNew, row.state == .pending else {
            let object = id(of: number).map { context.object(with: $0) }
            objects[number] = object
            return object
        }
        let object = NSManagedObject(entity: entity(of: number).description, insertInto: context)
        if !options.isDryRun { StoreInspection.assign(row.target, to: object, in: store.store) }
        objects[number] = object
        return object
    }

    /// Sets the values of a row's object.
    ///
    /// - Parameter attributes: whether attributes are set, or only relationships.
    func fill(_ row: ImportRow, attributes: Bool) throws {
        guard case .success(let content) = row.content, let object = object(of: row.number) else { return }
        saved.append(row.number)
        var isComplete = true
        for member in content.members {
            switch try schema.property(member.key, of: content.entity) {
            case .attribute(let attribute):
                if attributes { object.setValue(try values.value(member.value, of: attribute), forKey: member.key) }
            case .relationship(let relationship):
                let texts = try schema.references(member.value, relationship)
                if !set(texts, of: relationship, object, row.number) { isComplete = false }
            case .computed: break
            }
        }
        if !isComplete { plan.set(.incomplete, of: row.number) }
    }

    /// Sets the destinations of a relationship.
    ///
    /// - Returns: false if some come only later.
    private func set(
        _ texts: [String], of relationship: NSRelationshipDescription, _ object: NSManagedObject, _ number: Int
    ) -> Bool {
        var isComplete = true
        var destinations: [NSManagedObject] = []
        for text in texts {
            switch reference(text, relationship) {
            case .row(let destination):
                guard isAvailable(destination) else {
                    isComplete = false
                    continue
                }
                if let object = self.object(of: destination) { destinations.append(object) }
            case .stored(let objectID): destinations.append(context.object(with: objectID))
            case .wrong(let reason): note(once: RowMistake(property: relationship.name, reason: reason), of: number)
            }
        }
        if !relationship.isToMany {
            if isComplete { object.setValue(destinations.first, forKey: relationship.name) }
        } else if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: destinations), forKey: relationship.name)
        } else {
            object.setValue(NSSet(array: destinations), forKey: relationship.name)
        }
        return isComplete
    }

    /// Whether the object of a row is in the store, or becomes one in this save.
    func isAvailable(_ number: Int) -> Bool {
        let row = plan.rows[number]
        return isOneSave || !row.isNew || row.state != .pending || objects[number] != nil
    }
}
