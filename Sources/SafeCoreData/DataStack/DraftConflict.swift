/// A conflict that prevents applying a draft: an object was changed or deleted meanwhile, or a
/// value is not unique.
///
/// ```swift
/// switch conflict.kind {
/// case .changed(let properties): print("changed by others:", properties)
/// case .deleted: print("deleted by others")
/// case .notUnique(let properties, _): print("taken:", properties)
/// }
/// ```
public struct DraftConflict: Hashable, Sendable {
    /// The kind of a conflict.
    public enum Kind: Hashable, Sendable {
        /// Another write has changed the object since the draft read it. The value has the names of
        /// the attributes and to-one relationships that differ, sorted; it is empty where only
        /// to-many relationships differ.
        case changed(properties: [String])
        /// Another write has deleted the object.
        case deleted
        /// The object would have the same values of these properties as another one. `other` is the
        /// ID of that one if it is in the store.
        case notUnique(properties: [String], other: NSManagedObjectID?)
    }

    /// The object of the draft.
    public let objectID: NSManagedObjectID
    /// The kind of the conflict.
    public let kind: Kind

    public init(objectID: NSManagedObjectID, kind: Kind) {
        self.objectID = objectID
        self.kind = kind
    }
}

extension DraftConflict: CustomStringConvertible {
    public var description: String {
        let object = "\(objectID.entity.name ?? "an object") \(objectID.uriRepresentation().absoluteString)"
        switch kind {
        case .changed(let properties):
            return "\(object) was changed by others meanwhile"
                + (properties.isEmpty ? "" : " (\(properties.joined(separator: ", ")))")
        case .deleted: return "\(object) was deleted by others meanwhile"
        case .notUnique(let properties, let other):
            let names = properties.joined(separator: ", ")
            let rival = other.map { $0.uriRepresentation().absoluteString } ?? "another new object"
            return "\(object) would have the same \(names) as \(rival)"
        }
    }
}

/// A draft could not be applied, and nothing of it was saved.
///
/// As an `NSError` it has Core Data's domain and codes: 133020 where objects were changed or
/// deleted meanwhile, 133021 where only values are not unique.
///
/// ```swift
/// do { try await draft.apply() } catch let error as DraftConflictError {
///     print(error.conflicts.map(\.description))
/// }
/// ```
public struct DraftConflictError: Error, Sendable {
    /// The conflicts, one for each object concerned.
    public let conflicts: [DraftConflict]
    private let code: Int

    /// Reads the conflicts from an error of a save; nil for any other error. Must be called on the
    /// queue of the saved context.
    init?(_ error: any Error) {
        let error = error as NSError
        let found = error.userInfo[NSPersistentStoreSaveConflictsErrorKey]
        guard error.domain == NSCocoaErrorDomain, let list = found as? [AnyObject], !list.isEmpty else { return nil }
        code = error.code
        conflicts = list.flatMap { conflict -> [DraftConflict] in
            switch conflict {
            case let conflict as NSMergeConflict: [DraftConflict(conflict)]
            case let conflict as NSConstraintConflict: DraftConflict.all(of: conflict)
            default: []
            }
        }
    }
}

extension DraftConflict {
    fileprivate init(_ conflict: NSMergeConflict) {
        objectID = conflict.sourceObject.objectID
        guard conflict.newVersionNumber != 0 else {
            kind = .deleted
            return
        }
        let former = conflict.objectSnapshot ?? [:]
        let current = conflict.persistedSnapshot ?? conflict.cachedSnapshot ?? [:]
        let names = current.keys.filter { !SameValues.areSame(former[$0], current[$0]) }
        kind = .changed(properties: names.sorted())
    }

    fileprivate static func all(of conflict: NSConstraintConflict) -> [DraftConflict] {
        conflict.conflictingObjects.map { object in
            DraftConflict(
                objectID: object.objectID,
                kind: .notUnique(properties: conflict.constraint, other: conflict.databaseObject?.objectID))
        }
    }
}

extension DraftConflictError: LocalizedError, CustomNSError, CustomStringConvertible {
    public static var errorDomain: String { NSCocoaErrorDomain }
    public var errorCode: Int { code }
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: description,
            NSLocalizedRecoverySuggestionErrorKey:
                "Begin a new draft, which has the present values, or apply this one with a merge policy that says "
                + "who wins.",
        ]
    }
    public var description: String {
        "The draft cannot be applied: " + conflicts.map(\.description).joined(separator: "; ") + "."
    }
    public var errorDescription: String? { description }
}
