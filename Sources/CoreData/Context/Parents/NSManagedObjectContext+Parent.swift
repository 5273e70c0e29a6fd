// The coordinator of a context, and its parent.

extension NSManagedObjectContext {
    /// Changes the coordinator, for `persistentStoreCoordinator`.
    func useCoordinator(_ newCoordinator: NSPersistentStoreCoordinator?) {
        guard let newCoordinator else {
            preconditionFailure("A context must have a persistent store coordinator: it cannot be set to nil.")
        }
        if coordinator === newCoordinator, parentContext == nil { return }
        releaseObjects()
        attach(to: newCoordinator, parent: nil)
    }

    /// Changes the parent, for `parent`.
    func useParent(_ newParent: NSManagedObjectContext?) {
        if newParent === parentContext { return }
        checkParent(newParent)
        releaseObjects()
        attach(to: newParent?.persistentStoreCoordinator, parent: newParent)
    }

    /// Connects a context to the coordinator that its parent got after the context was created.
    func followParent() {
        guard let parentContext,
            registry.identities !== parentContext.registry.identities || registry.modelIdentity == nil,
            let coordinator = parentContext.persistentStoreCoordinator, registeredObjects.isEmpty
        else { return }
        attach(to: coordinator, parent: parentContext)
    }

    /// The list of contexts that merge each other's saves. This context is in it if it merges
    /// automatically.
    var mergingContexts: ClientList? { parentContext?.mergingChildren ?? coordinator?.mergingClients }

    /// Returns a store of the coordinator; nil once it was removed.
    final func store(number: Int) -> NSPersistentStore? { coordinator?.store(number: number) }

    func updateMergeObserver() {
        if automaticallyMergesChangesFromParent {
            mergingContexts?.add(self, reference)
        } else {
            mergingContexts?.remove(self)
        }
    }

    /// Stops the program where a context cannot be the parent of this one.
    private func checkParent(_ parent: NSManagedObjectContext?) {
        var ancestor = parent
        while let context = ancestor {
            precondition(
                context !== self,
                "The context\(parent?.nameInMessages ?? "") cannot be the parent of the context\(nameInMessages), "
                    + "which is above it or the same."
            )
            ancestor = context.parentContext
        }
        precondition(
            !changes.hasChangesToWrite,
            "The parent of the context\(nameInMessages) cannot be changed: it has unsaved changes. Save or reset it "
                + "first."
        )
    }

    /// Adopts the permanent keys of objects saved to the parent that the parent has adopted.
    func adoptPermanentKeys() {
        guard let parent = parentContext else { return }
        registry.adoptPermanentKeys(parent.registry.permanentKeyCount)
    }

    /// Returns a fault for an object with a temporary ID in the parent; nil if it has none.
    func faultOfParent(with objectID: NSManagedObjectID) -> NSManagedObject? {
        guard parentContext != nil, let serial = objectID.serial(in: registry.identities) else { return nil }
        if let permanent = registry.identities.permanentKey(ofSerial: serial, amongFirst: registry.permanentKeyCount) {
            return fault(
                for: RowReference(key: permanent.key, layoutIndex: objectID.layout.index), of: objectID.layout,
                store: permanent.store)
        }
        guard let store = try? persistentStoreCoordinator?.store(for: objectID.layout, assigned: nil) else {
            return nil
        }
        return makeFault(key: -serial, of: objectID.layout, store: store.number)
    }

    /// Makes the parent obtain permanent IDs for objects that were saved to it.
    func obtainPermanentIDsInParent(for objects: [NSManagedObject]) throws {
        guard let parent = parentContext, !objects.isEmpty else { return }
        let known = objects.map { (key: $0.key, layout: $0.layout, store: Int($0.storeNumber)) }
        try parent.performAndWait {
            try parent.obtainPermanentIDs(
                for: known.compactMap { parent.object(withChildKey: $0.key, of: $0.layout, store: $0.store) })
        }
        adoptPermanentKeys()
    }

    // MARK: - Keys that objects get later

    /// Records the permanent key of an object, for contexts that know the object by a temporary ID.
    func noteKey(of object: NSManagedObject, inPlaceOf objectID: NSManagedObjectID) {
        guard object.key > 0, !children.isEmpty || parentContext != nil,
            let serial = objectID.serial(in: registry.identities)
        else {
            return
        }
        registry.identities.note(
            TemporaryIdentities.PermanentKey(
                serial: serial, root: object.layout.rootIndex, store: Int(object.storeNumber), key: object.key))
    }

    /// Makes the children adopt new permanent keys, each on its queue.
    func tellChildrenOfKeys() {
        for child in children.all { child.parentHasPermanentKeys() }
    }

    /// Adopts the permanent keys that the parent has.
    ///
    /// A context on a private queue adopts them with its next block (`catchUpWithKeys`): its
    /// objects are used on no other thread than its user's.
    func parentHasPermanentKeys() {
        guard let registry = sharedRegistry.current, registry.permanentKeyCount < registry.identities.count else {
            return
        }
        if isOnQueue, !gate.isGivenUp(by: .current) { return adoptAndTell() }
        guard gate.isMain else { return }
        gate.async { [reference] in
            guard let self = reference.object else { return }
            CurrentContext.run(in: self) { self.adoptAndTell() }
        }
    }

    /// Adopts the permanent keys that the tree of contexts has by now, at the start of a block.
    func catchUpWithKeys() {
        guard let parent = parentContext, registry.permanentKeyCount < registry.identities.count else { return }
        // A block on the parent makes the parent catch up first.
        parent.run(neededBy: self) {}
        adoptAndTell()
    }

    private func adoptAndTell() {
        adoptPermanentKeys()
        tellChildrenOfKeys()
    }
}
