import Foundation

extension PostgreSQLStore {
    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch, others: nil) }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try withoutActuallyEscaping(others) { try save(batch, others: $0) }
    }

    /// How often something is tried that meets others in a way that only trying again can solve.
    private static let mostAttempts = 5

    private func save(_ batch: SaveBatch, others: (() throws -> Void)?) throws -> SaveOutcome {
        try requireWritable()
        let backend = try backend()
        // What others have written in the meantime cannot be done again.
        var mayRepeat = true
        let guarded = others.map { others in
            {
                mayRepeat = false
                try others()
            }
        }
        return try write(
            mayRepeat: { mayRepeat }, { PostgreSQLSave(batch: batch, store: self, backend: backend, connection: $0) },
            run: { try $0.run(beforeCommit: guarded) }, whenCommitted: { $0.publish() })
    }

    /// Runs what writes in a transaction of its own, and again where it meets others in a way that only trying again can solve.
    ///
    /// - Parameters:
    ///   - mayRepeat: asked after a failure.
    ///   - make: makes one attempt.
    ///   - whenCommitted: the result of an attempt that was committed although the server could not say so.
    func write<Attempt: PostgreSQLAttempt, Result>(
        mayRepeat: () -> Bool = { true }, _ make: (PostgreSQLConnection) -> Attempt, run: (Attempt) throws -> Result,
        whenCommitted: (Attempt) -> Result
    ) throws -> Result {
        let backend = try backend()
        var attempt = 1
        while true {
            var session: Attempt?
            do {
                let outcome = try backend.pool.withWire { connection in
                    let made = make(connection)
                    session = made
                    return try run(made)
                }
                metadataWasWritten()
                return outcome
            } catch let error as WireError {
                if error.isConnectionLost, let session, session.isCommitSent {
                    if try wasCommitted(session.identifier, backend) {
                        metadataWasWritten()
                        return whenCommitted(session)
                    }
                } else if !error.isTransient && !(error.isConnectionLost && !error.isSilence && attempt == 1) {
                    throw failure(error)
                }
                guard mayRepeat(), attempt < Self.mostAttempts else { throw failure(error) }
                attempt += 1
                // Those who met are not to meet again.
                Thread.sleep(forTimeInterval: Double.random(in: 0.002...0.02) * Double(attempt * attempt))
            }
        }
    }

    /// Whether a save whose connection was lost during the commit was committed.
    ///
    /// Its UUID is taken for another transaction: where that succeeds the save was not committed, and never can be.
    private func wasCommitted(_ identifier: UUID, _ backend: PostgreSQLBackend) throws -> Bool {
        let deadline = Date(timeIntervalSinceNow: backend.pool.configuration.timeout)
        var pause = 0.05
        while true {
            do {
                let claim = PostgreSQLTransactions.recording(
                    identifier, author: "OpenCoreData: given up", contextName: nil, sender: backend.pool.sender)
                try backend.pool.withWire { connection in
                    _ = try connection.executeAll([claim])
                }
                return false
            } catch let error as WireError {
                if error.isUniqueViolation { return true }
                guard error.isConnectionLost || error.isTransient || error.sqlState == nil, Date() < deadline else {
                    throw CoreDataErrors.make(
                        .persistentStoreOperation,
                        "The connection to the store \(StoreName.path(url)) was lost while a save was committed, and the server cannot be asked "
                            + "whether it was: \(error.message)",
                        recovery: "When the server is back, look in \(PostgreSQLHousekeeping.transactionTable) for the save "
                            + "\(identifier.uuidString.lowercased()): it was committed if it is there.",
                        userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
                }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, 2)
            }
        }
    }

    /// The error of a save that the server refused.
    func failure(_ error: WireError) -> NSError {
        switch error.sqlState {
        case WireError.foreignKeyViolation?: return error.cocoaError(store: url, .managedObjectReferentialIntegrity)
        case "23502"?, "23514"?: return missingValue(error) ?? error.cocoaError(store: url)
        default: return error.cocoaError(store: url)
        }
    }

    /// A required attribute without a value, which validation lets pass where it is not asked.
    private func missingValue(_ error: WireError) -> NSError? {
        guard let table = error.table, let mapping = try? backend().mapping,
            let found = mapping.tables.first(where: { $0.name == table })?.columns.first(where: { $0.name == error.column })
        else { return nil }
        return CoreDataErrors.make(
            .validationMissingMandatoryProperty,
            "An object of '\(found.property.owningEntity?.name ?? table)' cannot be saved: '\(found.propertyName)' is required and has no value.",
            userInfo: [NSValidationKeyErrorKey: found.propertyName, "SQLSTATE": error.sqlState ?? ""])
    }
}
