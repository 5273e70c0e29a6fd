import Foundation

/// Errors that this module itself throws, with code 134060: Core Data has no code for cases that
/// cannot occur in its own API.
enum SafeCoreDataErrors {
    private static func make(_ message: String, recovery: String, userInfo: [String: Any] = [:]) -> any Error {
        CoreDataErrors.make(.coreData, message, recovery: recovery, userInfo: userInfo)
    }

    /// An ID whose object is of another class than the caller expects.
    static func wrongClass(_ objectID: NSManagedObjectID, _ expected: NSManagedObject.Type) -> any Error {
        let found = objectID.entity.managedObjectClassName ?? "NSManagedObject"
        return make(
            "\(objectID) is of the entity \(objectID.entity.name ?? "without name"), whose class is \(found), not "
                + "\(expected).",
            recovery: "Ask for it as \(found).", userInfo: [NSAffectedObjectsErrorKey: [objectID]])
    }

    static var noHistory: any Error {
        make(
            "The store of the stack has no history.",
            recovery: "Make the stack with options whose tracksHistory is true; the history begins with the next write."
        )
    }

    static var unsavedChanges: any Error {
        make(
            "The write context has unsaved changes, which a change of many rows by the store would not see.",
            recovery: "Call save() on the context first, or make this change in a write of its own.")
    }

    static var batchInDraft: any Error {
        make(
            "A draft cannot change many rows in the store: that could not be discarded.",
            recovery: "Change the objects, or make this change in a write of its own.")
    }

    static func toManyRelationship(_ name: String, of entity: NSEntityDescription) -> any Error {
        make(
            "'\(name)' of '\(entity.name ?? "")' is a to-many relationship, which cannot be set for many rows at once.",
            recovery: "Set its inverse if that is to-one, or change the objects.")
    }

    /// Options of attributes that no model can express.
    static func inexpressible(_ problems: [String]) -> any Error {
        make(problems.joined(separator: " "), recovery: "Correct the marks of these properties.")
    }
}
