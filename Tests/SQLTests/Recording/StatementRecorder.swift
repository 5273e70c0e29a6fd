import CSQLite
import Foundation
import Synchronization

/// Writes down the statements that SQLite runs on one database file, whoever runs them.
///
/// SQLite itself tells them: a hook that it calls for every connection of the process asks it for
/// the statements of those to the file.
final class StatementRecorder: Sendable {
    private let lines = Mutex<[String]>([])

    /// The recorders by the path of their file, which live as long as the process: SQLite refers to
    /// them.
    private static let recorders = Mutex<[String: StatementRecorder]>([:])

    private typealias Hook =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
        ) -> Int32

    private static let isHooked: Bool = {
        let hook: Hook = { database, _, _ in
            guard let path = sqlite3_db_filename(database, "main").map({ String(cString: $0) }),
                let recorder = recorders.withLock({ $0[path] })
            else { return SQLITE_OK }
            sqlite3_trace_v2(
                database, UInt32(SQLITE_TRACE_STMT),
                { _, context, statement, text in
                    guard let context, let text else { return 0 }
                    let sql = String(cString: text.assumingMemoryBound(to: CChar.self))
                    // Retained by the table of recorders.
                    Unmanaged<StatementRecorder>.fromOpaque(context).takeUnretainedValue().note(
                        sql, statement.map(OpaquePointer.init))
                    return 0
                }, Unmanaged.passUnretained(recorder).toOpaque())
            return SQLITE_OK
        }
        // SQLite declares the hook without its parameters, with which it calls it.
        return sqlite3_auto_extension(unsafeBitCast(hook, to: (@convention(c) () -> Void).self)) == SQLITE_OK
    }()

    /// Begins to write down what connections to a file run that are opened from now on.
    init(_ url: URL) {
        _ = Self.isHooked
        let path = url.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(
            url.lastPathComponent
        ).path
        Self.recorders.withLock { $0[path] = self }
    }

    private func note(_ sql: String, _ statement: OpaquePointer?) {
        // Comments tell of the triggers that run.
        if ["--", "PRAGMA", "ANALYZE", "VACUUM"].contains(where: sql.hasPrefix) { return }
        let hasChance = ["Z_METADATA", "Z_MODELCACHE", "ATRANSACTION"].contains(where: sql.contains)
        var line = sql
        if !hasChance, let expanded = sqlite3_expanded_sql(statement) {
            line = String(cString: expanded)
            sqlite3_free(expanded)
            if line != sql { line = sql + "\n    " + line }
        }
        lines.withLock { lines in
            var place = lines.endIndex
            if Self.hasNoPlace(sql) {
                line = Self.sorted(line)
                while place > 0, Self.hasNoPlace(lines[place - 1]), lines[place - 1] > line { place -= 1 }
            }
            lines.insert(line, at: place)
        }
    }

    /// Whether a statement is one of several that run in no particular order: rows that triggers
    /// have changed are read, and the history is changed at a migration, entity by entity.
    private static func hasNoPlace(_ sql: String) -> Bool {
        sql.hasPrefix("SELECT") && sql.contains("Z_PK IN (SELECT value FROM json_each(?))")
            || sql.hasPrefix("UPDATE ACHANGE SET ZCOLUMNS")
    }

    /// The statement with the keys of its list in ascending order.
    private static func sorted(_ line: String) -> String {
        guard let start = line.range(of: "json_each('["),
            let end = line.range(of: "]')", range: start.upperBound..<line.endIndex)
        else {
            return line
        }
        let keys = line[start.upperBound..<end.lowerBound].split(separator: ",").compactMap { Int64($0) }.sorted()
        return line.replacingCharacters(
            in: start.upperBound..<end.lowerBound, with: keys.map(String.init).joined(separator: ","))
    }

    /// Begins a part with a name of its own.
    func note(_ title: String) { lines.withLock { $0.append("\n-- " + title) } }

    /// Forgets everything.
    func clear() { lines.withLock { $0 = [] } }

    var text: String { lines.withLock { $0.joined(separator: "\n") } + "\n" }
}
