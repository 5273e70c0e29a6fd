// Uniquing: only this code turns the stores' rows into the context's objects.

extension NSManagedObjectContext {
    /// Returns the unique objects of fetched rows, in their order.
    func objects(of rows: FetchedRows, store: Int, asFaults: Bool, refreshing: Bool = false) -> [NSManagedObject] {
        // An initializer for no elements would write to the shared storage of empty arrays.
        if rows.rows.isEmpty { return [] }
        return Array(unsafeUninitializedCapacity: rows.rows.count) { buffer, count in
            count = buffer.count
            initialize(buffer, withObjectsOf: rows, store: store, asFaults: asFaults, refreshing: refreshing)
        }
    }

    /// Initializes a buffer with the unique objects of fetched rows, in their order.
    ///
    /// - Parameter buffer: Has an uninitialized place for each row.
    func initialize(
        _ buffer: UnsafeMutableBufferPointer<NSManagedObject>, withObjectsOf rows: FetchedRows, store: Int,
        asFaults: Bool,
        refreshing: Bool = false
    ) {
        // Rows are read by address: pages must live until each object has its own reference.
        defer { withExtendedLifetime(rows) {} }
        guard let first = rows.rows.first else { return }
        guard let modelLayout else { preconditionFailure("A context without a model was given rows of a store.") }
        let root = modelLayout.layouts[first.rowLayoutIndex].rootIndex
        let uniquing = RowUniquing(context: self, store: store, root: root)
        uniquing.initialize(buffer, areDistinct: rows.areDistinct) {
            rows.rows[$0].rowKey
        } layoutIndex: {
            rows.rows[$0].rowLayoutIndex
        } makingMissing: { existing in
            var start = 0
            var made = 0
            while start < rows.rows.count {
                // Rows of one page are of one entity, and their objects retain the same page.
                let pageWord = rows.rows[start][-1]
                var end = start + 1
                while end < rows.rows.count, rows.rows[end][-1] == pageWord { end += 1 }
                made += makeObjects(
                    of: rows, start..<end, existing, store: store, refreshing: refreshing, modelLayout, in: buffer)
                start = end
            }
            return made
        }
        if !asFaults {
            for object in buffer where object.flags.contains(.fault) { fulfill(object) }
        }
    }

    /// Creates the missing objects for rows of one page.
    ///
    /// - Returns: The number of objects that were created.
    private func makeObjects(
        of rows: FetchedRows, _ range: Range<Int>, _ existing: ContiguousArray<NSManagedObject?>, store: Int,
        refreshing: Bool, _ modelLayout: ModelLayout, in buffer: UnsafeMutableBufferPointer<NSManagedObject>
    ) -> Int {
        let first = rows.rows[range.lowerBound]
        let storeNumber = Int16(truncatingIfNeeded: store)
        return makeMissing(
            range, existing, of: modelLayout.layouts[first.rowLayoutIndex], sharing: first.rowPage, in: buffer
        ) {
            takeOver(rows.rows[$0], $1, refreshing: refreshing)
        } making: { index, object, registry, page in
            object.becomeFault(of: rows.rows[index], store: storeNumber, registry: registry, page: page)
        }
    }

    /// Initializes places with the existing objects, and with new ones of an entity for the others.
    ///
    /// - Parameters:
    ///   - page: The page that the new objects share; nil for none.
    ///   - taking: Called with each existing object.
    ///   - making: Gives each new object its identity, the registry and the page. Both were
    ///     retained for it.
    /// - Returns: The number of objects that were created.
    @inline(__always)
    private func makeMissing(
        _ range: Range<Int>, _ existing: ContiguousArray<NSManagedObject?>, of layout: EntityLayout,
        sharing page: Unretained<RowPage>?,
        in buffer: UnsafeMutableBufferPointer<NSManagedObject>, taking: (Int, NSManagedObject) -> Void,
        making: (Int, NSManagedObject, Retained<ObjectRegistry>, Retained<RowPage>?) -> Void
    ) -> Int {
        let objectClass = layout.managedObjectClass
        // Each new object adopts a reference to the page and the registry, and one to the entity.
        let page = page.map { Retained($0, times: range.count) }
        let sharedRegistry = Retained<ObjectRegistry>(Unretained(registry), times: range.count)
        let entity = Retained(Unretained(layout.entity), times: range.count)
        var made = 0
        for index in range {
            let place = buffer.baseAddress.unsafelyUnwrapped + index
            if !existing.isEmpty, let object = existing[index] {
                taking(index, object)
                place.initialize(to: object)
                continue
            }
            let object = NSManagedObject.makeForContext(objectClass, consuming: entity)
            making(index, object, sharedRegistry, page)
            place.initialize(to: object)
            made += 1
        }
        page?.release(times: range.count - made)
        sharedRegistry.release(times: range.count - made)
        entity.release(times: range.count - made)
        return made
    }

