import Foundation

/// The entity of a batch request, which may be given by name. The executing context looks it up.
struct BatchEntity {
    var entity: NSEntityDescription?
    var givenName: String?

    var name: String? { givenName ?? entity?.name }
}

/// One execution of a batch request: its entity in the context's model, and the stores it writes
/// to.
struct BatchExecution {
    private let request: NSPersistentStoreRequest
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    let layout: EntityLayout

    init(_ request: NSPersistentStoreRequest, _ target: inout BatchEntity, _ context: NSManagedObjectContext) throws {
        self.request = request
        self.context = context
        coordinator = try context.requireCoordinator("execute a batch request")
        guard let model = context.modelLayout, let name = target.name else {
            throw CoreDataErrors.noEntity(of: "The batch request (\(type(of: request)))")
        }
        guard let layout = model.layoutByName[name] else {
            throw CoreDataErrors.unknownEntity(name, among: model.layouts.map(\.name))
        }
        target.entity = layout.entity
        self.layout = layout
    }

    var author: ChangeAuthor { context.authorOfBatches }

    /// The rule of the context's merge policy for rows whose unique values another row already has.
    var uniquenessRule: RowInsertion.UniquenessRule {
        switch (context.mergePolicy as? NSMergePolicy)?.mergeType {
        case .mergeByPropertyObjectTrumpMergePolicyType: .updateGivenValues
        case .overwriteMergePolicyType: .replaceValues
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: .keepExisting
        default: .refuse
        }
    }

    // MARK: Stores

    /// The store for new rows: the first writable one that holds the entity, among the affected
    /// ones.
    func storeForNewRows() throws -> NSPersistentStore {
        if layout.isAbstract {
            throw CoreDataErrors.insertionOfAbstract(layout.name)
        }
        guard let affected = request.affectedStores else { return try coordinator.store(for: layout, assigned: nil) }
        let holding = coordinator.addedStores.filter { added in
            added.holds(layout.index) && affected.contains { $0.isTwin(of: added.store) }
        }
        return try coordinator.store(
            for: layout,
            assigned: (NSPersistentStoreCoordinator.writableStore(for: layout, among: holding) ?? holding.first)?.store
                ?? affected.first)
    }

    /// The stores whose rows are changed: all that hold the entity, among the affected ones.
    func stores() throws -> [NSPersistentStore] {
        let stores = coordinator.snapshotStores(holding: layout, affected: request.affectedStores)
        if stores.isEmpty {
            throw CoreDataErrors.noStoreHolds(layout.name, isAmongAffected: request.affectedStores != nil)
        }
        return try writable(stores)
    }

    /// The keys of the rows of object IDs, grouped by store.
    ///
    /// - Throws: when an ID belongs to another entity, to no row, to a store that the request does
    ///   not go to, or to a read-only store.
    func keys(of objectIDs: [NSManagedObjectID]) throws -> [(store: NSPersistentStore, keys: [Int64])] {
        let stores = coordinator.addedStores.map(\.store)
        var keys: [(store: NSPersistentStore, keys: [Int64])] = []
        for objectID in objectIDs.map({ context.isForeign($0) ? context.ownID(of: $0) ?? $0 : $0 }) {
            guard objectID.layout === layout || objectID.entity.name == layout.name else {
                throw CoreDataErrors.deletionOfOther(objectID.entity.name ?? "", than: layout.name)
            }
            guard let key = objectID.key, let store = objectID.persistentStore else {
                throw CoreDataErrors.deletionOfNoRow(objectID)
            }
            guard stores.contains(where: { $0 === store }) else {
                throw CoreDataErrors.deletionElsewhere(objectID, store, isOfOthers: true)
            }
            if let affected = request.affectedStores, !affected.contains(where: { $0.isTwin(of: store) }) {
                throw CoreDataErrors.deletionElsewhere(objectID, store, isOfOthers: false)
            }
            if let place = keys.firstIndex(where: { $0.store === store }) {
                keys[place].keys.append(key)
            } else {
                keys.append((store, [key]))
            }
        }
        _ = try writable(keys.map(\.store))
        return keys
    }

    /// The keys of the rows that a fetch with a limit or an offset finds in several stores
    /// together.
    func keys(of fetch: NSFetchRequest<any NSFetchRequestResult>, in stores: [NSPersistentStore]) throws -> [Int:
        [Int64]]
    {
        guard let request = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> else { return [:] }
        request.resultType = .managedObjectIDResultType
        request.includesPendingChanges = false
        request.affectedStores = stores
        // A context of its own, without a parent: unsaved objects are not deleted, nor are those of
        // parents.
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        return try reader.performAndWait {
            var keys: [Int: [Int64]] = [:]
            for case let objectID as NSManagedObjectID in try reader.fetch(request) {
                if let key = objectID.key, let store = objectID.persistentStore {
                    keys[store.number, default: []].append(key)
                }
            }
            return keys
        }
    }

    /// Calls a closure for one store after the other.
    ///
    /// - Throws: the error of the first store as it is. An error of a later store comes in an error
    ///   that names the stores already written.
    static func inEach<Work>(
        _ work: [(store: NSPersistentStore, Work)], _ body: (NSPersistentStore, Work) throws -> Void
    ) throws {
        var written: [NSPersistentStore] = []
        for (store, part) in work {
            do { try body(store, part) } catch {
                throw written.isEmpty
                    ? error : CoreDataErrors.incompleteBatch(error as NSError, store, written: written)
            }
            written.append(store)
        }
    }

