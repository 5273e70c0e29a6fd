import CoreData
import Foundation

extension PostgreSQLStore {
    static func replace(
        at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        try PostgreSQLReplacement.run(at: url, options, withStoreAt: source, sourceOptions)
    }
}

/// Copies the store of one schema over another: rows, keys, metadata and UUID, as copying a file
/// would.
///
/// The schemas may be in one database or in two. The source is read in one snapshot, while other
/// programs use it. The destination changes in one transaction; roles keep their rights to tables
/// and functions whose names stay. Rows pass from one connection to the other as they arrive, so
/// that the memory used does not depend on their number.
struct PostgreSQLReplacement {
    private let source: PostgreSQLConnection
    private let destination: PostgreSQLConnection
    private let address: PostgreSQLAddress

    /// - Throws: when there is no store at the source, when source and destination are the same, or
    ///   when the destination has tables of the same names that do not belong to a store. The
    ///   destination is then unchanged.
    static func run(
        at url: URL, _ options: [AnyHashable: Any]?, withStoreAt sourceURL: URL, _ sourceOptions: [AnyHashable: Any]?
    ) throws {
        for (url, options) in [(url, options), (sourceURL, sourceOptions)]
        where PostgreSQLStore.flag(options, NSPostgreSQLGivenTablesOption) {
            throw ExternalTables.refusal(
                "The store can neither be replaced nor be what replaces another one", at: url.withoutPassword,
                recovery: "Copy its objects with migratePersistentStore(_:to:options:withType:).")
        }
        try withSnapshot(ofStoreAt: sourceURL, sourceOptions) { source, sourceAddress in
            try PostgreSQLStore.withConnection(at: url, options, isReadOnly: false) { destination, address in
                try destination.transaction {
                    try destination.liftTimeLimit()
                    let replacement = PostgreSQLReplacement(source: source, destination: destination, address: address)
                    try replacement.run(sourceAddress)
                }
            }
        }
    }

    /// Does the same in the open transaction of a connection to the destination.
    static func run(
        in destination: PostgreSQLConnection, _ address: PostgreSQLAddress, withStoreAt sourceURL: URL,
        _ sourceOptions: [AnyHashable: Any]?
    ) throws {
        try withSnapshot(ofStoreAt: sourceURL, sourceOptions) { source, sourceAddress in
            do {
                try PostgreSQLReplacement(source: source, destination: destination, address: address)
                    .run(sourceAddress)
            } catch let error as WireError { throw error.cocoaError(store: address.publicURL) }
        }
    }

    private static func withSnapshot(
        ofStoreAt url: URL, _ options: [AnyHashable: Any]?,
        _ body: (PostgreSQLConnection, PostgreSQLAddress) throws -> Void
    ) throws {
        try PostgreSQLStore.withConnection(at: url, options, isReadOnly: true) { source, address in
            try source.begin(with: [WireStatement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")])
            defer { source.rollBack() }
            try source.liftTimeLimit()
            guard try PostgreSQLContent.read(source, address) != nil else { throw PostgreSQLStore.noStore(address) }
            try body(source, address)
        }
    }

    private func run(_ sourceAddress: PostgreSQLAddress) throws {
        let dialect = try PostgreSQLDialect(for: destination)
        guard let mapping = try PostgreSQLContent.mapping(source, sourceAddress.schema, dialect)
        else { throw PostgreSQLStore.noStore(sourceAddress) }
        if try Self.place(of: source, sourceAddress.schema) == Self.place(of: destination, address.schema) {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.path(address.publicURL)) cannot be replaced by itself.",
                recovery: "Name another schema or database.",
                userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: address.publicURL))
        }
        try PostgreSQLSchemaLock.take(destination, schema: address.schema)
        let former = try PostgreSQLContent.read(destination, address, isForced: true)
        let grants = try former?.grants(destination) ?? []
        try former?.drop(destination)
        let schema = PostgreSQLSchema(mapping: mapping, schema: address.schema)
        try schema.createTables(destination)
        let hasHistory = try PostgreSQLHistory.exists(source, schema: sourceAddress.schema)
        if hasHistory { try schema.run(PostgreSQLHousekeeping.historyStatements, destination) }
        try copyRows(mapping)
        if hasHistory { try copyTables(PostgreSQLHousekeeping.historyColumns) }
        // The row that marks the schema as a store comes last.
        try copyTables(PostgreSQLHousekeeping.columns.reversed())
        try schema.run(schema.afterRows(), destination)
        try PostgreSQLContent.restore(grants, destination)
    }

    private func copyRows(_ mapping: SQLMapping) throws {
        for table in mapping.tables { try copy(table.name, table.allColumnNames) }
        for join in mapping.joinTables { try copy(join.name, join.columnNames) }
    }

    private func copyTables(_ tables: [(String, [String])]) throws {
        for (table, columns) in tables { try copy(table, columns) }
    }

    /// Returns a text that identifies a schema: the server's start time, the database and the
    /// schema's OID.
    private static func place(of connection: PostgreSQLConnection, _ schema: String) throws -> String? {
        try connection.texts(
            WireStatement(
                "SELECT concat_ws(' ', pg_postmaster_start_time(), current_database(), n.oid) FROM "
                    + "pg_catalog.pg_namespace n "
                    + "WHERE n.nspname = $1", WireArguments(text: schema))
        ).last
    }

    private func copy(_ table: String, _ columns: [String]) throws {
        let dialect = PostgreSQLDialect()
        let list = columns.map(dialect.identifier).joined(separator: ", ")
        let name = dialect.identifier(table)
        try destination.wire.copy("COPY \(name) (\(list)) FROM STDIN (FORMAT binary)") { send in
            var rows = CopiedRows()
            try source.execute(WireStatement("SELECT \(list) FROM \(name)")) { row in
                rows.append(row)
                try rows.send(to: send)
            }
            try rows.finish(to: send)
        }
    }
}
