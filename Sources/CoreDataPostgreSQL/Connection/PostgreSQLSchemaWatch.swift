import CoreData
import Foundation
import Synchronization

/// Detects that another program has migrated a store that is open here.
///
/// A migration rewrites the row that holds the store's model, and so gives it a new transaction
/// number: its mark. A transaction that writes compares the mark after all its writes, when no
/// migration can commit before it any more. The first read in each second asks for the mark after
/// its own statements, in the same round trip. A read that fails as it would on changed tables asks
/// too. When the mark has changed, version hashes and entity numbers are read again.
final class PostgreSQLSchemaWatch: Sendable {
    /// Returns the mark, in one row.
    private static let query = "SELECT m.xmin::text FROM \(table) m"

    /// Returns an SQL condition that fails its statement when the mark differs from `argument`.
    static func condition(_ argument: String) -> String {
        "CASE WHEN (\(query)) IS NOT DISTINCT FROM \(argument) THEN TRUE "
            + "ELSE CAST('\(sentence)' || (SELECT count(*)::text FROM \(table)) AS boolean) END"
    }

    private struct State: Sendable {
        var contents: StoreContents?
        /// Called before a new mark is taken for that of the store.
        var willChange: (@Sendable (PostgreSQLConnection) throws -> Void)?
        /// The mark at which the store was last found unchanged.
        var mark: String?
        /// The time of the last comparison; nil where the next read is to compare.
        var compared: ContinuousClock.Instant?
    }

    /// The shortest time between two comparisons by reads.
    private static let interval = Duration.seconds(1)
    private static let table = PostgreSQLHousekeeping.modelTable

    private let state = Mutex(State())
    private let schema: String
    private let url: URL?

    init(schema: String, url: URL?) {
        self.schema = schema
        self.url = url
    }

    /// Begins to check whether the store is still the one that was opened. The first check is at
    /// once.
    ///
    /// - Parameter willChange: called when the mark has changed and the store still fits the model.
    func begin(
        _ contents: StoreContents, _ connection: PostgreSQLConnection,
        willChange: @escaping @Sendable (PostgreSQLConnection) throws -> Void
    ) throws {
        // A role that may not read the mark works without it.
        let arguments = WireArguments(text: PostgreSQLMetadata.table(Self.table, in: schema))
        let right = WireStatement("SELECT has_table_privilege(to_regclass($1)::oid, 'SELECT')::int::int8", arguments)
        guard try connection.integer(right) == 1 else { return }
        state.withLock { $0.contents = contents }
        try check(connection)
        state.withLock { $0.willChange = willChange }
    }

    // MARK: Reading

    /// Whether the next read is to ask for the mark. A caller that gets true must ask.
    func claim() -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard state.contents != nil else { return false }
            if let compared = state.compared, now - compared < Self.interval { return false }
            state.compared = now
            return true
        }
    }

    /// Makes the next read ask for the mark.
    func expire() { state.withLock { $0.compared = nil } }

    /// Returns the mark, in one row.
    let question = WireStatement(query, isKept: true)

    /// Handles the answer to `question`.
    ///
    /// - Throws: 134100 when the rows belong to another version of the model, or entities have
    ///   other numbers. A statement may then have read rows of another entity.
    func take(_ mark: String?, _ connection: PostgreSQLConnection) throws {
        guard let contents = state.withLock({ $0.mark == mark && mark != nil ? nil : $0.contents }) else { return }
        do {
            // An emptied store needs no check: its missing tables cause errors of their own.
            if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) {
                let numbers = try PostgreSQLCatalog.entityNumbers(connection)
                if let refusal = contents.refusal(
                    of: "The store \(StoreName.path(url))", metadata, numbers: numbers,
                    userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
                {
                    throw refusal
                }
                try state.withLock { $0.willChange }?(connection)
            }
        } catch {
            expire()
            throw error
        }
        state.withLock { $0.mark = mark }
    }

    /// Asks for the mark and compares it.
    func check(_ connection: PostgreSQLConnection) throws {
        // Reads in the meantime do not ask.
        state.withLock { $0.compared = .now }
        try take(connection.texts(question).last, connection)
    }

    /// Whether a statement may have failed because the tables have changed.
    func isConcerned(by error: WireError) -> Bool {
        guard !error.isConnectionLost, state.withLock({ $0.contents != nil }) else { return false }
        return error.sqlState?.hasPrefix("42") ?? false || error.isTransient || isOutdated(error)
    }

    // MARK: Writing

    /// The mark that a transaction compares with the present one; nil where the store is not
    /// checked.
    var mark: String? { state.withLock { $0.contents == nil ? nil : $0.mark } }

    /// The statement that fails when the mark has changed.
    var comparison: WireStatement? {
        guard let mark else { return nil }
        return WireStatement("SELECT " + Self.condition("$1"), WireArguments(text: mark))
    }

    /// The beginning of the error message of a statement whose condition on the mark fails.
    private static let sentence = "OpenCoreData: the model of the store was replaced: "

    /// Whether a transaction has failed because the mark has changed.
    func isOutdated(_ error: WireError) -> Bool { error.sqlState == "22P02" && error.message.contains(Self.sentence) }
}
