import Foundation
import Synchronization

/// Presents the records of an incremental store as rows: each request becomes a call of the store's
/// class.
final class IncrementalRows: SnapshotStore, Sendable {
    let rowCaches: [RowCache]
    private let layouts: ModelLayout
    private unowned let store: NSIncrementalStore
    /// The version of a row that was last saved here.
    private struct SavedVersion {
        /// The version number that is counted here.
        let own: Int64
        /// The version that the store's class returned before the save; nil for a new row.
        let former: Int64?

        /// Whether a version that the store's class returns can belong to the row saved here.
        ///
        /// The store's class is not asked for the version after a save. A class that counts
        /// versions returns the next number; larger numbers are not counts but, for example, times.
        func mayBe(_ version: Int64) -> Bool {
            if version > Self.largestCount { return true }
            return former.map { $0...($0 + 1) ~= version } ?? (0...1 ~= version)
        }

        private static let largestCount: Int64 = 1_000_000
    }

    /// Guards the versions of rows saved here.
    private let savedVersions = Mutex<[RowReference: SavedVersion]>([:])

    init(layouts: ModelLayout, store: NSIncrementalStore) {
        self.layouts = layouts
        self.store = store
        // Versions counted here and versions of the store do not show which of two rows is newer.
        rowCaches = layouts.layouts.map { _ in RowCache(ordersVersions: false) }
    }

    var needsObjects: Bool { true }

    var computesDictionaries: Bool { true }

