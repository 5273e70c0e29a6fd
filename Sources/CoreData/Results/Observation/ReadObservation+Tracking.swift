import Observation
import Synchronization

extension _ReadObservation {
    /// Notes a read of a property, if `withObservationTracking` runs on this thread and the object belongs to the main queue.
    ///
    /// - Parameter keyPath: of the object's class. One that computes with properties counts as a read of all of them.
    @inline(never)
    public static func note(_ object: NSManagedObject, _ keyPath: AnyKeyPath) {
        guard let registry = object.registry, registry.isOnMainQueue, isTracking, let context = object.managedObjectContext else { return }
        var source = object
        guard let path = type(of: object).keyName(for: keyPath) else { return observers(of: context).note(object, nil) }
        let names = path.split(separator: ".").map(String.init)
        for (index, name) in names.enumerated() {
            guard source.layout.slotByName[name] != nil else { return observers(of: context).note(source, nil) }
            observers(of: context).note(source, name)
            if index + 1 == names.count { return }
            guard let next = source.value(forKey: name) as? NSManagedObject else { return }
            source = next
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
    /// nil stands for all properties.
    private typealias Values = [String?: AnyHashable?]

    private struct Entry {
        let object: WeakObject
        var values: Values
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// How many entries are looked through for objects that are gone.
    private var limit = 64
    private let registrar = ObservationRegistrar()
    private let subject = Subject()

    private final class Subject: Observable {
        struct Property: Hashable {
            let object: ObjectIdentifier
            let name: String?
        }

        subscript(property: Property) -> Int { 0 }
    }

    func note(_ object: NSManagedObject, _ name: String?) {
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

    private static func value(of object: NSManagedObject, _ name: String?) -> AnyHashable? {
        name.flatMap { object.value(forKey: $0) as? AnyHashable }
    }

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
        for (name, value) in entry.values where name == nil || object.managedObjectContext == nil || Self.value(of: object, name) != value {
            entries[identity]?.values[name] = nil
            tell(identity, name)
        }
        if entries[identity]?.values.isEmpty == true { entries[identity] = nil }
    }

    private func tell(_ object: ObjectIdentifier, _ name: String?) {
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
