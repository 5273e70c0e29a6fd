import Synchronization

/// A number that several threads change.
public final class Counter: Sendable {
    private let state = Mutex(0)

    public init() {}

    public var value: Int { state.withLock { $0 } }

    /// Adds to the number and gives what it is then.
    @discardableResult
    public func increase(by amount: Int = 1) -> Int {
        state.withLock {
            $0 += amount
            return $0
        }
    }
}
