import Foundation

/// The names of stores in messages.
package enum StoreName {
    static func text(type: String, url: URL?, configuration: String? = nil) -> String {
        var text = "\(path(url)) (type \(type)"
        if let configuration, configuration != NSManagedObjectModel.defaultConfigurationName {
            text += ", configuration '\(configuration)'"
        }
        return text + ")"
    }

    package static func path(_ url: URL?) -> String {
        guard let url else { return "without a URL" }
        return url.isFileURL ? url.path : url.withoutPassword.absoluteString
    }
}

/// The userInfo entries that errors about a store have in common.
package enum StoreOpeningErrors {
    package static func userInfo(type: String?, url: URL?) -> [String: Any] {
        var entries: [String: Any] = [:]
        if let type { entries[NSStoreTypeKey] = type }
        if let url {
            if url.isFileURL { entries[NSFilePathErrorKey] = url.path }
            entries[NSURLErrorKey] = url.withoutPassword
        }
        return entries
    }
}

// Errors of stores that cannot be opened, or cannot do what is requested.
extension CoreDataErrors {
    static func unknownConfiguration(_ name: String, among names: [String], type: String, url: URL?) -> NSError {
        let known = names.sorted().map { "'\($0)'" }.joined(separator: ", ")
        return make(
            .persistentStoreOpen,
            "The store \(StoreName.text(type: type, url: url)) cannot be added: the model has no configuration "
                + "'\(name)'. "
                + "It has \(known.isEmpty ? "none" : known).",
            recovery: "Name one of the model's configurations, or none for all entities.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    static func unsupportedFeatures(_ features: [String], type: String, url: URL?) -> NSError {
        make(
            .persistentStoreOpen,
            "The store \(StoreName.text(type: type, url: url)) cannot be added. Stores of this type do not support "
                + features.joined(separator: ", ") + ".",
            recovery: "Use a SQLite store, or take these out of the model's configuration.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    static func migrationOfReadOnlyStore(at path: String) -> NSError {
        make(
            .migration,
            "The store at \(path) was made with another version of the model and cannot be migrated, because "
                + "NSReadOnlyPersistentStoreOption forbids writing to it.",
            recovery: "Open it without the option once, or open a migrated copy.", userInfo: [NSFilePathErrorKey: path])
    }

    static func migratedByOthers(_ store: String, userInfo: [String: Any]) -> NSError {
        make(
            .persistentStoreIncompatibleVersionHash,
            "The store \(store) was brought to another version of the model by someone else meanwhile.",
            recovery: "Add it again.", userInfo: userInfo)
    }

    static func stagedMigration(by stages: Any, type: String, url: URL?) -> NSError {
        make(
            .migration,
            "The store \(StoreName.text(type: type, url: url)) was added with "
                + "NSPersistentStoreStagedMigrationManagerOptionKey, whose value is a \(Swift.type(of: stages)).",
            recovery: "Give a staged migration manager (NSStagedMigrationManager), or leave the option out.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// The error of two entities, or an entity and the store itself, that would have the same
    /// table.
    static func tableIsTaken(_ table: String, of entity: String, by other: String, store: String) -> NSError {
        make(
            .persistentStoreOpen,
            "The entity '\(entity)' cannot be kept in a \(store) store: \(other) has the table \(table) already. "
                + "Tables are named after entities.", recovery: "Rename the entity.")
    }

    static func underivable(
        _ attribute: String, of entity: String, _ expression: String, _ reason: String, store: String
    ) -> NSError {
        make(
            .persistentStoreOpen,
            "The derived attribute '\(attribute)' of entity '\(entity)' cannot be kept by a \(store) store: "
                + "\(reason) (\(expression)). Change its derivation expression.",
            recovery: "Change the attribute's derivation expression in the model.")
    }

    /// The error of an entity for which the store has no table, because its configuration lacks the
    /// entity.
    static func entityIsNotKept(_ entity: String) -> NSError {
        make(
            .persistentStoreIncompatibleSchema,
            "The entity '\(entity)' is not kept in this store. Check the store's configuration.",
            recovery: "Add the entity to the configuration that the store is added with.")
    }

    static func destinationIsNotKept(_ relationship: String, of entity: String) -> NSError {
        make(
            .persistentStoreIncompatibleSchema,
            "The destination of '\(relationship)' of entity '\(entity)' is not kept in this store.",
            recovery: "Add the destination's entity to the configuration that the store is added with.")
    }

    package static func noStoredRelationship(_ property: String, of entity: String) -> NSError {
        make(
            .persistentStoreIncompatibleSchema, "'\(property)' of entity '\(entity)' is no stored relationship.",
            recovery: "Check that the store was added with the model that the context works with.")
    }

    static func metadataIsNoPropertyList(keys: [String], _ error: any Error) -> NSError {
        make(
            .persistentStoreSave,
            "The store's metadata cannot be written: it holds a value that is no property list value "
                + "(keys: \(keys.sorted().joined(separator: ", "))). Use strings, numbers, dates, data, arrays and "
                + "dictionaries.",
            recovery: "Set the metadata of the store again, with such values only.",
            userInfo: [NSUnderlyingErrorKey: error])
    }
}
