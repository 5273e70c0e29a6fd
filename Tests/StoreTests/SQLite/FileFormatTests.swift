import TestSupport
import Testing

@testable import CoreData

/// The tables that stores of Apple's framework have, and their rows.
@Suite(.enabled(if: Fixture.areHere, "the stores of Apple's framework are not beside this repository"))
struct FileFormatTests {
    private func model(of url: URL) throws -> NSManagedObjectModel {
        try #require(try SQLiteStore.cachedModel(at: url))
    }

    private func tables(_ database: SQLiteFile, _ type: String = "table") -> [String: String] {
        var result: [String: String] = [:]
        let rows = database.rows(
            "SELECT name, sql FROM sqlite_master WHERE type = '\(type)' AND sql NOT NULL AND tbl_name NOT LIKE 'A%'")
        for row in rows { result[row[0] ?? ""] = row[1] ?? "" }
        return result
    }

    @Test(arguments: Fixture.allCases)
    func aNewStoreHasTheTablesThatApplesFrameworkMakes(fixture: Fixture) throws {
        let folder = try TemporaryFolder()
        let original = try fixture.copy(to: folder)
        let new = folder.file("new.sqlite")
        try OpenStore(model: try model(of: original), url: new).close()
        let expected = SQLiteFile(original)
        let made = SQLiteFile(new)
        if fixture == .sampleModelV2 {
            // Made by a migration, which appends columns.
            for (name, _) in tables(expected) {
                let columns = { (database: SQLiteFile) in
                    Set(database.rows("SELECT name, type FROM pragma_table_info('\(name)')").map { "\($0)" })
                }
                #expect(columns(made) == columns(expected))
            }
            #expect(Set(tables(made).keys) == Set(tables(expected).keys))
        } else {
            #expect(tables(made) == tables(expected))
        }
        #expect(tables(made, "trigger") == tables(expected, "trigger"))
        #expect(Set(tables(made, "index").values) == Set(tables(expected, "index").values))
        let keys = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1"
        // The migrated store keeps the former name of a renamed entity.
        if fixture != .sampleModelV2 { #expect(made.rows(keys) == expected.rows(keys)) }
        #expect(made.value("PRAGMA auto_vacuum") == "2")
        #expect(made.value("PRAGMA page_size") == "4096")
        #expect(made.value("PRAGMA journal_mode") == "wal")
    }

    // One store has ten times as many rows as all others together.
    @Test(arguments: Fixture.allCases.filter { LongTests.areEnabled || $0 != .sampleModel2V1 })
    func everyRowOfAStoreOfApplesFrameworkIsReadAsItStands(fixture: Fixture) throws {
        let folder = try TemporaryFolder()
        let url = try fixture.copy(to: folder)
        let raw = SQLiteFile(url)
        let open = try OpenStore(model: try model(of: url), url: url)
        let mapping = try open.store.backend().mapping
        for table in mapping.tables {
            let rows = try open.rows(table.root.name)
            defer { withExtendedLifetime(rows.pages) {} }
            #expect(rows.rows.count == Int(raw.value("SELECT count(*) FROM \(table.name)") ?? "-1"))
            for row in rows.rows {
                let snapshot = Snapshot(retaining: row)
                let entity = try #require(mapping.entity(snapshot.layout))
                let columns = entity.columns.enumerated().compactMap { index, column in column.map { (index, $0) } }
                let list = columns.map { "\"\($0.1.name)\"" }.joined(separator: ", ")
                let expected = try #require(
                    raw.rows(
                        "SELECT Z_ENT, Z_OPT\(list.isEmpty ? "" : ", ")\(list) FROM \(table.name) WHERE Z_PK = "
                            + "\(snapshot.key)"
                    )
                    .first)
                #expect(expected[0] == String(entity.number))
                #expect(Int64(expected[1] ?? "0") == snapshot.version)
                for (position, (slot, column)) in columns.enumerated() {
                    let text = expected[position + 2]
                    switch snapshot.value(slot) {
                    case .null: #expect(text == nil)
                    case .integer(let integer): #expect(text == String(integer))
                    case .double(let double): #expect(abs((text.flatMap(Double.init) ?? .nan) - double) < 1e-6)
                    case .string(let string): #expect(text == string)
                    case .decimal(let decimal): #expect(text.flatMap { Decimal(string: $0) } == decimal)
                    case .uuid(let uuid): #expect(text == uuid.uuidString.replacingOccurrences(of: "-", with: ""))
                    case .data(let data):
                        let hex = data.hexadecimal
                        #expect(column.allowsExternalStorage ? text?.hasSuffix(hex) == true : text == hex)
                    case .reference(let reference): #expect(text == String(reference.key))
                    }
                }
            }
        }
    }

