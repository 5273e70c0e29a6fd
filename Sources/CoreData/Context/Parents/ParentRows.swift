import Foundation

/// The rows of one store as a parent context has them. A child reads these rows and saves to them.
///
/// All work runs on the parent's queue, while the child's thread waits. Objects that the parent has
/// not saved have negative keys (see `TemporaryIdentities`). Where the parent has nothing unsaved,
/// its own row source answers.
final class ParentRows: RowSource, Sendable {
    // Both contexts are used on the parent's queue only while the child's thread waits for it.

    let parent: NSManagedObjectContext
    /// The child, which owns this.
    unowned let child: NSManagedObjectContext
    /// The store's number.
    let store: Int

    init(of parent: NSManagedObjectContext, for child: NSManagedObjectContext, store: Int) {
        self.parent = parent
        self.child = child
        self.store = store
    }

    /// Saving and obtaining keys need the objects themselves.
    var needsObjects: Bool { true }

    var computesDictionaries: Bool { onParent { source?.computesDictionaries ?? false } }

    /// Runs a block on the parent's queue, with the same keys for objects in child and parent.
    func onParent<Result>(_ body: () throws -> Result) rethrows -> Result {
        try parent.run(neededBy: child) {
            parent.adoptPermanentKeys()
            child.adoptPermanentKeys()
            let result = try body()
            // While it waited, the parent may have adopted more keys, and rows may have them.
            child.adoptPermanentKeys()
            return result
        }
    }

    /// The parent's own source of rows.
    private var source: (any RowSource)? { parent.rows(ofStore: store) }

    // MARK: - Reading

    func rowCache(of entity: EntityLayout) -> RowCache? { nil }

    func cachedRow(_ key: Int64, of entity: EntityLayout) -> Snapshot? {
        onParent {
            guard let object = parent.object(withChildKey: key, of: entity, store: store) else {
                return source?.cachedRow(parent.latestKey(key), of: entity)
            }
            if parent.isGone(object) { return nil }
            return parent.knownRow(of: object)
                ?? (object.flags.contains(.fault) ? source?.cachedRow(object.key, of: entity) : nil)
        }
    }

