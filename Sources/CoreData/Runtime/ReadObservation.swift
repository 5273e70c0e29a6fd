import CSwiftRuntime

/// Reads of live objects that `withObservationTracking` may be waiting for. For `SafeCoreData`.
public enum _ReadObservation {
    /// Whether a read may have to be noted: whether a context of the main queue was ever made, as nothing else can be observed.
    ///
    /// What every read of a view asks: a byte in memory, where a global of Swift would be a call in another module.
    @inlinable @inline(__always)
    public static var isPossible: Bool { opencoredata_mainContextsExist() }

    static func mainContextWasMade() { opencoredata_mainContextWasMade() }
}
