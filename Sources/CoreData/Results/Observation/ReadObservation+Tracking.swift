import Observation
import Synchronization

extension _ReadObservation {
    /// Begins a read of an object's property, if `withObservationTracking` runs on this thread and the object belongs to the main queue.
    ///
    /// What is read is found while it is read: a key path that has to be looked at costs more than the read of the property it stands for.
    ///
    /// - Returns: whether the read has to be ended.
    @inline(never)
    public static func beginRead(_ object: NSManagedObject) -> Bool {
        // Without counting references: every read of a main queue's object comes here.
        let isOnMainQueue = object.heldRegistry?._withUnsafeGuaranteedRef { $0.isOnMainQueue } ?? false
        guard isOnMainQueue, isTracking else { return false }
        object.fireFaultIfNeeded()
        guard beginNoting(object) else { return false }
        object.beginNotingReads()
        return true
    }

    /// Ends the read of a property, and has a change of what was read reported.
    @inline(never)
    public static func endRead(_ object: NSManagedObject) {
        object.endNotingReads()
        let slots = Set(endNoting())
        guard let context = object.managedObjectContext else { return }
        let observers = observers(of: context)
        for slot in slots where slot >= 0 && slot < object.layout.slots.count {
            // An element of a composite attribute changes with the attribute.
            let name = object.layout.slots[slot].name
            observers.note(object, String(name.prefix { $0 != "." }))
        }
    }

    private static func observers(of context: NSManagedObjectContext) -> ReadObservers {
        if let observers = context.listeners.owned(ReadObservers.self) { return observers }
        let observers = ReadObservers()
        context.listeners.own(observers)
        return observers
    }

    /// Whether `withObservationTracking` runs on this thread, which no function tells: it keeps key paths that are read, and hashes them
    /// for that.
    private static var isTracking: Bool {
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

/// The properties of a context's objects that were read under observation, with the values that were read.
///
/// A change is one of the value: whatever changed an object, only readers of other values than there are now are told.
private final class ReadObservers: ContextListener {
    private struct Entry {
        let object: WeakObject
        /// By the names of properties.
        var values: [String: AnyHashable?]
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// How many entries are looked through for objects that are gone.
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

    func note(_ object: NSManagedObject, _ name: String) {
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

    private static func value(of object: NSManagedObject, _ name: String) -> AnyHashable? { object.value(forKey: name) as? AnyHashable }

    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges) {
        if entries.isEmpty { return }
        for objects in [event.updated, event.deleted] { for object in objects { check(object) } }
        for objects in [event.refreshed, event.invalidated] { for object in objects { check(object) } }
    }

    private func check(_ object: NSManagedObject) {
        let identity = ObjectIdentifier(object)
        guard let entry = entries[identity] else { return }
        guard entry.object.object === object else {
            entries[identity] = nil
            return
        }
        for (name, value) in entry.values where object.managedObjectContext == nil || Self.value(of: object, name) != value {
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
