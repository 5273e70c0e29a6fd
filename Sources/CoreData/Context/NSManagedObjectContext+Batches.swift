import Foundation

// Fetches with a fetchBatchSize: objects are made as faults, and the rows of a batch are read when one of them is used.

extension NSManagedObjectContext {
    /// How many batches keep their rows although nothing but the fetched array refers to their objects.
    private static let maximumRecentBatches = 4

    /// Whether a fetch gives faults without rows. Sorting here, for several stores, would load them all one by one.
    func usesBatches<Result>(_ resolved: ResolvedRequest, _ request: NSFetchRequest<Result>) -> Bool {
        request.fetchBatchSize > 0 && request.resultType == .managedObjectResultType
            && !request.shouldRefreshRefetchedObjects
            && (resolved.stores.count == 1 || resolved.fetch.sortDescriptors.isEmpty)
            && resolved.stores.allSatisfy { rows(ofStore: $0.number)?.readsRowsInBatches ?? false }
    }

    /// The batches that the objects of a fetch load their rows in.
    func batches<Result>(of request: NSFetchRequest<Result>, _ entity: EntityLayout, store number: Int) -> FetchBatches {
        FetchBatches(
            size: request.fetchBatchSize, entity: entity, storeNumber: number,
            prefetching: (request.relationshipKeyPathsForPrefetching ?? []).map { $0.pathNames })
    }

    /// Refuses relationships that an entity does not have, before the first batch is loaded.
    func checkPrefetching(_ keyPaths: [String], of entity: EntityLayout) throws {
        for keyPath in keyPaths {
            let name = keyPath.prefix { $0 != "." }
            if let slot = entity.slotByName[String(name)], entity.slots[slot].relationship != nil { continue }
            throw CoreDataErrors.noRelationshipToPrefetch(String(name), of: entity.name)
        }
    }

    /// Reads the rows of a batch and gives them to those of its objects that are still faults.
    ///
    /// - Parameter object: one of the batch.
    func load(_ batch: FetchBatch, for object: NSManagedObject) throws {
        guard let rows = rows(ofStore: batch.storeNumber) else { return }
        let read = try rows.readRows(Array(batch.keys), of: batch.entity)
        defer { withExtendedLifetime(read) {} }
        // Kept until the registry's lock is free again: the last reference to an object must not go under it.
        var loaded: [NSManagedObject] = []
        loaded.reserveCapacity(read.rows.count)
        var place = -1
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            place = batch.firstPlace(by: Int(object.registryPlace), of: object.key)
            // Mostly rows come in the order of their keys, and so do keys where nobody has asked for another one.
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

    /// Lets go of the rows of a batch whose objects nobody uses: those that only the fetched array refers to.
    ///
    /// - Parameter place: where the first of its objects waited to be put into the registry.
    private func release(_ batch: FetchBatch, _ place: Int) {
        var idle: [NSManagedObject] = []
        idle.reserveCapacity(batch.keys.count)
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            for (offset, key) in batch.keys.enumerated() {
                guard let entry = table.find(key, waitingAt: place + offset), entry.isOnlyReference, let object = tryRetain(entry) else {
                    continue
                }
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
