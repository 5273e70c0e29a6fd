import Synchronization

/// A reference from a property, an index or a subentity to its entity that does not keep it alive.
///
/// A `weak` reference would work, but it gives its target a side table, through which every later
/// retain and release of the target goes. Each new managed object retains and releases its entity.
final class EntityLink: Sendable {
    private struct Target: @unchecked Sendable {
        // Sendable: entities are.
        var entity: Unmanaged<NSEntityDescription>?
    }

    /// Guards the target: the entity's deinit takes the lock to clear it before the entity is
    /// freed.
    private let target = Mutex(Target())

    /// The entity, nil once its deinitialisation has begun.
    var entity: NSEntityDescription? {
        target.withLock { $0.entity.flatMap { tryRetain($0) } }
    }

    /// Called by the entity's initializer.
    func lead(to entity: NSEntityDescription) {
        let reference = Target(entity: .passUnretained(entity))
        target.withLock { $0 = reference }
    }

    /// Called by the entity's deinit.
    func clear() {
        target.withLock { $0.entity = nil }
    }
}

extension NSEntityDescription {
    /// The root of the entity's hierarchy: the entity itself if it has no superentity.
    ///
    /// Cost: O(depth of the hierarchy).
    package final var rootEntity: NSEntityDescription {
        var root = self
        while let parent = root.superentity { root = parent }
        return root
    }
}
