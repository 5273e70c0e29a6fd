import CPostgreSQL
import Foundation

/// A schema as PostgreSQL's own client library sees it: the second path by which tests check what a
/// store wrote, and by which they disturb one. Every value is the server's text of it.
public final class PostgreSQLTables {
    /// A statement that failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let schema: String
    private let connection: OpaquePointer?

    /// Opens a connection to the schema that a store's URL names.
    public init(_ url: URL) {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        schema = components?.queryItems?.first { $0.name == "ocd.schema" }?.value ?? "core_data"
        let database = components.map { String($0.path.dropFirst()) }
        connection = PQconnectdb(PostgreSQLServer.shared?.connectionString(database: database) ?? "")
        execute(
            "SET client_min_messages TO warning; SET search_path TO \"\(schema)\", pg_catalog; SET TimeZone TO 'UTC'")
    }

    deinit { PQfinish(connection) }

    /// The number of the server's process for this connection.
    public var processID: Int32 { PQbackendPID(connection) }

    /// All rows; a statement that fails gives one row with the message.
    public func rows(_ sql: String) -> [[String?]] {
        do { return try result(sql) } catch { return [["error: \(error)"]] }
    }

    /// All rows, or those of the last of several statements.
    ///
    /// - Throws: `Failure` when a statement fails.
    public func result(_ sql: String) throws -> [[String?]] {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            throw Failure(description: String(cString: PQerrorMessage(connection)))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1
                    ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    /// The first column of every row.
    public func column(_ sql: String) -> [String?] { rows(sql).map { $0.first ?? nil } }

    /// The first value.
    public func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    public func integer(_ sql: String) -> Int? { value(sql).flatMap { Int($0) } }

    /// Runs statements and tells whether they succeeded.
    @discardableResult
    public func execute(_ sql: String) -> Bool { (try? result(sql)) != nil }

    /// The names of the schema's tables.
    public var tables: [String] {
        column(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = to_regnamespace('\"\(schema)\"') AND relkind IN "
                + "('r', 'p') "
                + "ORDER BY c.relname COLLATE \"C\""
        ).compactMap { $0 }
    }

    /// Every row of every table.
    public var content: [String: [[String?]]] {
        var content = ["structure": structure]
        for table in tables { content[table] = rows("SELECT t::text FROM \"\(table)\" t ORDER BY 1 COLLATE \"C\"") }
        return content
    }

    /// Columns, constraints, indexes, triggers and functions, each as one row.
    public var structure: [[String?]] {
        let own = "= to_regnamespace('\"\(schema)\"')"
        return rows(
            """
            SELECT 'column', c.relname::text, a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || \
            a.attnotnull || ' ' \
            || coalesce(o.collname::text, '') || ' ' || a.attstorage::text || ' ' || coalesce(pg_get_expr(d.adbin, \
            d.adrelid), '') AS what \
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_collation o ON o.oid = \
            a.attcollation \
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
            WHERE c.relnamespace \(own) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped \
            UNION ALL SELECT 'constraint', r.relname, k.conname || ' ' || pg_get_constraintdef(k.oid) FROM \
            pg_constraint k \
            JOIN pg_class r ON r.oid = k.conrelid WHERE k.connamespace \(own) AND k.contype <> 'n' \
            UNION ALL SELECT 'index', tablename, replace(indexdef, schemaname, '') FROM pg_indexes WHERE schemaname = \
            '\(schema)' \
            UNION ALL SELECT 'trigger', r.relname, replace(pg_get_triggerdef(t.oid), '\(schema)', '') FROM pg_trigger \
            t \
            JOIN pg_class r ON r.oid = t.tgrelid WHERE r.relnamespace \(own) AND NOT t.tgisinternal \
            UNION ALL SELECT 'function', p.proname, replace(p.prosrc, '\(schema)', '') FROM pg_proc p WHERE \
            p.pronamespace \(own) ORDER BY 1, 2, 3
            """)
    }
}