    /// Gives the row to a fault, or, to refresh, also to an unchanged loaded object.
    private func takeOver(_ row: RowPointer, _ object: NSManagedObject, refreshing: Bool) {
        if object.flags.contains(.fault), !object.flags.contains(.deletionSaved) {
            object.keep(row)
        } else if refreshing, !object.hasChanges, let committed = object.committedRow, !committed.isSame(as: row) {
            object.replaceCommittedRow(by: row)
            object.extras?.forgetDecoded()
            object.extras?.forgetDestinations()
            changes.noteReread(object)
            journal?.reread(object)
        }
    }

    /// Returns the unique objects for rows that are not read, in their order: faults for rows
    /// without an object.
    ///
    /// - Parameter batches: The batches in which faults without a row load theirs; nil to load each
    ///   by itself.
    func faults(
        for references: FetchedReferences, of entity: EntityLayout, store: Int, inBatches batches: FetchBatches? = nil
    ) -> [NSManagedObject] {
        if references.isEmpty { return [] }
        return Array(unsafeUninitializedCapacity: references.count) { buffer, count in
            count = buffer.count
            let uniquing = RowUniquing(context: self, store: store, root: entity.rootIndex)
            let storeNumber = Int16(truncatingIfNeeded: store)
            uniquing.initialize(buffer, areDistinct: references.areDistinct) {
                references.keys[$0]
            } makingMissing: { existing in
                var (start, made) = (0, 0)
                while start < references.count {
                    var limit = references.count
                    var placeholder: RowPage?
                    if let batches {
                        limit = min(limit, start + batches.size)
                        placeholder = batches.batch(references.keys[start..<limit]).placeholder()
                    }
                    while start < limit {
                        let end = references.end(ofEntityAt: start, upTo: limit)
                        let layout = entity.model.layouts[references.layoutIndex(at: start)]
                        made += makeMissing(
                            start..<end, existing, of: layout, sharing: placeholder.map { Unretained($0) },
                            in: buffer
                        ) { _, object in
                            if let placeholder, object.flags.contains(.fault), object.committedRow == nil {
                                object.awaitRow(in: placeholder)
                            }
                        } making: { index, object, registry, page in
                            object.becomeFault(
                                key: references.keys[index], store: storeNumber, registry: registry, page: page)
                        }
                        start = end
                    }
                }
                return made
            }
        }
    }

    /// Returns the unique object for a row that is not read, also by a former provisional key.
    func fault(for reference: RowReference, of layout: EntityLayout, store: Int) -> NSManagedObject {
        registry.object(store: store, root: layout.rootIndex, key: reference.key)
            ?? makeFault(key: registry.currentKey(reference.key), of: layout, store: store)
    }

    /// Creates the object for one row that is known to have none.
    func makeFault(key: Int64, of layout: EntityLayout, store: Int) -> NSManagedObject {
        let object = makeObject(of: layout)
        object.becomeFault(
            key: key, store: Int16(truncatingIfNeeded: store), registry: Retained(registry), page: nil)
        registry.register(object)
        noteUse(of: CollectionOfOne(object), store: store)
        if retainsRegisteredObjects { retained.insert(object) }
        return object
    }

    func makeObject(of layout: EntityLayout) -> NSManagedObject { layout.managedObjectClass.forContext(layout.entity) }

