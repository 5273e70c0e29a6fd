import Foundation

// Collecting what programs left behind that ended too early.
extension SupersededFiles {
    /// Looks for files that no row names, and removes them if nobody can need them.
    ///
    /// Nothing depends on it: where others keep the database busy, another opening will do.
    ///
    /// - Parameters:
    ///   - connection: the store's writer, in no transaction.
    ///   - timeout: how long the writer otherwise waits for locks, in seconds.
    ///   - hasReason: whether a program may have ended without closing the store.
    func sweep(_ connection: SQLiteConnection, timeout: TimeInterval, hasReason: Bool) {
        connection.setTimeout(min(timeout, 1))
        defer { connection.setTimeout(timeout) }
        files.whileLocked(waits: false) {
            guard
                let unnamed = try? ExternalFileSweep(files: files, connection: connection).unnamedFiles(hasReason: hasReason),
                !unnamed.isEmpty
            else { return }
            add(unnamed)
            collect(connection)
        }
    }
}
