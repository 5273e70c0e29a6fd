import TestSupport

@testable import CoreData

/// A store whose statements are written down, used as contexts use it.
struct RecordedStore {
    let folder: TemporaryFolder
    let recorder: StatementRecorder
    let coordinator: NSPersistentStoreCoordinator
    let persistentStore: NSPersistentStore
    let store: any SnapshotStore

    /// - Parameter options: those of the store.
    init(_ model: NSManagedObjectModel, options: [AnyHashable: Any] = [:]) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let recorder = StatementRecorder(url)
        try self.init(model, folder, url, recorder, options: options)
    }

    init(
        _ model: NSManagedObjectModel, _ folder: TemporaryFolder, _ url: URL, _ recorder: StatementRecorder,
        options: [AnyHashable: Any] = [:]
    ) throws {
        self.folder = folder
        self.recorder = recorder
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        persistentStore = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            // One connection: statements are in order.
            options: options.merging([NSPersistentStoreConnectionPoolMaxSizeKey: 1]) { $1 })
        guard let store = persistentStore.snapshotStore else { throw CocoaError(.persistentStoreOpen) }
        self.store = store
    }

    func layout(_ name: String) -> EntityLayout {
        guard let layout = coordinator.modelLayout.layoutByName[name] else { preconditionFailure("no entity \(name)") }
        return layout
    }

    func slot(_ name: String, of entity: String) -> PropertySlot {
        let layout = layout(entity)
        guard let slot = layout.slotByPath[name] ?? layout.slotByName[name] else {
            preconditionFailure("no property \(name)")
        }
        return layout.slots[slot]
    }

    func objectID(_ entity: String, _ key: Int64) -> NSManagedObjectID {
        NSManagedObjectID(key: key, layout: layout(entity), store: persistentStore)
    }

    func reference(_ entity: String, _ key: Int64) -> RowReference {
        RowReference(key: key, layoutIndex: layout(entity).index)
    }

    // MARK: Changes

    func change(_ entity: String, _ key: Int64, _ values: [String: StoredValue] = [:], base: Snapshot? = nil)
        -> RowChange
    {
        let layout = layout(entity)
        var pending: RowValues?
        if !values.isEmpty || base == nil {
            let made = RowValues.make(slotCount: layout.slots.count)
            for (name, value) in values { made[slot(name, of: entity).index] = value }
            pending = made
        }
        return RowChange(layout: layout, key: key, base: base, values: pending)
    }

    func relationship(
        _ entity: String, _ key: Int64, _ name: String, added: [RowReference] = [], removed: [RowReference] = [],
        order: [RowReference]? = nil
    ) -> RelationshipChange {
        RelationshipChange(
            layout: layout(entity), slot: slot(name, of: entity).index, ownerKey: key, added: added, removed: removed,
            order: order)
    }

    /// The row as the store has it, read past the cache.
    func row(_ entity: String, _ key: Int64) throws -> Snapshot? {
        let rows = try store.readRows([key], of: layout(entity))
        return withExtendedLifetime(rows.pages) { rows.rows.first.map { Snapshot(retaining: $0) } }
    }

    /// Saves what `fill` puts into a batch, under a title; a refusal is written down too.
    func save(_ title: String, _ fill: (inout SaveBatch) throws -> Void) rethrows {
        var batch = SaveBatch()
        try fill(&batch)
        recorder.note(title)
        do { _ = try store.save(batch) } catch { recorder.note("refused") }
    }

    // MARK: Fetches

    /// Fetches, under a title; a refusal is written down with its reason.
    func fetch(_ title: String, _ entity: String, _ fill: (inout StoreFetch) -> Void) {
        var plan = StoreFetch(entity: layout(entity))
        fill(&plan)
        recorder.note(title)
        do { _ = try store.fetch(plan) } catch { recorder.note("refused: \((error as NSError).localizedDescription)") }
    }
}
