import Foundation

// Batch operations for other parts of this package. Their changes are merged at once into this
// context and into the contexts that merge the saves of other contexts automatically.
extension NSManagedObjectContext {
    /// Inserts rows with the values of objects, or updates the existing rows with the same unique
    /// values.
    ///
    /// - Parameters:
    ///   - constraint: the attributes of the uniqueness constraint that identifies existing rows to
    ///     update; nil to leave this to the merge policy.
    ///   - updated: the properties of existing rows that get new values; nil for all.
    ///   - next: returns the next object, which is not kept; nil after the last one.
    package final func insertRows(
        of entityName: String, updatingBy constraint: [String]? = nil, _ updated: [String]? = nil,
        next: () throws -> NSManagedObject?
    ) throws -> (inserted: Int, updated: Int) {
        var target = BatchEntity(givenName: entityName)
        let execution = try BatchExecution(NSBatchInsertRequest(entityName: entityName, objects: []), &target, self)
        let store = try execution.storeForNewRows()
        guard let rows = try execution.rows(of: store) else {
            _ = try execution.ownAnswer(of: store)
            return (0, 0)
        }
        let layout = execution.layout
        let values = BatchValues(layout, store)
        let outcome = try withoutActuallyEscaping(next) { next in
            var insertion = RowInsertion(layout: layout) { row in
                guard let object = try next() else { return false }
                guard object.layout === layout else {
                    throw CoreDataErrors.insertionOfOther(object.layout.name, than: layout.name)
                }
                try values.fill(row, from: object)
                return true
            }
            insertion.rule = constraint == nil ? execution.uniquenessRule : .updateGivenValues
            insertion.constraint = constraint
            insertion.updatedSlots = try updated.map { Set(try $0.flatMap(values.slots(of:))) }
            insertion.author = execution.author
            insertion.wantsReferences = true
            return try execution.refusing(in: store) { try rows.insert(insertion) }
        }
        publishBatch(
            SavedObjectIDs(
                inserted: execution.objectIDs(outcome.inserted, store),
                updated: execution.objectIDs(outcome.updated, store)),
            near: layout.model.roots(near: layout.familyIndexes))
        return (outcome.insertedCount, outcome.updatedCount)
    }

    package enum BatchValue {
        /// The value of the property in an object that belongs to no context.
        case ofObject(NSManagedObject)
        case destination(NSManagedObjectID?)
        case expression(NSExpression)
    }

    /// Assigns new values to the rows that match a predicate.
    package final func updateRows(
        of entityName: String, where predicate: NSPredicate?, _ properties: [(name: String, value: BatchValue)]
    ) throws -> Int {
        var target = BatchEntity(givenName: entityName)
        let execution = try BatchExecution(NSBatchUpdateRequest(entityName: entityName), &target, self)
        var fetch = StoreFetch(entity: execution.layout)
        fetch.predicate = predicate
        var count = 0
        let family = execution.layout.familyIndexes
        let near = execution.layout.model.roots(near: family) { slot in properties.contains { $0.name == slot.name } }
        try execution.update { store in
            let values = BatchValues(execution.layout, store)
            var assignments: [(slot: Int, value: RowUpdate.Assignment)] = []
            for (name, value) in properties {
                switch value {
                case .ofObject(let object): assignments += try values.assignments(of: name, from: object)
                case .destination(let objectID): assignments += try values.assignments([name: objectID ?? NSNull()])
                case .expression(let expression): assignments += try values.assignments([name: expression])
                }
            }
            return RowUpdate(
                rows: fetch, assignments: assignments.sorted { $0.slot < $1.slot }, author: execution.author,
                wantsReferences: true)
        } outcome: { outcome, store in
            count += outcome.updatedCount
            publishBatch(SavedObjectIDs(updated: execution.objectIDs(outcome.updated, store)), near: near)
        }
        return count
    }

    /// Deletes the rows that match a predicate, and follows their delete rules.
    ///
    /// A to-many relationship without a minimum count may lose all of its objects, even where it is
    /// not optional.
    package final func deleteRows(of entityName: String, where predicate: NSPredicate?) throws -> Int {
        var target = BatchEntity(givenName: entityName)
        let execution = try BatchExecution(NSBatchDeleteRequest(), &target, self)
        var fetch = StoreFetch(entity: execution.layout)
        fetch.predicate = predicate
        var count = 0
        try BatchExecution.inEach(try execution.stores().map { (store: $0, ()) }) { store, _ in
            guard let rows = try execution.rows(of: store) else {
                _ = try execution.ownAnswer(of: store)
                return
            }
            let outcome = try rows.delete(
                RowDeletion(
                    rows: .fetched(fetch), author: execution.author, wantsReferences: true, wantsConsequences: true,
                    keepsRequiredToMany: false))
            count += outcome.deletedCount
            let deleted = outcome.deleted + outcome.alsoDeleted
            publishBatch(
                SavedObjectIDs(
                    updated: execution.objectIDs(outcome.alsoUpdated, store),
                    deleted: execution.objectIDs(deleted, store)),
                near: execution.layout.model.roots(near: Set((deleted + outcome.alsoUpdated).map(\.layoutIndex))))
        }
        return count
    }

    /// Merges the changes of a batch into this context and into contexts that merge the saves of
    /// other contexts.
    ///
    /// - Parameter roots: the root entities of objects that refer to the changed rows or derive
    ///   values from them. A store does not report which of those objects are affected: the
    ///   contexts compare the rows that they have read with the store.
    private func publishBatch(_ changes: SavedObjectIDs, near roots: Set<Int>) {
        var changes = changes
        changes.unnamed = .ofRoots(roots)
        // Other contexts come first: work that an observer of this context's own merge enqueues
        // then finds them up to date.
        tellOthers { changes }
        // Without inserted objects: this context has none of them yet.
        merge(SavedObjectIDs(updated: changes.updated, deleted: changes.deleted, unnamed: changes.unnamed))
    }
}

extension ModelLayout {
    /// The root entities whose objects refer to objects of other entities, or derive values from
    /// them.
    ///
    /// - Parameters:
    ///   - entities: the layout indexes of the entities whose rows have changed.
    ///   - isChanged: whether a relationship has changed; where rows are inserted or deleted, all
    ///     have.
    fileprivate func roots(near entities: some Sequence<Int>, where isChanged: (PropertySlot) -> Bool = { _ in true })
        -> Set<Int>
    {
        var roots: Set<Int> = []
        let changed = entities.map { layouts[$0] }
        let changedRoots = Set(changed.map(\.rootIndex))
        for layout in changed {
            for slot in layout.slots where slot.destinationIndex >= 0 && isChanged(slot) {
                roots.insert(layouts[slot.destinationIndex].rootIndex)
            }
        }
        // Adds entities with to-many relationships that have no inverse, and entities with derived
        // values, which may be derived from other derived values.
        let derived = Set(layouts.filter { $0.slots.contains(where: \.isDerived) }.map(\.rootIndex))
        var sources = changedRoots
        while true {
            let former = roots.count
            for layout in layouts where !roots.contains(layout.rootIndex) {
                let leads = layout.slots.contains { slot in
                    slot.destinationIndex >= 0 && sources.contains(layouts[slot.destinationIndex].rootIndex)
                        && (derived.contains(layout.rootIndex)
                            || slot.inverseSlot < 0 && slot.kind.isToMany && isChanged(slot))
                }
                if leads { roots.insert(layout.rootIndex) }
            }
            sources = roots.intersection(derived).union(changedRoots)
            if roots.count == former { return roots }
        }
    }
}
