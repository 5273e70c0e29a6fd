import Foundation

// Errors of migrations through mapping models.
enum MigrationErrors {
    /// An entity mapping that does not fit the models: code 134110.
    static func mapping(_ mapping: NSEntityMapping, _ problem: String) -> NSError {
        CoreDataErrors.make(
            .migration, "The entity mapping '\(mapping.name ?? "")' cannot be used: \(problem).",
            recovery: "Correct the mapping model, or use the models that it was made for.",
            userInfo: ["entityMapping": mapping.name ?? ""])
    }

    /// A step of a policy that cannot be carried out: code 134170.
    static func policy(
        _ mapping: NSEntityMapping, _ property: String?, _ problem: String, recovery: String
    ) -> NSError {
        var userInfo: [String: Any] = ["entityMapping": mapping.name ?? ""]
        userInfo["property"] = property
        let subject = property.map { "the property '\($0)' of " } ?? ""
        return CoreDataErrors.make(
            .entityMigrationPolicy,
            "A migration failed at \(subject)the entity mapping '\(mapping.name ?? "")': \(problem).",
            recovery: recovery, userInfo: userInfo)
    }

    /// A mapping model with two mappings of one name: code 134110.
    static func repeatedName(_ name: String) -> NSError {
        CoreDataErrors.make(
            .migration, "The mapping model has several entity mappings with the name '\(name)'.",
            recovery: "Give each entity mapping a name of its own.", userInfo: ["entityMapping": name])
    }

    static func noMappingModel(for url: URL, type: String) -> NSError {
        CoreDataErrors.make(
            .migrationMissingMappingModel,
            "The store \(StoreName.text(type: type, url: url)) cannot be migrated: no mapping model was given.",
            recovery:
                "Give one, such as that of NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:).",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// A failure of one of the stores.
    ///
    /// - Parameters:
    ///   - code: 134150 for the source, 134160 for the destination.
    ///   - problem: The end of the sentence about the store.
    static func store(
        _ code: CocoaError.Code, _ place: StorePlace, _ problem: String, _ error: (any Error)? = nil
    ) -> NSError {
        let role = code == .migrationManagerSourceStore ? "source" : "destination"
        var userInfo = StoreOpeningErrors.userInfo(type: place.type, url: place.url)
        userInfo[NSUnderlyingErrorKey] = error
        userInfo[NSLocalizedRecoverySuggestionErrorKey] =
            (error as NSError?)?.localizedRecoverySuggestion
        let reason = error.map { ": \($0.localizedDescription)" } ?? "."
        return CoreDataErrors.make(
            code,
            "The \(role) store \(StoreName.text(type: place.type, url: place.url)) of a migration \(problem)"
                + reason, userInfo: userInfo)
    }
}
