import CSQLite
import Foundation
import Synchronization

/// The write-ahead log of an open store, which is kept from growing without bounds.
///
/// SQLite moves pages from the log into the database after a commit, but never further than the
/// oldest state that is still read, and it begins the log anew only when nobody reads it. A long
/// reader, or short ones without a pause, would let it grow for ever.
final class WriteAheadLog: Sendable {
    private let store: String
    private let path: String
    /// The size from which a save waits for readers again. Used by the holder of the writer.
    private let patientSize = Atomic<Int64>(largestSize)

    /// The size in bytes from which each save tries to empty the log.
    private static let largestSize: Int64 = 64 << 20
    /// How many seconds a save waits for short readers, once each time the log has grown by its
    /// largest size. Three readers of 0.1 seconds, of which one always read, let a log grow to all
    /// that was written; with this wait it kept below 70 MB.
    private static let patience = 0.25

    /// - Parameter store: The path of the database file, without symbolic links.
    init(ofStoreAt store: String) {
        self.store = store
        path = store + "-wal"
    }

    /// Empties a log that has grown too large. Says once, on standard error, who prevents it.
    ///
    /// Costs one system call if the log is small. A busy log is no error: all is saved.
    func shorten(_ connection: SQLiteConnection) {
        var log = stat()
        guard stat(path, &log) == 0, log.st_size >= Self.largestSize, !connection.isInTransaction else { return }
        let size = Int64(log.st_size)
        let isPatient = size >= patientSize.load(ordering: .relaxed)
        let isEmptied = connection.withTimeout(isPatient ? Self.patience : 0) {
            connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
        }
        if isEmptied { return patientSize.store(Self.largestSize, ordering: .relaxed) }
        guard isPatient else { return }
        patientSize.store(size + Self.largestSize, ordering: .relaxed)
        Warnings.sayOnce(about: "log of \(store)") {
            "The write-ahead log of the store at \(store) has grown to \(size >> 20) MB, because "
                + "\(LockHolders.namesOfReaders(ofStoreAt: store) ?? "another connection") still reads a former state "
                + "of the store. It grows with each save until that ends: unpin contexts with a query generation, and "
                + "end long fetches and transactions."
        }
    }
}
