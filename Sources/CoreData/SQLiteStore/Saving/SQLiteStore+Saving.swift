import Foundation

extension SQLiteStore {
    func saveMetadata(beforeCommit others: () throws -> Void) throws {
        let backend = try backend()
        try backend.pool.write { connection in
            try requireWritable(connection)
            try backend.pool.transaction(connection) {
                try writeChangedMetadata(connection)
                try others()
            }
            metadataWasWritten()
        }
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch) {} }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        let backend = try backend()
        let outcome = try backend.pool.write { connection in
            try requireWritable(connection)
            let session = SaveSession(batch: batch, store: self, backend: backend, connection: connection)
            let outcome = try session.run(beforeCommit: others)
            metadataWasWritten()
            backend.pool.supersededFiles?.collect(connection)
            return outcome
        }
        didWrite(outcome.transaction)
        return outcome
    }

    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        let backend = try backend()
        let transaction = try backend.pool.write { connection in
            try requireWritable(connection)
            var transaction: Int64?
            var files: [ExternalFileChanges] = []
            try backend.pool.transaction(connection) {
                do {
                    try body { batch in
                        let session = SaveSession(batch: batch, store: self, backend: backend, connection: connection)
                        if let written = session.files { files.append(written) }
                        transaction = try session.writeBlock() ?? transaction
                    }
                    try writeChangedMetadata(connection)
                } catch {
                    for written in files { written.discard() }
                    throw error
                }
            }
            metadataWasWritten()
            return transaction
        }
        didWrite(transaction)
    }
}
