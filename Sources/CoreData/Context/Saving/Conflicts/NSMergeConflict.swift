import Foundation

/// An object to be saved whose row another context or program changed or deleted in the meantime.
///
/// Snapshots hold attributes and to-one relationships (as object IDs), no to-many relationships. A
/// conflict between the context and the coordinator's cached row has no persisted snapshot; one
/// between the cached row and the store has both.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmergeconflict>
///
/// ```swift
/// let conflicts =
///     error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
/// for conflict in conflicts { print(conflict.sourceObject.objectID, conflict.newVersionNumber) }
/// ```
open class NSMergeConflict: NSObject {
    /// The object that could not be saved.
    public let sourceObject: NSManagedObject
    /// The object's values as it was last read or saved.
    public let objectSnapshot: [String: Any]?
    /// The row as the coordinator has it cached; nil when another context deleted it.
    public let cachedSnapshot: [String: Any]?
    /// The row as it is in the store; nil for a conflict with the cached row, and when the row was
    /// deleted.
    public let persistedSnapshot: [String: Any]?
    /// The version of the conflicting row, in the cache or in the store. 0 when it was deleted
    /// there.
    public let newVersionNumber: Int
    /// The version of the row that the object was last read from or saved to.
    public let oldVersionNumber: Int

    /// Settles the conflict in the context that found it. Nil after that, and in a conflict that
    /// the program created.
    var resolution: ((NSMergePolicyType) -> Void)?

    /// Creates a conflict for an object, with its values as they were last read or saved.
    ///
    /// ```swift
    /// let conflict = NSMergeConflict(
    ///     source: item, newVersion: 0, oldVersion: 3, cachedSnapshot: nil,
    ///     persistedSnapshot: nil)         // deleted by another context or program
    /// ```
    public init(
        source sourceObject: NSManagedObject, newVersion: Int, oldVersion: Int, cachedSnapshot: [String: Any]?,
        persistedSnapshot: [String: Any]?
    ) {
        self.sourceObject = sourceObject
        objectSnapshot = Self.snapshot(of: sourceObject)
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        super.init()
    }

    init(
        source sourceObject: NSManagedObject, newVersion: Int, oldVersion: Int, objectSnapshot: [String: Any]?,
        cachedSnapshot: [String: Any]?, persistedSnapshot: [String: Any]?
    ) {
        self.sourceObject = sourceObject
        self.objectSnapshot = objectSnapshot
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        super.init()
    }

    private static func snapshot(of object: NSManagedObject) -> [String: Any] {
        let names = object.layout.propertySlots.filter { !$0.kind.isToMany && $0.kind != .fetched }.map(\.name)
        return object.committedValues(forKeys: names).mapValues { value in
            (value as? NSManagedObject)?.objectID ?? value
        }
    }

    open override var description: String {
        "<\(type(of: self)): \(sourceObject.objectID.uriRepresentation()), version \(oldVersionNumber) here, "
            + "\(newVersionNumber == 0 ? "deleted" : "version \(newVersionNumber)") there>"
    }
}
