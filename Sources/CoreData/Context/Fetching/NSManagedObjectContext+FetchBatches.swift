import Foundation

// Fetches with a fetchBatchSize: faults whose rows are read when one of a batch is used.

/// The batches that keep their rows although only the fetched array refers to their objects.
struct RecentBatches {
    typealias Entry = (batch: FetchBatch, place: Int)

    private static let limit = 4
    /// Oldest first.
    private var entries: [Entry] = []

    /// - Returns: The batch that has to give up its rows, if there is one.
    mutating func add(_ batch: FetchBatch, _ place: Int) -> Entry? {
        entries.append((batch, place))
        return entries.count > Self.limit ? entries.removeFirst() : nil
    }

    mutating func remove(ofStore number: Int) { entries.removeAll { $0.batch.storeNumber == number } }
}

extension NSManagedObjectContext {
    /// Whether a fetch returns faults: sorting those of several stores would load them singly.
    func usesBatches<Result>(_ resolved: ResolvedRequest, _ request: NSFetchRequest<Result>) -> Bool {
        request.fetchBatchSize > 0 && request.resultType == .managedObjectResultType
            && !request.shouldRefreshRefetchedObjects
            && (resolved.stores.count == 1 || resolved.fetch.sortDescriptors.isEmpty)
            && resolved.stores.allSatisfy { rows(ofStore: $0.number)?.readsRowsInBatches ?? false }
    }

    /// Creates the batches in which the objects of a fetch load their rows.
    func batches<Result>(of request: NSFetchRequest<Result>, _ entity: EntityLayout, store number: Int) -> FetchBatches
    {
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
        recordFault(of: batch.entity, count: read.rows.count)
        // The last reference to an object must not be released under the registry's lock.
        var loaded: [NSManagedObject] = []
        loaded.reserveCapacity(read.rows.count)
        var place = -1
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            place = batch.firstPlace(by: Int(object.registryPlace), of: object.key)
            // Rows mostly come in the order of their keys, as the keys do without sort descriptors.
            var next = batch.keys.startIndex
            for row in read.rows {
                let key = row.rowKey
                while next < batch.keys.endIndex, batch.keys[next] < key { next += 1 }
                let isNext = next < batch.keys.endIndex && batch.keys[next] == key
                let found =
                    isNext ? table.find(key, waitingAt: place + (next - batch.keys.startIndex)) : table.find(key)
                guard let object = found?.retained else { continue }
                loaded.append(object)
                guard object.flags.contains(.fault), object.committedRow == nil else { continue }
                object.keep(row)
            }
        }
        for path in batch.prefetching { try prefetch(path[...], of: loaded) }
        if let (batch, place) = recentBatches.add(batch.withOwnKeys, place) { release(batch, place) }
    }

    /// Releases the rows of a batch's unused objects, which only the fetched array refers to.
    ///
    /// - Parameter place: The place where the batch's first object waited for its registration.
    private func release(_ batch: FetchBatch, _ place: Int) {
        var idle: [NSManagedObject] = []
        idle.reserveCapacity(batch.keys.count)
        registry.withTable(store: batch.storeNumber, root: batch.entity.rootIndex) { table in
            for (offset, key) in batch.keys.enumerated() {
                guard let entry = table.find(key, waitingAt: place + offset), entry.isOnlyReference,
                    let object = entry.retained
                else {
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
