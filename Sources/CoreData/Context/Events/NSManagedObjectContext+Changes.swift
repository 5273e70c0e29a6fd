import Foundation

// Processing pending changes: applying delete rules and posting the notification of changes.

extension NSManagedObjectContext {
    /// Whether a save would write anything. It writes nothing for deleted new objects.
    package final var hasChangesToWrite: Bool { changes.hasChangesToWrite }

    /// An observer of an event may save: what has been changed since that event ended is an event
    /// of its own.
    func processChanges() {
        guard let former = activity.beginProcessing() else { return }
        defer {
            activity.endProcessing(former)
            releaseDeparted()
        }
        reserved {
            if propagatesDeletesAtEndOfEvent || activity.isSaving { propagateDeletes() }
            if journal != nil { registerUndo() }
            postChanges()
            if former == .idle { tellMessagesAfterEvent() }
        }
    }

    /// Whether fetches of typed requests need not go through the method for untyped ones.
    ///
    /// On macOS a subclass can override only that method, so the fetches of a subclass that
    /// overrides one go through it.
    var fetchesDirectly: Bool { isPlainSubclass || type(of: self) == NSManagedObjectContext.self }

    /// Fetches with the method for untyped requests, which a subclass may override.
    func fetchAsSubclassesDo<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        let untyped: [Any] = try fetch(NSFetchRequest<any NSFetchRequestResult>(sharing: request))
        return try untyped.map { element in
            if let result = element as? Result { return result }
            // A result of a subclass may not be bridged yet.
            if let values = element as? [AnyHashable: Any], let result = NSDictionary(dictionary: values) as? Result {
                return result
            }
            throw CoreDataErrors.otherResultType(type(of: element), than: Result.self, of: request.entityName)
        }
    }

    /// Returns the executor of a program's fetch, after processing the changes that the fetch
    /// includes.
    func executor<Result>(for request: NSFetchRequest<Result>) throws -> FetchExecutor<Result> {
        processChanges(includedIn: request)
        return try FetchExecutor(request, in: self)
    }

    /// Processes pending changes before a fetch of the program.
    ///
    /// The fetch then does not return objects that delete rules delete, and listeners know of all
    /// objects that it returns. In the middle of the context's internal work, changes wait for the
    /// end of that work, because they form one event.
    func processChanges<Result>(includedIn request: NSFetchRequest<Result>) {
        if request.includesPendingChanges { processChangesBeforeFetch() }
    }

    func processChangesBeforeFetch() {
        // Not the method that a subclass may override: the override may fetch.
        if changes.isInEvent, activity.mayEndEvent { asOperation { processChanges() } }
    }

    /// Does work that calls methods of objects and must not end the current event.
    @inline(__always)
    func asStep<Value>(_ work: () throws -> Value) rethrows -> Value {
        activity.beginStep()
        defer { activity.endStep() }
        return try work()
    }

    /// Schedules the processing of pending changes after the main queue's current block or run loop
    /// source.
    ///
    /// Called when the first change of an event is noted in a context of the main queue. A private
    /// queue has no events outside its blocks.
    func processChangesAfterEvent() {
        guard isOnQueue, activity.schedule() else { return }
        gate.async { [reference] in
            guard let self = reference.object else { return }
            self.activity.endSchedule()
            self.processPendingChanges()
        }
    }

    static func set(of objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObject> {
        // Capacity for half as many again: a set does not keep hash values, so that every collision
        // compares objects.
        var set = Set<NSManagedObject>(minimumCapacity: objects.count + objects.count / 2)
        objects.forEachUnretained { set.insert($0) }
        return set
    }

    private func postChanges() {
        guard let ended = changes.endEvent(keepingProperties: !listeners.isEmpty) else { return }
        changes.tell { tell(of: ended) }
    }

    private func tell(of ended: EventChanges) {
        if ended.count > 0, ContextNotification.didChange.isWanted(forObjects: ended.count) {
            var userInfo: [AnyHashable: Any] = [NotificationKey.sourceContext.rawValue: self]
            if !ended.inserted.isEmpty {
                let set = Self.set(of: ended.inserted)
                userInfo[NSInsertedObjectsKey] = set
                if ended.insertionsArePending { changes.remember(inserted: set, updated: nil) }
            }
            if !ended.updated.isEmpty {
                let set = Self.set(of: ended.updated)
                userInfo[NSUpdatedObjectsKey] = set
                if ended.updatesArePending { changes.remember(inserted: nil, updated: set) }
            }
            if !ended.deleted.isEmpty { userInfo[NSDeletedObjectsKey] = Self.set(of: ended.deleted) }
            if !ended.refreshed.isEmpty { userInfo[NSRefreshedObjectsKey] = ended.refreshed.set }
            if !ended.invalidated.isEmpty { userInfo[NSInvalidatedObjectsKey] = ended.invalidated }
            NotificationCenter.default.post(name: ContextNotification.didChange.name, object: self, userInfo: userInfo)
        }
        tellListeners { $0.context(self, didEnd: ended) }
        for object in ended.discarded where object.flags.contains(.discarded) && !changes.keepsUntilSave(object) {
            finishDiscarding(object)
        }
        ended.finish()
    }

    /// Removes a deleted new object from the context: at once, or at the end of the event in which
    /// it was deleted.
    func endDiscarding(of object: NSManagedObject) {
        if object.flags.contains(.inEvent) { changes.endDiscarding(of: object) } else { finishDiscarding(object) }
    }

    /// Removes a deleted new object from the context. It may be inserted again.
    func finishDiscarding(_ object: NSManagedObject) {
        changes.endDiscarding(of: object)
        newObjects.assign(object, to: nil)
        if object.storeNumber >= 0 {
            registry.unregister(object)
            if let extras = object.extras, extras.keepsPlace {
                // The object's store could not be determined later.
                extras.objectID = object.objectID
            } else {
                object.giveUpKey()
            }
        }
        if let objectID = object.extras?.objectID { newObjects.forget(objectID) }
        changes.depart(object)
    }

    /// Makes the objects that have left the context release related objects, once no observer will
    /// see them any more.
    func releaseDeparted() {
        if changes.departed.isEmpty || activity.isSaving || activity.isProcessingChanges { return }
        for object in changes.takeDeparted() {
            // The other objects have been inserted again.
            guard object.registry == nil || object.flags.contains(.deletionSaved) else { continue }
            object.giveUpReferences()
            if !retained.isEmpty { retained.remove(object) }
        }
    }
}
