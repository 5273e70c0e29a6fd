import Foundation

// Batches for other parts of this package: what they have changed is merged at once into this context, and into those that merge
// what others save.
extension NSManagedObjectContext {
    /// Inserts rows with the values of objects, or changes the rows that have their unique values.
    ///
    /// - Parameters:
    ///   - constraint: the attributes of the uniqueness constraint by which rows that are there are changed; nil to leave that to the
    ///     merge policy.
    ///   - updated: the properties that get new values then; nil for all.
    ///   - next: gives the next object, which is not kept; nil after the last one.
    package final func insertRows(
        of entityName: String, updatingBy constraint: [String]? = nil, _ updated: [String]? = nil, next: () throws -> NSManagedObject?
    ) throws -> (inserted: Int, updated: Int) {
        var target = BatchEntity(name: entityName)
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
            SavedObjectIDs(inserted: execution.objectIDs(outcome.inserted, store), updated: execution.objectIDs(outcome.updated, store)),
            of: layout)
        return (outcome.insertedCount, outcome.updatedCount)
    }

    /// A new value of a property.
    package enum BatchValue {
        /// That of an object which belongs to no context.
        case ofObject(NSManagedObject)
        case destination(NSManagedObjectID?)
        case expression(NSExpression)
    }

    /// Gives the rows that match a predicate new values.
    package final func updateRows(
        of entityName: String, where predicate: NSPredicate?, _ properties: [(name: String, value: BatchValue)]
    ) throws -> Int {
        var target = BatchEntity(name: entityName)
        let execution = try BatchExecution(NSBatchUpdateRequest(entityName: entityName), &target, self)
        var fetch = StoreFetch(entity: execution.layout)
        fetch.predicate = predicate
        var count = 0
        // What no store can take is found before the first one is written.
        let updates = try execution.stores().map { store -> (store: NSPersistentStore, (any BatchRows, RowUpdate)?) in
            guard let rows = try execution.rows(of: store) else { return (store, nil) }
            let values = BatchValues(execution.layout, store)
            var assignments: [(slot: Int, value: RowUpdate.Assignment)] = []
            for (name, value) in properties {
                switch value {
                case .ofObject(let object): assignments += try values.assignments(of: name, from: object)
                case .destination(let objectID): assignments += try values.assignments([name: objectID ?? NSNull()])
                case .expression(let expression): assignments += try values.assignments([name: expression])
                }
            }
            let update = RowUpdate(
                rows: fetch, assignments: assignments.sorted { $0.slot < $1.slot }, author: execution.author, wantsReferences: true)
            return (store, (rows, update))
        }
        try BatchExecution.inEach(updates) { store, rowUpdate in
            guard let (rows, update) = rowUpdate else {
                _ = try execution.ownAnswer(of: store)
                return
            }
            let outcome = try execution.refusing(in: store) { try rows.update(update) }
            count += outcome.updatedCount
            publishBatch(SavedObjectIDs(updated: execution.objectIDs(outcome.updated, store)), of: execution.layout)
        }
        return count
    }

    /// Deletes the rows that match a predicate, as delete rules say.
    ///
    /// A to-many relationship that need not have a least number of objects may lose all of them, also where it is not optional.
    package final func deleteRows(of entityName: String, where predicate: NSPredicate?) throws -> Int {
        var target = BatchEntity(name: entityName)
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
            publishBatch(
                SavedObjectIDs(
                    updated: execution.objectIDs(outcome.alsoUpdated, store),
                    deleted: execution.objectIDs(outcome.deleted + outcome.alsoDeleted, store)), of: execution.layout)
        }
        return count
    }

    /// Merges what a batch has done to rows of an entity into this context and those that merge what others save.
    ///
    /// A store does not say which other rows lead to those rows or derive values from them: all objects in use of the entities that are
    /// related to the entity are read anew.
    private func publishBatch(_ changes: SavedObjectIDs, of layout: EntityLayout) {
        let layouts = layout.model.layouts
        var roots: Set<Int> = []
        for member in layout.familyIndexes.map({ layouts[$0] }) {
            for slot in member.relationshipSlots where member.slots[slot].destinationIndex >= 0 {
                roots.insert(layouts[member.slots[slot].destinationIndex].rootIndex)
            }
        }
        // Inserted objects are nobody's yet here.
        let published = SavedObjectIDs(updated: changes.updated, deleted: changes.deleted, rereadRoots: roots)
        merge(published)
        tellOthers { SavedObjectIDs(inserted: changes.inserted, updated: changes.updated, deleted: changes.deleted, rereadRoots: roots) }
    }
}
