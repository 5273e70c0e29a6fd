import Foundation

/// Errors of migration plans.
enum PlanErrors {
    /// The name of a class with its namespace, without its module.
    static func name(_ objectClass: NSManagedObject.Type) -> String {
        String(reflecting: objectClass).split(separator: ".").dropFirst().joined(separator: ".")
    }

    /// Two classes of a version for one entity: code 134110.
    static func repeatedEntity(
        _ entity: String, _ classes: [NSManagedObject.Type], in version: SchemaVersion
    ) -> any Error {
        CoreDataErrors.make(
            .migration,
            "\(version.name) has several classes of the entity '\(entity)': "
                + classes.map(name).joined(separator: ", ") + ".",
            recovery: "Let the relationships and superclasses of a version lead to classes of this version only.",
            userInfo: ["entity": entity])
    }

    /// A step that does not fit its versions: code 134110.
    static func misfit(_ problem: String) -> any Error {
        CoreDataErrors.make(.migration, problem + ".", recovery: "Correct the step in the migration plan.")
    }

    /// A store of a version that a plan does not list: code 134100.
    static func unlisted(_ store: NSPersistentStoreDescription, _ versions: [SchemaVersion]) -> any Error {
        CoreDataErrors.make(
            .persistentStoreIncompatibleVersionHash,
            "The store \(name(store)) has none of the versions of the migration plan: "
                + versions.map(\.name).joined(separator: ", ") + ".",
            recovery: "List the store's version, with its classes as they were.")
    }

    /// A store on a server: code 134110.
    static func server(_ store: NSPersistentStoreDescription, _ version: SchemaVersion) -> any Error {
        CoreDataErrors.make(
            .migration,
            "The store \(name(store)) has the version \(version.name), and migration plans migrate files only.",
            recovery: "Open it without a plan, which carries out changes that can be inferred.")
    }

    /// A step that failed: code 134110, with the error as the underlying one.
    static func failed(_ from: SchemaVersion, _ to: SchemaVersion, _ error: any Error) -> any Error {
        let failure = error as? ObjectFailure
        let cause = failure?.error ?? error
        var userInfo: [String: Any] = [NSUnderlyingErrorKey: cause]
        var place = ""
        if let objectID = failure?.objectID {
            let entity = objectID.entity.name ?? ""
            userInfo["entity"] = entity
            userInfo[NSAffectedObjectsErrorKey] = [objectID]
            place = " at '\(entity)' \(objectID.uriRepresentation().absoluteString)"
        }
        return CoreDataErrors.make(
            .migration,
            "The migration step from \(from.name) to \(to.name) failed\(place): \(cause.localizedDescription)",
            recovery: (cause as NSError).localizedRecoverySuggestion
                ?? "Correct the step in the migration plan. The store is as it was.", userInfo: userInfo)
    }

    private static func name(_ store: NSPersistentStoreDescription) -> String {
        StoreName.path(store.url)
    }
}
