import Foundation
import Synchronization

/// Something that runs in a thread of its own.
final class OtherThread<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            let value = Result { try body() }
            result.withLock { $0 = value }
            end.signal()
        }
        thread.start()
    }

    /// Whether it has come to its end.
    var isOver: Bool { result.withLock { $0 != nil } }

    /// What it came to; may be asked for once.
    func value() throws -> Value {
        end.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
