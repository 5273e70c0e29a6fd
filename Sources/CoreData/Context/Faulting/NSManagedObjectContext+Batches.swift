import Foundation

// Fetches with a fetchBatchSize. Objects are made as faults. The rows of a batch are read when one
// of its objects is used.

extension NSManagedObjectContext {
    /// The number of batches that keep their rows although only the fetched array refers to their
    /// objects.
    private static let maximumRecentBatches = 4

    /// Whether a fetch returns faults without rows. Sorting the objects of several stores here
    /// would load them one by one.
    func usesBatches<Result>(_ resolved: ResolvedRequest, _ request: NSFetchRequest<Result>) -> Bool {
        request.fetchBatchSize > 0 && request.resultType == .managedObjectResultType
            && !request.shouldRefreshRefetchedObjects
            && (resolved.stores.count == 1 || resolved.fetch.sortDescriptors.isEmpty)
            && resolved.stores.allSatisfy { rows(ofStore: $0.number)?.readsRowsInBatches ?? false }
    }

    /// Creates the batches in which the objects of a fetch load their rows.
    func batches<Result>(of request: NSFetchRequest<Result>, _ entity: EntityLayout, store number: Int) -> FetchBatches {
        FetchBatches(
            size: request.fetchBatchSize, entity: entity, storeNumber: number,
            prefetching: (request.relationshipKeyPathsForPrefetching ?? []).map { $0.pathNames })
    }

    /// Rejects relationships that an entity does not have, before the first batch is loaded.
    func checkPrefetching(_ keyPaths: [String], of entity: EntityLayout) throws {
        for keyPath in keyPaths {
            let name = keyPath.prefix { $0 != "." }
            if let slot = entity.slotByName[String(name)], entity.slots[slot].relationship != nil { continue }
            throw CoreDataErrors.noRelationshipToPrefetch(String(name), of: entity.name)
        }
    }

    /// Reads the rows of a batch and gives them to its objects that are still faults.
    ///
    /// - Parameter object: An object of the batch.
    func load(_ batch: FetchBatch, for object: NSManagedObject) throws {
        guard let rows = rows(ofStore: batch.storeNumber) else { return }
        let read = try rows.readRows(Array(batch.keys), of: batch.entity)
        defer { withExtendedLifetime(read) {} }
        // Kept until the registry's lock is released: the last reference to an object must not be
        // released under it.
        var loaded: [NSManagedObject] = []
        loaded.reserveCapacity(read.rows.count)
        var place = -1
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            place = batch.firstPlace(by: Int(object.registryPlace), of: object.key)
            // Rows mostly come in the order of their keys. Without sort descriptors the keys have
            // that order, too.
            var next = batch.keys.startIndex
            for row in read.rows {
                let key = row.rowKey
                while next < batch.keys.endIndex, batch.keys[next] < key { next += 1 }
                let isNext = next < batch.keys.endIndex && batch.keys[next] == key
                let found = isNext ? table.find(key, waitingAt: place + (next - batch.keys.startIndex)) : table.find(key)
                guard let object = found.flatMap({ tryRetain($0) }) else { continue }
                loaded.append(object)
                guard object.flags.contains(.fault), object.committedRow == nil else { continue }
                object.keep(row)
            }
        }
        for path in batch.prefetching { try prefetch(path[...], of: loaded) }
        recentBatches.append((batch.withOwnKeys, place))
        if recentBatches.count > Self.maximumRecentBatches {
            let (batch, place) = recentBatches.removeFirst()
            release(batch, place)
        }
    }

    /// Releases the rows of a batch's unused objects, which only the fetched array refers to.
    ///
    /// - Parameter place: The place where the batch's first object waited for its registration.
    private func release(_ batch: FetchBatch, _ place: Int) {
        var idle: [NSManagedObject] = []
        idle.reserveCapacity(batch.keys.count)
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            for (offset, key) in batch.keys.enumerated() {
                guard let entry = table.find(key, waitingAt: place + offset), entry.isOnlyReference, let object = tryRetain(entry) else {
                    continue
                }
                // An object that is not dropped is released outside the lock, too.
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
