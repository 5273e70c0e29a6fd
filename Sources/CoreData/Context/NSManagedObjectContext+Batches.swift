import Foundation

// Fetches with a fetchBatchSize: objects are made as faults, and the rows of a batch are read when one of them is used.

extension NSManagedObjectContext {
    /// How many batches keep their rows although nothing but the fetched array refers to their objects.
    private static let maximumRecentBatches = 4

    /// Whether a fetch gives faults without rows. Sorting here, for several stores, would load them all one by one.
    func usesBatches<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) -> Bool {
        request.fetchBatchSize > 0 && request.resultType == .managedObjectResultType
            && !request.shouldRefreshRefetchedObjects
            && (plan.stores.count == 1 || plan.store.sortDescriptors.isEmpty)
            && plan.stores.allSatisfy { $0.snapshotStore?.readsRowsInBatches ?? false }
    }

    /// Unique objects for rows that are not read yet, in their order.
    func batchedFaults<Result>(
        for references: [RowReference], of entity: EntityLayout, store: NSPersistentStore, _ request: NSFetchRequest<Result>
    ) -> [NSManagedObject] {
        let layouts = entity.model.layouts
        let root = entity.rootIndex
        let number = store.number
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(references.count)
        // Objects are made outside of the registry's lock: their initializers may be anyone's.
        var existing: [NSManagedObject?] = []
        registry.withTable(store: number, root: root) { table in
            guard table.count > 0 else { return }
            existing.reserveCapacity(references.count)
            for reference in references { existing.append(table.find(reference.key).flatMap { tryRetain($0) }) }
        }
        var layout = entity
        var objectClass = layout.managedObjectClass
        for (index, reference) in references.enumerated() {
            if !existing.isEmpty, let object = existing[index] {
                objects.append(object)
                continue
            }
            if reference.layoutIndex != layout.index {
                layout = layouts[reference.layoutIndex]
                objectClass = layout.managedObjectClass
            }
            let object = objectClass.forContext(layout.entity)
            object.becomeFault(key: reference.key, store: number, in: registry)
            objects.append(object)
        }
        registry.withTable(store: number, root: root) { table in
            table.reserve(table.count + references.count)
            for index in objects.indices where existing.isEmpty || existing[index] == nil {
                if let twin = table.find(objects[index].key).flatMap({ tryRetain($0) }) {
                    // The same row twice in one result.
                    objects[index].leavePlaceToTwin()
                    objects[index] = twin
                    continue
                }
                table.insert(.passUnretained(objects[index]), key: objects[index].key)
            }
        }
        if retainsRegisteredObjects { retained.formUnion(objects) }
        let prefetching = (request.relationshipKeyPathsForPrefetching ?? []).map { $0.split(separator: ".").map(String.init) }
        var start = 0
        while start < objects.count {
            let end = min(start + request.fetchBatchSize, objects.count)
            let batch = FetchBatch(
                entity: entity, storeNumber: number, keys: references[start..<end].map(\.key), prefetching: prefetching)
            let placeholder = batch.placeholder()
            for object in objects[start..<end] where object.flags.contains(.fault) && object.committedRow == nil {
                object.awaitRow(in: placeholder)
            }
            start = end
        }
        return objects
    }

    /// Refuses relationships that an entity does not have, before the first batch is loaded.
    func checkPrefetching(_ keyPaths: [String], of entity: EntityLayout) throws {
        for keyPath in keyPaths {
            let name = keyPath.prefix { $0 != "." }
            if let slot = entity.slotByName[String(name)], entity.slots[slot].relationship != nil { continue }
            throw CoreDataErrors.make(
                .coreData, "The entity \(entity.name) has no relationship named \"\(name)\" to prefetch.")
        }
    }

    /// Reads the rows of a batch and gives them to those of its objects that are still faults.
    func load(_ batch: FetchBatch) throws {
        guard let store = registry.store(number: batch.storeNumber)?.snapshotStore else { return }
        let read = try store.readRows(batch.keys, of: batch.entity)
        defer { withExtendedLifetime(read) {} }
        // Kept until the registry's lock is free again: the last reference to an object must not go under it.
        var loaded: [NSManagedObject] = []
        loaded.reserveCapacity(read.rows.count)
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            for row in read.rows {
                guard let object = table.find(row.rowKey).flatMap({ tryRetain($0) }) else { continue }
                loaded.append(object)
                guard object.flags.contains(.fault), object.committedRow == nil else { continue }
                object.keep(row)
            }
        }
        for path in batch.prefetching { try prefetch(path[...], of: loaded) }
        recentBatches.append(batch)
        if recentBatches.count > Self.maximumRecentBatches { release(recentBatches.removeFirst()) }
    }

    /// Lets go of the rows of a batch whose objects nobody uses: those that only the fetched array refers to.
    private func release(_ batch: FetchBatch) {
        var idle: [NSManagedObject] = []
        idle.reserveCapacity(batch.keys.count)
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            for key in batch.keys {
                guard let entry = table.find(key), entry.isOnlyReference, let object = tryRetain(entry) else { continue }
                // One that is not dropped is let go of outside of the lock, too.
                idle.append(object)
            }
        }
        let placeholder = batch.placeholder()
        for object in idle where object.committedRow != nil && object.canBeDropped {
            turnIntoFault(object)
            object.awaitRow(in: placeholder)
        }
    }
}

extension NSManagedObject {
    /// Whether the object is unchanged and its values can be read again.
    fileprivate var canBeDropped: Bool {
        guard flags.isSubset(of: .attention), !hasPendingValues else { return false }
        guard let extras else { return true }
        return extras.transient == nil && extras.allToMany.allSatisfy { !$0.state.hasChanges }
    }
}

extension Unmanaged where Instance: AnyObject {
    /// Whether exactly one strong reference to the object exists. The memory must be valid at the call.
    fileprivate var isOnlyReference: Bool {
        // The count is looked at where the pointer stands, without a reference of our own, which would be counted.
        var pointer = toOpaque()
        return withUnsafeMutablePointer(to: &pointer) {
            $0.withMemoryRebound(to: Instance.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