    // MARK: - Fetching

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        plan.excludedKeys.isEmpty ? try answer(to: plan) : try fetchAllButExcluded(plan)
    }

    /// A store's class has no way to leave out certain rows, so it is asked for all of them.
    private func fetchAllButExcluded(_ plan: StoreFetch) throws -> StoreFetchResult {
        var all = plan
        all.excludedKeys = []
        all.limit = 0
        all.offset = 0
        if plan.shape == .count { all.shape = .references }
        guard case .references(let references) = try answer(to: all) else { return try answer(to: plan) }
        let kept = MemoryFetch.cut(references.filter { !plan.excludedKeys.contains($0.key) }, plan)
        return plan.shape == .count ? .count(kept.count) : .references(FetchedReferences(kept))
    }

    private func answer(to plan: StoreFetch) throws -> StoreFetchResult {
        let request = try request(for: plan)
        let answer = NodeValue.elements(of: try store.execute(request, with: (plan.origin as? FetchOrigin)?.context))
        switch plan.shape {
        case .rows, .references:
            return .references(FetchedReferences(try answer.map { try reference($0, plan) }))
        case .count:
            if let number = answer.first as? NSNumber { return .count(number.intValue) }
            if let number = answer.first as? Int { return .count(number) }
            return .count(answer.count)
        case .dictionaries:
            return .dictionaries(answer.compactMap(dictionary))
        }
    }

    private func request(for plan: StoreFetch) throws -> NSPersistentStoreRequest {
        let request =
            ((plan.origin as? FetchOrigin)?.request as? any IncrementalFetchRequest)?.copyForStore()
            ?? NSFetchRequest<any NSFetchRequestResult>()
        (request as? any IncrementalFetchRequest)?.adopt(plan)
        return request
    }

    private func reference(_ value: Any, _ plan: StoreFetch) throws -> RowReference {
        if let reference = NodeValue.reference(value) { return reference }
        throw store.error(
            .persistentStoreOperation,
            "The store class \(type(of: store)) answered a fetch of '\(plan.entity.name)' with a \(type(of: value)) "
                + "instead "
                + "of a managed object or object ID.")
    }

    private func dictionary(_ value: Any) -> [String: Any]? {
        if let dictionary = value as? [String: Any] { return dictionary }
        guard let dictionary = value as? NSDictionary else { return nil }
        var result: [String: Any] = [:]
        for (key, value) in dictionary {
            if let key = key as? String { result[key] = value }
        }
        return result
    }

    // MARK: - Rows

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        try FetchedRows(keys.compactMap { try readRow(RowReference(key: $0, layoutIndex: entity.index)) })
    }

    /// Reads a record from the store; nil if the store has none.
    ///
    /// - Parameter publishes: whether the row is put into the cache, where other contexts find it.
    private func readRow(_ reference: RowReference, publishes: Bool = true) throws -> Snapshot? {
        let layout = layouts.layouts[reference.layoutIndex]
        let objectID = NSManagedObjectID(key: reference.key, layout: layout, store: store)
        let cache = rowCaches[layout.rootIndex]
        // The store's answer may be older than a save that happens meanwhile.
        let generation = cache.generation
        let context = context()
        let node: NSIncrementalStoreNode
        do {
            node = try store.newValuesForObject(with: objectID, with: context)
        } catch CocoaError.managedObjectReferentialIntegrity {
            return nil
        }
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        let row = builder.appendRow(key: reference.key, version: Int64(truncatingIfNeeded: node.version))
        for slot in layout.propertySlots where slot.isFetched {
            if let composite = slot.composite {
                for (element, value) in try elements(of: slot, composite, in: node) { builder.set(row, element, value) }
            } else {
                builder.set(row, slot.index, try value(of: slot, in: node, context))
            }
        }
        try builder.requireWholeRows()
        let snapshot = Snapshot(retaining: row)
        let pages = builder.finish()
        if publishes { cache.insert(pages, readAt: generation) }
        return snapshot
    }

    private func elements(
        of slot: PropertySlot, _ composite: CompositeLayout, in node: NSIncrementalStoreNode
    ) throws -> [(slot: Int, value: StoredValue)] {
        let layout = node.objectID.layout
        do {
            return try layout.elementValues(of: node.value(for: slot.property), composite).map { element, value in
                (element, try PropertyConversion.storeValue(value, slot: layout.slots[element]))
            }
        } catch let problem as CompositeProblem {
            throw store.error(
                .persistentStoreOperation,
                "The store class \(type(of: store)) gave a value for the attribute '\(slot.name)' of "
                    + "\(node.objectID) that it "
                    + "cannot have: \(problem.reason).")
        }
    }

    private func value(
        of slot: PropertySlot, in node: NSIncrementalStoreNode, _ context: NSManagedObjectContext
    ) throws -> StoredValue {
        let value = node.value(for: slot.property)
        if let relationship = slot.relationship {
            let destination =
                try value ?? store.newValue(forRelationship: relationship, forObjectWith: node.objectID, with: context)
            return NodeValue.reference(destination).map(StoredValue.reference) ?? .null
        }
        guard let converted = PropertyConversion.value(from: value, kind: slot.kind) else {
            throw store.error(
                .persistentStoreOperation,
                "The store class \(type(of: store)) gave a value of the type "
                    + "\(value.map { "\(type(of: $0))" } ?? "nil") for "
                    + "the attribute '\(slot.name)' of \(node.objectID), which is of the type "
                    + (slot.attribute?.attributeType ?? .undefinedAttributeType).displayName + ".")
        }
        return try PropertyConversion.storeValue(converted, slot: slot)
    }

    /// Makes a context for calls without one. It is not retained, as it would keep the coordinator
    /// alive.
    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.persistentStoreCoordinator
        return context
    }

    // MARK: - Relationships

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        FetchedRows(try related(to: key, through: slot, of: entity))
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        var rows: [Snapshot] = []
        var owners: ContiguousArray<Int64> = []
        for key in keys {
            let destinations = try related(to: key, through: slot, of: entity)
            rows += destinations
            owners += repeatElement(key, count: destinations.count)
        }
        return RelatedRows(rows: FetchedRows(rows), ownerKeys: owners)
    }

    private func related(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> [Snapshot] {
        guard let relationship = slot.relationship else { return [] }
        let objectID = NSManagedObjectID(key: key, layout: entity, store: store)
        let value = try store.newValue(forRelationship: relationship, forObjectWith: objectID, with: context())
        let values = slot.kind.isToMany ? NodeValue.elements(of: value) : [value]
        return try values.compactMap(NodeValue.reference).compactMap { reference in
            let root = layouts.layouts[reference.layoutIndex].rootIndex
            return try rowCaches[root].snapshot(for: reference.key) ?? readRow(reference)
        }
    }

    // MARK: - Saving

    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        throw store.error(
            .persistentStoreOperation,
            "Rows cannot be copied into the store \(StoreName.text(type: store.type, url: store.url)): an "
                + "incremental store "
                + "gives identities to managed objects only.")
    }

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        let objects = (origin as? NewObjects)?.objects ?? []
        let keys = try store.obtainPermanentIDs(for: objects).compactMap(\.key)
        guard keys.count == objects.count else {
            throw store.error(
                .persistentStoreOperation,
                "The store class \(type(of: store)) gave \(keys.count) permanent IDs for \(objects.count) objects.")
        }
        return keys
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome {
        try write(batch, over: checkConflicts(batch))
    }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        // A conflict must leave the other stores unchanged.
        let versions = try checkConflicts(batch)
        try others()
        return try write(batch, over: versions)
    }

    /// - Parameter versions: the versions that the store returned for the rows.
    private func write(_ batch: SaveBatch, over versions: [RowReference: Int64]) throws -> SaveOutcome {
        let origin = batch.origin as? SaveOrigin
        let request = NSSaveChangesRequest(
            inserted: set(origin?.insertedObjects), updated: set(origin?.updatedObjects),
            deleted: set(origin?.deletedObjects), locked: set(origin?.checkedObjects))
        _ = try store.execute(request, with: origin?.context)
        savedVersions.withLock { versions in
            for change in batch.deletes {
                rowCaches[change.layout.rootIndex].remove(change.key)
                versions[Self.reference(change)] = nil
            }
        }
        return SaveOutcome(
            inserted: FetchedRows(batch.inserts.map { savedRow($0, nil) }),
            updated: FetchedRows(batch.updates.map { savedRow($0, versions[Self.reference($0)]) }))
    }

    private static func reference(_ change: RowChange) -> RowReference {
        RowReference(key: change.key, layoutIndex: change.layout.index)
    }

    /// Compares the changes with what other writers have saved since: through this coordinator,
    /// according to the row cache, and elsewhere, according to the store's class.
    ///
    /// - Returns: the versions that the store returned for the rows.
    /// - Throws: `SaveConflicts`.
    private func checkConflicts(_ batch: SaveBatch) throws -> [RowReference: Int64] {
        var versions: [RowReference: Int64] = [:]
        var conflicts = SaveConflicts()
        func check(_ changes: [RowChange], _ kind: SaveConflicts.RowConflict.Change) throws {
            for (index, change) in changes.enumerated() {
                guard let base = change.base else { continue }
                let reference = Self.reference(change)
                let last = savedVersions.withLock { $0[reference] }
                if let saved = rowCaches[change.layout.rootIndex].snapshot(for: change.key), saved.version == last?.own,
                    saved.version != base.version, !base.hasSameValues(as: saved)
                {
                    conflicts.rows.append(SaveConflicts.RowConflict(change: kind, index: index, current: saved))
                    continue
                }
                let current = try readRow(reference, publishes: false)
                versions[reference] = current?.version
                if let current, base.version == current.version || base.hasSameValues(as: current) { continue }
                // Values that the store derived from the row saved here last are not a conflict.
                if let current, let last, base.version == last.own, last.mayBe(current.version) { continue }
                conflicts.rows.append(SaveConflicts.RowConflict(change: kind, index: index, current: current))
            }
        }
        try check(batch.updates, .update)
        try check(batch.deletes, .delete)
        try check(batch.versionChecks, .check)
        if !conflicts.rows.isEmpty { throw conflicts }
        return versions
    }

    private func set(_ objects: [NSManagedObject]?) -> Set<NSManagedObject> { Set(objects ?? []) }

    /// The row that was just written, without another call of the store.
    private func savedRow(_ change: RowChange, _ former: Int64?) -> Snapshot {
        var builder = RowPageBuilder(layout: change.layout, expectedRows: 1)
        let row = builder.appendRow(key: change.key, version: (change.base?.version ?? 0) + 1)
        for slot in 0..<change.layout.storedCount {
            if let values = change.values, values.has(slot) {
                builder.set(row, slot, values[slot])
            } else {
                builder.set(row, slot, change.base?.value(slot) ?? .null)
            }
        }
        let snapshot = Snapshot(retaining: row)
        savedVersions.withLock { $0[Self.reference(change)] = SavedVersion(own: snapshot.version, former: former) }
        rowCaches[change.layout.rootIndex].insert(builder.finish())
        return snapshot
    }
}

