import TestSupport
import Testing

@testable import CoreData

/// What a program prints of its statements.
struct StatementLogTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("makers.sqlite").path
        _ = try run(level: nil)
        try SQLiteFile(folder.file("makers.sqlite")).run(
            "INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'it''s')")
    }

    /// Runs a program that fetches the makers, changes their names and saves.
    private func run(level: Int?) throws -> String {
        let variables = level.map { ["OPENCOREDATA_SQL_DEBUG=\($0)"] } ?? []
        return try ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"), variables + [OtherProgram.url.path, "open", "writable", path]
        ).output
    }

    private func statements(_ output: String, _ beginning: String) -> [Substring] {
        output.split(separator: "\n").filter { $0.hasPrefix("CoreData: sql: " + beginning) }
    }

    @Test func withoutALevelNothingIsPrinted() throws {
        #expect(try run(level: nil) == "names: it's\nsaved\n")
        #expect(try run(level: 0) == "names: changed\nsaved\n")
    }

    @Test func statementsHaveTheirValues() throws {
        let output = try run(level: 1)
        #expect(statements(output, "SELECT").contains { $0.contains("FROM ZMAKER") })
        let update = try #require(statements(output, "UPDATE ZMAKER").first)
        #expect(update.contains("'changed'"))
        #expect(!update.contains("?"))
        #expect(!output.contains("CoreData: plan"))
    }

    @Test func aStatementIsFollowedByItsTimeAndRows() throws {
        let lines = try run(level: 1).split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("sql: SELECT") && $0.contains("FROM ZMAKER") })
        let note = String(lines[place + 1])
        #expect(note.hasPrefix("CoreData: annotation: "))
        #expect(note.contains(" ms, 1 rows, "))
        #expect(note.hasSuffix("makers.sqlite"))
    }

    @Test func plansComeFromLevelThree() throws {
        let lines = try run(level: 3).split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.hasPrefix("CoreData: plan of SELECT") && $0.contains("ZMAKER") })
        #expect(lines[place + 1].contains("SCAN"))
        #expect(!lines.contains { $0.contains("sql: EXPLAIN") })
    }

    @Test func theLevelIsAnArgumentOrAVariable() {
        let argument = ["program", "-com.apple.CoreData.SQLDebug", "3"]
        #expect(StatementLog.level([], [:]) == 0)
        #expect(StatementLog.level(argument, [:]) == 3)
        #expect(StatementLog.level([], ["OPENCOREDATA_SQL_DEBUG": "1"]) == 1)
        #expect(StatementLog.level(argument, ["OPENCOREDATA_SQL_DEBUG": "1"]) == 1)
        #expect(StatementLog.level(Array(argument.dropLast()), [:]) == 0)
        #expect(StatementLog.level([], ["OPENCOREDATA_SQL_DEBUG": "much"]) == 0)
    }

    @Test func longStatementsAreCut() {
        let text = String(repeating: "ä", count: 4000)
        #expect(StatementLog.cut(text) == text)
        #expect(StatementLog.cut(text + "bc") == text + "… (4002 characters)")
    }
}
