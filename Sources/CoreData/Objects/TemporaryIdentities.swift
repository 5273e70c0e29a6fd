import Foundation
import Synchronization

/// The temporary identities in a tree of contexts: one space and one counter for a context that saves to stores and all those below it,
/// so that an object has the same temporary ID in each of them.
///
/// An object that was saved to a parent, and to no store yet, has a *provisional key* there: the serial of its temporary ID with a minus
/// sign. When a store has given it a key, that is noted here, in order, and each context takes it over when its parent has.
final class TemporaryIdentities: Sendable {
    /// What a store gave an object that had a temporary identity.
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
        /// Places in `keys`, by serial.
        var places: [Int64: Int] = [:]
    }

    /// Distinguishes these identities from those of other trees.
    let space = UUID()
    private let state = Mutex(State())

    func nextSerial() -> Int64 { nextSerials(1) }

    /// The first of so many consecutive serials.
    func nextSerials(_ count: Int) -> Int64 {
        state.withLock {
            $0.serial += Int64(count)
            return $0.serial - Int64(count) + 1
        }
    }

    /// How many permanent keys are known.
    var count: Int { state.withLock { $0.keys.count } }

    /// Notes the key that a store gave an object.
    func note(_ key: PermanentKey) {
        state.withLock { state in
            if let place = state.places[key.serial], state.keys[place].key == key.key { return }
            state.places[key.serial] = state.keys.count
            state.keys.append(key)
        }
    }

    /// The permanent key of an object, if it is among the first so many.
    func permanentKey(ofSerial serial: Int64, amongFirst count: Int = .max) -> PermanentKey? {
        state.withLock { state in
            guard let place = state.places[serial], place < count else { return nil }
            return state.keys[place]
        }
    }

    /// Permanent keys in the order in which they were noted.
    func permanentKeys(_ range: Range<Int>) -> ArraySlice<PermanentKey> { state.withLock { $0.keys[range.clamped(to: $0.keys.indices)] } }
}

extension NSManagedObjectID {
    /// The serial of a temporary ID of a tree of contexts; nil for another one.
    func serial(in identities: TemporaryIdentities) -> Int64? {
        guard case .temporary(identities.space, let serial) = identity else { return nil }
        return serial
    }
}
