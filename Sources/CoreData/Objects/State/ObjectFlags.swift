/// Facts about an object that each access needs.
struct ObjectFlags: OptionSet {
    let rawValue: UInt16

    /// Pending insertion.
    static let inserted = ObjectFlags(rawValue: 1 << 0)
    /// Has pending changes and is in the context's list of updated objects.
    static let updated = ObjectFlags(rawValue: 1 << 1)
    /// Pending deletion.
    static let deleted = ObjectFlags(rawValue: 1 << 2)
    /// Values are not loaded.
    static let fault = ObjectFlags(rawValue: 1 << 3)
    /// Listed in the context's changes of the current event.
    static let inEvent = ObjectFlags(rawValue: 1 << 4)
    /// Change tracking is off: in `awakeFromFetch`, and while the framework sets values.
    static let silent = ObjectFlags(rawValue: 1 << 5)
    /// Its row is gone; reads return nil.
    static let inaccessible = ObjectFlags(rawValue: 1 << 6)
    /// Only records which properties are read (see `KeyPathProbe`).
    static let probe = ObjectFlags(rawValue: 1 << 7)
    /// Changed since its last `willSave`.
    static let changedInSave = ObjectFlags(rawValue: 1 << 8)
    /// Its deletion was propagated along its relationships.
    static let propagated = ObjectFlags(rawValue: 1 << 9)
    /// Its context was reset or deallocated, or its store removed: reads are errors.
    static let invalid = ObjectFlags(rawValue: 1 << 10)
    /// Was new in this context and deleted before its first save.
    static let discarded = ObjectFlags(rawValue: 1 << 11)
    /// In the event list as inserted.
    static let insertedInEvent = ObjectFlags(rawValue: 1 << 12)
    /// Deletion was committed.
    static let deletionSaved = ObjectFlags(rawValue: 1 << 13)
    /// Deleted by another context: pending here, but nothing is left to write.
    static let deletedElsewhere = ObjectFlags(rawValue: 1 << 14)
    /// Each access checks the queue (see `ConcurrencyDebug`).
    static let checked = ObjectFlags(rawValue: 1 << 15)

    /// Each of these flags means that the context knows of a change.
    static let known: ObjectFlags = [.inserted, .updated, .deleted, .discarded]
    /// The row is gone: a save of the deletion has nothing to write.
    static let rowIsGone: ObjectFlags = [.inaccessible, .deletedElsewhere]
    /// A save has nothing to write for the deletion.
    static let unwritten: ObjectFlags = [.rowIsGone, .discarded]
    /// Each of these flags means that a value cannot simply be read.
    static let attention: ObjectFlags = [.fault, .checked]

    /// Whether the object was inserted in the current event and is still new.
    @inline(__always)
    var isNew: Bool {
        rawValue & (Self.insertedInEvent.rawValue | Self.discarded.rawValue | Self.deleted.rawValue)
            == Self.insertedInEvent.rawValue
    }
}
