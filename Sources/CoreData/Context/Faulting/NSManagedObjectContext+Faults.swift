import Foundation

// Loading faults: the rows of objects, and the destinations of their relationships.

extension NSManagedObjectContext {
    /// Loads a fault for an accessor, which cannot throw.
    func fulfillFault(_ object: NSManagedObject, triggeredBy slot: Int) {
        // Its store was removed, and the context has not processed that yet.
        if rows(near: object) == nil { followRemovedStores() }
        // A new object whose insertion was taken back never had a row.
        if object.flags.contains(.discarded) { return object.becomeInaccessible() }
        do {
            // An object whose row is of another entity reads as nil from now on.
            if try load(object) || object.flags.contains(.inaccessible) { return }
        } catch {
            if object.storeNumber >= 0, registry.store(number: Int(object.storeNumber)) == nil {
                // Its store was removed: it reads as nil from now on.
                object.becomeInvalid()
                return
            }
            // The object stays a fault; an accessor cannot throw, so the next save does.
            readFailure = error
            return
        }
        let objectID = object.objectID
        let property = slot < 0 ? nil : object.layout.slots[slot].declared
        guard shouldHandleInaccessibleFault(object, for: objectID, triggeredByProperty: property) else {
            preconditionFailure(
                "Core Data could not fulfill a fault for \(objectID.uriRepresentation().absoluteString): there is no "
                    + "such row. "
                    + "It was deleted by someone else; existingObject(with:) tells, or leave "
                    + "shouldDeleteInaccessibleFaults on."
            )
        }
        changes.deleteInaccessible(object)
    }

    /// Loads a fault. Returns false if it has no row, or one of another entity than its ID says.
    func load(_ object: NSManagedObject) throws -> Bool {
        if !object.flags.contains(.fault) { return true }
        if object.flags.contains(.inserted) {
            // It has no row: its values are those of a new object.
            object.becomeLoaded()
            return true
        }
        if object.committedRow != nil, let page = object.page, isGood(page) { return fulfillIfOfEntity(object) }
        if object.flags.contains(.invalid) { return false }
        guard object.storeNumber >= 0 else { return false }
        guard let rows = rows(near: object) else {
            throw CoreDataErrors.storeIsGone(of: object)
        }
        if let cached = rows.cachedRow(object.key, of: object.layout), isGood(cached.page) {
            object.keep(cached.row)
        } else if let batch = object.page?.batch, stalenessInterval != 0 {
            try load(batch, for: object)
            guard object.committedRow != nil else { return false }
        } else {
            let read = try rows.readRows([object.key], of: object.layout)
            defer { withExtendedLifetime(read) {} }
            recordFault(of: object.layout, count: read.rows.count)
            // The read may have given a newer row to the object.
            if !object.flags.contains(.fault) { return true }
            guard let row = read.rows.first else { return false }
            object.keep(row)
            defer { loadSiblings(ofOwnerOf: object) }
            return fulfillIfOfEntity(object)
        }
        return fulfillIfOfEntity(object)
    }

    /// Makes the committed row readable. If it is of another entity than the object, no such object
    /// exists, and the result is false.
    private func fulfillIfOfEntity(_ object: NSManagedObject) -> Bool {
        if let row = object.committedRow, row.rowLayoutIndex != object.layout.index {
            leaveRow(object)
            return false
        }
        fulfill(object)
        return true
    }

    /// Removes an object whose row is of another entity. An object of that entity gets the row.
    func leaveRow(_ object: NSManagedObject) {
        object.forgetRow()
        object.becomeInaccessible()
        endDeletion(of: object)
    }

    /// Whether rows of a page are young enough for the context's staleness interval.
    private func isGood(_ page: RowPage) -> Bool {
        let interval = stalenessInterval
        if interval < 0 { return true }
        return interval > 0 && Double(currentTime()) - Double(page.time) <= interval * 1e9
    }

    /// Makes the committed row readable and notifies the object.
    func fulfill(_ object: NSManagedObject) {
        object.becomeLoaded()
        asStep { object.silently { object.awakeFromFetch() } }
    }

    /// Returns the stored members of a to-many relationship; nil if they could not be read.
    func relatedObjects(to object: NSManagedObject, slot: Int) -> ContiguousArray<NSManagedObject>? {
        if rows(near: object) == nil { followRemovedStores() }
        guard let source = rows(near: object) else {
            // The store was removed: a relationship that was not loaded reads as empty.
            return []
        }
        do {
            let rows = try source.relatedRows(to: object.key, through: object.layout.slots[slot], of: object.layout)
            defer { loadSiblings(of: object, toMany: slot, count: rows.rows.count) }
            recordFault(of: object.layout, slot, count: rows.rows.count)
            // An initializer for no elements would write to the shared storage of empty arrays.
            if rows.rows.isEmpty { return [] }
            return ContiguousArray(unsafeUninitializedCapacity: rows.rows.count) { buffer, count in
                count = buffer.count
                initialize(buffer, withObjectsOf: rows, store: Int(object.storeNumber), asFaults: true)
            }
        } catch {
            readFailure = error
            return nil
        }
    }

    /// Tells of rows that were read for faults. A parent's objects are no rows of a store.
    ///
    /// - Parameter slot: The to-many relationship whose members they are; nil for the row of the
    ///   object itself.
    func recordFault(of layout: EntityLayout, _ slot: Int? = nil, count: Int) {
        guard Instruments.wantsEvents, parentContext == nil else { return }
        Instruments.record(
            .fault(
                context: name, entity: layout.name, relationship: slot.map { layout.slots[$0].name }, count: count))
    }

    /// Whether a row that a store returns may belong to an object that was deleted in this context.
    var hasUnsavedDeletions: Bool { changes.hasDeletions }
}
