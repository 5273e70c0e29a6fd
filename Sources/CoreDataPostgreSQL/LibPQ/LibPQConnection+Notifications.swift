import CPostgreSQL
import CoreData
import Foundation

extension LibPQConnection {
    func notifications(within seconds: Double) throws -> [WireNotification] {
        let connection = try usable()
        let deadline = ContinuousClock.now + .seconds(max(seconds, 0))
        while true {
            let hasArrived = PQconsumeInput(connection) == 1
            let taken = takeNotifications(of: connection)
            // Notifications from before the connection's end are returned; the next call reports
            // the end.
            if !taken.isEmpty { return taken }
            if !hasArrived { throw lost(WireError(lastOf: connection), "", 0, on: connection) }
            if seconds <= 0 { return [] }
            let remaining = ContinuousClock.now.duration(to: deadline)
            if remaining <= .zero { return [] }
            var files = [
                pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
                // The system ignores a negative number.
                pollfd(fd: cancellation.wakingFile, events: Int16(POLLIN), revents: 0),
            ]
            // The system counts milliseconds. One is added, so that the last of them is not spent
            // in repeated calls.
            let milliseconds = Int32(clamping: Int64(remaining / .milliseconds(1)) + 1)
            _ = poll(&files, 2, milliseconds)
            if files[1].revents != 0 {
                cancellation.takeWaking()
                return takeNotifications(of: connection)
            }
        }
    }

    private func takeNotifications(of connection: OpaquePointer) -> [WireNotification] {
        var taken: [WireNotification] = []
        while let notification = PQnotifies(connection) {
            taken.append(
                WireNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return taken
    }
}
