import Foundation

/// The tables of a store as the client library of its own database sees them, whichever that is:
/// the second path by which tests check what a store wrote, and by which they disturb one.
///
/// Statements have the names of tables and columns as PostgreSQL has them, in braces: `SELECT
/// {name}, {author_id} FROM {book}` is `SELECT name, author_id FROM book` there and `SELECT ZNAME,
/// ZAUTHOR FROM ZBOOK` in a file.
public final class StoreTables {
    private enum Database {
        case file(SQLiteFile)
        case schema(PostgreSQLTables)
    }

    private let database: Database

    /// - Parameters:
    ///   - kind: one whose stores have tables.
    ///   - url: where the store would be if it were one of SQLite.
    public init(_ kind: StoreKind, _ file: URL) {
        switch kind {
        case .sqlite: database = .file(SQLiteFile(file))
        case .postgreSQL:
            guard let url = kind.url(file) else { preconditionFailure("There is no server.") }
            database = .schema(PostgreSQLTables(url))
        case .inMemory, .xml, .binary: preconditionFailure("A store of the kind \(kind) has no tables.")
        }
    }

    /// All rows, every value as the database's text of it; a statement that fails gives one row
    /// with the message.
    public func rows(_ sql: String) -> [[String?]] {
        switch database {
        case .file(let file): file.rows(Self.translated(sql, Self.nameInFile))
        case .schema(let tables): tables.rows(Self.translated(sql) { $0 })
        }
    }

    /// The first column of every row.
    public func column(_ sql: String) -> [String?] { rows(sql).map { $0.first ?? nil } }

    /// The first value.
    public func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    /// Runs statements and tells whether they succeeded.
    @discardableResult
    public func execute(_ sql: String) -> Bool {
        switch database {
        case .file(let file): file.execute(Self.translated(sql, Self.nameInFile))
        case .schema(let tables): tables.execute(Self.translated(sql) { $0 })
        }
    }

    private static func translated(_ sql: String, _ name: (String) -> String) -> String {
        var result = ""
        for (index, part) in sql.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let end = part.firstIndex(of: "}") else {
                result += part
                continue
            }
            result += name(String(part[..<end])) + part[part.index(after: end)...]
        }
        return result
    }

    private static func nameInFile(_ name: String) -> String {
        switch name {
        case "id": return "Z_PK"
        case "entity": return "Z_ENT"
        case "version": return "Z_OPT"
        default:
            let stem = name.hasSuffix("_id") ? String(name.dropLast(3)) : name
            return "Z" + stem.replacingOccurrences(of: "_", with: "").uppercased()
        }
    }
}
