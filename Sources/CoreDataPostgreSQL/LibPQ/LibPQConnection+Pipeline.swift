import CPostgreSQL
import CoreData
import Foundation

extension LibPQConnection {
    /// The number of bytes that are sent before the server's answers are read.
    private static let portion = 1 << 16

    /// Sends statements without waiting for the results of each, and takes results as they arrive,
    /// also while it sends. Neither side holds more than a portion that the other has not taken.
    ///
    /// If the closure throws, statements that were not sent yet are not run; the others were run or
    /// will be.
    func pipeline(
        _ statements: [WireStatement], on connection: OpaquePointer, _ rows: (Int, WireRow) throws -> Void
    ) throws -> [Int] {
        try begin(statements[0].sql, on: connection)
        defer { cancellation.end() }
        guard PQenterPipelineMode(connection) == 1, PQsetnonblocking(connection, 1) == 0 else {
            throw lost(WireError(lastOf: connection), statements[0].sql, 0, on: connection)
        }
        var answers = PipelineAnswers(wire: self, connection: connection, statements: statements.count)
        var sentBytes = 0
        for (index, statement) in statements.enumerated() {
            guard send(statement, index, on: connection, &answers) else {
                // If the connection is lost, the first statement without an answer is the one that
                // failed.
                answers.refuse(
                    WireError(lastOf: connection), PQstatus(connection) == CONNECTION_OK ? index : answers.current)
                break
            }
            sentBytes += statement.sql.utf8.count + statement.arguments.bytes.count + 32
            if sentBytes >= Self.portion {
                sentBytes = 0
                flush(connection, &answers, rows)
                if answers.failure != nil { break }
            }
        }
        if PQpipelineSync(connection) == 1 {
            flush(connection, &answers, rows)
            while !answers.areComplete { answers.take(&row, rows) }
        } else {
            answers.refuse(WireError(lastOf: connection), answers.current)
        }
        let isInOrder = PQsetnonblocking(connection, 0) == 0 && PQexitPipelineMode(connection) == 1
        return try result(of: answers, statements, isInOrder: isInOrder, on: connection)
    }

    /// Returns the counts of a pipeline, or throws its error.
    private func result(
        of answers: PipelineAnswers, _ statements: [WireStatement], isInOrder: Bool, on connection: OpaquePointer
    ) throws -> [Int] {
        for command in answers.commands {
            guard let statement = command.prepares, !statement.isPrepared else { continue }
            kept.forget(statement, isOnServer: false)
        }
        if !isInOrder { isLost = true }
        switch answers.failure {
        case nil:
            if isInOrder { return answers.counts }
            throw lost(WireError(lastOf: connection), statements[0].sql, 0, on: connection)
        case .thrown(let error)?:
            if PQstatus(connection) != CONNECTION_OK { isLost = true }
            throw error
        case .refused(var error, let index)?:
            error.isConnectionLost = error.isConnectionLost || !isInOrder
            if error.isAboutKeptStatement, let statement = kept.find(statements[index]) {
                kept.forget(statement, isOnServer: error.sqlState != WireError.unknownStatement)
            }
            throw lost(error, statements[index].sql, index, on: connection)
        }
    }

    /// Whether the library accepted a statement, and before it the preparation.
    private func send(
        _ statement: WireStatement, _ index: Int, on connection: OpaquePointer, _ answers: inout PipelineAnswers
    ) -> Bool {
        guard statement.isKept, keepsStatements else {
            answers.commands.append(.init(statement: index, prepares: nil))
            return statement.sql.withCString { sql in
                arguments.with(statement.arguments) { PQsendQueryParams(connection, sql, $0, $1, $2, $3, $4, 1) }
            } == 1
        }
        let found = kept.find(statement)
        let known = found ?? kept.add(statement)
        if found == nil {
            answers.commands.append(.init(statement: index, prepares: known))
            let isSent = statement.sql.withCString { sql in
                statement.arguments.types.withUnsafeBufferPointer { types in
                    PQsendPrepare(connection, known.name, sql, Int32(types.count), types.baseAddress)
                }
            }
            if isSent != 1 { return false }
        }
        answers.commands.append(.init(statement: index, prepares: nil))
        return known.name.withCString { name in
            arguments.with(statement.arguments) { count, _, values, lengths, formats in
                PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
            }
        } == 1
    }

