import CoreData
import Foundation

// Saves of more rows than fit in memory.
extension PostgreSQLStore {
    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        try requireWritable()
        let backend = try backend()
        // The caller gives the rows only once.
        try write(
            mayRepeat: { false }, { PostgreSQLBlocks(store: self, backend: backend, connection: $0) },
            run: { try $0.run(body) },
            whenCommitted: { _ in })
    }
}

/// A save whose rows come in blocks, in one transaction.
private final class PostgreSQLBlocks: PostgreSQLAttempt {
    func run(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        try connection.begin(with: [])
        do {
            try connection.liftTimeLimit()
            try connection.wire.run("SET CONSTRAINTS ALL DEFERRED")
            var witness: PostgreSQLWitness?
            try body { batch in
                let save = PostgreSQLSave(batch: batch, store: store, backend: backend, connection: connection)
                try record(save.writeBlock())
                try send()
                if witness == nil, backend.external != nil { witness = try save.witness() }
            }
            let last = try store.lastStatements(of: identifier, ChangeAuthor(), changes: changeCount) {
                _ = try connection.executeAll($0, rows: $1)
            }
            try commit(conclude(last, commitsApart: true, witness: witness))
        } catch {
            if connection.isInTransaction { connection.rollBack() }
            throw error
        }
    }
}

extension PostgreSQLSave {
    /// Writes the batch as a part of the open transaction, and reads nothing back.
    ///
    /// - Returns: the changes for the history.
    fileprivate func writeBlock() throws -> [PostgreSQLChange] {
        try write(readsDerivedRows: false)
        forgetTouchedRows()
        try send()
        return try historyChanges()
    }
}
