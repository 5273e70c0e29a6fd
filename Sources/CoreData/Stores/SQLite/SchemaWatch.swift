import Foundation
import Synchronization

/// Notices that others have changed the schema of a database that is open, and looks whether it still holds the store that was opened.
///
/// SQLite counts the changes of a schema in the file. Writers look at the count in each transaction. Readers look where SQLite had to
/// prepare a statement anew, which it tells for nothing, and where a statement fails.
final class SchemaWatch: Sendable {
    private struct State: Sendable {
        /// The count at which the store was last found to be the one that was opened.
        var version: Int64?
        /// Nil until the store is ready for requests.
        var contents: StoreContents?
    }

    private let state = Mutex(State())

    /// Takes the schema that there is now for that of the store: it was just read, or changed by the store itself.
    func accept(_ connection: SQLiteConnection) throws {
        let version = try Self.version(connection)
        state.withLock { $0.version = version }
    }

    /// Begins to look whether the store is still the one that was opened.
    ///
    /// - Parameter versions: those of the entities; nil where a store of any version will do.
    func begin(versions: HeldVersions?, mapping: SQLMapping) {
        let contents = StoreContents(versions: versions, mapping: mapping)
        state.withLock { $0.contents = contents }
    }

    /// Costs a pragma; where the schema was changed, the metadata and the numbers of entities are read too.
    ///
    /// - Throws: 134100 when the rows are those of another version of the model, or entities have other numbers. What a statement of the
    ///   store has read or would write then may be another entity's.
    func check(_ connection: SQLiteConnection) throws {
        let version = try Self.version(connection)
        if let contents = state.withLock({ $0.version == version ? nil : $0.contents }) {
            // A store that somebody has emptied says so by itself: its tables are missing.
            if let metadata = try StoreMetadata.read(connection) { try Self.require(contents, metadata, connection) }
            state.withLock { $0.version = version }
        }
        connection.hasPreparedAnew = false
    }

    private static func version(_ connection: SQLiteConnection) throws -> Int64? { try connection.integer("PRAGMA schema_version") }

    private static func require(_ contents: StoreContents, _ metadata: [String: Any], _ connection: SQLiteConnection) throws {
        var numbers: [String: Int] = [:]
        try connection.query("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY") { row in
            if let name = row.string(0) { numbers[name] = Int(row.int64(1)) }
        }
        guard let change = contents.change(metadata, numbers: numbers) else { return }
        throw StoreContents.refusal(
            "The store at \(connection.path)", change, userInfo: ["NSFilePath": connection.path, "metadata": metadata])
    }
}
