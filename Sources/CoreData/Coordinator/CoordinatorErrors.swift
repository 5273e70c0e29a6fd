import Foundation

// Errors of coordinators.
extension CoreDataErrors {
    /// An inconsistent model: code 134060, as on a Mac for a model that is unfit for its use.
    ///
    /// No store is asked, so no store's code applies.
    static func inconsistentModel(_ message: String, _ problems: [String]) -> NSError {
        let recovery = "Correct the model; each problem is one of the detailed errors."
        return misuse(
            message, recovery: recovery,
            userInfo: [NSDetailedErrorsKey: problems.map { misuse($0, recovery: recovery) }])
    }

    static func noHistoryForReader(_ name: String) -> NSError {
        make(
            .persistentStoreOperation,
            "The place of the history reader '\(name)' cannot be kept: the token names no store of the coordinator "
                + "that has a history.",
            recovery: "Add the store with NSPersistentHistoryTrackingKey, and use a token of its own history.")
    }

    static func assignedStoreIsNotAdded(
        _ store: NSPersistentStore, to entity: String, named name: String, others: String
    ) -> NSError {
        make(
            .persistentStoreSave,
            "An object of the entity '\(entity)' is assigned to the store \(name), which is not among the "
                + "coordinator's stores: \(others).",
            recovery: "Assign the object to a store of its context's coordinator.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    static func assignedStoreLacksEntity(_ store: NSPersistentStore, _ entity: String, named name: String) -> NSError {
        make(
            .persistentStoreIncompatibleSchema,
            "An object of the entity '\(entity)' is assigned to the store \(name), whose configuration "
                + "'\(store.configurationName)' does "
                + "not have that entity.",
            recovery:
                "Assign the object to a store of another configuration, or add the entity to the configuration in "
                + "the model.",
            userInfo: [NSAffectedStoresErrorKey: [store]])
    }

    static func assignedStoreIsReadOnly(_ store: NSPersistentStore, _ entity: String, named name: String) -> NSError {
        storeIsReadOnly(
            [store], "An object of the entity '\(entity)' is assigned to the store \(name), which is read-only.",
            orElse: "Or assign the object to another store.")
    }

    static func noStoreForNewObject(_ entity: String, _ reason: String, stores: [NSPersistentStore]) -> NSError {
        make(
            .persistentStoreSave, "No store can take an object of the entity '\(entity)'. \(reason)",
            recovery: "Add a store whose configuration has the entity before saving.",
            userInfo: [NSAffectedStoresErrorKey: stores])
    }

    static func storesAreReadOnly(_ entity: String, _ stores: [NSPersistentStore], named names: String) -> NSError {
        storeIsReadOnly(
            stores,
            "No store can take an object of the entity '\(entity)'. All stores that hold the entity are read-only: "
                + "\(names).",
            orElse: "Or add another store whose configuration has the entity.")
    }
}

extension NSPersistentStoreCoordinator {
    /// - Throws: one error for all inconsistencies of a model.
    static func requireConsistency(of model: NSManagedObjectModel, checksAllClasses: Bool = false) throws {
        let problems = model.objectProblems(checksAllClasses: checksAllClasses)
        guard !problems.isEmpty else { return }
        throw CoreDataErrors.inconsistentModel(message(for: problems), problems)
    }

    static func message(for problems: [String]) -> String {
        "The model cannot be used by a persistent store coordinator: " + problems.joined(separator: "; ")
    }
}