    /// Notifies a store of registered objects, if it needs that.
    @inline(__always)
    func noteUse<Objects: Sequence<NSManagedObject>>(of objects: @autoclosure () -> Objects, store number: Int) {
        guard persistentStoreCoordinator?.tellsStoresOfUse.load(ordering: .relaxed) == true else { return }
        registry.tellStore(use: objects(), registry.store(number: number))
    }
}

/// Finds the registered objects of rows, and registers the objects that are created for the others.
///
/// Look-ups run under the registry's lock, but objects are created outside it: their initializers
/// may be the program's own, and may register objects of the same rows meanwhile.
private struct RowUniquing {
    let context: NSManagedObjectContext
    let store: Int
    let root: Int

    /// - Parameters:
    ///   - areDistinct: Whether no two rows have the same key.
    ///   - key: Returns the primary key of the row at an index.
    ///   - layoutIndex: Returns the entity of the row at an index, if the row was read. An object
    ///     of another entity leaves the row.
    ///   - makingMissing: Initializes all places: with the given objects, by index (none if the
    ///     array is empty), and with new ones for the others. Returns the number of new objects.
    @inline(__always)
    func initialize(
        _ buffer: UnsafeMutableBufferPointer<NSManagedObject>, areDistinct: Bool, key: (Int) -> Int64,
        layoutIndex: ((Int) -> Int)? = nil, makingMissing: (ContiguousArray<NSManagedObject?>) -> Int
    ) {
        var (existing, registrationCount) = registered(count: buffer.count, key)
        if let layoutIndex, !existing.isEmpty {
            for (place, object) in existing.enumerated() {
                guard let object, object.layout.index != layoutIndex(place) else { continue }
                context.leaveRow(object)
                existing[place] = nil
            }
        }
        let made = makingMissing(existing)
        if made == 0 { return }
        let objects = UnsafeBufferPointer(buffer)
        context.registry.withTable(store: store, root: root) { table in
            if areDistinct, existing.isEmpty, table.registrationCount == registrationCount {
                table.insertNew(objects)
                return
            }
            table.reserve(table.count + made)
            for index in objects.indices where existing.isEmpty || existing[index] == nil {
                let object = objects[index]
                if let twin = table.find(object.key), twin.pointer != Unretained(object).pointer {
                    // The row is twice in the result, or an object was registered for it.
                    if let twin = twin.retained {
                        object.leavePlaceToTwin()
                        buffer[index] = twin
                        continue
                    }
                }
                table.insert(Unretained(object), key: object.key)
            }
        }
        context.noteUse(
            of: objects.indices.lazy.filter { existing.isEmpty || existing[$0] == nil }.map { objects[$0] },
            store: store)
        if context.retainsRegisteredObjects { context.retained.formUnion(objects) }
    }

    /// Returns the registered objects of rows, by index (empty if there are none), and the table's
    /// registration count at that time.
    @inline(__always)
    private func registered(
        count: Int, _ key: (Int) -> Int64
    ) -> (objects: ContiguousArray<NSManagedObject?>, registrationCount: Int) {
        context.registry.withTable(store: store, root: root) { table in
            guard table.count > 0, count > 0 else { return ([], table.registrationCount) }
            var lowest = key(0)
            var highest = lowest
            for index in 1..<count {
                lowest = min(lowest, key(index))
                highest = max(highest, key(index))
            }
            // Rows with higher keys than all before are often read later, too.
            guard table.mayHold(keysFrom: lowest, to: highest) else { return ([], table.registrationCount) }
            var objects: ContiguousArray<NSManagedObject?> = []
            objects.reserveCapacity(count)
            var isAnyRegistered = false
            for index in 0..<count {
                let object = table.find(key(index))?.retained
                if object != nil { isAnyRegistered = true }
                objects.append(object)
            }
            return (isAnyRegistered ? objects : [], table.registrationCount)
        }
    }
}

extension RowPointer {
    /// Whether another reading of the row has the same version and values.
    fileprivate func isSame(as other: RowPointer) -> Bool {
        self == other
            || rowVersion == other.rowVersion && Snapshot(retaining: self).hasSameValues(as: Snapshot(retaining: other))
    }
}
