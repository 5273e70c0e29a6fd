import CSwiftRuntime
import Synchronization

/// Reads of live objects that `withObservationTracking` may be waiting for. For `SafeCoreData`.
public enum _ReadObservation {
    /// Whether a read may have to be noted: whether a context of the main queue was ever made, as nothing else can be observed.
    ///
    /// What every read of a view asks: a byte in memory, where a global of Swift would be a call in another module.
    @inlinable @inline(__always)
    public static var isPossible: Bool { opencoredata_mainContextsExist() }

    static func mainContextWasMade() { opencoredata_mainContextWasMade() }

    /// The slots that were read while the reads of an object are noted; nil when no object's are. Guards them.
    private static let noted = Mutex<(object: ObjectIdentifier, slots: [Int])?>(nil)

    /// Notes the reads of an object from now on.
    ///
    /// - Returns: false while those of another are noted.
    static func beginNoting(_ object: AnyObject) -> Bool {
        noted.withLock { noted in
            if noted != nil { return false }
            noted = (ObjectIdentifier(object), [])
            return true
        }
    }

    static func note(_ slot: Int, of object: AnyObject) {
        noted.withLock { if $0?.object == ObjectIdentifier(object) { $0?.slots.append(slot) } }
    }

    /// The slots that were read since `beginNoting`.
    static func endNoting() -> [Int] {
        noted.withLock { noted in
            defer { noted = nil }
            return noted?.slots ?? []
        }
    }
}
