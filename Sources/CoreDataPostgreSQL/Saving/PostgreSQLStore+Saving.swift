import CoreData
import Foundation

extension PostgreSQLStore {
    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch, others: nil) }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try withoutActuallyEscaping(others) { try save(batch, others: $0) }
    }

    /// The number of attempts at a write that conflicts with other transactions so that only a
    /// retry helps.
    private static let mostAttempts = 10

    private func save(_ batch: SaveBatch, others: (() throws -> Void)?) throws -> SaveOutcome {
        try requireWritable()
        let backend = try backend()
        // The writes of the block before the commit cannot be done again.
        var mayRepeat = true
        let guarded = others.map { others in
            {
                mayRepeat = false
                try others()
            }
        }
        return try write(
            mayRepeat: { mayRepeat }, { PostgreSQLSave(batch: batch, store: self, backend: backend, connection: $0) },
            run: { try PostgreSQLSave.run(&$0, beforeCommit: guarded) }, whenCommitted: { $0.publishAfterLostAnswer() })
    }

    /// Runs a write in a transaction of its own, and again after a conflict with other transactions
    /// that only a retry solves.
    ///
    /// - Parameters:
    ///   - mayRepeat: whether to try again; asked after a failure.
    ///   - make: makes one attempt.
    ///   - run: runs the attempt, or another one in its place.
    ///   - whenCommitted: returns the result of an attempt that was committed although the server's
    ///     answer was lost.
    func write<Attempt: PostgreSQLAttempt, Result>(
        mayRepeat: () -> Bool = { true }, _ make: (PostgreSQLConnection) -> Attempt,
        run: (inout Attempt) throws -> Result, whenCommitted: (Attempt) -> Result
    ) throws -> Result {
        let backend = try backend()
        var attempt = 1
        while true {
            var session: Attempt?
            do {
                let outcome = try backend.pool.withWire { connection in
                    var made = make(connection)
                    defer { session = made }
                    let outcome = try run(&made)
                    PostgreSQLTransactions.removeOld(after: made.number, connection)
                    return outcome
                }
                if let session { wasCommitted(session) }
                return outcome
            } catch let error as WireError {
                if error.isConnectionLost, let session, session.isCommitSent {
                    if try wasCommitted(session, backend) {
                        session.findHistoryNumber()
                        wasCommitted(session)
                        return whenCommitted(session)
                    }
                } else if backend.pool.watch.isOutdated(error) {
                    // Throws if another program has migrated the store.
                    try compareContents(backend)
                    // So it is, if that program has begun a history which this one does not record.
                    try requireWritable()
                } else if !error.isTransient && !(error.isConnectionLost && !error.isSilence && attempt == 1) {
                    if backend.pool.watch.isConcerned(by: error) { try compareContents(backend) }
                    throw failure(error)
                }
                guard mayRepeat(), attempt < Self.mostAttempts else { throw failure(error) }
                attempt += 1
                // The pause keeps the same transactions from conflicting again.
                Thread.sleep(forTimeInterval: Double.random(in: 0.002...0.02) * Double(attempt * attempt))
            }
        }
    }

    private func wasCommitted(_ session: some PostgreSQLAttempt) {
        metadataWasWritten(in: session.identifier)
        didWrite(session.historyNumber)
    }

    /// Compares the store's model with the one that it was opened with. An error of the server is
    /// ignored.
    private func compareContents(_ backend: PostgreSQLBackend) throws {
        do { try backend.pool.withWire { try backend.pool.watch.check($0) } } catch is WireError {}
    }

    /// Whether a save whose connection was lost during the commit was committed.
    ///
    /// Another transaction takes the save's UUID. If that succeeds, the save was not committed and
    /// never can be. In external tables, the server is asked by the transaction's number.
    ///
    /// - Throws: an error that says that the outcome is not known, whatever keeps the server from
    ///   being asked.
    private func wasCommitted(_ session: some PostgreSQLAttempt, _ backend: PostgreSQLBackend) throws -> Bool {
        let mark = UUID().uuidString
        let deadline = Date(timeIntervalSinceNow: backend.pool.configuration.timeout)
        var pause = 0.05
        while true {
            do {
                if hasExternalTables {
                    if let isCommitted = try isCommitted(session.transaction, backend) { return isCommitted }
                    guard Date() < deadline else { throw UnknownOutcome(reason: "its transaction has not ended") }
                    Thread.sleep(forTimeInterval: pause)
                    continue
                }
                return try !giveUp(session.identifier, mark, backend)
            } catch let error as WireError {
                guard error.isConnectionLost || error.isTransient || error.sqlState == nil, Date() < deadline else {
                    throw unknownOutcome(error.message, of: session.identifier)
                }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, 2)
            } catch let outcome as UnknownOutcome {
                throw unknownOutcome(outcome.reason, of: session.identifier)
            } catch {
                throw unknownOutcome(error.localizedDescription, of: session.identifier)
            }
        }
    }

    /// Takes the UUID of a save for a transaction of its own.
    ///
    /// - Parameter mark: tells the row of this look-up from that of the save: the answer to an
    ///   earlier attempt may have been lost, too.
    /// - Returns: whether the UUID was free, or an earlier attempt of this look-up took it.
    private func giveUp(_ save: UUID, _ mark: String, _ backend: PostgreSQLBackend) throws -> Bool {
        let claim = PostgreSQLTransactions.recording(
            save, ChangeAuthor(contextName: mark, transactionAuthor: PostgreSQLTransactions.givenUp), backend.pool)
        return try backend.pool.withWire { connection in
            do {
                try connection.executeAll(claim)
                return true
            } catch let error as WireError where error.isUniqueViolation {
                return try connection.texts(PostgreSQLTransactions.contextName(of: save)).last == mark
            }
        }
    }

    /// The outcome of a transaction cannot be found out.
    struct UnknownOutcome: Error {
        let reason: String
    }

    /// Whether the server has committed a transaction; nil while it has not ended.
    func isCommitted(_ transaction: PostgreSQLServerTransaction?, _ backend: PostgreSQLBackend) throws -> Bool? {
        guard let transaction, let external = backend.external else {
            throw UnknownOutcome(reason: "the number of its transaction is not known")
        }
        let arguments = WireArguments(text: String(transaction.number))
        var (status, server, witnessNumber): (String?, String?, String?)
        // The row is read after the status, so that it shows a commit that the status reports.
        let questions =
            [WireStatement("SELECT pg_xact_status($1::xid8), \(external.server)", arguments)]
            + (transaction.witness.map { [WireStatement($0.question, $0.arguments)] } ?? [])
        _ = try backend.pool.withWire { connection in
            witnessNumber = nil
            try connection.executeAll(questions) { index, row in
                if index == 0 {
                    (status, server) = (row.string(0), row.string(1))
                } else {
                    witnessNumber = row.string(0)
                }
            }
        }
        guard let server, server == transaction.server else {
            throw UnknownOutcome(
                reason: "another server may have taken over, which does not know its transaction by the same number")
        }
        switch status {
        case "committed"?:
            guard let witness = transaction.witness else { return true }
            if witnessNumber == transaction.witnessNumber { return true }
            throw UnknownOutcome(
                reason:
                    "the row \(witness.key) of \(witness.table) is not as it has left it, and a server that has "
                    + "crashed may give a "
                    + "transaction's number again")
        case "aborted"?: return false
        case "in progress"?: return nil
        default: throw UnknownOutcome(reason: "the server does not remember its transaction \(transaction.number)")
        }
    }

    private func unknownOutcome(_ reason: String, of save: UUID) -> NSError {
        if hasExternalTables {
            return ExternalTables.refusal(
                "The connection was lost while a save was committed, and whether it was is not known, because "
                    + "\(reason)",
                at: url,
                recovery: "Reset the context and read the objects again to see what was saved.")
        }
        return CoreDataErrors.make(
            .persistentStoreOperation,
            "The connection to the store \(StoreName.path(url)) was lost while a save was committed, and the server "
                + "cannot be asked "
                + "whether it was: \(reason)",
            recovery: "When the server is back, look in \(PostgreSQLHousekeeping.transactionTable) for the save "
                + "\(save.uuidString.lowercased()): it was committed if it is there, unless its author is "
                + "'\(PostgreSQLTransactions.givenUp)'.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Returns the error for a save that the server refused.
    func failure(_ error: WireError) -> NSError {
        switch error.sqlState {
        case WireError.foreignKeyViolation?: return error.cocoaError(store: url, .managedObjectReferentialIntegrity)
        case WireError.notNullViolation?, WireError.checkViolation?:
            return missingValue(error) ?? error.cocoaError(store: url)
        default: return error.cocoaError(store: url)
        }
    }

    /// Returns the error for a required attribute without a value, which passes where validation is
    /// not run.
    private func missingValue(_ error: WireError) -> NSError? {
        guard let table = error.table, let mapping = try? backend().mapping,
            let found = mapping.tables.first(where: { $0.name == table })?.columns.first(where: {
                $0.name == error.column
            })
        else { return unknownColumn(error) }
        return CoreDataErrors.make(
            .validationMissingMandatoryProperty,
            "An object of '\(found.property.owningEntity?.name ?? table)' cannot be saved: '\(found.propertyName)' "
                + "is required and has no value.",
            recovery: "Give it a value before the save, or a default value in the model.",
            userInfo: error.reported.merging([NSValidationKeyErrorKey: found.propertyName]) { $1 })
    }

    /// Returns the error for a column of an external table that the model does not have.
    private func unknownColumn(_ error: WireError) -> NSError? {
        guard hasExternalTables, let table = error.table, let column = error.column else { return nil }
        return CoreDataErrors.make(
            .persistentStoreOperation,
            "The table '\(table)' of the store \(StoreName.path(url)) requires a value in its column '\(column)', "
                + "which the model does not have.",
            recovery:
                "Give the entity an attribute for it (\(ExternalNaming.Word.column) in its user info), or the column "
                + "a default.",
            userInfo: error.reported)
    }
}
