import Foundation

// Collecting files that programs left behind when they ended too early.
extension SupersededFiles {
    /// Finds files that no row names, and removes them if no reader can need them.
    ///
    /// Nothing depends on it: if other connections keep the database busy, a later opening does it.
    ///
    /// - Parameters:
    ///   - connection: the store's writer, in no transaction.
    ///   - timeout: how long the writer otherwise waits for locks, in seconds.
    ///   - hasReason: whether a program may have ended without closing the store.
    /// - Returns: false when there is no such reason and the rows are too many to read while the
    ///   store is opened; nothing was done then.
    func sweep(_ connection: SQLiteConnection, timeout: TimeInterval, hasReason: Bool) -> Bool {
        connection.withTimeout(min(timeout, Self.longestWait)) {
            files.whileLocked(waits: false) {
                let sweep = ExternalFileSweep(files: files, connection: connection)
                if !hasReason, (try? sweep.hasManyRows()) == true { return false }
                guard let unnamed = try? sweep.unnamedFiles(), !unnamed.isEmpty else { return true }
                add(unnamed)
                collect(connection)
                return true
            } ?? true
        }
    }

    /// The number of seconds that a sweep waits for locks of other connections.
    static var longestWait: TimeInterval { 1 }
}
