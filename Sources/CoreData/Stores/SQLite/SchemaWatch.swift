import Foundation
import Synchronization

/// Notices that others have changed the schema of a database that is open, and looks whether it still holds the store that was opened.
///
/// SQLite counts the changes of a schema in the file. Writers look at the count in each transaction. Readers look where SQLite had to
/// prepare a statement anew, which it tells for nothing, and where a statement fails.
final class SchemaWatch: Sendable {
    private struct Contents: Sendable {
        /// The versions of the entities; nil where they do not matter.
        let versions: HeldVersions?
        let entityNumbers: [String: Int]
    }

    private struct State: Sendable {
        /// The count at which the store was last found to be the one that was opened.
        var version: Int64?
        /// Nil until the store is ready for requests.
        var contents: Contents?
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
        let numbers = mapping.entities.compactMap { entity in entity.map { ($0.layout.name, $0.number) } }
        let contents = Contents(versions: versions, entityNumbers: Dictionary(numbers, uniquingKeysWith: { first, _ in first }))
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

    private static func require(_ contents: Contents, _ metadata: [String: Any], _ connection: SQLiteConnection) throws {
        if let versions = contents.versions, let hashes = StoreMetadataHashes.hashes(in: metadata), !versions.fit(hashes) {
            throw refusal("was brought to another version of the model", metadata, connection)
        }
        var isNumberedOtherwise = false
        try connection.query("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY") { row in
            if let number = row.string(0).flatMap({ contents.entityNumbers[$0] }), number != row.int64(1) { isNumberedOtherwise = true }
        }
        if isNumberedOtherwise { throw refusal("was given other numbers of entities", metadata, connection) }
    }

    private static func refusal(_ change: String, _ metadata: [String: Any], _ connection: SQLiteConnection) -> NSError {
        CoreDataErrors.make(
            .persistentStoreIncompatibleVersionHash,
            "The store at \(connection.path) \(change) by somebody else while it was open here: it is neither read nor written any more.",
            recovery: "Remove it from the coordinator. Add it again with the version of the model that it has now.",
            userInfo: ["NSFilePath": connection.path, "metadata": metadata])
    }
}
