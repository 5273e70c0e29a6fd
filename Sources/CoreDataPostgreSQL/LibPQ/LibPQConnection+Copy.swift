import CPostgreSQL
import CoreData

extension LibPQConnection {
    /// The number of bytes that are gathered before they are given to the library.
    private static let block = 1 << 16

    @discardableResult
    func copy(_ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int {
        let connection = try usable()
        if sql.utf8.contains(0) { throw WireError.refused(sql, "a statement cannot contain U+0000") }
        try begin(sql, on: connection)
        defer { cancellation.end() }
        try beginCopy(sql, on: connection)

        var gathered: [UInt8] = []
        func send(_ bytes: UnsafeRawBufferPointer) throws {
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
            // A message of the server before the end ends the copy.
            guard PQconsumeInput(connection) == 1,
                PQputCopyData(connection, start.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
            else { throw EndOfCopy() }
        }
        func sendGathered() throws {
            try gathered.withUnsafeBytes(send)
            gathered.removeAll(keepingCapacity: true)
        }
        var thrown: (any Error)?
        do {
            try body { bytes in
                if gathered.count + bytes.count > Self.block { try sendGathered() }
                // The library counts with 32 bits, and the server takes no message of more than 1
                // GiB.
                if bytes.count < Self.block {
                    gathered.append(contentsOf: bytes)
                } else {
                    for start in stride(from: 0, to: bytes.count, by: 16 * Self.block) {
                        try send(
                            UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 16 * Self.block, bytes.count)]))
                    }
                }
            }
            try sendGathered()
        } catch {
            thrown = error
        }
        PQputCopyEnd(connection, thrown == nil ? nil : "it was given up by the client")
        do {
            let count = try finish(1, sql, on: connection) { _ in }
            if let thrown { throw thrown is EndOfCopy ? WireError(lastOf: connection) : thrown }
            return count
        } catch let error as WireError {
            // The server answers a copy that was given up with an error, which is not the reason.
            if let thrown, !(thrown is EndOfCopy) { throw thrown }
            throw error
        }
    }

    /// The server has ended the copy: its reason comes next.
    private struct EndOfCopy: Error {}

    private func beginCopy(_ sql: String, on connection: OpaquePointer) throws {
        guard sql.withCString({ PQsendQuery(connection, $0) }) == 1 else {
            throw lost(WireError(lastOf: connection), sql, 0, on: connection)
        }
        guard let result = nextResult(on: connection) else {
            throw lost(WireError(lastOf: connection), sql, 0, on: connection)
        }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if status == PGRES_COPY_IN { return }
        let error: WireError =
            switch status {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: WireError(result, of: connection)
            default: .refused(sql, "it is not a copy from the client")
            }
        if status == PGRES_COPY_OUT { dropCopy(on: connection) }
        // Takes the remaining results. A second error says nothing new.
        do { _ = try finish(1, sql, on: connection) { _ in } } catch {}
        throw lost(error, sql, 0, on: connection)
    }
}
