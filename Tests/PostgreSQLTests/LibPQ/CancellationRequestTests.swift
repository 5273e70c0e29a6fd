import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Requests to end a statement that arrive late, or not at all.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct CancellationRequestTests {
    private let proxy: PostgreSQLProxy
    private let observer: LibPQConnection

    init() throws {
        proxy = try PostgreSQLProxy(WireConnection.server())
        observer = try WireConnection.open()
        proxy.conduct.holdsCancellations = true
    }

    /// A statement that runs in a thread of its own until it is ended.
    private struct Running {
        let connection: LibPQConnection
        let thread: OtherThread<WireError?>
    }

    private func process(_ connection: LibPQConnection) -> Argument { .int8(Int64(connection.facts.backendProcessID)) }

    private func start(on connection: LibPQConnection) throws -> Running {
        nonisolated(unsafe) let running = connection
        let thread = OtherThread { #expect(throws: WireError.self) { try running.execute("SELECT pg_sleep(3600)") } }
        #expect(try observer.sees(sleeping: connection))
        return Running(connection: connection, thread: thread)
    }

    private func start() throws -> Running { try start(on: WireConnection.open(proxy.connectionString)) }

    /// Asks for the statement's end while nothing arrives that asks for it.
    private func cancel(_ running: Running, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (cancellation, asked) = (running.connection.cancellation, proxy.cancellations)
        let hasReturned = DispatchSemaphore(value: 0)
        let thread = OtherThread {
            cancellation.cancel()
            hasReturned.signal()
        }
        #expect(wait { proxy.cancellations != asked })
        guard hasReturned.wait(timeout: .now() + 60) == .success else {
            proxy.conduct.holdsCancellations = false
            try thread.value()
            throw Blocked()
        }
    }

    /// Cancelling blocked until the request was answered.
    private struct Blocked: Error {}

    /// Ends the statement in another way.
    private func end(_ running: Running) throws {
        try observer.execute("SELECT pg_cancel_backend($1::int4)", [process(running.connection)])
        #expect(try running.thread.value()?.sqlState == "57014")
    }

    @Test func whoCancelsDoesNotWaitForTheServer() throws {
        let running = try start()
        try cancel(running)
        // Once is enough.
        running.connection.cancel()
        proxy.conduct.holdsCancellations = false
        #expect(try running.thread.value()?.sqlState == "57014")
        #expect(try running.connection.integers("SELECT 7") == [7])
        #expect(proxy.cancellations == 1)
    }

    @Test func aLateRequestDoesNotEndTheNextStatement() throws {
        let connection = try WireConnection.open(proxy.connectionString)
        for _ in 0..<40 {
            proxy.conduct.holdsCancellations = true
            let running = try start(on: connection)
            try cancel(running)
            try end(running)
            let release = OtherThread { [proxy] in proxy.conduct.holdsCancellations = false }
            #expect(try connection.texts("SELECT 'done' FROM pg_sleep(0.02)") == ["done"])
            try release.value()
        }
        #expect(proxy.cancellations == 40)
    }

    @Test func aRequestThatIsNotAnsweredEndsTheConnection() throws {
        let running = try start()
        let connection = running.connection
        try cancel(running)
        try end(running)
        connection.longestSilence = 0.2
        let error = try connection.error { try $0.run("SELECT 7") }
        #expect(error.isConnectionLost)
        #expect(!connection.isUsable)
        #expect(error.message.contains("request"), "\(error)")
        #expect(error.statement == "SELECT 7")
    }

    @Test func closingDoesNotWaitForTheRequest() throws {
        let running = try start()
        try cancel(running)
        try end(running)
        running.connection.close()
        running.connection.cancel()
        #expect(proxy.cancellations == 1)
    }
}
