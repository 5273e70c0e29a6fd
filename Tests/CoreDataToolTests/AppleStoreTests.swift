import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Both commands on stores that Apple's framework wrote.
@Suite(.enabled(if: FixtureStores.arePresent, "the fixtures are not beside the repository"))
struct AppleStoreTests {
    /// The entities that `info --json` lists, in its order.
    private func entities(of path: String) throws -> [(name: String, own: Int, rows: Int)] {
        let run = ToolRun(["info", path, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let report = try #require(try run.json() as? [String: Any])
        let list = try #require(report["entities"] as? [[String: Any]])
        return list.map { ($0["name"] as? String ?? "", $0["ownRows"] as? Int ?? -1, $0["rows"] as? Int ?? -1) }
    }

    @Test(arguments: FixtureStores.all) func infoCountsTheRowsOfEveryEntity(_ fixture: String) throws {
        let workplace = try Workplace()
        let told = try entities(of: try workplace.copy(fixture))
        let counted = try Database(copyOf: fixture).entityCounts()
        #expect(told.map(\.own).sorted() == counted.map(\.own).sorted())
        func total(_ number: Int) -> Int {
            counted.filter { $0.number == number }.map(\.own).reduce(0, +)
                + counted.filter { $0.parent == number }.map { total($0.number) }.reduce(0, +)
        }
        #expect(told.map(\.rows).sorted() == counted.map { total($0.number) }.sorted())
    }

    @Test(arguments: FixtureStores.some) func queryGivesTheRowsOfEveryEntity(_ fixture: String) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(fixture)
        for entity in try entities(of: path) {
            for format in ["table", "json", "csv"] {
                let run = ToolRun(["query", path, entity.name, "--format", format])
                #expect(run.status == 0, "\(entity.name): \(run.errors)")
                #expect(run.errors.isEmpty)
                if format == "json" {
                    let rows = try run.rows()
                    #expect(rows.count == entity.rows, "\(entity.name)")
                    #expect(Set(rows.compactMap { $0["objectID"] as? String }).count == entity.rows)
                }
                if format == "table" {
                    #expect(run.lines.contains("(\(entity.rows) \(entity.rows == 1 ? "row" : "rows"))"))
                    #expect(run.lines.allSatisfy { DisplayWidth.of(String($0)) <= 120 })
                }
            }
        }
    }

    /// Without the model, the list of entities, or both, the tables still show every row.
    @Test(
        arguments: LongTests.some(7, of: FixtureStores.some + FixtureStores.swiftData),
        [
            [], ["DROP TABLE IF EXISTS Z_MODELCACHE"], ["DROP TABLE Z_PRIMARYKEY"],
            ["DROP TABLE IF EXISTS Z_MODELCACHE", "DROP TABLE Z_PRIMARYKEY"],
        ])
    func everyRowIsShownWhateverTheStoreLost(_ fixture: String, _ losses: [String]) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(fixture)
        let file = SQLiteFile(URL(fileURLWithPath: path))
        for loss in losses { #expect(file.execute(loss)) }
        let tables = file.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z[^_]*'")
            .compactMap { $0 }
        let expected = tables.compactMap { file.integer("SELECT count(*) FROM \"\($0)\"") }
        _ = file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var shown: [Int] = []
        let report = try #require(try ToolRun(["info", path, "--json"]).json() as? [String: Any])
        for entity in try #require(report["entities"] as? [[String: Any]]) {
            let name = try #require(entity["name"] as? String)
            let run = ToolRun(["query", path, name, "--format", "json"])
            if run.errors.contains("has lost the table") { continue }
            #expect(run.status == 0, "\(name): \(run.errors)")
            #expect(try run.rows().count == entity["rows"] as? Int, "\(name)")
            if entity["depth"] as? Int == 0 { shown.append(try run.rows().count) }
        }
        #expect(shown.sorted() == expected.sorted(), "\(tables)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(arguments: FixtureStores.some) func nothingBesideTheStoreChanges(_ fixture: String) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(fixture)
        let before = try workplace.contents()
        for entity in try entities(of: path) { #expect(ToolRun(["query", path, entity.name]).status == 0) }
        #expect(ToolRun(["info", path]).status == 0)
        #expect(try workplace.contents() == before)
    }

    @Test(arguments: [false, true]) func relationshipsWithoutAnInverseAreFollowed(withoutModel: Bool) throws {
        let workplace = try Workplace()
        let path = try workplace.copy(FixtureStores.carts)
        do {
            let file = SQLiteFile(URL(fileURLWithPath: path))
            #expect(
                file.execute(
                    "INSERT INTO ZCARTITEMMODEL (Z_PK, Z_ENT, Z_OPT, ZQUANTITY, Z3ITEMS, ZID) "
                        + "SELECT 1, 1, 1, 2, Z_PK, 'item' FROM ZCARTMODEL LIMIT 1"))
            if withoutModel { #expect(file.execute("DELETE FROM Z_MODELCACHE")) }
        }
        for (quantity, count) in [(2, 1), (3, 0)] {
            let run = ToolRun([
                "query", path, "CartModel", "--where", "ANY items.quantity == \(quantity)", "--format", "json",
            ])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try run.rows().count == count)
        }
    }

