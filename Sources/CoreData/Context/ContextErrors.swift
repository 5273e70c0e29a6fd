import Foundation

// Errors that contexts throw. A context is passed as its `nameInMessages`.
extension CoreDataErrors {
    // MARK: Contexts and coordinators

    static func noCoordinator(_ context: String, _ action: String, hasParent: Bool) -> NSError {
        make(
            .persistentStoreOperation,
            "The context\(context) has no persistent store coordinator and cannot \(action).",
            recovery: hasParent
                ? "Set persistentStoreCoordinator of the context that is its parent, or above that."
                : "Set persistentStoreCoordinator first.")
    }

    static func noModel(_ context: String) -> NSError {
        make(
            .persistentStoreOperation, "The context\(context) has no model.",
            recovery: "Give it a coordinator with a model.")
    }

    static func otherCoordinator(_ context: String) -> NSError {
        misuse(
            "The context\(context) does not work on the coordinator that shall execute its request.",
            recovery: "Call execute(_:with:) of the context's own persistentStoreCoordinator.")
    }

    static func noCurrentContext() -> NSError {
        misuse(
            "NSFetchRequest.execute() was called outside of a context's perform block.",
            recovery: "Call context.fetch(request), or call execute() inside context.perform.")
    }

    // MARK: Entities, classes and stores

    static func noSingleEntity(of objectClass: NSManagedObject.Type, candidates: [String], all names: [String])
        -> NSError
    {
        misuse(
            candidates.isEmpty
                ? "No entity of the context's model has the class \(objectClass). Its entities are "
                    + "\(names.joined(separator: ", "))."
                : "The class \(objectClass) stands for several entities: \(candidates.joined(separator: ", ")).",
            recovery: "Fetch by the entity's name: NSFetchRequest(entityName:).")
    }

    static func otherResultType(_ found: Any.Type, than declared: Any.Type, of entity: String?) -> NSError {
        misuse(
            "The fetch request for \(entity ?? "?") gives \(found) (its resultType), but is declared for \(declared).",
            recovery: "Declare it as NSFetchRequest<\(found)>, or change its resultType.")
    }

    static func otherClass(_ object: NSManagedObject, than declared: Any.Type, of entity: String) -> NSError {
        misuse(
            "The fetch request for \(entity) is declared for \(declared), but an object is a \(type(of: object)).",
            recovery:
                "Check the class that the entity names in the model "
                + "(\(object.layout.entity.managedObjectClassName ?? "none"))."
        )
    }

    static func noStoreHolds(_ entity: String, isAmongAffected: Bool) -> NSError {
        make(
            .persistentStoreOperation,
            "No store of the coordinator holds the entity '\(entity)'"
                + (isAmongAffected ? ", among the affectedStores of the request." : "."),
            recovery: "Add a store whose configuration has the entity.")
    }

    /// The coordinator of the context lacks the store of the ID, or its model lacks the entity.
    static func foreignID(_ objectID: NSManagedObjectID, _ context: String, _ stores: [NSPersistentStore]?) -> NSError {
        let store = objectID.anyStore
        let hasStore = stores?.contains { store?.isTwin(of: $0) ?? false } ?? false
        let reason =
            if stores == nil {
                "it has no persistent store coordinator"
            } else if objectID.isTemporaryID || hasStore {
                "the model of its coordinator has no entity '\(objectID.layout.name)'"
            } else if let store {
                "its coordinator does not have the store \(StoreName.text(type: store.type, url: store.url))"
            } else {
                "its coordinator does not have the store of that UUID, which nobody has open"
            }
        return make(
            .managedObjectReferentialIntegrity,
            "The context\(context) cannot find the object with the ID "
                + "\(objectID.uriRepresentation().absoluteString): \(reason).",
            recovery: "Use the ID in a context of the coordinator that it comes from.",
            userInfo: [NSAffectedObjectsErrorKey: [objectID], "objectID": objectID])
    }

