import Foundation
import Synchronization

/// The temporary identities in a tree of contexts.
///
/// A context that saves to stores and all contexts below it share one space and one counter, so
/// that an object has the same temporary ID in each of them.
///
/// An object that was saved to a parent, but not yet to a store, has a *provisional key* there: the
/// negated serial of its temporary ID. When a store has assigned a key, the key is recorded here,
/// in order. Each context adopts it after its parent has.
final class TemporaryIdentities: Sendable {
    /// The key that a store assigned to an object with a temporary identity.
    struct PermanentKey {
        let serial: Int64
        /// The layout index of the root entity.
        let root: Int
        /// The store's number.
        let store: Int
        let key: Int64
    }

    private struct State {
        var serial: Int64 = 0
        var keys: [PermanentKey] = []
        /// Positions in `keys`, by serial.
        var places: [Int64: Int] = [:]
        /// Serials of IDs that were requested before the object was inserted.
        var adopted: Set<Int64> = []
    }

    /// Distinguishes these identities from those of other trees.
    private let space = UUID()
    private let state = Mutex(State())

    func nextSerial() -> Int64 { nextSerials(1) }

    /// Reserves consecutive serials and returns the first.
    func nextSerials(_ count: Int) -> Int64 {
        state.withLock {
            $0.serial += Int64(count)
            return $0.serial - Int64(count) + 1
        }
    }

    /// The temporary ID of a serial.
    func objectID(ofSerial serial: Int64, _ layout: EntityLayout) -> NSManagedObjectID {
        NSManagedObjectID(temporary: serial, in: space(ofSerial: serial), layout: layout)
    }

    /// The identity of a serial.
    func identity(ofSerial serial: Int64) -> NSManagedObjectID.Identity {
        .temporary(space(ofSerial: serial), serial: serial)
    }

    private func space(ofSerial serial: Int64) -> UUID { serial > Self.lastTreeSerial ? Self.freeSpace : space }

    /// The serial of a temporary ID of these contexts; nil for another ID.
    fileprivate func serial(of identity: NSManagedObjectID.Identity) -> Int64? {
        guard case .temporary(let other, let serial) = identity else { return nil }
        if other == space { return serial }
        return other == Self.freeSpace && state.withLock { $0.adopted.contains(serial) } ? serial : nil
    }

    // MARK: - Objects outside of contexts

    /// Their serials are above those of all trees, so that they keep them when inserted.
    private static let lastTreeSerial: Int64 = 1 << 62
    private static let freeSerial = Atomic<Int64>(lastTreeSerial)
    private static let freeSpace = UUID()

    /// Makes a temporary ID for an object without a context.
    static func freeObjectID(_ layout: EntityLayout) -> NSManagedObjectID {
        NSManagedObjectID(
            temporary: freeSerial.wrappingAdd(1, ordering: .relaxed).newValue, in: freeSpace, layout: layout)
    }

    /// Adopts the temporary ID of an object that is inserted into one of these contexts.
    ///
    /// - Returns: false for an ID of another tree.
    func adopt(_ objectID: NSManagedObjectID) -> Bool {
        guard case .temporary(let other, let serial) = objectID.identity else { return false }
        if other == Self.freeSpace { state.withLock { _ = $0.adopted.insert(serial) } }
        return other == space || other == Self.freeSpace
    }

    // MARK: - Permanent keys

    /// The number of known permanent keys.
    var count: Int { state.withLock { $0.keys.count } }

    /// Records the key that a store assigned to an object.
    func note(_ key: PermanentKey) {
        state.withLock { state in
            if let place = state.places[key.serial], state.keys[place].key == key.key { return }
            state.places[key.serial] = state.keys.count
            state.keys.append(key)
        }
    }

    /// Updates permanent keys whose rows moved to another store.
    func follow(_ moved: MovedRows) {
        state.withLock { state in
            for place in state.keys.indices where state.keys[place].store == moved.former.number {
                let known = state.keys[place]
                guard let key = moved.key(of: known.key, root: known.root) else { continue }
                state.keys[place] = PermanentKey(
                    serial: known.serial, root: known.root, store: moved.store.number, key: key)
            }
        }
    }

    /// The permanent key of an object, if it is among the first `count`.
    func permanentKey(ofSerial serial: Int64, amongFirst count: Int = .max) -> PermanentKey? {
        state.withLock { state in
            guard let place = state.places[serial], place < count else { return nil }
            return state.keys[place]
        }
    }

    /// Permanent keys in the order in which they were recorded.
    func permanentKeys(_ range: Range<Int>) -> ArraySlice<PermanentKey> {
        state.withLock { $0.keys[range.clamped(to: $0.keys.indices)] }
    }
}

extension NSManagedObjectID {
    /// The serial of a temporary ID of a tree of contexts; nil for an ID of another tree.
    func serial(in identities: TemporaryIdentities) -> Int64? { identities.serial(of: identity) }
}
