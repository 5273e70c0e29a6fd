import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Notifications, and ending what another thread waits for.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WireNotificationTests {
    /// A connection that listens to a channel of its own.
    private func listener() throws -> (connection: LibPQConnection, channel: String) {
        let connection = try WireConnection.open()
        let channel = try WireConnection.server().newSchemaName()
        try connection.run("LISTEN \(channel)")
        return (connection, channel)
    }

    private func notify(_ channel: String, _ payload: String) throws {
        try WireConnection.open().execute("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
    }

    private func texts(_ notifications: [WireNotification]) -> [String] {
        notifications.map { "\($0.channel) \($0.payload)" }
    }

    @Test func aNotificationArrivesOnce() throws {
        let (connection, channel) = try listener()
        #expect(try connection.notifications(within: 0).isEmpty)
        try notify(channel, "größer")
        #expect(texts(try connection.notifications(within: 60)) == ["\(channel) größer"])
        #expect(try connection.notifications(within: 0).isEmpty)
    }

    @Test func notificationsThatArriveWithinOtherAnswersAreKept() throws {
        let (connection, channel) = try listener()
        try notify(channel, "1")
        try notify(channel, "2")
        // One answer, behind which the server sends them.
        try connection.execute("SELECT 1")
        try connection.run("SELECT 1")
        #expect(texts(try connection.notifications(within: 60)) == ["\(channel) 1", "\(channel) 2"])
    }

    @Test func aNotificationEndsAWait() throws {
        let (connection, channel) = try listener()
        nonisolated(unsafe) let waiting = connection
        let thread = OtherThread { try waiting.notifications(within: 60).map(\.payload) }
        try notify(channel, "now")
        #expect(try thread.value() == ["now"])
    }

    @Test func cancellingEndsAWaitThatHasBegunOrWillBegin() throws {
        let (connection, channel) = try listener()
        nonisolated(unsafe) let waiting = connection
        let thread = OtherThread { try waiting.notifications(within: 3_600).count }
        connection.cancel()
        #expect(try thread.value() == 0)
        connection.cancel()
        #expect(try connection.notifications(within: 3_600).isEmpty)
        // Each cancellation ends one wait.
        try notify(channel, "later")
        #expect(try connection.notifications(within: 60).count == 1)
    }

    @Test func aWaitWithoutNotificationsEndsInTime() throws {
        let (connection, _) = try listener()
        #expect(try connection.notifications(within: 0.01).isEmpty)
        #expect(try connection.notifications(within: -1).isEmpty)
    }

    @Test(arguments: [false, true])
    func cancellingEndsTheStatementThatRuns(isPipeline: Bool) throws {
        let connection = try WireConnection.open()
        let other = try WireConnection.open()
        nonisolated(unsafe) let running = connection
        let thread = OtherThread {
            #expect(throws: WireError.self) {
                if isPipeline {
                    try running.executeAll([WireStatement("SELECT 1"), WireStatement("SELECT pg_sleep(3600)")]) {
                        _, _ in
                    }
                } else {
                    try running.execute("SELECT pg_sleep(3600)")
                }
            }
        }
        #expect(try other.sees(sleeping: connection))
        connection.cancel()
        let error = try #require(try thread.value())
        #expect(error.sqlState == "57014")
        #expect(error.statementIndex == (isPipeline ? 1 : 0))
        #expect(!error.isConnectionLost)
        #expect(try connection.integers("SELECT 7") == [7])
    }

    @Test func cancellingWhileNothingRunsDoesNotHarmTheNextStatement() throws {
        let connection = try WireConnection.open()
        for _ in 0..<50 {
            connection.cancel()
            #expect(try connection.integers("SELECT 7") == [7])
        }
    }

    @Test func closingAndCancellingAtTheSameTimeIsHarmless() throws {
        for _ in 0..<20 {
            let connection = try WireConnection.open()
            let cancellation = connection.cancellation
            let thread = OtherThread { for _ in 0..<20 { cancellation.cancel() } }
            try? connection.run("SELECT 1")
            connection.close()
            try thread.value()
        }
    }
}
