import Foundation

/// How a policy resolves conflicts.
///
/// ```swift
/// context.mergePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
/// ```
public enum NSMergePolicyType: UInt, Sendable {
    /// Refuses the save.
    case errorMergePolicyType = 0
    /// Merges property by property; where both sides changed, the store wins.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Merges property by property; where both sides changed, the object wins.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// Writes the whole object over the store's version.
    case overwriteMergePolicyType = 3
    /// Drops the object's changes.
    case rollbackMergePolicyType = 4
}

/// Decides what happens when a save conflicts with changes that another context or program has
/// saved, or would violate a uniqueness constraint.
///
/// A subclass overrides the `resolve` methods and calls `super`, which settles the conflicts as
/// `mergeType` says. After that, the objects are based on the rows in the store, and changes that
/// the subclass makes to them are saved. A subclass may throw instead to refuse the save.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmergepolicy>
///
/// ```swift
/// context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
/// ```
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // Sendable: constant; a subclass with state must guard it, as several contexts may use one
    // policy.

    /// How the policy resolves conflicts.
    public let mergeType: NSMergePolicyType

    /// A policy that resolves conflicts in one of the five ways.
    public init(merge type: NSMergePolicyType) {
        mergeType = type
        super.init()
    }

    private static let sharedError = NSMergePolicy(merge: .errorMergePolicyType)
    private static let sharedStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    private static let sharedObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    private static let sharedOverwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    private static let sharedRollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Refuses the save with an error that lists the conflicts. The policy of a new context.
    ///
    /// ```swift
    /// context.mergePolicy = NSMergePolicy.error
    /// do { try context.save() } catch CocoaError.managedObjectMerge { context.rollback() }
    /// ```
    open class var error: NSMergePolicy { sharedError }
    /// Merges property by property; where both sides changed, the store wins.
    ///
    /// ```swift
    /// container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    /// ```
    open class var mergeByPropertyStoreTrump: NSMergePolicy { sharedStoreTrump }
    /// Merges property by property; where both sides changed, the object wins.
    ///
    /// ```swift
    /// context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    /// ```
    open class var mergeByPropertyObjectTrump: NSMergePolicy { sharedObjectTrump }
    /// Writes the whole object over the store's version.
    open class var overwrite: NSMergePolicy { sharedOverwrite }
    /// Drops the object's changes.
    open class var rollback: NSMergePolicy { sharedRollback }

    /// Resolves all conflicts of a save: first those of optimistic locking, then those of
    /// uniqueness constraints.
    ///
    /// ```swift
    /// final class Logging: NSMergePolicy, @unchecked Sendable {
    ///     override func resolve(mergeConflicts list: [Any]) throws {
    ///         print("\(list.count) conflicts")
    ///         try super.resolve(mergeConflicts: list)         // settles them as mergeType says
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter list: `NSMergeConflict` and `NSConstraintConflict` objects.
    /// - Throws: when the save must be refused.
    open func resolve(mergeConflicts list: [Any]) throws {
        try resolve(optimisticLockingConflicts: list.compactMap { $0 as? NSMergeConflict })
        try resolve(constraintConflicts: list.compactMap { $0 as? NSConstraintConflict })
    }

    /// Resolves conflicts with changes of the same rows by another context or program.
    ///
    /// ```swift
    /// override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    ///     try super.resolve(optimisticLockingConflicts: list)
    ///     for conflict in list {
    ///         conflict.sourceObject.setValue(Date(), forKey: "mergedAt")      // is saved, too
    ///     }
    /// }
    /// ```
    ///
    /// - Throws: `CocoaError.managedObjectMerge` (133020) with the conflicts under
    ///   `NSPersistentStoreSaveConflictsErrorKey`, if this is the error policy and there are any.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard !list.isEmpty, mergeType == .errorMergePolicyType else {
            for conflict in list { conflict.resolution.take()?(mergeType) }
            return
        }
        let objects = list.map { "\($0.sourceObject.objectID.uriRepresentation())" }.joined(separator: ", ")
        throw CoreDataErrors.make(
            .managedObjectMerge,
            "\(list.count == 1 ? "An object was" : "\(list.count) objects were") changed by others: \(objects).",
            recovery: "Refresh the objects and save again, or set a merge policy that resolves conflicts.",
            userInfo: [NSPersistentStoreSaveConflictsErrorKey: list])
    }

    /// Resolves violations of uniqueness constraints.
    ///
    /// Where a conflict has no `databaseObject`, all policies but the error policy keep one of its
    /// objects: the changed object whose row has the values already, or else the first one. The
    /// other changed objects lose their changes, and new ones give way to it.
    ///
    /// ```swift
    /// override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    ///     if list.contains(where: { $0.constraint == ["code"] }) {
    ///         throw CocoaError(.managedObjectConstraintMerge)
    ///     }
    ///     try super.resolve(constraintConflicts: list)
    /// }
    /// ```
    ///
    /// - Throws: `CocoaError.managedObjectConstraintMerge` (133021) with the conflicts under
    ///   `NSPersistentStoreSaveConflictsErrorKey`, if this is the error policy and there are any.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        guard !list.isEmpty, mergeType == .errorMergePolicyType else {
            for conflict in list { conflict.resolution.take()?(mergeType) }
            return
        }
        let texts = list.map { conflict in
            let entity = (conflict.conflictingObjects.first ?? conflict.databaseObject)?.entity.name ?? "?"
            let values = conflict.constraint.map { "\($0) = \(conflict.constraintValues[$0] ?? "nil")" }
            return "\(entity) (\(values.joined(separator: ", ")))"
        }
        throw CoreDataErrors.make(
            .managedObjectConstraintMerge,
            "Objects would have the same values of a uniqueness constraint: \(texts.joined(separator: "; ")).",
            recovery: "Change one of the objects, or set a merge policy that resolves conflicts.",
            userInfo: [NSPersistentStoreSaveConflictsErrorKey: list])
    }
}

// The five policies under their Objective-C names; a context's `mergePolicy` takes either form.

/// Refuses the save with an error that lists the conflicts.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// Merges property by property; where both sides changed, the store wins.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
/// Merges property by property; where both sides changed, the object wins.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// Writes the whole object over the store's version.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// Drops the object's changes.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