/// Lets a fetch request of any result type adopt the values that the context resolved.
protocol IncrementalFetchRequest: AnyObject {
    func copyForStore() -> NSPersistentStoreRequest?
    func adopt(_ plan: StoreFetch)
}

extension NSFetchRequest: IncrementalFetchRequest {
    /// A copy with a fixed result type, so that a store need not guess it: on a Mac it may cast to
    /// any, because all are one class there.
    func copyForStore() -> NSPersistentStoreRequest? {
        guard Swift.type(of: self) == NSFetchRequest<ResultType>.self else {
            return copy() as? NSPersistentStoreRequest
        }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        copyValues(to: request)
        return request
    }

    func adopt(_ plan: StoreFetch) {
        entity = plan.entity.entity
        predicate = plan.predicate
        sortDescriptors = plan.sortDescriptors
        fetchLimit = plan.limit
        fetchOffset = plan.offset
        includesSubentities = plan.includesSubentities
        switch plan.shape {
        case .rows: resultType = .managedObjectResultType
        case .references: resultType = .managedObjectIDResultType
        case .count: resultType = .countResultType
        case .dictionaries:
            resultType = .dictionaryResultType
            guard let columns = plan.columns, propertiesToFetch?.isEmpty == false else { return }
            propertiesToFetch = columns.properties
            propertiesToGroupBy = columns.groupBy
            havingPredicate = columns.having
            returnsDistinctResults = columns.isDistinct
        }
    }
}
