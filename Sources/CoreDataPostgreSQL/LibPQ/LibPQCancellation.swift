import CPostgreSQL
import CoreData
import Foundation
import Synchronization

/// Ends a connection's running statement, or its wait for notifications, from another thread.
final class LibPQCancellation: Sendable {
    private struct State {
        /// Nil once the connection is closed.
        var key: CancellationKey?
        /// Whether a statement runs. A request while none runs could end the next one.
        var isRunning = false
        /// The request that the server has not answered. It ends whatever runs when it arrives, so
        /// no statement begins before.
        var request: CancellationRequest?
        /// A pipe that ends waits: its reading end and its writing end. Made when it is first
        /// needed.
        var pipe: (reading: Int32, writing: Int32)?
    }

    /// Guards only the state. No thread waits for the server while it holds the lock.
    private let state: Mutex<State>

    init(of connection: OpaquePointer) { state = Mutex(State(key: CancellationKey(of: connection))) }

    deinit { close() }

    /// Notes that a statement runs, once the server has answered the request to end an earlier one.
    /// For the connection's own thread.
    ///
    /// - Parameter seconds: the limit for the answer, counted from the request; nil for none.
    /// - Returns: false where it takes longer: which statement the request would end is not known.
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

    /// Ends the running statement and the wait. A wait that has not begun yet ends as soon as it
    /// begins.
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

    /// Ends the running statement, if there is one.
    @Sendable func cancelRunningStatement() { state.withLock { request(&$0) } }

    /// Asks the server to end the running statement, on a thread of its own: the library waits for
    /// the answer without a limit.
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

    /// A file that can be read once `cancel` was called; -1 where the system has no more files.
    var wakingFile: Int32 { state.withLock { Self.pipe(&$0)?.reading ?? -1 } }

    /// Reads the bytes that `cancel` has written.
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
            // Neither end may block, or be inherited by programs that this one starts.
            _ = fcntl(file, F_SETFL, O_NONBLOCK)
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        }
        state.pipe = (files[0], files[1])
        return state.pipe
    }

    /// Must be called before the connection is closed. A request may still be under way: the server
    /// then finds nothing to end.
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

/// The server's key for requests to a connection: a copy of the connection's first one, which
/// outlives the connection.
private final class CancellationKey: @unchecked Sendable {
    // Sendable: the library only reads it, and documents that any thread may send it.
    private let pointer: OpaquePointer

    init?(of connection: OpaquePointer) {
        guard let pointer = PQgetCancel(connection) else { return nil }
        self.pointer = pointer
    }

    deinit { PQfreeCancel(pointer) }

    /// Sends a request and waits until the server has passed it on. A request that fails leaves the
    /// statement running, as if it had come too late.
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

    /// Waits for the answer. Only one thread does so.
    func isAnswered(within seconds: Double?) -> Bool {
        answer.wait(timeout: seconds.map { sent + $0 } ?? .distantFuture) == .success
    }
}
