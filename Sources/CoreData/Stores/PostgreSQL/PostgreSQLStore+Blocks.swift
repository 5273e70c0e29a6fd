import Foundation

// Saves of more rows than memory holds.
extension PostgreSQLStore {
    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        try requireWritable()
        let backend = try backend()
        let transaction = UUID()
        do {
            try backend.pool.withWire { connection in
                try connection.transaction {
                    try connection.liftTimeLimit()
                    try connection.wire.run("SET CONSTRAINTS ALL DEFERRED")
                    try body { batch in
                        try PostgreSQLSave(batch: batch, store: self, backend: backend, connection: connection).writeBlock()
                    }
                    let last = try lastStatements(of: transaction, ChangeAuthor()) { _ = try connection.executeAll($0, rows: $1) }
                    try connection.executeAll(last)
                }
            }
        } catch let error as WireError {
            throw failure(error)
        }
        metadataWasWritten(in: transaction)
    }
}
