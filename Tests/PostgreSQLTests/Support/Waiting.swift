import Foundation

/// Waits until something holds, which another thread brings about.
///
/// - Parameter seconds: how long at most.
/// - Returns: whether it holds.
func wait(upTo seconds: Double, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
        if try condition() { return true }
        Thread.sleep(forTimeInterval: 0.01)
    }
    return false
}
