import Foundation
import Synchronization

/// Something that runs in a thread of its own.
public final class OtherThread<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    public init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            let value = Result { try body() }
            result.withLock { $0 = value }
            end.signal()
        }
        thread.start()
    }

    /// Whether it has come to its end.
    public var isOver: Bool { result.withLock { $0 != nil } }

    /// Whether it comes to its end within some seconds.
    public func ends(within seconds: Double) -> Bool {
        guard end.wait(timeout: .now() + seconds) == .success else { return false }
        end.signal()
        return true
    }

    /// The result, once the thread has ended; may be asked for once.
    public func value() throws -> Value {
        end.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}

extension DispatchGroup {
    /// Runs something in a thread of its own, as part of the group.
    public func detach(_ body: @escaping @Sendable () -> Void) {
        enter()
        Thread.detachNewThread {
            body()
            self.leave()
        }
    }
}

extension DispatchSemaphore {
    /// Waits for the next signal while the task's thread does other work.
    public func arrive() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.wait()
                continuation.resume()
            }
        }
    }
}
