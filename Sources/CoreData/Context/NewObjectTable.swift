/// The temporary IDs of a context's new objects, and the stores that they were assigned to.
struct NewObjectTable {
    /// The objects whose ID was asked for.
    private var objects: [NSManagedObjectID.Identity: WeakObject] = [:]
    private var stores: [ObjectIdentifier: NSPersistentStore] = [:]

    var hasAssignments: Bool { !stores.isEmpty }

    func object(_ identity: NSManagedObjectID.Identity) -> NSManagedObject? { objects[identity]?.object }

    mutating func note(_ object: NSManagedObject, _ objectID: NSManagedObjectID) {
        objects[objectID.identity] = WeakObject(object)
    }

    mutating func forget(_ objectID: NSManagedObjectID) { objects[objectID.identity] = nil }

    func store(of object: NSManagedObject) -> NSPersistentStore? { stores[ObjectIdentifier(object)] }

    mutating func assign(_ object: NSManagedObject, to store: NSPersistentStore?) {
        stores[ObjectIdentifier(object)] = store
    }

    mutating func reassign(from former: NSPersistentStore, to store: NSPersistentStore) {
        for (object, assigned) in stores where assigned === former { stores[object] = store }
    }

    mutating func forgetAssignments() { stores.removeAll() }

    /// Forgets the assignments of all other objects: new objects may get their addresses.
    mutating func keepAssignments(of inserted: ChangeList) {
        if stores.isEmpty { return }
        let pending = Set(inserted.objects.map(ObjectIdentifier.init))
        stores = stores.filter { pending.contains($0.key) }
    }
}
