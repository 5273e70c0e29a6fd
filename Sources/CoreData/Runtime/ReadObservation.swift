import CSwiftRuntime

/// Records reads of live objects for which `withObservationTracking` may be waiting. For
/// `SafeCoreData`.
public enum _ReadObservation {
    /// Whether reads may have to be recorded: whether a context of the main queue was ever made, as
    /// nothing else can be observed.
    ///
    /// Every read of a view checks it: a byte in memory, where a global of Swift would be a call in
    /// another module.
    @inlinable @inline(__always)
    public static var isPossible: Bool { opencoredata_mainContextsExist() }

    static func mainContextWasMade() { opencoredata_mainContextWasMade() }
}
