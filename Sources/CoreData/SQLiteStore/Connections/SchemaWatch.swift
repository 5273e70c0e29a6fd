import Foundation
import Synchronization

/// Notices when another connection changes the schema of an open database.
///
/// It then checks that the database still holds the same store.
///
/// SQLite counts schema changes in the file. Writers check the count in each transaction. Readers
/// check it when a statement fails, and when SQLite had to prepare a statement again, which SQLite
/// reports at no cost.
final class SchemaWatch: Sendable {
    private struct State: Sendable {
        /// The count at which the last check found the store unchanged.
        var version: Int64?
        /// Nil until the store is ready for requests.
        var contents: StoreContents?
    }

    private let state = Mutex(State())

    /// Accepts the current schema, which was just read or which the store itself changed.
    func accept(_ connection: SQLiteConnection) throws {
        let version = try Self.version(connection)
        state.withLock { $0.version = version }
    }

    /// Starts checking whether the store is still the one that was opened.
    ///
    /// - Parameter versions: the versions of the entities; nil where any version is accepted.
    func begin(versions: HeldVersions?, mapping: SQLMapping) {
        let contents = StoreContents(versions: versions, mapping: mapping)
        state.withLock { $0.contents = contents }
    }

    /// Checks that the store is still the one that was opened.
    ///
    /// Costs a pragma. After a schema change it also reads the metadata and the entity numbers.
    ///
    /// - Throws: 134100 when the rows belong to another version of the model, or entities have
    ///   other numbers. A statement of the store may then read or write rows of another entity.
    func check(_ connection: SQLiteConnection) throws {
        let version = try Self.version(connection)
        if let contents = state.withLock({ $0.version == version ? nil : $0.contents }) {
            // An emptied store needs no check: its statements fail, as its tables are missing.
            if let metadata = try StoreMetadata.read(connection) { try Self.require(contents, metadata, connection) }
            state.withLock { $0.version = version }
        }
        connection.hasPreparedAnew = false
    }

    private static func version(_ connection: SQLiteConnection) throws -> Int64? {
        try connection.integer("PRAGMA schema_version")
    }

    private static func require(_ contents: StoreContents, _ metadata: [String: Any], _ connection: SQLiteConnection)
        throws
    {
        var numbers: [String: Int] = [:]
        try connection.query("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY") { row in
            if let name = row.string(0) { numbers[name] = Int(row.int64(1)) }
        }
        if let refusal = contents.refusal(
            of: "The store at \(connection.path)", metadata, numbers: numbers,
            userInfo: ["NSFilePath": connection.path])
        {
            throw refusal
        }
    }
}