    /// Sends the data that the library holds back, and takes the server's answers meanwhile: the
    /// server may not read on before that.
    private func flush(
        _ connection: OpaquePointer, _ answers: inout PipelineAnswers, _ rows: (Int, WireRow) throws -> Void
    ) {
        while PQflush(connection) > 0 {
            let ready = socketEvents(Int16(POLLIN | POLLOUT), of: answers.unanswered, on: connection)
            if ready & ~Int16(POLLOUT) == 0 { continue }
            // A failure shows in the answers.
            if PQconsumeInput(connection) == 0 { return }
            answers.takeArrived(&row, rows)
        }
    }
}

/// The server's answers to the statements of a pipeline, in their order.
struct PipelineAnswers {
    /// A command that the server answers separately.
    struct Command {
        /// The index of the statement that it belongs to.
        var statement: Int
        /// The statement that it prepares; nil where it runs the statement.
        var prepares: KeptStatement?
    }

    enum Failure {
        case refused(WireError, Int)
        /// Thrown by the closure that takes the rows.
        case thrown(any Error)
    }

    private let wire: LibPQConnection
    private let connection: OpaquePointer
    /// The commands that were sent.
    var commands: [Command] = []
    /// The number of rows that each statement wrote or returned.
    private(set) var counts: [Int]
    private(set) var failure: Failure?
    /// Whether no more answers will come.
    private(set) var areComplete = false
    /// The index of the command whose results come next.
    private var place = 0
    private var isAsked = false
    private var given = 0

    init(wire: LibPQConnection, connection: OpaquePointer, statements: Int) {
        self.wire = wire
        self.connection = connection
        counts = Array(repeating: 0, count: statements)
    }

    /// The statement whose answer comes next.
    var current: Int { place < commands.count ? commands[place].statement : counts.count - 1 }

    /// The number of sent commands that have no answer yet.
    var unanswered: Int { commands.count - place }

    mutating func refuse(_ error: WireError, _ index: Int) {
        if failure == nil { failure = .refused(error, index) }
        if PQstatus(connection) != CONNECTION_OK { areComplete = true }
    }

    mutating func takeArrived(_ row: inout RowBuffer, _ rows: (Int, WireRow) throws -> Void) {
        while place < commands.count, !areComplete {
            askForParts()
            if PQisBusy(connection) != 0 { return }
            take(&row, rows)
        }
    }

    /// Asks the library for partial results, which it allows once a command is the one whose
    /// results come next.
    private mutating func askForParts() {
        if isAsked || place == commands.count { return }
        isAsked = true
        _ = ocd_pq_use_partial_results(connection)
    }

    /// Waits for the next result and takes it.
    mutating func take(_ row: inout RowBuffer, _ rows: (Int, WireRow) throws -> Void) {
        askForParts()
        wire.awaitResult(of: unanswered, on: connection)
        guard let result = PQgetResult(connection) else {
            // That was the last result of a command.
            if place == commands.count || PQstatus(connection) != CONNECTION_OK {
                refuse(WireError(lastOf: connection), current)
                areComplete = true
            }
            place += 1
            isAsked = false
            given = 0
            return
        }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        switch status {
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if let prepared = commands[place].prepares {
                prepared.isPrepared = true
            } else {
                counts[current] = LibPQConnection.rowCount(of: result) ?? 0
            }
        case PGRES_PIPELINE_SYNC:
            areComplete = true
        case PGRES_PIPELINE_ABORTED:
            break
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            // The connection cannot return from this state.
            refuse(WireError(message: "a copy cannot run among other statements", isConnectionLost: true), current)
            areComplete = true
        case _ where ocd_pq_is_partial(result) != 0 || status == PGRES_TUPLES_OK:
            if failure == nil {
                if given == 0 { row.begin(result) }
                do {
                    try row.handOut(result) { try rows(current, $0) }
                } catch {
                    failure = .thrown(error)
                }
            }
            given += Int(PQntuples(result))
            if status == PGRES_TUPLES_OK { counts[current] = LibPQConnection.rowCount(of: result) ?? given }
        default:
            refuse(WireError(result, of: connection), current)
        }
    }
}