    /// The parent answers for its objects; nothing is cached here.
    func forgetCachedRow(_ key: Int64, of entity: EntityLayout) {}

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        try onParent {
            var rows = RowsOfObjects(parent, expectedRows: keys.count)
            var found: [Snapshot] = []
            var unknown: [Int64] = []
            for key in keys {
                guard let object = parent.object(withChildKey: key, of: entity, store: store) else {
                    unknown.append(parent.latestKey(key))
                    continue
                }
                if let row = try rows.row(of: object) { found.append(row) }
            }
            var read = FetchedRows(found)
            // A provisional key that the parent does not know may be a key of its own parent.
            if parent.parentContext == nil { unknown.removeAll { $0 < 0 } }
            if !unknown.isEmpty, let more = try source?.readRows(unknown, of: entity) {
                read.rows += more.rows
                read.pages += more.pages
            }
            return read
        }
    }

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        try onParent {
            // A fetch of the parent does the same. Dictionaries contain no pending changes.
            if plan.shape != .dictionaries { parent.processChangesBeforeFetch() }
            var plan = plan
            plan.excludedKeys = Set(
                plan.excludedKeys.map { key in
                    parent.object(withChildKey: key, of: plan.entity, store: store).map(parent.childKey)
                        ?? parent.latestKey(key)
                })
            if !parent.hasChanges || plan.shape == .dictionaries {
                guard let answer = try source?.fetch(plan) else { return .rows(FetchedRows()) }
                return withRegisteredRows(answer, of: plan.entity)
            }
            return try fetchObjects(plan)
        }
    }

    /// Executes a fetch that the parent's unsaved changes affect.
    private func fetchObjects(_ plan: StoreFetch) throws -> StoreFetchResult {
        guard let persistentStore = parent.registry.store(number: store) else { return .rows(FetchedRows()) }
        let request = NSFetchRequest<NSManagedObject>(entityName: plan.entity.name)
        request.includesPropertyValues = plan.shape == .rows
        var asked = plan
        asked.shape = .rows
        let executor = FetchExecutor(
            request, ResolvedRequest(layout: plan.entity, stores: [persistentStore], fetch: asked), in: parent)
        if plan.shape == .count { return .count(try executor.count()) }
        let objects = try executor.objects()
        if plan.shape == .references {
            return .references(
                FetchedReferences(
                    objects.lazy.map { RowReference(key: self.parent.childKey(of: $0), layoutIndex: $0.layout.index) }))
        }
        return .rows(try rows(of: objects))
    }

    /// The rows of objects of the parent, without those that are gone.
    func rows(of objects: some Collection<NSManagedObject>) throws -> FetchedRows {
        var rows = RowsOfObjects(parent, expectedRows: objects.count)
        return FetchedRows(try objects.compactMap { try rows.row(of: $0) })
    }

    /// Replaces rows of the store by those of the parent's loaded objects.
    private func withRegisteredRows(_ answer: StoreFetchResult, of entity: EntityLayout) -> StoreFetchResult {
        guard case .rows(var fetched) = answer else { return answer }
        fetched = withRegisteredRows(fetched, of: entity)
        return .rows(fetched)
    }

    private func withRegisteredRows(_ fetched: FetchedRows, of entity: EntityLayout) -> FetchedRows {
        var fetched = fetched
        // The last reference to an object must not be released under the registry's lock.
        var objects: [NSManagedObject] = []
        parent.registry.withTable(store: store, root: entity.rootIndex) { table in
            if table.count == 0 { return }
            for index in fetched.rows.indices {
                guard let object = table.find(fetched.rows[index].rowKey)?.retained else { continue }
                objects.append(object)
                guard !object.flags.contains(.fault), let row = object.committedRow, row != fetched.rows[index] else {
                    continue
                }
                fetched.rows[index] = row
                fetched.pages.append(row.rowPage.object)
            }
        }
        return fetched
    }

    // MARK: - Relationships

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        try onParent { try related(to: key, through: slot, of: entity) }
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        try onParent {
            if !parent.hasChanges, slot.kind.isToMany, let source {
                var related = try source.relatedRows(toAll: keys.map(parent.latestKey), through: slot, of: entity)
                if let destination = related.rows.rows.first {
                    related.rows = withRegisteredRows(
                        related.rows, of: entity.model.layouts[destination.rowLayoutIndex])
                }
                return related
            }
            var result = RelatedRows()
            for key in keys {
                let rows = try related(to: key, through: slot, of: entity)
                result.rows.rows += rows.rows
                result.rows.pages += rows.pages
                result.ownerKeys += repeatElement(key, count: rows.rows.count)
            }
            return result
        }
    }

    /// The rows that an object of the parent is related to, as the parent has them.
    private func related(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        let registered = parent.object(withChildKey: key, of: entity, store: store)
        if registered == nil, !parent.hasChanges, slot.kind.isToMany, let source {
            let rows = try source.relatedRows(to: parent.latestKey(key), through: slot, of: entity)
            guard let first = rows.rows.first else { return rows }
            return withRegisteredRows(rows, of: entity.model.layouts[first.rowLayoutIndex])
        }
        guard let object = registered ?? parent.objectOrFault(withChildKey: key, of: entity, store: store) else {
            return FetchedRows()
        }
        var rows = RowsOfObjects(parent, expectedRows: 1)
        // Without a row there are no relationships, and the object must not learn that.
        guard try rows.row(of: object) != nil else { return FetchedRows() }
        // A failure to read is reported to the child, not to the parent.
        let formerFailure = parent.readFailure
        parent.readFailure = nil
        defer { parent.readFailure = formerFailure }
        let members = object.destinations(through: slot)
        if let failure = parent.readFailure { throw failure }
        return try self.rows(of: members)
    }

    // MARK: - Keys

    /// Returns provisional keys: no store is asked before the root of the tree saves.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        -(child.registry.identities.nextSerials(count) + Int64(count) - 1)
    }

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        guard let objects = (origin as? NewObjects)?.objects, objects.count == count else {
            let first = try reserveKeys(count, for: entity)
            return Array(first..<(first + Int64(count)))
        }
        return objects.map(child.childKey)
    }
}
