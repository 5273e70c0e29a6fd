import CoreData

/// A merge policy that lets something happen around the resolution of conflicts.
public final class InterruptedPolicy: NSMergePolicy, @unchecked Sendable {
    // Sendable: used by one thread.

    /// Runs before conflicts are resolved, each time.
    public var preparation: (() throws -> Void)?
    /// Runs once between the resolution of conflicts and the next attempt to save.
    public var interruption: (() throws -> Void)?

    override public func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try preparation?()
        try super.resolve(optimisticLockingConflicts: list)
        let interruption = interruption
        self.interruption = nil
        if !list.isEmpty { try interruption?() }
    }
}
