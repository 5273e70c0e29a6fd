import Foundation

/// A uniqueness constraint that a save would violate.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsconstraintconflict>
///
/// ```swift
/// let conflicts =
///     error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
/// for conflict in conflicts { print(conflict.constraint, conflict.constraintValues) }
/// ```
open class NSConstraintConflict: NSObject {
    /// The names of the attributes that together must be unique.
    public let constraint: [String]
    /// The values that several objects have, by attribute name.
    public let constraintValues: [String: Any]
    /// The object whose row is in the store already; nil when all conflicting objects are in one
    /// context.
    ///
    /// Where a new object takes the row's place, this object has the values that were in the store.
    /// It no longer belongs to a context, unless the program had it before.
    public let databaseObject: NSManagedObject?
    /// The values of that row; nil without one.
    public let databaseSnapshot: [String: Any]?
    /// The objects to be saved.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the objects to be saved, in the same order.
    public let conflictingSnapshots: [[AnyHashable: Any]]

    /// Settles the conflict in the context that found it. Nil after that, and in a conflict that
    /// the program created.
    var resolution: ((NSMergePolicyType) -> Void)?

    /// Creates a conflict for a program's tests of its merge policies.
    public init(
        constraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        self.constraint = constraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot.map { snapshot in
            var values: [String: Any] = [:]
            for (key, value) in snapshot {
                if let name = key.base as? String { values[name] = value }
            }
            return values
        }
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.map { snapshot in
            (snapshot as? [AnyHashable: Any]) ?? [:]
        }
        var values: [String: Any] = [:]
        for name in constraint {
            values[name] = self.databaseSnapshot?[name] ?? self.conflictingSnapshots.first?[name]
        }
        constraintValues = values
        super.init()
    }

    open override var description: String {
        "<\(type(of: self)): \(constraint.joined(separator: ", ")) of \(conflictingObjects.count) objects"
            + (databaseObject == nil ? ">" : " and a row of the store>")
    }
}
