import CoreData
import Foundation

/// What a store knows of tables that others have made, beside the names of their columns.
struct ExternalTables: Sendable {
    /// The sequences that new keys are taken of, by the layout index of the root entity; nothing is inserted where there is none.
    let sequences: [Int: String]
    /// What tells the server from one that takes over from it, in SQL: NULL where it cannot be told.
    let server: String

    /// - Parameter mapping: one that fits the tables.
    init(_ connection: PostgreSQLConnection, schema: String, mapping: SQLMapping) throws {
        var sequences: [Int: String] = [:]
        for table in mapping.tables {
            sequences[table.root.index] = try Self.sequence(of: table, connection, schema)
        }
        self.sequences = sequences
        server = try Self.server(connection)
    }

    /// Services that keep their log in their own way do not say where it stands; a standby says so when it has taken over.
    private static let servers = [
        "(SELECT system_identifier::text FROM pg_catalog.pg_control_system()) || ' ' "
            + "|| left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8)",
        "pg_catalog.pg_postmaster_start_time()::text",
    ]

    private static func server(_ connection: PostgreSQLConnection) throws -> String {
        for text in servers {
            do {
                try connection.execute(WireStatement("SELECT \(text)"))
                return text
            } catch let error as WireError where !error.isConnectionLost { continue }
        }
        return "NULL::text"
    }

    /// The sequence of a key column: what the model names, the one that belongs to the column, or the one that its default asks.
    private static func sequence(of table: SQLTable, _ connection: PostgreSQLConnection, _ schema: String) throws -> String? {
        var arguments = WireArguments()
        var found: String?
        if let name = ExternalNaming.text(ExternalNaming.Word.sequence, table.root.entity.userInfo) {
            arguments.append(text: name)
            guard try connection.integer(WireStatement("SELECT to_regclass($1)::oid::int8", arguments)) != nil else {
                throw CoreDataErrors.make(
                    .persistentStoreIncompatibleSchema,
                    "There is no sequence '\(name)', which \(ExternalNaming.Word.sequence) of '\(table.root.name)' names.",
                    recovery: "Name it as PostgreSQL does in SQL, with its schema and in quotes where it has capitals.")
            }
            return name
        }
        arguments.append(text: PostgreSQLMetadata.table(table.name, in: schema))
        arguments.append(text: table.keyColumn)
        try connection.execute(
            WireStatement(
                """
                SELECT coalesce(pg_get_serial_sequence($1, $2), (SELECT format('%I.%I', n.nspname, s.relname) FROM pg_catalog.pg_attribute a \
                JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum JOIN pg_catalog.pg_depend p \
                ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass \
                JOIN pg_catalog.pg_class s ON s.oid = p.refobjid AND s.relkind = 'S' JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace \
                WHERE a.attrelid = $1::regclass AND a.attname = $2 LIMIT 1))
                """, arguments)
        ) { found = PostgreSQLRow(row: $0).string(0) }
        return found
    }

    // MARK: Metadata

    /// The metadata of a store that has no table to keep them in: always those of the model, with a UUID that is made of the server's,
    /// the database's and the schema's names for themselves.
    static func metadata(_ connection: PostgreSQLConnection, schema: String) throws -> [String: Any] {
        let isAllowed =
            "SELECT COALESCE(has_function_privilege(to_regproc('pg_catalog.pg_control_system')::oid, 'EXECUTE'), FALSE)::int::int8"
        var place = ""
        let system =
            try connection.integer(WireStatement(isAllowed)) == 1 ? "(SELECT system_identifier FROM pg_control_system())" : "NULL::int8"
        try connection.execute(
            WireStatement(
                "SELECT concat_ws(' ', \(system), d.oid::text) FROM pg_catalog.pg_database d WHERE d.datname = current_database()")
        ) { place = PostgreSQLRow(row: $0).string(0) ?? "" }
        return [NSStoreTypeKey: NSPostgreSQLStoreType, NSStoreUUIDKey: identifier(of: place + " " + schema)]
    }

    /// A UUID that is the same for the same text.
    private static func identifier(of text: String) -> String {
        var bytes: [UInt8] = []
        for part in ["given ", "tables "] { withUnsafeBytes(of: SnakeCaseNaming.hash(part + text).bigEndian) { bytes += $0 } }
        // The version for UUIDs of one's own making, and their variant.
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes.withUnsafeBufferPointer { UUID(bytes: $0) }?.uuidString ?? ""
    }

    // MARK: Refusals

    /// What cannot be done with tables of others.
    static func refusal(_ what: String, at url: URL?, recovery: String) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "\(what): the tables of \(StoreName.path(url)) are others' (\(NSPostgreSQLGivenTablesOption)).",
            recovery: recovery, userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
    }

    static func metadataRefusal(at url: URL?) -> NSError {
        refusal("Metadata cannot be written", at: url, recovery: "Keep what you want to know of the store in a table of the model.")
    }
}

// MARK: - Keys

extension PostgreSQLStore {
    /// New keys of a table of others, of the sequence that everybody takes them of: none is taken twice, and there may be gaps between
    /// them.
    func nextExternalKeys(_ count: Int, of root: SQLEntity, _ external: ExternalTables, _ backend: PostgreSQLBackend) throws -> [Int64] {
        guard let sequence = external.sequences[root.layout.index] else {
            throw ExternalTables.refusal(
                "'\(root.layout.name)' cannot be inserted, because no sequence belongs to the key column "
                    + "'\(root.table.name).\(root.table.keyColumn)'", at: url,
                recovery:
                    "Name the sequence that its keys come from by \(ExternalNaming.Word.sequence) in the user info of '\(root.layout.name)'."
            )
        }
        var arguments = WireArguments()
        arguments.append(text: sequence)
        arguments.append(WireType.int8) { $0.append(Int64(count)) }
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        _ = try backend.pool.withConnection(repeats: true) { connection in
            keys.removeAll(keepingCapacity: true)
            try connection.execute(WireStatement("SELECT nextval($1::regclass) FROM generate_series(1, $2)", arguments)) {
                keys.append(PostgreSQLRow(row: $0).int64(0))
            }
        }
        return keys
    }

    /// The first of so many new keys without a gap.
    func nextExternalRun(_ count: Int, of root: SQLEntity, _ external: ExternalTables, _ backend: PostgreSQLBackend) throws -> Int64 {
        // Who inserts at the same time makes gaps, which the next try need not meet.
        for _ in 0..<Self.mostRuns {
            let keys = try nextExternalKeys(count, of: root, external, backend)
            if let first = keys.first, zip(keys, keys.dropFirst()).allSatisfy({ $1 == $0 + 1 }) { return first }
        }
        throw ExternalTables.refusal(
            "The sequence of '\(root.layout.name)' does not give \(count) keys without a gap", at: url,
            recovery: "Insert fewer objects at once, or while nobody else does.")
    }

    private static var mostRuns: Int { 8 }
}
