import CoreData

/// Times as PostgreSQL keeps them: microseconds since 2000-01-01 00:00 UTC. Dates count seconds
/// since 2001.
enum WireTime {
    /// The length of the leap year 2000, in microseconds.
    private static let yearBetween: Int64 = 366 * 86_400 * 1_000_000
    /// The times that the server accepts: 4713 BC to 294276 AD.
    private static let possible: ClosedRange<Int64> = -211_813_488_000_000_000...9_223_371_331_199_999_999

    /// Returns nil for a time that a column cannot hold. Infinite times have values of their own.
    static func microseconds(ofSeconds seconds: Double) -> Int64? {
        if seconds.isInfinite { return seconds < 0 ? .min : .max }
        guard let rounded = Int64(exactly: (seconds * 1_000_000).rounded()) else { return nil }
        let (time, isTooFar) = rounded.addingReportingOverflow(yearBetween)
        return isTooFar || !possible.contains(time) ? nil : time
    }

    static func seconds(ofMicroseconds time: Int64) -> Double {
        if time == .min { return -.infinity }
        if time == .max { return .infinity }
        return Double(time &- yearBetween) / 1_000_000
    }
}
