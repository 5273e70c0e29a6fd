/// A relationship without an inverse that referred to an object whose deletion was saved.
struct LostReference {
    let owner: NSManagedObject
    let slot: Int
    /// The members of an ordered relationship, including the object.
    var order: ContiguousArray<NSManagedObject>?
}

/// An object that a delete rule has reached because others had related it to a deleted object.
struct ReachedObject {
    let object: NSManagedObject
    /// The relationship of the deleted object.
    let slot: Int
    /// If the rule has deleted it: the holder of its own references.
    let deletion: KeptReferences?
}

/// The references of an object that left its context, held by an undo action that can bring it
/// back.
///
/// The object itself releases these references: two objects that left together would otherwise keep
/// each other alive forever.
final class KeptReferences {
    /// Unsaved destinations of to-one relationships, of stored slots and of transient ones.
    fileprivate var unsaved: [(slot: Int, object: NSManagedObject)] = []
    fileprivate var transient: [(slot: Int, object: NSManagedObject)] = []
    /// Destinations that the row refers to.
    fileprivate var destinations = SlotObjects<NSManagedObject>()
    fileprivate var toMany: [(slot: Int, state: ToManyState)] = []
    /// Relationships that referred to the object.
    var lost: [LostReference] = []
    /// The objects that delete rules have reached since the deletion was registered for undo.
    var reached: [ReachedObject] = []
}

extension NSManagedObject {
    /// Returns the holder of a departed object's references, which undo actions keep.
    final func makeKeptReferences() -> KeptReferences {
        let extras = makeExtras()
        if let kept = extras.kept { return kept }
        let kept = KeptReferences()
        extras.kept = kept
        return kept
    }

    /// Releases the references to other objects, or moves them to the undo action that can bring
    /// the object back.
    ///
    /// Attributes stay. An object whose row was deleted keeps the keys of its destinations; a new
    /// object keeps only its attributes.
    final func giveUpReferences() {
        let kept = extras?.kept
        let hasRow = flags.contains(.deletionSaved)
        if let pending {
            pending.former = nil
            let taken = pending.takeDestinations(keepingKeys: hasRow)
            if let kept, !taken.isEmpty { kept.unsaved = taken }
        }
        guard let extras else { return }
        if let taken = extras.transient?.takeDestinations(keepingKeys: false), let kept, !taken.isEmpty {
            kept.transient = taken
        }
        let given = extras.takeRelations()
        guard let kept else { return }
        if !given.toOne.isEmpty { kept.destinations = given.toOne }
        if !given.toMany.isEmpty { kept.toMany = given.toMany }
    }

    /// Restores the references that an undo action has kept.
    final func takeBackReferences() {
        guard let extras, let kept = extras.kept else { return }
        for (slot, object) in kept.unsaved { withPending { $0.set(slot, .object(object)) } }
        for (slot, object) in kept.transient { extras.transient?.set(slot, .object(object)) }
        kept.destinations.forEach { extras.setToOne($0, $1) }
        for (slot, state) in kept.toMany { extras.setToMany(slot, state) }
        (kept.unsaved, kept.transient, kept.destinations, kept.toMany) = ([], [], SlotObjects(), [])
    }
}
