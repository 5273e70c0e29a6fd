import Foundation
import Observation
import Synchronization

extension _ReadObservation {
    /// Called before a property of an object is read.
    ///
    /// Makes the object report its reads, if `withObservationTracking` runs on this thread and the
    /// object belongs to the main queue.
    ///
    /// Reads are found where the object makes them: examining a key path costs more than reading
    /// its property. There is no call after a read, because the object would be retained and
    /// released for each read. An object reports its reads until the first one that is not tracked.
    @inline(never)
    public static func willRead(_ object: NSManagedObject) {
        // This counts no references: every read of a main queue's object comes here.
        let isOnMainQueue = object.heldRegistry?.withObject { $0.isOnMainQueue } ?? false
        guard isOnMainQueue, isTracking else { return }
        object.fireFaultIfNeeded()
        guard let context = object.managedObjectContext else { return }
        addObservers(to: context)
        object.beginNotingReads()
    }

    private static func addObservers(to context: NSManagedObjectContext) {
        if context.listeners.owned(ReadObservers.self) == nil { context.listeners.own(ReadObservers()) }
    }

    /// Whether `withObservationTracking` runs on this thread. No function returns this. Tracking
    /// keeps key paths that are read, and hashes them for that: the probe notices the hashing.
    fileprivate static var isTracking: Bool {
        Probe.wasHashed.store(false, ordering: .relaxed)
        Probe.registrar.access(Probe.subject, keyPath: Probe.keyPath)
        return Probe.wasHashed.load(ordering: .relaxed)
    }

    private final class Probe: Observable, Sendable {
        static let registrar = ObservationRegistrar()
        static let subject = Probe()
        static let keyPath = \Probe.[Key()]
        static let wasHashed = Atomic(false)

        struct Key: Hashable {
            func hash(into hasher: inout Hasher) { Probe.wasHashed.store(true, ordering: .relaxed) }
        }

        subscript(key: Key) -> Int { 0 }
    }
}

/// The properties of a context's objects that were read under observation, with the values that
/// were read.
///
/// Only a different value counts as a change: readers are notified if the value that they read
/// differs from the present one, whatever changed the object.
private final class ReadObservers: ContextListener {
    private struct Entry {
        let object: WeakObject
        /// By the names of properties.
        var values: [String: AnyHashable?]
    }

    /// A row that is in no object has no readers.
    var hearsOfUnreadRows: Bool { false }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of entries at which those of released objects are removed.
    private var limit = 64
    private let registrar = ObservationRegistrar()
    private let subject = Subject()

    private final class Subject: Observable {
        struct Property: Hashable {
            let object: ObjectIdentifier
            let name: String
        }

        subscript(property: Property) -> Int { 0 }
    }

    /// Whether the value of a property is being read to be recorded.
    private var isNoting = false

    func willRead(_ slot: Int, of object: NSManagedObject) {
        guard slot >= 0, slot < object.layout.slots.count, !isNoting else { return }
        if _ReadObservation.isTracking {
            // An element of a composite attribute changes with the attribute.
            let name = object.layout.slots[slot].name
            note(object, String(name.prefix { $0 != "." }))
        } else {
            object.endNotingReads()
        }
    }

    private func note(_ object: NSManagedObject, _ name: String) {
        isNoting = true
        defer { isNoting = false }
        let identity = ObjectIdentifier(object)
        if entries[identity]?.object.object !== object {
            if entries.count >= limit {
                entries = entries.filter { $0.value.object.object != nil }
                limit = max(64, entries.count * 2)
            }
            entries[identity] = Entry(object: WeakObject(object), values: [:])
        }
        entries[identity]?.values[name] = .some(Self.value(of: object, name))
        registrar.access(subject, keyPath: \Subject.[Subject.Property(object: identity, name: name)])
    }

    /// The value of a property in a form that can be compared.
    private static func value(of object: NSManagedObject, _ name: String) -> AnyHashable? {
        guard let value = object.value(forKey: name) else { return nil }
        if let comparable = value as? AnyHashable { return comparable }
        // Composite attributes.
        if let elements = value as? [String: Any] { return NSDictionary(dictionary: elements) }
        // A value that cannot be compared may have changed: no two objects are equal.
        return NSObject()
    }

    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges) {
        if entries.isEmpty { return }
        for objects in [event.updated, event.deleted] { for object in objects { check(object) } }
        for object in event.refreshed.objects { check(object) }
        for object in event.invalidated { check(object) }
    }

    private func check(_ object: NSManagedObject) {
        let identity = ObjectIdentifier(object)
        guard let entry = entries[identity] else { return }
        guard entry.object.object === object else {
            entries[identity] = nil
            return
        }
        let isGone = object.managedObjectContext == nil || object.flags.contains(.deletedElsewhere)
        for (name, value) in entry.values where isGone || !SameValues.areSame(Self.value(of: object, name), value) {
            entries[identity]?.values[name] = nil
            tell(identity, name)
        }
        if entries[identity]?.values.isEmpty == true { entries[identity] = nil }
    }

    private func tell(_ object: ObjectIdentifier, _ name: String) {
        let keyPath = \Subject.[Subject.Property(object: object, name: name)]
        registrar.willSet(subject, keyPath: keyPath)
        registrar.didSet(subject, keyPath: keyPath)
    }

    func contextForgotObjects(_ context: NSManagedObjectContext) {
        let forgotten = entries
        entries = [:]
        for (identity, entry) in forgotten { for name in entry.values.keys { tell(identity, name) } }
    }
}
