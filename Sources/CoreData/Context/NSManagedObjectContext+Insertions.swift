// How objects enter the context.

extension NSManagedObjectContext {
    /// Has a new object found by the ID that it was given before it was inserted. A place in a store that is none of this context's is given
    /// up, and so is the ID that goes with it.
    func adoptIdentity(of object: NSManagedObject) {
        guard let extras = object.extras else { return }
        if object.storeNumber >= 0, !hasPlace(of: object, extras) {
            object.giveUpKey()
            (extras.objectID, extras.deletedRow, extras.isRevived) = (nil, nil, false)
        }
        guard let objectID = extras.objectID else { return }
        if !objectID.isTemporaryID {
            registry.register(object)
        } else if registry.identities.adopt(objectID) {
            temporaryObjects[objectID.identity] = WeakObject(object)
        } else {
            // Of another tree of contexts: it gets one of this tree when it is asked.
            extras.objectID = nil
        }
    }

    /// Whether the place of a new object in a store is that which the context would save it to.
    private func hasPlace(of object: NSManagedObject, _ extras: ObjectExtras) -> Bool {
        guard let store = registry.store(number: Int(object.storeNumber)) else { return false }
        guard let objectID = extras.objectID, !objectID.isTemporaryID else { return object.key > 0 || registry.hasProvisionalKeys }
        return objectID.anyStore === store
    }
}
