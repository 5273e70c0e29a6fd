import Foundation
import Synchronization

/// A state of the stores that contexts can be pinned to, independent of later saves.
///
/// ```swift
/// try context.setQueryGenerationFrom(.current)
/// // Pins the state at this time: later fetches and faults read the same.
/// let items = try context.fetch(request)
/// ```
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// A token for the state that is current when the context next reads.
    ///
    /// ```swift
    /// // The context reads the stores as they are at its next fetch.
    /// try context.setQueryGenerationFrom(.current)
    /// ```
    public static let current = NSQueryGenerationToken(nil)

    let generation: QueryGeneration?

    init(_ generation: QueryGeneration?) { self.generation = generation }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        if generation === other.generation { return true }
        // A token that no context has read with refers to the state at the next read.
        return generation?.hasRead != true && other.generation?.hasRead != true
    }

    // Constant: a token changes its equality when a context first reads with it.
    public override var hash: Int { 0 }

    public override var description: String { generation == nil ? "NSQueryGenerationToken.current" : super.description }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: - Archives

    public static var supportsSecureCoding: Bool { true }

    private static let codingKey = "isCurrent"

    /// Writes whether the token is `current`. Only this program can read its generations, so an
    /// archive cannot hold more.
    public func encode(with coder: NSCoder) { coder.encode(generation == nil, forKey: Self.codingKey) }

    /// Creates a token that equals `current`. A generation that a program has pinned ends with that
    /// program.
    public required init?(coder: NSCoder) {
        guard coder.decodeBool(forKey: Self.codingKey) else {
            coder.failWithError(
                CocoaError.error(
                    .coderReadCorrupt,
                    userInfo: [
                        NSLocalizedDescriptionKey: "The archive has a generation of stores that ended with the program."
                    ]))
            return nil
        }
        generation = nil
    }
}

/// The rows of a coordinator's stores at the first read by a context pinned to them.
final class QueryGeneration: Sendable {
    private struct State {
        var coordinator: BackReference<NSPersistentStoreCoordinator>?
        /// The rows of each store; nil for one that cannot keep them. Nil before the first read.
        var rows: [ObjectIdentifier: (any RowSource)?]?
    }

    /// Guards the rows, which are pinned under it: those of all stores at the same time.
    private let state: Mutex<State>

    init(of coordinator: NSPersistentStoreCoordinator?) { state = Mutex(State(coordinator: coordinator?.reference)) }

    var coordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator }?.object }

    /// Whether a context has read with this generation, so that its state is known.
    var hasRead: Bool { state.withLock { $0.rows != nil } }

    /// Returns the pinned rows of a store. Returns the current rows of a store that cannot keep
    /// others, and nil for a store that was added since.
    func rows(of store: NSPersistentStore) -> (any RowSource)? {
        let pinned = state.withLock { state in
            if let rows = state.rows { return rows[ObjectIdentifier(store)] }
            var rows: [ObjectIdentifier: (any RowSource)?] = [:]
            for store in state.coordinator?.object?.persistentStores ?? [] {
                rows[ObjectIdentifier(store)] = .some(store.pinRows())
            }
            state.rows = rows
            return rows[ObjectIdentifier(store)]
        }
        return pinned.flatMap { $0 ?? store.snapshotStore }
    }
}
