import Foundation

/// Asks again and again whether something holds that another thread, process or server brings
/// about, and yields in between.
///
/// - Parameter seconds: how long at most.
/// - Returns: whether it holds.
public func wait(upTo seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    repeat {
        if try condition() { return true }
        sched_yield()
    } while ContinuousClock.now < deadline
    return false
}

/// The same for what the main actor brings about, which goes on meanwhile; at most a minute.
@MainActor public func comesTrue(_ condition: @MainActor () throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    repeat {
        if try condition() { return true }
        await Task.yield()
    } while ContinuousClock.now < deadline
    return false
}
