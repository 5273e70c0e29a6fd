import CoreData
import Foundation
import Synchronization

/// Notices that another program has migrated a store that is open here.
///
/// A migration writes the row anew that holds the store's model, and so gives it another number of a transaction: its mark. The transaction
/// that writes compares the mark behind all that it has written, when no migration can commit before it any more. Of reads the first in
/// each second asks for the mark behind its own statements, in the same round trip; so does each that fails as it would on other tables.
/// Where the mark is another one, version hashes and numbers of entities are read again.
final class PostgreSQLSchemaWatch: Sendable {
    /// Gives the mark, in one row.
    private static let query = "SELECT m.xmin::text FROM \(table) m"

    /// Fails the statement that it is a condition of where the mark is another one than `argument` says.
    static func condition(_ argument: String) -> String {
        "CASE WHEN (\(query)) IS NOT DISTINCT FROM \(argument) THEN TRUE "
            + "ELSE CAST('\(sentence)' || (SELECT count(*)::text FROM \(table)) AS boolean) END"
    }

    private struct State: Sendable {
        var contents: StoreContents?
        /// The mark at which the store was last found to be the one that was opened.
        var mark: String?
        /// When it was last compared; nil where the next read is to compare it.
        var compared: ContinuousClock.Instant?
    }

    /// For how long nobody asks again.
    private static let interval = Duration.seconds(1)
    private static let table = PostgreSQLHousekeeping.modelTable

    private let state = Mutex(State())
    private let schema: String
    private let url: URL?

    init(schema: String, url: URL?) {
        self.schema = schema
        self.url = url
    }

    /// Begins to look whether the store is still the one that was opened. Does so at once.
    func begin(_ contents: StoreContents, _ connection: PostgreSQLConnection) throws {
        // Who may not read the mark goes on without it.
        var arguments = WireArguments()
        arguments.append(text: PostgreSQLMetadata.table(Self.table, in: schema))
        let right = WireStatement("SELECT has_table_privilege(to_regclass($1)::oid, 'SELECT')::int::int8", arguments)
        guard try connection.integer(right) == 1 else { return }
        state.withLock { $0.contents = contents }
        try check(connection)
    }

    // MARK: Reading

    /// Whether the next read is to ask for the mark; whoever is told so does.
    func claim() -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard state.contents != nil else { return false }
            if let compared = state.compared, now - compared < Self.interval { return false }
            state.compared = now
            return true
        }
    }

    /// Has the next read ask for the mark.
    func expire() { state.withLock { $0.compared = nil } }

    /// Gives the mark, in one row.
    let question = WireStatement(query, isKept: true)

    /// Takes the answer to `question`.
    ///
    /// - Throws: 134100 when the rows are those of another version of the model, or entities have other numbers. What a statement has read
    ///   may be another entity's then.
    func take(_ mark: String?, _ connection: PostgreSQLConnection) throws {
        guard let contents = state.withLock({ $0.mark == mark && mark != nil ? nil : $0.contents }) else { return }
        do {
            // A store that somebody has emptied says so by itself: its tables are missing.
            if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) {
                let numbers = try PostgreSQLCatalog.entityNumbers(connection)
                if let change = contents.change(metadata, numbers: numbers) {
                    throw StoreContents.refusal(
                        "The store \(StoreName.path(url))", change,
                        userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url).merging(["metadata": metadata]) {
                            $1
                        })
                }
            }
        } catch {
            expire()
            throw error
        }
        state.withLock { $0.mark = mark }
    }

    /// Asks for the mark, and compares it.
    func check(_ connection: PostgreSQLConnection) throws {
        // What is read meanwhile asks for nothing.
        state.withLock { $0.compared = .now }
        var mark: String?
        try connection.execute(question) { mark = PostgreSQLRow(row: $0).string(0) }
        try take(mark, connection)
    }

    /// Whether a statement may have failed because the tables are others than they were.
    func isConcerned(by error: WireError) -> Bool {
        guard !error.isConnectionLost, state.withLock({ $0.contents != nil }) else { return false }
        return error.sqlState?.hasPrefix("42") ?? false || error.isTransient || isOutdated(error)
    }

    // MARK: Writing

    /// What a transaction compares with the mark that there is; nil where nobody looks.
    var mark: String? { state.withLock { $0.contents == nil ? nil : $0.mark } }

    /// Fails where the mark is another one.
    var comparison: WireStatement? {
        guard let mark else { return nil }
        var arguments = WireArguments()
        arguments.append(text: mark)
        return WireStatement("SELECT " + Self.condition("$1"), arguments)
    }

    /// What stands in the error of a statement with a condition on the mark.
    private static let sentence = "OpenCoreData: the model of the store was replaced: "

    /// Whether a transaction has failed because the mark is another one.
    func isOutdated(_ error: WireError) -> Bool { error.sqlState == "22P02" && error.message.contains(Self.sentence) }
}