    @Test func orderedRelationshipsComeInTheOrderOfTheStore() throws {
        let folder = try TemporaryFolder()
        let url = try Fixture.bookmarksV5.copy(to: folder)
        let open = try OpenStore(model: try model(of: url), url: url)
        let layout = open.layout("BookmarkEntity")
        let children = layout.slots[try #require(layout.slotByName["children"])]
        let rows = try open.store.relatedRows(to: 4, through: children, of: layout)
        defer { withExtendedLifetime(rows.pages) {} }
        #expect(rows.rows.map(\.rowKey) == [7, 2, 9].filter { rows.rows.map(\.rowKey).contains($0) })
        #expect(rows.rows.count == 3)
        let favorites = layout.slots[try #require(layout.slotByName["favorites"])]
        let favorite = try open.store.relatedRows(to: 6, through: favorites, of: layout)
        defer { withExtendedLifetime(favorite.pages) {} }
        let raw = SQLiteFile(url)
        let expected = raw.rows(
            "SELECT Z_1FAVORITES FROM Z_1FAVORITES WHERE Z_1FAVORITEFOLDERS = 6 ORDER BY Z_FOK_1FAVORITES")
        #expect(favorite.rows.map { String($0.rowKey) } == expected.map { $0[0] })
    }

    @Test func aStoreWithHistoryGetsATransactionForEachSave() throws {
        let folder = try TemporaryFolder()
        let url = try Fixture.sampleModel2V2.copy(to: folder)
        let open = try OpenStore(model: try model(of: url), url: url, options: [NSPersistentHistoryTrackingKey: true])
        let raw = SQLiteFile(url)
        let before = Int(raw.value("SELECT max(Z_PK) FROM ATRANSACTION") ?? "0") ?? 0
        let inserted = try open.insert("Feedback", ["comment": .string("good")])
        #expect(
            raw.rows("SELECT Z_ENT, ZPROCESSIDTS NOT NULL FROM ATRANSACTION WHERE Z_PK = \(before + 1)") == [
                ["16002", "1"]
            ])
        #expect(
            raw.rows("SELECT Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = \(before + 1)")
                == [["16001", "0", "3", String(inserted.key)]])
    }

    @Test func aPageThatMovesCountsInItsBookAndTheSnapshotFollows() throws {
        let folder = try TemporaryFolder()
        let url = try Fixture.sampleModel2V2.copy(to: folder)
        let open = try OpenStore(model: try model(of: url), url: url, options: [NSPersistentHistoryTrackingKey: true])
        let raw = SQLiteFile(url)
        try open.insert(
            "Page", ["book": open.reference("Book", 1), "isBookmarked": .integer(0), "number": .integer(7)])
        #expect(raw.value("SELECT ZPAGESCOUNT FROM ZBOOK WHERE Z_PK = 1") == "2")
        let book = open.layout("Book")
        let rows = try open.store.readRows([1], of: book)
        let slot = try #require(book.slotByName["pagesCount"])
        let snapshot = try #require(open.firstSnapshot(rows))
        #expect(Int64(bitPattern: snapshot.row[slot]) == 2)
    }
}
