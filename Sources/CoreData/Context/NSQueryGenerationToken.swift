import Foundation
import Synchronization

/// A state of the stores that contexts can be pinned to, whatever is saved later.
///
/// ```swift
/// try context.setQueryGenerationFrom(.current)
/// let items = try context.fetch(request)  // pins what is there now; later fetches and faults see the same
/// ```
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// Stands for what is there when the context reads next.
    ///
    /// ```swift
    /// try context.setQueryGenerationFrom(.current)            // reads the stores as they are at its next fetch
    /// ```
    public static let current = NSQueryGenerationToken(nil)

    let generation: QueryGeneration?

    init(_ generation: QueryGeneration?) { self.generation = generation }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        if generation === other.generation { return true }
        // What nobody has read yet is what is there at the next read.
        return generation?.hasRead != true && other.generation?.hasRead != true
    }

    // One that is read later is not equal to others any more.
    public override var hash: Int { 0 }

    public override var description: String { generation == nil ? "NSQueryGenerationToken.current" : super.description }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: - Archives

    public static var supportsSecureCoding: Bool { true }

    private static let codingKey = "isCurrent"

    /// Of a generation only this program can read, an archive does not say more than that.
    public func encode(with coder: NSCoder) { coder.encode(generation == nil, forKey: Self.codingKey) }

    /// Gives a token that equals `current`; a generation that a program has pinned ends with it.
    public required init?(coder: NSCoder) {
        guard coder.decodeBool(forKey: Self.codingKey) else {
            coder.failWithError(
                CocoaError.error(
                    .coderReadCorrupt,
                    userInfo: [NSLocalizedDescriptionKey: "The archive has a generation of stores that ended with the program."]))
            return nil
        }
        generation = nil
    }
}

/// The rows of a coordinator's stores as they were when one of the contexts that are pinned to them read first.
final class QueryGeneration: Sendable {
    private struct State {
        var coordinator: BackReference<NSPersistentStoreCoordinator>?
        /// For each store that was there its rows; nil for one that cannot keep them. Nil before the first read.
        var rows: [ObjectIdentifier: (any RowSource)?]?
    }

    /// Guards the rows, which are pinned under it: all stores at the same time.
    private let state: Mutex<State>

    init(of coordinator: NSPersistentStoreCoordinator?) { state = Mutex(State(coordinator: coordinator?.reference)) }

    var coordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator }?.object }

    /// Whether the state is known, because somebody has read it.
    var hasRead: Bool { state.withLock { $0.rows != nil } }

    /// The rows of a store; those of today where the store cannot keep others, and nil for one that was added since.
    func rows(of store: NSPersistentStore) -> (any RowSource)? {
        let pinned = state.withLock { state in
            if let rows = state.rows { return rows[ObjectIdentifier(store)] }
            var rows: [ObjectIdentifier: (any RowSource)?] = [:]
            for store in state.coordinator?.object?.persistentStores ?? [] { rows[ObjectIdentifier(store)] = .some(store.pinRows()) }
            state.rows = rows
            return rows[ObjectIdentifier(store)]
        }
        return pinned.flatMap { $0 ?? store.snapshotStore }
    }
}
