import Foundation

/// Prints the statements of all SQL stores to standard error, if the program was started with
/// `-com.apple.CoreData.SQLDebug 1` or with `OPENCOREDATA_SQL_DEBUG=1` in its environment.
///
/// Each statement is a line `CoreData: sql: …` with its values, and a line
/// `CoreData: annotation: …` with the time, the number of rows and the store. From level 3 the
/// database's plan of a query is printed too.
package enum StatementLog {
    /// 0 for none.
    static let level = level(CommandLine.arguments, ProcessInfo.processInfo.environment)

    static var isOn: Bool { level > 0 }
    package static var showsPlans: Bool { level >= 3 }

    static func level(_ arguments: [String], _ environment: [String: String]) -> Int {
        let setting = LaunchSetting(variable: "OPENCOREDATA_SQL_DEBUG", argument: "-com.apple.CoreData.SQLDebug")
        return setting.text(arguments, environment).flatMap { Int($0) } ?? 0
    }

    /// The number of characters above which a statement or a value is cut.
    private static let longest = 4000

    /// Returns a text without what exceeds the limit.
    static func cut(_ text: String) -> String {
        let characters = text.unicodeScalars
        guard characters.count > longest else { return text }
        return String(String.UnicodeScalarView(characters.prefix(longest))) + "… (\(characters.count) characters)"
    }

    static func print(_ statement: ExecutedStatement, _ text: (sql: String, values: [String])) {
        var lines = "CoreData: sql: \(cut(text.sql))\n"
        if !text.values.isEmpty { lines += "CoreData: values: \(cut(text.values.joined(separator: ", ")))\n" }
        lines += "CoreData: annotation: \(Milliseconds(statement.nanoseconds)), \(statement.rows) rows, "
        write(lines + statement.store + "\n")
    }

    /// Prints the database's plan of a statement.
    package static func printPlan(_ lines: [String], of sql: String) {
        if lines.isEmpty { return }
        write("CoreData: plan of \(cut(sql))\n" + lines.map { "CoreData:   \($0)\n" }.joined())
    }

    private static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
