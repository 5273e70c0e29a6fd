import Foundation

/// A monotonic clock for the age of rows.
///
/// It is read for each page of rows, so it is a cheap clock, which may be some milliseconds late.
enum ReadTime {
    /// Nanoseconds since some moment in the past.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
