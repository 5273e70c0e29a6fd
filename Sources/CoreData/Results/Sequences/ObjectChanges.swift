import Foundation

/// The changes of one object, from the creation of the sequence on. It can be iterated once.
///
/// Ends when the context is reset or deallocated, and when the iterating task is cancelled.
///
/// ```swift
/// for await names in item.objectDidChange where names.contains("stockCount") {
///     print(item.stockCount)
/// }
/// ```
public struct ObjectChanges<Element: Sendable>: AsyncSequence, Sendable {
    private let observer: ObjectObserver<Element>
    private let stream: AsyncStream<Element>

    fileprivate init(_ observer: ObjectObserver<Element>, _ stream: AsyncStream<Element>) {
        self.observer = observer
        self.stream = stream
    }

    public func makeAsyncIterator() -> Iterator { Iterator(observer: observer, base: stream.makeAsyncIterator()) }

    /// Waits for one change after the other.
    public struct Iterator: AsyncIteratorProtocol {
        // The object is observed as long as the observer lives.
        fileprivate let observer: ObjectObserver<Element>
        fileprivate var base: AsyncStream<Element>.Iterator

        /// The next change; nil when the sequence has ended.
        public mutating func next() async -> Element? { await base.next() }
    }
}

extension ObjectChanges where Element == Void {
    /// Reports a change that the context does not know of, such as that of a computed property.
    public func send() { observer.send(()) }
}

extension NSManagedObject {
    /// One element for each event that changes the object.
    ///
    /// The element comes at the first change, or when the object's values are read again. Ask for
    /// the sequence on the queue of the object's context; iterate it anywhere. Changes that happen
    /// while no task waits are one element.
    ///
    /// ```swift
    /// for await _ in item.objectWillChange { redraw() }
    /// ```
    public var objectWillChange: ObjectChanges<Void> {
        changes(.bufferingNewest(1)) { observer in observer.willChange = { () } }
    }

    /// The names of the changed properties, at the end of each event that changed or deleted the
    /// object.
    ///
    /// The names are those of properties that changed in this context. There are none where the
    /// object's values were read again, so that any may have changed. Ask for the sequence on the
    /// queue of the object's context; iterate it anywhere. Changes of primitive values are not
    /// reported.
    ///
    /// ```swift
    /// let changes = item.objectDidChange      // on the queue of the item's context
    /// for await names in changes { print(names) }
    /// ```
    public var objectDidChange: ObjectChanges<Set<String>> {
        changes(.unbounded) { observer in observer.didChange = { $0 } }
    }

    private func changes<Element: Sendable>(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, _ setUp: (ObjectObserver<Element>) -> Void
    ) -> ObjectChanges<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let observer = ObjectObserver(self, continuation)
        setUp(observer)
        if let context = managedObjectContext { context.listeners.add(observer) } else { continuation.finish() }
        return ObjectChanges(observer, stream)
    }
}

/// Observes one object for one reader.
private final class ObjectObserver<Element: Sendable>: ContextListener, @unchecked Sendable {
    // Sendable: the continuation may be used anywhere. The rest is used on the context's queue.

    /// The observer follows one object.
    var hearsOfUnreadRows: Bool { false }

    private let object: NSManagedObject
    private let continuation: AsyncStream<Element>.Continuation
    /// The element for the first change of an event.
    var willChange: (() -> Element)?
    /// The element for an event.
    var didChange: ((Set<String>) -> Element)?
    private var hasToldEvent = false

    init(_ object: NSManagedObject, _ continuation: AsyncStream<Element>.Continuation) {
        self.object = object
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
        guard let context = object.registeredContext else { return }
        let kept = Unchecked(object)
        context.gate.async { withExtendedLifetime(kept) {} }
    }

    func send(_ element: Element) { continuation.yield(element) }

    func context(_ context: NSManagedObjectContext, willChange object: NSManagedObject) {
        guard object === self.object, !hasToldEvent, let willChange else { return }
        hasToldEvent = true
        send(willChange())
    }

    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges) {
        defer { hasToldEvent = false }
        let names = event.changedProperties(of: object).map { object.names($0.touched) } ?? []
        let isDeleted =
            !object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved])
            && event.deleted.contains { $0 === object }
        let isOther = isDeleted || event.reread.contains(object)
        if names.isEmpty, !isOther { return }
        if let willChange, !hasToldEvent { send(willChange()) }
        if let didChange { send(didChange(event.reread.contains(object) ? [] : names)) }
    }

    func contextForgotObjects(_ context: NSManagedObjectContext) { continuation.finish() }
}

extension NSManagedObject {
    /// The names of properties.
    fileprivate final func names(_ properties: SlotMask) -> Set<String> {
        Set(layout.propertySlots.filter { $0.isIn(properties) }.map(\.name))
    }
}
