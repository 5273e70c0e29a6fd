import CPostgreSQL
import CoreData

extension LibPQConnection {
    /// The number of unwanted rows that are taken from the server before it is asked to end the
    /// statement.
    private static let mostUnwantedRows = 2_000

    /// Takes all results of a statement that was sent outside of a pipeline.
    ///
    /// - Parameter sent: the library's return value for the sending: 1 for success.
    /// - Returns: the number of rows that the last statement wrote or returned.
    func finish(
        _ sent: Int32, _ sql: String, on connection: OpaquePointer, _ rows: (WireRow) throws -> Void
    ) throws -> Int {
        guard sent == 1 else { throw lost(WireError(lastOf: connection), sql, 0, on: connection) }
        _ = ocd_pq_use_partial_results(connection)
        var refusal: WireError?
        var thrown: (any Error)?
        var given = 0
        var unwanted = 0
        var count = 0
        var statements = 0
        while let result = nextResult(on: connection) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                count = Self.rowCount(of: result) ?? 0
                statements += 1
            case PGRES_COPY_IN:
                PQputCopyEnd(connection, "it was not run as a copy")
            case PGRES_COPY_OUT:
                dropCopy(on: connection)
                if refusal == nil { refusal = .refused(sql, "a copy gives no rows", index: statements) }
            case let status where ocd_pq_is_partial(result) != 0 || status == PGRES_TUPLES_OK:
                if thrown == nil {
                    if given == 0 { row.begin(result) }
                    do { try row.handOut(result, rows) } catch { thrown = error }
                } else if unwanted >= 0 {
                    unwanted += Int(PQntuples(result))
                    // Within a transaction, that would undo earlier statements.
                    if unwanted > Self.mostUnwantedRows, !wasWithinTransaction {
                        cancellation.cancelRunningStatement()
                        unwanted = -1
                    }
                }
                given += Int(PQntuples(result))
                if status == PGRES_TUPLES_OK {
                    count = Self.rowCount(of: result) ?? given
                    given = 0
                    statements += 1
                }
            default:
                if refusal == nil {
                    refusal = WireError(result, of: connection)
                    refusal?.statementIndex = statements
                }
            }
        }
        if PQstatus(connection) != CONNECTION_OK || refusal?.isConnectionLost == true {
            let error = lost(refusal ?? WireError(lastOf: connection), sql, statements, on: connection)
            throw thrown ?? error
        }
        if let thrown { throw thrown }
        if var refusal {
            refusal.statement = sql
            throw refusal
        }
        return count
    }

    /// Returns the next result of what was sent; nil after the last one.
    func nextResult(on connection: OpaquePointer) -> OpaquePointer? {
        awaitResult(on: connection)
        return PQgetResult(connection)
    }

    /// Returns the number of rows that a statement wrote or returned, where the server gives it.
    static func rowCount(of result: OpaquePointer) -> Int? {
        guard let text = PQcmdTuples(result) else { return nil }
        var digit = text
        var count = 0
        while case 48...57 = digit.pointee {
            count = count &* 10 &+ Int(digit.pointee - 48)
            digit += 1
        }
        return digit == text ? nil : count
    }

    /// Completes an error with its statement, and notes if the connection can no longer be used.
    func lost(_ error: WireError, _ sql: String, _ index: Int, on connection: OpaquePointer) -> WireError {
        var error = error
        if let silence {
            error = WireError(
                message: "the server has not answered for \(silence.formatted()) seconds", isConnectionLost: true)
            error.isSilence = true
        }
        error.statement = sql
        error.statementIndex = index
        if PQstatus(connection) != CONNECTION_OK { error.isConnectionLost = true }
        if error.isConnectionLost { isLost = true }
        return error
    }

    func dropCopy(on connection: OpaquePointer) {
        var block: UnsafeMutablePointer<CChar>?
        while PQgetCopyData(connection, &block, 0) > 0 { PQfreemem(block) }
    }
}
