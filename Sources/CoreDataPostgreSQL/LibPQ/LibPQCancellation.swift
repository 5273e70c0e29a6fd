import CPostgreSQL
import CoreData
import Foundation
import Synchronization

/// What another thread may do to a connection: end the statement that runs, or the wait for notifications.
final class LibPQCancellation: Sendable {
    private struct State {
        /// Nil once the connection is closed.
        var key: CancellationKey?
        /// Whether a statement runs. A request while none does could hit the next one.
        var isRunning = false
        /// The request that the server has not answered. Whatever runs when it arrives is ended, so nothing is begun before.
        var request: CancellationRequest?
        /// A pipe that ends waits: its reading and its writing end. Made when it is first needed.
        var pipe: (reading: Int32, writing: Int32)?
    }

    /// Guards the state alone; nobody waits for the server within.
    private let state: Mutex<State>

    init(of connection: OpaquePointer) { state = Mutex(State(key: CancellationKey(of: connection))) }

    deinit { close() }

    /// Notes that a statement runs, once the server has answered the request to end an earlier one. For the connection's own thread.
    ///
    /// - Parameter seconds: how long the answer may take since the request was sent; nil for any time.
    /// - Returns: false where it takes longer: nobody knows what the request would end.
    func begin(within seconds: Double?) -> Bool {
        while let request = state.withLock({ state in
            state.isRunning = state.request == nil
            return state.request
        }) {
            guard request.isAnswered(within: seconds) else { return false }
        }
        return true
    }

    func end() { state.withLock { $0.isRunning = false } }

    /// Ends the statement that runs and the wait; a wait that has not begun yet ends as soon as it does.
    func cancel() {
        state.withLock { state in
            guard state.key != nil else { return }
            if state.isRunning {
                request(&state)
            } else if let pipe = Self.pipe(&state) {
                var byte: UInt8 = 0
                _ = write(pipe.writing, &byte, 1)
            }
        }
    }

    /// Ends the statement that runs, if one does.
    @Sendable func cancelRunningStatement() { state.withLock { request(&$0) } }

    /// Asks the server to end the statement that runs, in a thread of its own: the library waits for the answer, as long as it takes.
    private func request(_ state: inout State) {
        guard state.isRunning, state.request == nil, let key = state.key else { return }
        let request = CancellationRequest()
        state.request = request
        let thread = Thread { [self] in
            key.send()
            self.state.withLock { $0.request = nil }
            request.noteAnswer()
        }
        thread.name = "OpenCoreData.Cancellation"
        thread.start()
    }

    // MARK: Waits

    /// What can be read once `cancel` was called; -1 where the system has no more files.
    var wakingFile: Int32 { state.withLock { Self.pipe(&$0)?.reading ?? -1 } }

    /// Takes what `cancel` has written.
    func takeWaking() {
        state.withLock { state in
            guard let pipe = state.pipe else { return }
            withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
                while read(pipe.reading, bytes.baseAddress, bytes.count) == bytes.count {}
            }
        }
    }

    private static func pipe(_ state: inout State) -> (reading: Int32, writing: Int32)? {
        if let pipe = state.pipe { return pipe }
        var files: [Int32] = [-1, -1]
        guard Foundation.pipe(&files) == 0 else { return nil }
        for file in files {
            // Neither end may block, nor be left to programs that this one starts.
            _ = fcntl(file, F_SETFL, O_NONBLOCK)
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        }
        state.pipe = (files[0], files[1])
        return state.pipe
    }

    /// To be called before the connection is closed. A request may still be under way: the server then finds nothing to end.
    func close() {
        state.withLock { state in
            if let pipe = state.pipe {
                _ = Foundation.close(pipe.reading)
                _ = Foundation.close(pipe.writing)
            }
            state = State()
        }
    }
}

/// What a connection's server knows a request by: a copy of what the connection knew at first, which outlives it.
private final class CancellationKey: @unchecked Sendable {
    // Sendable: the library only reads it, and says that any thread may send it.
    private let pointer: OpaquePointer

    init?(of connection: OpaquePointer) {
        guard let pointer = PQgetCancel(connection) else { return nil }
        self.pointer = pointer
    }

    deinit { PQfreeCancel(pointer) }

    /// Sends a request and waits until the server has passed it on. One that fails leaves the statement running, as if it had come too late.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            _ = PQcancel(pointer, text.baseAddress, Int32(text.count))
        }
    }
}

/// A request that was sent.
private final class CancellationRequest: Sendable {
    private let answer = DispatchSemaphore(value: 0)
    private let sent = DispatchTime.now()

    func noteAnswer() { answer.signal() }

    /// Waits for the answer; one thread does so.
    func isAnswered(within seconds: Double?) -> Bool {
        answer.wait(timeout: seconds.map { sent + $0 } ?? .distantFuture) == .success
    }
}
