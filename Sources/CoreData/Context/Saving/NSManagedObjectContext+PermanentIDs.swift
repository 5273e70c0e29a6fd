extension NSManagedObjectContext {
    func obtainKeys(for objects: [NSManagedObject]) throws {
        let coordinator = try requireCoordinator("obtain permanent IDs")
        let fresh = objects.filter { object in
            object.registry === registry && object.flags.contains(.inserted)
                && (object.storeNumber < 0 || object.key < 0)
        }
        do {
            try KeyAssignment(coordinator, self, isPermanent: true).assign(to: ContiguousArray(fresh))
        } catch {
            giveUpKeys()
            throw error
        }
        for object in objects
        where object.registry === registry && object.flags.contains(.inserted) && object.storeNumber >= 0 {
            guard object.extras?.objectID?.isTemporaryID ?? true else { continue }
            guard let store = registry.store(number: Int(object.storeNumber)) else { continue }
            adoptPermanentID(object, in: store)
        }
        tellChildrenOfKeys()
        try obtainPermanentIDsInParent(
            for: objects.filter { $0.registry === registry && !$0.flags.contains(.inserted) && $0.key < 0 })
    }

    /// Gives a new object that has got its key the ID for that key.
    func adoptPermanentID(_ object: NSManagedObject, in store: NSPersistentStore) {
        let former = object.extras?.objectID
        object.makeExtras().objectID = NSManagedObjectID(key: object.key, layout: object.layout, store: store)
        registry.register(object)
        guard let former else { return }
        newObjects.forget(former)
        noteKey(of: object, inPlaceOf: former)
    }
}
