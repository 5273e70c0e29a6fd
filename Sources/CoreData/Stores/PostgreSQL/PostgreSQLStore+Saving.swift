import Foundation

extension PostgreSQLStore {
    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch, others: nil) }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try withoutActuallyEscaping(others) { try save(batch, others: $0) }
    }

    /// How often a save is tried that meets others in a way that only trying again can solve.
    private static let mostAttempts = 5

    private func save(_ batch: SaveBatch, others: (() throws -> Void)?) throws -> SaveOutcome {
        try requireWritable()
        let backend = try backend()
        var attempt = 1
        // What others have written in the meantime cannot be done again.
        var mayRepeat = true
        let guarded = others.map { others in
            {
                mayRepeat = false
                try others()
            }
        }
        while true {
            var session: PostgreSQLSave?
            do {
                let outcome = try backend.pool.withWire { connection in
                    let made = PostgreSQLSave(batch: batch, store: self, backend: backend, connection: connection)
                    session = made
                    return try made.run(beforeCommit: guarded)
                }
                metadataWasWritten()
                return outcome
            } catch let error as WireError {
                if error.isConnectionLost, let session, session.isCommitSent {
                    if try wasCommitted(session, backend) {
                        metadataWasWritten()
                        return session.publish()
                    }
                } else if !error.isTransient && !(error.isConnectionLost && attempt == 1) {
                    throw failure(error)
                }
                guard mayRepeat, attempt < Self.mostAttempts else { throw failure(error) }
                attempt += 1
                // Those who met are not to meet again.
                Thread.sleep(forTimeInterval: Double.random(in: 0.002...0.02) * Double(attempt * attempt))
            }
        }
    }

    /// Whether a save whose connection was lost during the commit was committed.
    ///
    /// Its UUID is taken for another transaction: where that succeeds the save was not committed, and never can be.
    private func wasCommitted(_ session: PostgreSQLSave, _ backend: PostgreSQLBackend) throws -> Bool {
        let deadline = Date(timeIntervalSinceNow: backend.pool.configuration.timeout)
        var pause = 0.05
        while true {
            do {
                var arguments = WireArguments()
                arguments.append(WireType.uuid) { bytes in
                    withUnsafeBytes(of: session.identifier.uuid) { bytes.append($0.bindMemory(to: UInt8.self)) }
                }
                arguments.append(text: "OpenCoreData: given up")
                arguments.appendNull(WireType.text)
                try backend.pool.withWire { connection in
                    _ = try connection.executeAll([WireStatement(PostgreSQLTransactions.record, arguments)])
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
                            + "\(session.identifier.uuidString.lowercased()): it was committed if it is there.",
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