    /// Updates the rows of one store after the other.
    ///
    /// - Parameters:
    ///   - makeUpdate: is called for all stores before the first is written, so that values which
    ///     a store cannot take are found in time.
    ///   - ownAnswer: takes the answer of a store whose class the program defines.
    func update(
        _ makeUpdate: (NSPersistentStore) throws -> RowUpdate, ownAnswer: (Any) -> Void = { _ in },
        outcome: (BatchOutcome, NSPersistentStore) -> Void
    ) throws {
        let updates = try stores().map { store in
            (store: store, try rows(of: store).map { ($0, try makeUpdate(store)) })
        }
        try Self.inEach(updates) { store, rowUpdate in
            if let (rows, update) = rowUpdate {
                outcome(try refusing(in: store) { try rows.update(update) }, store)
            } else if let answer = try self.ownAnswer(of: store) {
                ownAnswer(answer)
            }
        }
    }

    private func writable(_ stores: [NSPersistentStore]) throws -> [NSPersistentStore] {
        if let store = stores.first(where: \.isReadOnly) {
            throw CoreDataErrors.storeIsReadOnly(
                [store],
                "The store \(StoreName.text(type: store.type, url: store.url)) is read-only: its objects of "
                    + "'\(layout.name)' cannot be changed."
            )
        }
        return stores
    }

    /// The access of batches to the rows of a store; nil for a store that answers requests itself.
    ///
    /// A child context gets the rows of the store, too: unsaved changes of its parents stay as they
    /// are.
    func rows(of store: NSPersistentStore) throws -> (any BatchRows)? {
        (context.parentContext == nil ? context.rows(ofStore: store.number) : store.snapshotStore)?.batchRows
    }

    /// The answer of a store whose class the program defines.
    func ownAnswer(of store: NSPersistentStore) throws -> Any? {
        PropertyConversion.unwrapped(try store.answer(request, for: context))
    }

    // MARK: Results

    func objectIDs(_ references: [RowReference], _ store: NSPersistentStore) -> [NSManagedObjectID] {
        let layouts = layout.model.layouts
        let token = store.token
        return references.map { NSManagedObjectID(key: $0.key, layout: layouts[$0.layoutIndex], token: token) }
    }

    /// Turns a violated uniqueness constraint into the error of a save: 133021 with the conflict.
    func refusing<Outcome>(in store: NSPersistentStore, _ body: () throws -> Outcome) throws -> Outcome {
        do { return try body() } catch let failure as UniquenessFailure {
            var values: [String: Any] = [:]
            for (name, value) in zip(failure.constraint, failure.values) where !value.isNull {
                guard let slot = failure.layout.slotByPath[name] else { continue }
                values[name] = PropertyConversion.object(from: value, kind: failure.layout.slots[slot].kind)
            }
            let existing = failure.existing.map { reference in
                context.object(
                    with: NSManagedObjectID(
                        key: reference.key, layout: layout.model.layouts[reference.layoutIndex], store: store))
            }
            let conflict = NSConstraintConflict(
                constraint: failure.constraint, database: existing, databaseSnapshot: existing == nil ? nil : values,
                conflicting: [], conflictingSnapshots: [values])
            let owner = failure.existing.map { layout.model.layouts[$0.layoutIndex] }
            let foreign = owner.flatMap { layout.familyIndexes.contains($0.index) ? nil : $0.name }
            let texts = failure.constraint.map { name in values[name].map { "\(name) = \($0)" } ?? name }
            throw CoreDataErrors.make(
                .managedObjectConstraintMerge,
                "A batch request would give two rows of '\(failure.layout.name)' the same values of a uniqueness "
                    + "constraint: "
                    + "\(texts.joined(separator: ", "))."
                    + (foreign.map {
                        " They are those of an object of '\($0)', which new objects of '\(layout.name)' do not change."
                    } ?? "")
                    + " The store is as it was.",
                recovery: foreign.map { "Change the values, or insert into '\($0)'." }
                    ?? "Change the values, or insert with a merge policy that resolves conflicts.",
                userInfo: [NSPersistentStoreSaveConflictsErrorKey: [conflict]])
        }
    }
}

/// The result of a batch request in all of its stores.
struct BatchTotals {
    var count = 0
    var objectIDs: [NSManagedObjectID] = []
    /// The results of stores whose class the program defines.
    var ownResults: [Any] = []

    /// The result in one of the three forms that each kind of batch request has, by its raw value.
    func result(_ form: UInt) -> Any {
        switch form {
        case 0: !ownResults.contains { $0 as? Bool == false }
        case 1: objectIDs + ownResults.flatMap { $0 as? [NSManagedObjectID] ?? [] }
        default: ownResults.reduce(count) { $0 + (($1 as? NSNumber)?.intValue ?? $1 as? Int ?? 0) }
        }
    }
}

extension NSManagedObjectContext {
    /// The context name and the author that are recorded with the rows that a batch request writes.
    ///
    /// The topmost context supplies both, because the request goes to its stores. Where it has no
    /// name or author, the next context below supplies it.
    fileprivate var authorOfBatches: ChangeAuthor {
        guard let parent = parentContext else {
            return ChangeAuthor(contextName: name, transactionAuthor: transactionAuthor)
        }
        let above = parent.run(neededBy: self) { parent.authorOfBatches }
        return ChangeAuthor(
            contextName: above.contextName ?? name, transactionAuthor: above.transactionAuthor ?? transactionAuthor)
    }
}
