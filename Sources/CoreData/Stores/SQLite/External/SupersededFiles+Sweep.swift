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
    /// - Returns: false when the rows are too many for a store that is being opened without such a reason; nothing was done then.
    func sweep(_ connection: SQLiteConnection, timeout: TimeInterval, hasReason: Bool) -> Bool {
        connection.setTimeout(min(timeout, Self.longestWait))
        defer { connection.setTimeout(timeout) }
        return files.whileLocked(waits: false) {
            let sweep = ExternalFileSweep(files: files, connection: connection)
            if !hasReason, (try? sweep.hasManyRows()) == true { return false }
            guard let unnamed = try? sweep.unnamedFiles(), !unnamed.isEmpty else { return true }
            add(unnamed)
            collect(connection)
            return true
        } ?? true
    }

    /// How many seconds a sweep waits for the locks of others.
    static var longestWait: TimeInterval { 1 }
}