    @Test func noPrivateCopyIsLeftBehind() throws {
        let workplace = try Workplace()
        let file = try StoreFile(path: try workplace.copy(FixtureStores.surfJournal))
        #expect(file.isCopy)
        let folder = file.url.deletingLastPathComponent().path
        #expect(FileManager.default.fileExists(atPath: folder))
        file.close()
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func theValuesAreThoseOfTheDatabase() throws {
        let workplace = try Workplace()
        let path = try workplace.copy(FixtureStores.books)
        let database = try Database(copyOf: FixtureStores.books)
        let rows = try ToolRun(["query", path, "Book", "--format", "json"]).rows()
        let expected = database.rows(
            "SELECT b.Z_PK, ZTITLE, ZPRICE, ZAUTHOR, (SELECT count(*) FROM ZPAGE p WHERE p.ZBOOK = b.Z_PK), "
                + "strftime('%Y-%m-%dT%H:%M:%S', ZPUBLISHEDAT + 978307200, 'unixepoch') FROM ZBOOK b ORDER BY b.Z_PK")
        #expect(rows.count == expected.count)
        for (row, values) in zip(rows, expected) {
            #expect((row["objectID"] as? String)?.hasSuffix("/p" + values[0]) == true)
            #expect(row["title"] as? String == values[1])
            #expect((row["price"] as? NSNumber)?.doubleValue == Double(values[2]))
            #expect(row["author"] as? String == "Author/p" + values[3])
            #expect(row["pages"] as? Int == Int(values[4]))
            #expect((row["publishedAt"] as? String)?.prefix(16) == values[5].prefix(16))
        }
    }

    @Test func aStoreWithoutModelIsReadFromItsTables() throws {
        let workplace = try Workplace()
        let path = try workplace.copy(FixtureStores.surfJournal)
        #expect(ToolRun(["info", path]).output.contains("inferred from the tables"))
        let rows = try ToolRun([
            "query", path, "journalentry", "--where", "Rating >= 4 AND date > '2012-01-01' AND location == 'Malibu'",
            "--sort", "DATE:desc", "--format", "json",
        ]).rows()
        let expected = try Database(copyOf: FixtureStores.surfJournal).rows(
            "SELECT Z_PK FROM ZJOURNALENTRY WHERE ZRATING >= 4 AND ZDATE > 347068800 "
                + "AND ZLOCATION = 'Malibu' ORDER BY ZDATE DESC, Z_PK")
        #expect(!expected.isEmpty)
        #expect(rows.compactMap { $0["objectID"] as? String } == expected.map { "JournalEntry/p" + $0[0] })
    }

    @Test func manyToManyRelationshipsAreFoundInTheTables() throws {
        let fixture = "DuckDuckGoBookmarks/Bookmarks_V5.sqlite"
        let workplace = try Workplace()
        let file = try StoreFile(path: try workplace.copy(fixture))
        let reader = try file.reader()
        var inferred = InferredModel(try StoreCatalog(file, reader: reader), reader: reader)
        let entity = try #require(try inferred.model().entitiesByName["BookmarkEntity"])
        let favorites = try #require(entity.relationshipsByName["favorites"])
        #expect(favorites.isToMany)
        #expect(favorites.isOrdered)
        #expect(favorites.inverseRelationship?.name == "favoritefolders")
        #expect(entity.relationshipsByName["parent"]?.isToMany == false)
        #expect(entity.attributesByName["uuid"]?.attributeType == .stringAttributeType)
    }

    @Test func aModelFileTakesThePlaceOfTheModelInTheStore() throws {
        let workplace = try Workplace()
        let path = try workplace.copy(FixtureStores.surfJournal)
        let model = FixtureStores.folder.appendingPathComponent("SurfJournal/SurfJournalModel.xcdatamodeld").path
        let run = ToolRun(["query", path, "JournalEntry", "--model", model, "--limit", "1", "--format", "csv"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(ToolRun(["info", path, "--model", model]).output.contains(model))
    }

    @Test func aModelOfAnotherStoreIsRefused() throws {
        let workplace = try Workplace()
        let path = try workplace.copy(FixtureStores.books)
        let model = FixtureStores.folder.appendingPathComponent("SurfJournal/SurfJournalModel.xcdatamodeld").path
        let run = ToolRun(["query", path, "Book", "--model", model])
        #expect(run.status == 1)
        #expect(run.errors.contains("No version of the model"))
    }

    @Test func anEntityThatWasRenamedHasItsNewName() throws {
        let workplace = try Workplace()
        let path = try workplace.copy("CoreDataPlus/SampleModel/Fixtures/SampleModel_V2.sqlite")
        #expect(ToolRun(["info", path]).output.contains("    LuxuryCar"))
    }

    @Test func damagedStoresAreRefusedOrReadButNeverCrash() throws {
        let workplace = try Workplace()
        let content = try Data(
            contentsOf: FixtureStores.folder.appendingPathComponent(
                "CoreDataPlus/SampleModel/Fixtures/SampleModel_V1.sqlite"))
        var generator = SeededGenerator(seed: 7)
        for round in 0..<(LongTests.areEnabled ? 40 : 12) {
            var damaged = content
            if round % 4 == 0 {
                damaged = damaged.prefix(Int.random(in: 100..<content.count, using: &generator))
            } else {
                for _ in 0..<(1 << (round % 9)) {
                    damaged[Int.random(in: 100..<damaged.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
            }
            let path = try workplace.file("damaged.sqlite", Data(damaged))
            for arguments in [["info", path], ["query", path, "Car", "--format", "json"]] {
                let run = ToolRun(arguments)
                #expect(run.status == 0 || (run.status == 1 && run.errors.hasPrefix("coredata: ")))
            }
        }
    }
}
