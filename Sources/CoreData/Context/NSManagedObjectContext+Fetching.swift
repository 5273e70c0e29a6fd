import Foundation

// Fetching: request -> plan -> store -> rows -> objects, with unsaved changes laid over.

extension NSManagedObjectContext {
    /// Fetches what the request describes.
    ///
    /// - Throws: errors that name the entity, the part of the predicate or the statement at fault.
    public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        let plan = try resolve(request)
        switch request.resultType {
        case .managedObjectIDResultType:
            return try results(fetchObjectIDs(plan, request), request)
        case .countResultType:
            return try results([NSNumber(value: countMatches(plan, request))], request)
        case .dictionaryResultType:
            return try results(fetchDictionaries(plan, request).map { NSDictionary(dictionary: $0) }, request)
        default:
            let objects = try fetchObjects(plan, request)
            return try results(objects, plan, request)
        }
    }

    /// Fetches what the request describes, as `Any`.
    public func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        let plan = try resolve(request)
        switch request.resultType {
        case .managedObjectIDResultType: return try fetchObjectIDs(plan, request)
        case .countResultType: return try [NSNumber(value: countMatches(plan, request))]
        case .dictionaryResultType: return try fetchDictionaries(plan, request).map { NSDictionary(dictionary: $0) }
        default: return try fetchObjects(plan, request)
        }
    }

    /// The number of objects that the request would give.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try countMatches(resolve(request), request)
    }

    /// The number of objects that the request would give, for a request whose result type is nowhere written.
    @_disfavoredOverload
    public func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try countMatches(resolve(request), request)
    }

    // MARK: - Resolving

    struct FetchPlan {
        var layout: EntityLayout
        var stores: [NSPersistentStore]
        var store: StoreFetch
    }

    func resolve<Result>(_ request: NSFetchRequest<Result>) throws -> FetchPlan {
        let coordinator = try requireCoordinator("fetch")
        guard let modelLayout else {
            throw CoreDataErrors.make(.coreData, "The context\(nameInMessages) has no model.")
        }
        guard let name = request.entityName else {
            throw CoreDataErrors.make(
                .coreData, "The fetch request has no entity.", recovery: "Set its entity, or use init(entityName:).")
        }
        guard let layout = modelLayout.layoutByName[name] else {
            throw CoreDataErrors.make(
                .coreData, "The model has no entity named \"\(name)\".",
                recovery: "Its entities are \(modelLayout.layouts.map(\.name).joined(separator: ", ")).")
        }
        request.noteEntity(layout.entity)
        var fetch = StoreFetch(entity: layout)
        fetch.includesSubentities = request.includesSubentities
        fetch.predicate = request.predicate
        fetch.sortDescriptors = request.sortDescriptors ?? []
        fetch.limit = request.fetchLimit
        fetch.offset = request.fetchOffset
        fetch.origin = FetchOrigin(request: request, context: self)
        if request.resultType == .dictionaryResultType {
            fetch.shape = .dictionaries
            var columns = StoreFetch.DictionaryColumns(properties: request.propertiesToFetch ?? [])
            if columns.properties.isEmpty {
                columns.properties = layout.propertySlots.filter(\.isFetched).map(\.property)
            }
            columns.groupBy = request.propertiesToGroupBy ?? []
            columns.having = request.havingPredicate
            columns.isDistinct = request.returnsDistinctResults
            if columns.having != nil, columns.groupBy.isEmpty {
                throw CoreDataErrors.make(
                    .coreData, "A fetch request with a havingPredicate needs propertiesToGroupBy (entity \(name)).")
            }
            try DictionaryResults.checkGrouping(columns, of: layout)
            fetch.columns = columns
        } else if !(request.propertiesToGroupBy ?? []).isEmpty {
            throw CoreDataErrors.make(
                .coreData, "propertiesToGroupBy needs the dictionary result type (entity \(name)).")
        }
        if layout.model.hasComposites { try CompositeOrder.check(fetch) }
        let stores = coordinator.snapshotStores(holding: layout, affected: request.affectedStores)
        return FetchPlan(layout: layout, stores: stores, store: fetch)
    }

    // MARK: - Objects

    private func fetchObjects<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) throws -> [NSManagedObject] {
        let prepared = prepare(plan, request)
        return try objects(from: Self.answers(to: prepared), prepared, request)
    }

    /// What the stores are asked for, and what remains to be done with their answers.
    struct PreparedFetch: @unchecked Sendable {
        // Sendable: the stores are; the plan is a value that is only read, as is the overlay, whose objects are only counted
        // on other threads; and stores that look at the plan's context are not asked there.
        let plan: FetchPlan
        var storePlan: StoreFetch
        /// The unsaved changes that bear on the fetch.
        let overlay: PendingOverlay?
        /// Whether rows are read in batches, when their objects are used.
        let usesBatches: Bool

        /// Whether the answers to another fetch of the same plan are what this one needs.
        func asksForTheSame(as other: PreparedFetch) -> Bool {
            switch (overlay, other.overlay) {
            case (nil, nil): true
            case (let overlay?, let other?): overlay.asksForTheSame(as: other)
            default: false
            }
        }
    }

    func prepare<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) -> PreparedFetch {
        var prepared = PreparedFetch(
            plan: plan, storePlan: plan.store, overlay: overlay(plan, request), usesBatches: usesBatches(plan, request))
        if !request.includesPropertyValues || prepared.usesBatches { prepared.storePlan.shape = .references }
        return prepared
    }

    /// The unsaved changes that bear on a fetch; nil when there are none, and for a request that does not want them.
    private func overlay<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) -> PendingOverlay? {
        request.includesPendingChanges ? PendingOverlay(plan, in: self) : nil
    }

    /// Asks the stores. Touches nothing of the context.
    static func answers(to fetch: PreparedFetch) throws -> [(store: NSPersistentStore, answer: StoreFetchResult)] {
        let stores = fetch.plan.stores
        return try stores.compactMap { store in
            guard let snapshotStore = store.snapshotStore else { return nil }
            var storePlan = fetch.storePlan
            if let overlay = fetch.overlay {
                storePlan = overlay.storeFetch(storePlan, store: store, isOnly: stores.count == 1)
            } else if stores.count > 1 {
                storePlan = storePlan.ofOneAmongSeveral
            }
            return (store, try snapshotStore.fetch(storePlan))
        }
    }

    /// Makes objects of the stores' answers, in order, with unsaved changes laid over.
    func objects<Result>(
        from answers: [(store: NSPersistentStore, answer: StoreFetchResult)], _ fetch: PreparedFetch,
        _ request: NSFetchRequest<Result>
    ) throws -> [NSManagedObject] {
        let plan = fetch.plan
        var objects: [NSManagedObject] = []
        for (store, answer) in answers {
            switch answer {
            case .rows(let rows):
                let fetched = materialize(
                    rows, store: store.number, asFaults: request.returnsObjectsAsFaults,
                    refreshing: request.shouldRefreshRefetchedObjects)
                if objects.isEmpty { objects = fetched } else { objects += fetched }
            case .references(let references) where fetch.usesBatches:
                objects += batchedFaults(for: references, of: plan.layout, store: store, request)
            case .references(let references):
                objects += references.map { reference in
                    let layout = plan.layout.model.layouts[reference.layoutIndex]
                    return registry.object(store: store.number, root: layout.rootIndex, key: reference.key)
                        ?? makeFault(layout: layout, key: reference.key, store: store.number)
                }
            default: break
            }
        }
        if let overlay = fetch.overlay {
            objects = plan.stores.count > 1 ? overlay.merged(intoSeveral: objects, in: self) : overlay.merged(into: objects)
        } else if plan.stores.count > 1 {
            if !plan.store.sortDescriptors.isEmpty { objects = sorted(objects, plan.store.sortDescriptors) }
            objects = slice(objects, plan.store)
        }
        if let keyPaths = request.relationshipKeyPathsForPrefetching, !objects.isEmpty {
            if fetch.usesBatches {
                // They are loaded with the batches.
                try checkPrefetching(keyPaths, of: plan.layout)
                return objects
            }
            for keyPath in keyPaths { try prefetch(keyPath.split(separator: ".").map(String.init)[...], of: objects) }
        }
        return objects
    }

    private func slice(_ objects: [NSManagedObject], _ plan: StoreFetch) -> [NSManagedObject] {
        if plan.offset <= 0, plan.limit <= 0 { return objects }
        var slice = objects[...]
        if plan.offset > 0 { slice = slice.dropFirst(plan.offset) }
        if plan.limit > 0 { slice = slice.prefix(plan.limit) }
        return Array(slice)
    }

    /// Unique objects for fetched rows, in their order.
    func materialize(_ rows: FetchedRows, store: Int, asFaults: Bool, refreshing: Bool = false) -> [NSManagedObject] {
        // As below: no elements, no initializer.
        if rows.rows.isEmpty { return [] }
        return Array(unsafeUninitializedCapacity: rows.rows.count) { buffer, count in
            count = buffer.count
            materialize(rows, store: store, asFaults: asFaults, refreshing: refreshing, in: buffer)
        }
    }

    /// Initializes a buffer with the unique objects of fetched rows, in their order.
    ///
    /// - Parameter buffer: has as many uninitialized places as there are rows.
    func materialize(
        _ rows: FetchedRows, store: Int, asFaults: Bool, refreshing: Bool = false,
        in buffer: UnsafeMutableBufferPointer<NSManagedObject>
    ) {
        // The rows are read by address: their pages must live until every object has its own reference.
        defer { withExtendedLifetime(rows) {} }
        guard let first = rows.rows.first else { return }
        guard let modelLayout else { preconditionFailure("A context without a model was given rows of a store.") }
        let root = modelLayout.layouts[first.rowLayoutIndex].rootIndex

        // Look-ups happen under the registry's lock, but objects are made outside of it: their initializers may be anyone's.
        let (existing, registrationCount) = registeredObjects(of: rows, store: store, root: root)
        var start = 0
        var madeAny = false
        while start < rows.rows.count {
            // Rows of one page are of one entity, and their objects retain the same page.
            let pageWord = rows.rows[start][-1]
            var end = start + 1
            while end < rows.rows.count, rows.rows[end][-1] == pageWord { end += 1 }
            let made = makeObjects(
                of: rows, start..<end, existing, store: store, refreshing: refreshing, modelLayout, in: buffer)
            madeAny = madeAny || made
            start = end
        }
        let objects = UnsafeBufferPointer(buffer)
        if madeAny {
            registry.withTable(store: store, root: root) { table in
                if rows.areDistinct, existing.isEmpty, table.registrationCount == registrationCount {
                    table.insertNew(objects)
                    return
                }
                for index in objects.indices where existing.isEmpty || existing[index] == nil {
                    let object = objects[index]
                    if let twin = table.find(object.key), twin.toOpaque() != Unmanaged.passUnretained(object).toOpaque() {
                        // The same row twice in one result.
                        if let twin = tryRetain(twin) {
                            object.leavePlaceToTwin()
                            buffer[index] = twin
                            continue
                        }
                    }
                    table.insert(.passUnretained(object), key: object.key)
                }
            }
            noteUse(of: objects.indices.lazy.filter { existing.isEmpty || existing[$0] == nil }.map { objects[$0] }, store: store)
            if retainsRegisteredObjects { retained.formUnion(objects) }
        }
        if !asFaults {
            for object in objects where object.flags.contains(.fault) { fulfill(object) }
        }
    }

    /// The objects that rows have already, by place; empty when there are none. And how many objects the table had seen then.
    private func registeredObjects(
        of rows: FetchedRows, store: Int, root: Int
    ) -> (objects: ContiguousArray<NSManagedObject?>, registrationCount: Int) {
        registry.withTable(store: store, root: root) { table in
            guard table.count > 0 else { return ([], table.registrationCount) }
            var objects: ContiguousArray<NSManagedObject?> = []
            objects.reserveCapacity(rows.rows.count)
            var isAnyRegistered = false
            for row in rows.rows {
                let object = table.find(row.rowKey).flatMap { tryRetain($0) }
                if object != nil { isAnyRegistered = true }
                objects.append(object)
            }
            return (isAnyRegistered ? objects : [], table.registrationCount)
        }
    }

    /// Makes the missing objects for rows of one page.
    ///
    /// - Returns: whether any object had to be made.
    private func makeObjects(
        of rows: FetchedRows, _ range: Range<Int>, _ existing: ContiguousArray<NSManagedObject?>, store: Int,
        refreshing: Bool, _ modelLayout: ModelLayout, in buffer: UnsafeMutableBufferPointer<NSManagedObject>
    ) -> Bool {
        let first = rows.rows[range.lowerBound]
        let layout = modelLayout.layouts[first.rowLayoutIndex]
        let objectClass = layout.managedObjectClass
        // Each new object takes over one reference to the page and one to the registry, and its initializer consumes one
        // to the entity.
        let page = first.rowPage
        let sharedRegistry = Unmanaged<ObjectRegistry>.passUnretained(registry)
        let entity = Unmanaged.passUnretained(layout.entity)
        page.retain(times: range.count)
        sharedRegistry.retain(times: range.count)
        entity.retain(times: range.count)
        let storeNumber = Int16(truncatingIfNeeded: store)
        var made = 0
        for index in range {
            let row = rows.rows[index]
            let place = buffer.baseAddress.unsafelyUnwrapped + index
            if !existing.isEmpty, let object = existing[index] {
                takeOver(row, object, refreshing: refreshing)
                place.initialize(to: object)
                continue
            }
            let object = NSManagedObject.makeForContext(objectClass, consuming: entity)
            object.becomeFault(of: row, store: storeNumber, registry: sharedRegistry)
            place.initialize(to: object)
            made += 1
        }
        page.release(times: range.count - made)
        sharedRegistry.release(times: range.count - made)
        entity.release(times: range.count - made)
        return made > 0
    }

    /// Gives a registered object a newer row if it has none, or when asked to refresh.
    private func takeOver(_ row: RowPointer, _ object: NSManagedObject, refreshing: Bool) {
        if object.flags.contains(.fault), !object.flags.contains(.deletionSaved) {
            object.keep(row)
        } else if refreshing, !object.hasChanges, let committed = object.committedRow, committed != row {
            object.replaceCommittedRow(by: row)
            object.extras?.forgetDecoded()
            object.extras?.forgetDestinations()
            changes.noteReread(object)
        }
    }

    // MARK: - Faults

    /// Loads a fault for an accessor, which cannot throw.
    func fulfillFault(_ object: NSManagedObject, triggeredBy slot: Int) {
        do {
            if try load(object) { return }
        } catch {
            if object.storeNumber >= 0, registry.store(number: Int(object.storeNumber)) == nil {
                // Its store was removed, and the context has not heard of it yet: it reads as nil from now on.
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
                "Core Data could not fulfill a fault for \(objectID.uriRepresentation().absoluteString): there is no such row. "
                    + "It was deleted by someone else; existingObject(with:) tells, or leave shouldDeleteInaccessibleFaults on.")
        }
        changes.deleteInaccessible(object)
    }

    /// Loads a fault. False when the row does not exist.
    func load(_ object: NSManagedObject) throws -> Bool {
        if !object.flags.contains(.fault) { return true }
        if object.flags.contains(.inserted) {
            // Refreshed before its first save: there is no row, the values are those of a new object.
            object.becomeLoaded()
            return true
        }
        if object.committedRow != nil, let page = object.page, isGood(page) {
            fulfill(object)
            return true
        }
        if object.flags.contains(.invalid) { return false }
        guard object.storeNumber >= 0 else { return false }
        guard let store = registry.store(number: Int(object.storeNumber)), let snapshotStore = store.snapshotStore else {
            throw CoreDataErrors.make(
                .coreData,
                "\(object.layout.name) p\(object.key) was used after its store had been removed from the coordinator.",
                recovery: "Add the store again and fetch the object anew.",
                userInfo: [NSAffectedObjectsErrorKey: [object.objectID]])
        }
        if let cached = snapshotStore.rowCaches[object.layout.rootIndex].snapshot(for: object.key), isGood(cached.page) {
            object.keep(cached.row)
        } else if let batch = object.page?.batch, stalenessInterval != 0 {
            try load(batch)
            guard object.committedRow != nil else { return false }
        } else {
            let read = try snapshotStore.readRows([object.key], of: object.layout)
            defer { withExtendedLifetime(read) {} }
            guard let row = read.rows.first else { return false }
            object.keep(row)
        }
        fulfill(object)
        return true
    }

    /// Whether rows of a page are young enough for the context's staleness interval.
    private func isGood(_ page: RowPage) -> Bool {
        let interval = stalenessInterval
        if interval < 0 { return true }
        return interval > 0 && Double(currentTime()) - Double(page.time) <= interval * 1e9
    }

    /// Makes the committed row readable and tells the object.
    func fulfill(_ object: NSManagedObject) {
        object.becomeLoaded()
        object.silently { object.awakeFromFetch() }
    }

    /// The row as the store has it now, past all caches; nil when it is gone.
    func freshSnapshot(of object: NSManagedObject) throws -> Snapshot? {
        guard object.storeNumber >= 0, let store = registry.store(number: Int(object.storeNumber))?.snapshotStore else {
            return nil
        }
        let read = try store.readRows([object.key], of: object.layout)
        defer { withExtendedLifetime(read) {} }
        return read.rows.first.map(Snapshot.init(retaining:))
    }

    // MARK: - Relationships

    /// The objects that the store has in a to-many relationship; nil when they could not be read.
    func relatedObjects(to object: NSManagedObject, slot: Int) -> ContiguousArray<NSManagedObject>? {
        guard let store = registry.store(number: Int(object.storeNumber)), let snapshotStore = store.snapshotStore else {
            // The store was removed: what was not loaded reads as empty.
            return []
        }
        do {
            let rows = try snapshotStore.relatedRows(
                to: object.key, through: object.layout.slots[slot], of: object.layout)
            // An initializer for no elements would write to the storage that all empty arrays share.
            if rows.rows.isEmpty { return [] }
            return ContiguousArray(unsafeUninitializedCapacity: rows.rows.count) { buffer, count in
                count = buffer.count
                materialize(rows, store: store.number, asFaults: true, in: buffer)
            }
        } catch {
            readFailure = error
            return nil
        }
    }

    /// Whether a row that a store gives may be of an object that was deleted here.
    var hasUnsavedDeletions: Bool { changes.hasDeletions }

    /// Loads the relationships of a key path for many objects, one fetch for each step.
    func prefetch(_ path: ArraySlice<String>, of objects: [NSManagedObject]) throws {
        guard let name = path.first else { return }
        var destinations: [NSManagedObject] = []
        let groups = Dictionary(grouping: objects.filter { $0.storeNumber >= 0 && !$0.flags.contains(.inserted) }) {
            Int($0.storeNumber) << 32 | $0.layout.index
        }
        for group in groups.values {
            let layout = group[0].layout
            guard let index = layout.slotByName[name], layout.slots[index].relationship != nil else {
                throw CoreDataErrors.make(
                    .coreData, "The entity \(layout.name) has no relationship named \"\(name)\" to prefetch.")
            }
            guard let store = registry.store(number: Int(group[0].storeNumber)), let snapshotStore = store.snapshotStore
            else { continue }
            let slot = layout.slots[index]
            if slot.kind == .toOne {
                destinations += try prefetchToOne(slot, group, store, snapshotStore)
            } else if slot.kind.isToMany {
                let faults = group.filter { !($0.extras?.toMany(index)?.isLoaded ?? false) }
                let related = try snapshotStore.relatedRows(toAll: faults.map(\.key), through: slot, of: layout)
                let members = loadMembers(related, of: faults, slot: index, store: store)
                if path.count > 1 { for list in members { destinations += list } }
            }
        }
        if path.count > 1, !destinations.isEmpty { try prefetch(path.dropFirst(), of: destinations) }
    }

    /// Gives many objects the members of a relationship that were fetched for all of them.
    ///
    /// - Returns: the members of each object.
    private func loadMembers(
        _ related: RelatedRows, of owners: [NSManagedObject], slot: Int, store: NSPersistentStore
    ) -> [ContiguousArray<NSManagedObject>] {
        let count = related.rows.rows.count
        let members = UnsafeMutableBufferPointer<NSManagedObject>.allocate(capacity: count)
        defer { members.deallocate() }
        materialize(related.rows, store: store.number, asFaults: true, in: members)
        var places: [Int64: Int] = [:]
        places.reserveCapacity(owners.count)
        for (place, owner) in owners.enumerated() { places[owner.key] = place }
        var lists = Array(repeating: ContiguousArray<NSManagedObject>(), count: owners.count)
        var start = 0
        // Rows of one owner usually stand together: they are moved at once.
        while start < count {
            let owner = related.ownerKeys[start]
            var end = start + 1
            while end < count, related.ownerKeys[end] == owner { end += 1 }
            let run = UnsafeMutableBufferPointer(rebasing: members[start..<end])
            let list = ContiguousArray<NSManagedObject>(unsafeUninitializedCapacity: run.count) { buffer, count in
                count = buffer.moveInitialize(fromContentsOf: run)
            }
            if let place = places[owner] {
                if lists[place].isEmpty { lists[place] = list } else { lists[place] += list }
            }
            start = end
        }
        let mayBeDeleted = hasUnsavedDeletions
        for (place, owner) in owners.enumerated() {
            owner.mergeLoaded(lists[place], into: slot, owner.toManyState(slot), mayBeDeleted: mayBeDeleted)
        }
        return lists
    }

    private func prefetchToOne(
        _ slot: PropertySlot, _ objects: [NSManagedObject], _ store: NSPersistentStore, _ snapshotStore: any SnapshotStore
    ) throws -> [NSManagedObject] {
        let destination = objects[0].layout.model.layouts[slot.destinationIndex]
        var keys: Set<Int64> = []
        for object in objects {
            guard let row = object.committedRow else { continue }
            if !object.layout.isNull(row, slot.index) { keys.insert(Int64(bitPattern: row[slot.index])) }
        }
        var held: [NSManagedObject] = []
        var missing: [Int64] = []
        for key in keys {
            if let object = registry.object(store: store.number, root: destination.rootIndex, key: key) {
                held.append(object)
                if !object.flags.contains(.fault) || object.committedRow != nil { continue }
            }
            if let cached = snapshotStore.rowCaches[destination.rootIndex].snapshot(for: key) {
                var rows = FetchedRows()
                rows.rows = [cached.row]
                rows.pages = [cached.page]
                held += materialize(rows, store: store.number, asFaults: true)
            } else {
                missing.append(key)
            }
        }
        if !missing.isEmpty {
            held += materialize(
                try snapshotStore.readRows(missing, of: destination), store: store.number, asFaults: true)
        }
        for object in objects where object.extras?.toOne(slot.index) == nil {
            // A pending destination hides the committed one, which must not come back when it was saved.
            if object.pending?.has(slot.index) ?? false { continue }
            guard let row = object.committedRow, !object.layout.isNull(row, slot.index) else { continue }
            if let target = registry.object(
                store: store.number, root: destination.rootIndex, key: Int64(bitPattern: row[slot.index]))
            {
                object.makeExtras().setToOne(slot.index, target)
            }
        }
        return held
    }

    // MARK: - Pending changes

    /// Whether an object is of an entity that a fetch asks for.
    func belongs(_ object: NSManagedObject, _ plan: FetchPlan) -> Bool {
        plan.store.includesSubentities ? object.layout.isKind(of: plan.layout) : object.layout === plan.layout
    }

    /// Whether an object is, or will be, in one of some stores.
    func isIn(_ stores: [NSPersistentStore], _ object: NSManagedObject) -> Bool {
        if let assigned = assignedStores[ObjectIdentifier(object)] { return stores.contains { $0 === assigned } }
        if object.storeNumber >= 0 { return stores.contains { $0.number == Int(object.storeNumber) } }
        guard let coordinator = persistentStoreCoordinator,
            let store = try? coordinator.store(for: object.layout, assigned: nil)
        else { return true }
        return stores.contains { $0 === store }
    }

    func sorted(_ objects: [NSManagedObject], _ descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        // Stable, so that equal objects keep the store's order.
        descriptors.order(of: objects).map { objects[$0] }
    }

    // MARK: - Other shapes

    private func fetchObjectIDs<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) throws -> [NSManagedObjectID] {
        var prepared = prepare(plan, request)
        if prepared.overlay != nil || plan.stores.count > 1 {
            // The few objects that are compared with new ones are read one by one.
            if plan.stores.count == 1 || plan.store.sortDescriptors.isEmpty { prepared.storePlan.shape = .references }
            return try objects(from: Self.answers(to: prepared), prepared, request).map(\.objectID)
        }
        var storePlan = plan.store
        storePlan.shape = .references
        var result: [NSManagedObjectID] = []
        for store in plan.stores {
            guard case .references(let references)? = try store.snapshotStore?.fetch(storePlan) else { continue }
            result += references.map { reference in
                NSManagedObjectID(
                    key: reference.key, layout: plan.layout.model.layouts[reference.layoutIndex], store: store)
            }
        }
        return result
    }

    private func countMatches<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) throws -> Int {
        let overlay = overlay(plan, request)
        let isShared = plan.stores.count > 1
        var counting = plan.store
        counting.shape = .count
        counting.sortDescriptors = []
        if isShared { counting = counting.ofOneAmongSeveral }
        var rows = 0
        for store in plan.stores {
            let storePlan = overlay?.storeFetch(counting, store: store, isOnly: false) ?? counting
            if case .count(let count)? = try store.snapshotStore?.fetch(storePlan) { rows += count }
        }
        if let overlay { return overlay.count(withRows: rows) }
        if !isShared { return rows }
        rows = max(0, rows - max(0, plan.store.offset))
        return plan.store.limit > 0 ? min(rows, plan.store.limit) : rows
    }

    private func fetchDictionaries<Result>(_ plan: FetchPlan, _ request: NSFetchRequest<Result>) throws -> [[String: Any]] {
        let merge = plan.stores.count > 1 ? try plan.store.columns.map { try DictionaryMerge(plan.store, $0) } : nil
        let storePlan = merge?.asked ?? plan.store
        var result: [[String: Any]] = []
        for store in plan.stores {
            if case .dictionaries(let rows)? = try store.snapshotStore?.fetch(storePlan) { result += rows }
        }
        return merge?.merged(result) ?? result
    }

    // MARK: - Result types

    private func results<Element: NSObject, Result>(_ values: [Element], _ request: NSFetchRequest<Result>) throws -> [Result] {
        if let same = values as? [Result] { return same }
        throw CoreDataErrors.make(
            .coreData,
            "The fetch request for \(request.entityName ?? "?") gives \(Element.self) (its resultType), but is declared for \(Result.self)."
        )
    }

    func results<Result>(
        _ objects: [NSManagedObject], _ plan: FetchPlan, _ request: NSFetchRequest<Result>
    ) throws -> [Result] {
        if Result.self == NSManagedObject.self, let same = objects as? [Result] { return same }
        if let wanted = Result.self as? NSManagedObject.Type {
            let layouts = plan.layout.model.layouts
            let fits = plan.layout.familyIndexes.allSatisfy { layouts[$0].managedObjectClass.isSubclass(of: wanted) }
            if fits, type(of: plan.layout) == EntityLayout.self {
                // Every object is an instance of `Result`, a class: both arrays hold the same references.
                return unsafeBitCast(objects, to: [Result].self)
            }
        }
        var result: [Result] = []
        result.reserveCapacity(objects.count)
        for object in objects {
            guard let element = object as? Result else {
                throw CoreDataErrors.make(
                    .coreData,
                    "The fetch request for \(plan.layout.name) is declared for \(Result.self), but an object is a \(Swift.type(of: object)).",
                    recovery:
                        "Check the class that the entity names in the model (\(object.layout.entity.managedObjectClassName ?? "none")).")
            }
            result.append(element)
        }
        return result
    }
}
