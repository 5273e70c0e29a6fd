import Foundation

/// A uniqueness constraint that a save would violate.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsconstraintconflict>
///
/// ```swift
/// let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
/// for conflict in conflicts { print(conflict.constraint, conflict.constraintValues) }
/// ```
open class NSConstraintConflict: NSObject {
    /// The names of the attributes that together must be unique.
    public let constraint: [String]
    /// The values that several objects have, by attribute name.
    public let constraintValues: [String: Any]
    /// The object whose row is in the store already; nil when all objects in conflict are in one context. Where a new object takes the row's
    /// place, this one reads what was in the store and belongs to no context any more, unless the program had it before.
    public let databaseObject: NSManagedObject?
    /// The values of that row; nil without one.
    public let databaseSnapshot: [String: Any]?
    /// The objects to be saved.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the objects to be saved, in the same order.
    public let conflictingSnapshots: [[AnyHashable: Any]]

    /// Settles the conflict in the context that met it. Nil once that is done, and in a conflict that a program made.
    var resolution: ((NSMergePolicyType) -> Void)?

    func settle(_ type: NSMergePolicyType) {
        let resolution = resolution
        self.resolution = nil
        resolution?(type)
    }

    /// A conflict that a program made, for tests of its merge policies.
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
