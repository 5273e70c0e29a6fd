import CoreData
import Foundation

/// Replaces older functions and triggers in the schema of a store by those of this version of the
/// package.
///
/// Functions of a later version stay: they work for older programs too.
struct PostgreSQLFunctionUpdate {
    let connection: PostgreSQLConnection
    let schema: String

    /// Returns the version of the functions in the schema. It is 0 where no function states it, or
    /// where the schema was renamed since the functions were made.
    func version() throws -> Int {
        var version = 0
        let path = "ARRAY['search_path=' || quote_ident($1::text) || ', pg_temp']"
        try connection.execute(
            statement(
                "SELECT CASE WHEN p.proconfig IS NULL OR p.proconfig @> \(path) THEN p.prosrc END FROM "
                    + "\(Self.functions) "
                    + "AND p.proname = '\(PostgreSQLFunctions.versionName)'")
        ) { row in
            // The function's source is read, so that a role that may not call it finds the version
            // too.
            let last = row.string(0)?.split(separator: " ").last
            version = last.flatMap { Int($0) } ?? 0
        }
        return version
    }

    /// Returns the role that owns the functions and may replace them.
    func owner() throws -> String? {
        try connection.texts(
            statement(
                "SELECT pg_catalog.pg_get_userbyid(p.proowner)::text FROM \(Self.functions) AND p.proname = "
                    + "'ocd_length'"
            )
        ).last
    }

    /// Replaces the functions, unless another program has done so, and rebuilds the indexes that
    /// contain results of changed functions.
    func run() throws {
        try connection.transaction {
            try PostgreSQLSchemaLock.take(connection, schema: schema)
            guard try version() < PostgreSQLFunctions.version else { return }
            try connection.liftTimeLimit()
            let former = try definitions()
            try connection.wire.run("SET LOCAL client_min_messages TO warning")
            for statement in try PostgreSQLSchema.functions(PostgreSQLDialect(for: connection)) {
                try connection.wire.run(statement)
            }
            let changed = try definitions().filter { former[$0] != nil && former[$0] != $1 }.map(\.key)
            for index in try indexes(of: changed) { try connection.wire.run("REINDEX INDEX \(index)") }
            // The triggers follow the model in the store, which may differ from the program's.
            guard let mapping = try PostgreSQLContent.mapping(connection, schema) else { return }
            let tables = PostgreSQLSchema(mapping: mapping, schema: schema)
            try tables.run(tables.triggers(replacing: true), connection)
        }
    }

    private static let functions =
        "pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND "
        + "p.prokind = 'f'"

    private func statement(_ sql: String) -> WireStatement {
        return WireStatement(sql, WireArguments(text: schema))
    }

    /// Returns the definition of each function, by its OID.
    private func definitions() throws -> [Int64: String] {
        var definitions: [Int64: String] = [:]
        try connection.execute(
            statement(
                "SELECT p.oid::int8, pg_catalog.pg_get_functiondef(p.oid) FROM \(Self.functions) AND "
                    + "left(p.proname::text, 4) = 'ocd_'"
            )
        ) { row in
            definitions[row.int64(0)] = row.string(1)
        }
        return definitions
    }

    /// Returns the indexes whose expressions call the given functions, directly or through other
    /// functions.
    private func indexes(of functions: [Int64]) throws -> [String] {
        var arguments = WireArguments()
        try arguments.append(list: functions.map(StoredValue.integer), of: WireType.int8)
        return try connection.texts(
            WireStatement(
                """
                WITH RECURSIVE changed AS (SELECT unnest($1)::oid AS id UNION SELECT d.objid FROM \
                pg_catalog.pg_depend d \
                JOIN changed c ON d.refobjid = c.id AND d.refclassid = 'pg_proc'::regclass WHERE d.classid = \
                'pg_proc'::regclass) \
                SELECT DISTINCT format('%I.%I', n.nspname, i.relname) FROM pg_catalog.pg_depend d \
                JOIN changed c ON d.refobjid = c.id AND d.refclassid = 'pg_proc'::regclass \
                JOIN pg_catalog.pg_class i ON i.oid = d.objid AND d.classid = 'pg_class'::regclass \
                JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace WHERE i.relkind = 'i' ORDER BY 1
                """, arguments)
        )
    }
}

extension PostgreSQLStore {
    /// Replaces functions of an older version of this package. Where that is not possible, the
    /// store works with the old functions.
    func updateFunctions(_ update: PostgreSQLFunctionUpdate) throws {
        let version = try update.version()
        guard version < PostgreSQLFunctions.version else { return }
        var reason = "the store is opened for reading"
        if !isReadOnly {
            do {
                return try update.run()
            } catch let error as WireError {
                if error.isConnectionLost { throw error }
                reason = error.message
            } catch { reason = error.localizedDescription }
        }
        let owner = try update.owner().map { " as the role '\($0)'" } ?? ""
        Warnings.sayOnce(about: "functions of \(StoreName.path(url))") {
            "The functions in the schema of the store \(StoreName.path(url)) are of the older version \(version), not "
                + "\(PostgreSQLFunctions.version), and could not be replaced (\(reason)): open the store with this "
                + "program for writing once\(owner)."
        }
    }
}
