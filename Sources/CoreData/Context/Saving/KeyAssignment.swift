import Foundation

/// Assigns stores and keys to new objects.
struct KeyAssignment {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let isPermanent: Bool

    /// - Parameter isPermanent: Whether stores give the keys even of objects saved to a parent.
    init(_ coordinator: NSPersistentStoreCoordinator, _ context: NSManagedObjectContext, isPermanent: Bool = false) {
        self.coordinator = coordinator
        self.context = context
        self.isPermanent = isPermanent
    }

    /// New objects that take their keys from one counter.
    private struct KeyGroup {
        let store: NSPersistentStore
        let root: EntityLayout
        /// Unretained: the list of all objects owns them.
        var members: ContiguousArray<Unretained<NSManagedObject>> = []
    }

    /// Gives every new object a store and a key, which is provisional where a parent gives it one.
    func assign(to objects: ContiguousArray<NSManagedObject>) throws {
        defer { withExtendedLifetime(objects) {} }
        // The parent got its coordinator after these objects were inserted.
        if !objects.isEmpty, context.modelLayout == nil {
            throw CoreDataErrors.insertedWithoutCoordinator(Array(objects), context.nameInMessages)
        }
        var groups: [KeyGroup] = []
        var lastLayout: ObjectIdentifier?
        var lastGroup = -1
        try objects.forEachUnretained { object in
            if object.storeNumber >= 0, object.key > 0 || !isPermanent { return }
            // Neighbours are usually of one entity.
            if context.newObjects.hasAssignments || lastLayout != ObjectIdentifier(object.layout) {
                let layout = object.layout
                if layout.isAbstract {
                    throw CoreDataErrors.abstractObject(object)
                }
                let store = try coordinator.store(for: layout, assigned: context.newObjects.store(of: object))
                let root = layout.model.layouts[layout.rootIndex]
                lastLayout = ObjectIdentifier(layout)
                lastGroup = groups.firstIndex { $0.store === store && $0.root === root } ?? groups.count
                if lastGroup == groups.count { groups.append(KeyGroup(store: store, root: root)) }
            }
            groups[lastGroup].members.append(Unretained(object))
        }
        for group in groups {
            let (store, root) = (group.store, group.root)
            guard let rows = isPermanent ? store.snapshotStore : context.rows(ofStore: store.number) else {
                throw CoreDataErrors.storeIsGone(ofChanged: group.members.map { $0.object })
            }
            if store.isReadOnly {
                throw CoreDataErrors.storeIsReadOnly(
                    [store],
                    "The store \(StoreName.text(type: store.type, url: store.url)) is read-only: new objects of "
                        + "\(root.name) cannot be "
                        + "saved in it.")
            }
            if rows.needsObjects || !rows.keysAreConsecutive {
                let members = group.members.map { $0.object }
                let keys = try rows.obtainKeys(members.count, for: root, origin: NewObjects(members))
                for (object, key) in zip(members, keys) {
                    object.take(key: key, store: store.number)
                }
                continue
            }
            var key = try rows.reserveKeys(group.members.count, for: root)
            for member in group.members {
                member.withObject { $0.take(key: key, store: store.number) }
                key += 1
            }
        }
    }
}
