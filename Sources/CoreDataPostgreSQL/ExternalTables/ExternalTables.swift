import CoreData
import Foundation

/// The facts about external tables that a store needs, besides the names of their columns.
struct ExternalTables: Sendable {
    /// The sequences that new keys are taken from, by the layout index of the root entity. Nothing
    /// is inserted where there is none.
    let sequences: [Int: String]
    /// An SQL expression that tells the server from one that replaces it: NULL where that cannot be
    /// told.
    let server: String

    /// - Parameter mapping: a mapping that fits the tables.
    init(_ connection: PostgreSQLConnection, schema: String, mapping: SQLMapping) throws {
        var sequences: [Int: String] = [:]
        for table in mapping.tables {
            sequences[table.root.index] = try Self.sequence(of: table, connection, schema)
        }
        self.sequences = sequences
        server = try Self.server(connection)
    }

    /// The expressions for `server`, the best first. A service that keeps its log in its own way
    /// does not give the log's position. A standby gives it once it has replaced its server.
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

    /// Returns the sequence of a key column: the one that the model names, that belongs to the
    /// column, or that the column's default uses.
    private static func sequence(of table: SQLTable, _ connection: PostgreSQLConnection, _ schema: String) throws
        -> String?
    {
        var arguments = WireArguments()
        var found: String?
        if let name = ExternalNaming.text(ExternalNaming.Word.sequence, table.root.entity.userInfo) {
            arguments.append(text: name)
            guard try connection.integer(WireStatement("SELECT to_regclass($1)::oid::int8", arguments)) != nil else {
                throw CoreDataErrors.make(
                    .persistentStoreIncompatibleSchema,
                    "There is no sequence '\(name)', which \(ExternalNaming.Word.sequence) of '\(table.root.name)' "
                        + "names.",
                    recovery: "Name it as PostgreSQL does in SQL, with its schema and in quotes where it has capitals.")
            }
            return name
        }
        arguments.append(text: PostgreSQLMetadata.table(table.name, in: schema))
        arguments.append(text: table.keyColumn)
        try connection.execute(
            WireStatement(
                """
                SELECT coalesce(pg_get_serial_sequence($1, $2), (SELECT format('%I.%I', n.nspname, s.relname) FROM \
                pg_catalog.pg_attribute a \
                JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum JOIN \
                pg_catalog.pg_depend p \
                ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass \
                JOIN pg_catalog.pg_class s ON s.oid = p.refobjid AND s.relkind = 'S' JOIN pg_catalog.pg_namespace n \
                ON n.oid = s.relnamespace \
                WHERE a.attrelid = $1::regclass AND a.attname = $2 LIMIT 1))
                """, arguments)
        ) { found = $0.string(0) }
        return found
    }

    // MARK: Metadata

    /// Returns the metadata of a store that has no table for them. They are always those of the
    /// model, with a UUID made from the identifiers of the server, the database and the schema.
    static func metadata(_ connection: PostgreSQLConnection, schema: String) throws -> [String: Any] {
        let isAllowed =
            "SELECT COALESCE(has_function_privilege(to_regproc('pg_catalog.pg_control_system')::oid, 'EXECUTE'), "
            + "FALSE)::int::int8"
        var place = ""
        let system =
            try connection.integer(WireStatement(isAllowed)) == 1
            ? "(SELECT system_identifier FROM pg_control_system())" : "NULL::int8"
        try connection.execute(
            WireStatement(
                "SELECT concat_ws(' ', \(system), d.oid::text) FROM pg_catalog.pg_database d WHERE d.datname = "
                    + "current_database()"
            )
        ) { place = $0.string(0) ?? "" }
        return [NSStoreTypeKey: NSPostgreSQLStoreType, NSStoreUUIDKey: identifier(of: place + " " + schema)]
    }

    /// Returns a UUID that is the same for the same text.
    private static func identifier(of text: String) -> String {
        var bytes: [UInt8] = []
        for part in ["given ", "tables "] {
            withUnsafeBytes(of: SnakeCaseNaming.hash(part + text).bigEndian) { bytes += $0 }
        }
        // The version for UUIDs of a program's own making, and their variant.
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes.withUnsafeBufferPointer { UUID(bytes: $0) }?.uuidString ?? ""
    }

    // MARK: Refusals

    /// Returns the error for an operation that external tables do not allow.
    static func refusal(_ what: String, at url: URL?, recovery: String) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "\(what): the tables of \(StoreName.path(url)) are others' (\(NSPostgreSQLGivenTablesOption)).",
            recovery: recovery, userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
    }

    static func metadataRefusal(at url: URL?) -> NSError {
        refusal(
            "Metadata cannot be written", at: url,
            recovery: "Keep what you want to know of the store in a table of the model.")
    }
}

// MARK: - Keys

extension PostgreSQLStore {
    /// Returns new keys from the existing table's own sequence. No key is taken twice, and there
    /// may be gaps between them.
    func nextExternalKeys(_ count: Int, of root: SQLEntity, _ external: ExternalTables, _ backend: PostgreSQLBackend)
        throws -> [Int64]
    {
        guard let sequence = external.sequences[root.layout.index] else {
            throw ExternalTables.refusal(
                "'\(root.layout.name)' cannot be inserted, because no sequence belongs to the key column "
                    + "'\(root.table.name).\(root.table.keyColumn)'", at: url,
                recovery:
                    "Name the sequence that its keys come from by \(ExternalNaming.Word.sequence) in the user info "
                    + "of '\(root.layout.name)'."
            )
        }
        var arguments = WireArguments(text: sequence)
        arguments.append(WireType.int8) { $0.append(Int64(count)) }
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        _ = try backend.pool.withConnection(repeats: true) { connection in
            keys.removeAll(keepingCapacity: true)
            try connection.execute(WireStatement("SELECT nextval($1::regclass) FROM generate_series(1, $2)", arguments))
            {
                keys.append($0.int64(0))
            }
        }
        return keys
    }

    /// Returns the first of a number of new keys without a gap.
    func nextExternalRun(_ count: Int, of root: SQLEntity, _ external: ExternalTables, _ backend: PostgreSQLBackend)
        throws -> Int64
    {
        // Other programs that insert at the same time cause gaps. The next attempt may have none.
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
