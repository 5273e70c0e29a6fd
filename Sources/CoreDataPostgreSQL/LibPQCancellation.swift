import CPostgreSQL
import CoreData
import Foundation
import Synchronization

/// What another thread may do to a connection: end the statement that runs, or the wait for notifications.
final class LibPQCancellation: Sendable {
    private struct State {
        /// The library's key for a request to cancel: a copy of what the connection knew at first, so it may be used while the
        /// connection is at work. Nil once the connection is closed.
        var key: OpaquePointer?
        /// Whether a statement runs. A request while none does could hit the next one.
        var isRunning = false
        /// A pipe that ends waits: its reading and its writing end. Made when it is first needed.
        var pipe: (reading: Int32, writing: Int32)?
    }

    /// Guards the key, and with it that a connection is not closed, nor its next statement begun, while a request is on its way.
    private let state: Mutex<State>

    init(of connection: OpaquePointer) {
        // The key's address crosses as a number: nothing but this object ever knows the key.
        let key = UInt(bitPattern: PQgetCancel(connection))
        state = Mutex(State(key: OpaquePointer(bitPattern: key)))
    }

    deinit { close() }

    func begin() { state.withLock { $0.isRunning = true } }

    func end() { state.withLock { $0.isRunning = false } }

    /// Ends the statement that runs and the wait; a wait that has not begun yet ends as soon as it does.
    func cancel() {
        state.withLock { state in
            guard let key = state.key else { return }
            if state.isRunning {
                Self.request(key)
            } else if let pipe = Self.pipe(&state) {
                var byte: UInt8 = 0
                _ = write(pipe.writing, &byte, 1)
            }
        }
    }

    /// Ends the statement that runs, if one does.
    @Sendable func cancelRunningStatement() {
        state.withLock { state in
            if state.isRunning, let key = state.key { Self.request(key) }
        }
    }

    /// Ends the statement that runs; for the thread that runs it.
    func cancelStatement() {
        state.withLock { state in
            if let key = state.key { Self.request(key) }
        }
    }

    private static func request(_ key: OpaquePointer) {
        // A request that fails leaves the statement running, as if it had come too late.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            _ = PQcancel(key, text.baseAddress, Int32(text.count))
        }
    }

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

    func close() {
        state.withLock { state in
            if let key = state.key { PQfreeCancel(key) }
            if let pipe = state.pipe {
                _ = Foundation.close(pipe.reading)
                _ = Foundation.close(pipe.writing)
            }
            state = State()
        }
    }
}