    static func insertedWithoutCoordinator(_ objects: [NSManagedObject], _ context: String) -> NSError {
        make(
            .persistentStoreOperation,
            "The context\(context) cannot save \(objects.first?.layout.name ?? "an object"): it was inserted when no "
                + "context above had a "
                + "persistent store coordinator.",
            recovery: "Set persistentStoreCoordinator above first; reset the context, and insert the objects anew.",
            userInfo: [NSAffectedObjectsErrorKey: objects])
    }

    static func storeIsGone(of object: NSManagedObject) -> NSError {
        make(
            .persistentStoreOperation,
            "\(object.layout.name) p\(object.key) was used after its store had been removed from the coordinator.",
            recovery: "Add the store again and fetch the object anew.",
            userInfo: [NSAffectedObjectsErrorKey: [object.objectID]])
    }

    // MARK: Saving

    /// `save()` was called within `save()`: code 132001, which macOS returns and which has no name.
    static func recursiveSave(_ context: String) -> NSError {
        make(
            .recursiveSave, "The context\(context) is being saved already.",
            recovery: "Do not call save() from willSave, didSave or an observer of the save's notifications.",
            userInfo: ["message": "attempt to recursively call save() on the context"])
    }

    static func endlessWillSave(_ object: NSManagedObject?) -> NSError {
        make(
            .persistentStoreSave,
            "willSave of \(object?.layout.name ?? "an object") \(object?.descriptionOfIdentity ?? "") changes the "
                + "object each time it is "
                + "called: the save cannot come to an end.",
            recovery: "Compare before you set a property in willSave, or use setPrimitiveValue(_:forKey:).",
            userInfo: object.map { [NSAffectedObjectsErrorKey: [$0]] } ?? [:])
    }

    static func abstractObject(_ object: NSManagedObject) -> NSError {
        make(
            .persistentStoreSave,
            "The object \(object.descriptionOfIdentity) cannot be saved: its entity \(object.layout.name) is abstract.",
            recovery: "Make an object of one of its subentities, and delete this one.",
            userInfo: [NSAffectedObjectsErrorKey: [object]])
    }

    static func storeIsGone(ofChanged objects: [NSManagedObject]) -> NSError {
        make(
            .persistentStoreSave,
            "The store of \(objects.first?.layout.name ?? "an object") p\(objects.first?.key ?? 0) was removed from "
                + "the coordinator: its "
                + "changes cannot be saved.",
            recovery: "Add the store again, or discard the changes with rollback() or refresh(_:mergeChanges:).",
            userInfo: [NSAffectedObjectsErrorKey: objects])
    }

    // MARK: Batch requests

    static func deletionElsewhere(_ objectID: NSObject, _ store: NSPersistentStore, isOfOthers: Bool) -> NSError {
        misuse(
            "A batch deletion was given the ID \(objectID) of the store "
                + "\(StoreName.text(type: store.type, url: store.url)), which is not among "
                + (isOfOthers ? "the stores of the context's coordinator." : "its affectedStores."),
            recovery: isOfOthers
                ? "Have a context of the store's own coordinator execute a request for it."
                : "Leave the ID out, or add the store to affectedStores.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    /// Some stores have executed a batch request before another one failed.
    static func incompleteBatch(_ error: NSError, _ failed: NSPersistentStore, written: [NSPersistentStore]) -> NSError
    {
        func name(_ store: NSPersistentStore) -> String { StoreName.text(type: store.type, url: store.url) }
        return make(
            .persistentStoreIncompleteSave,
            "A batch request has changed \(written.map(name).joined(separator: ", ")), but then failed in "
                + "\(name(failed)): "
                + error.localizedDescription,
            recovery: "Resolve the cause, and execute the request with the other stores as its affectedStores.",
            userInfo: [NSUnderlyingErrorKey: error, NSAffectedStoresErrorKey: [failed]])
    }
}
