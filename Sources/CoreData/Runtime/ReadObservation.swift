import Synchronization

/// Reads of live objects that `withObservationTracking` may be waiting for. For `SafeCoreData`.
public enum _ReadObservation {
    /// Whether a context of the main queue was ever made: nothing else can be observed.
    @usableFromInline static let hasMainContexts = Atomic<Bool>(false)

    /// Whether a read may have to be noted. What every read of a view asks.
    @inlinable @inline(__always)
    public static var isPossible: Bool { hasMainContexts.load(ordering: .relaxed) }

    static func mainContextWasMade() { hasMainContexts.store(true, ordering: .relaxed) }
}
