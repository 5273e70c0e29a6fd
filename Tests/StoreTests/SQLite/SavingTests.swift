import TestSupport
import Testing

@testable import CoreData

/// Saves, conflicts and constraints (behaviours 208 to 223), checked through the sqlite3 library.
struct SavingTests {
    let folder: TemporaryFolder
    let open: OpenStore
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("company.sqlite")
        open = try OpenStore(model: TestModel.company(), url: url)
    }

    private var raw: SQLiteFile { SQLiteFile(url) }

    @Test func theVersionOfARowGrowsByOneWithEachSave() throws {
        let inserted = try open.insert("Employee", ["name": .string("Anna"), "age": .integer(30)])
        #expect(inserted.version == 1)
        var batch = SaveBatch()
        batch.updates = [open.change("Employee", inserted.key, ["age": .integer(31)], base: inserted)]
        let updated = try #require(open.firstSnapshot(try open.store.save(batch).updated))
        #expect(updated.version == 2)
        #expect(updated.string(updated.layout.slotByName["name"]!) == "Anna")
        #expect(raw.rows("SELECT Z_OPT, ZAGE, ZNAME FROM ZEMPLOYEE") == [["2", "31", "Anna"]])
    }

    @Test func aRowThatChangedUnderneathIsAConflictAndNothingIsWritten() throws {
        let first = try open.insert("Employee", ["name": .string("Anna")])
        let second = try open.insert("Employee", ["name": .string("Bob")])
        raw.execute("UPDATE ZEMPLOYEE SET Z_OPT = 7, ZNAME = 'changed' WHERE Z_PK = \(second.key)")
        var batch = SaveBatch()
        batch.updates = [
            open.change("Employee", first.key, ["name": .string("x")], base: first),
            open.change("Employee", second.key, ["name": .string("y")], base: second),
        ]
        let conflicts = #expect(throws: SaveConflicts.self) { try open.store.save(batch) }
        #expect(conflicts?.rows.map(\.index) == [1])
        let current = try #require(conflicts?.rows.first?.current)
        #expect(current.version == 7)
        #expect(current.string(current.layout.slotByName["name"]!) == "changed")
        #expect(raw.rows("SELECT ZNAME FROM ZEMPLOYEE ORDER BY Z_PK") == [["Anna"], ["changed"]])
    }

    @Test func aDeletedRowIsAConflictWithoutACurrentRow() throws {
        let row = try open.insert("Tag", ["name": .string("red")])
        raw.execute("DELETE FROM ZTAG")
        var batch = SaveBatch()
        batch.deletes = [open.change("Tag", row.key, [:], base: row)]
        let conflicts = #expect(throws: SaveConflicts.self) { try open.store.save(batch) }
        #expect(conflicts?.rows.count == 1)
        #expect(conflicts?.rows.first?.current == nil)
    }

    @Test func aSecondRowWithTheValuesOfAConstraintIsAViolation() throws {
        let badge = UUID()
        let row = try open.insert("Employee", ["badge": .uuid(badge)])
        var batch = SaveBatch()
        batch.inserts = [
            open.change("Manager", try open.store.reserveKeys(1, for: open.layout("Manager")), ["badge": .uuid(badge)])
        ]
        let conflicts = #expect(throws: SaveConflicts.self) { try open.store.save(batch) }
        let violation = try #require(conflicts?.violations.first)
        #expect(violation.constraint == ["badge"])
        #expect(violation.existing?.key == row.key)
        #expect(violation.inserts == [0])
        #expect(violation.layout === open.layout("Employee"))
        #expect(raw.value("SELECT count(*) FROM ZEMPLOYEE") == "1")
    }

    @Test func twoNewRowsWithOneUniqueValueAreReportedTogether() throws {
        let badge = UUID()
        let first = try open.store.reserveKeys(2, for: open.layout("Employee"))
        var batch = SaveBatch()
        batch.inserts = [
            open.change("Employee", first, ["badge": .uuid(badge)]),
            open.change("Employee", first + 1, ["badge": .uuid(badge)]),
        ]
        let conflicts = #expect(throws: SaveConflicts.self) { try open.store.save(batch) }
        #expect(conflicts?.violations.first?.existing == nil)
        #expect(conflicts?.violations.first?.inserts == [0, 1])
    }

    @Test func uniqueValuesMoveBetweenRowsInOneSave() throws {
        let (one, two, three) = (UUID(), UUID(), UUID())
        let first = try open.insert("Employee", ["badge": .uuid(one), "name": .string("1")])
        let second = try open.insert("Employee", ["badge": .uuid(two), "name": .string("2")])
        let third = try open.insert("Employee", ["badge": .uuid(three), "name": .string("3")])
        var batch = SaveBatch()
        batch.updates = [
            open.change("Employee", first.key, ["badge": .uuid(two)], base: first),
            open.change("Employee", second.key, ["badge": .uuid(one)], base: second),
        ]
        batch.deletes = [open.change("Employee", third.key, [:], base: third)]
        batch.inserts = [
            open.change(
                "Employee", try open.store.reserveKeys(1, for: open.layout("Employee")), ["badge": .uuid(three)])
        ]
        _ = try open.store.save(batch)
        let hex = { (uuid: UUID) in uuid.uuidString.replacingOccurrences(of: "-", with: "") }
        #expect(
            raw.rows("SELECT ZBADGE, Z_OPT FROM ZEMPLOYEE ORDER BY Z_PK") == [
                [hex(two), "2"], [hex(one), "2"], [hex(three), "1"],
            ])
    }

    @Test func keysNeverCollideWithRowsAboveZMax() throws {
        raw.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (50, 4, 1, 'by hand')")
        #expect(try open.store.reserveKeys(3, for: open.layout("Tag")) == 51)
        #expect(try open.store.reserveKeys(1, for: open.layout("Tag")) == 54)
        #expect(raw.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "54")
    }

    @Test func derivedCountsReachTheSnapshotsOfTheSave() throws {
        let keys = try open.store.reserveKeys(1, for: open.layout("Department"))
        let employee = try open.store.reserveKeys(2, for: open.layout("Employee"))
        var batch = SaveBatch()
        batch.inserts = [
            open.change("Employee", employee, ["department": open.reference("Department", keys)]),
            open.change("Department", keys, ["name": .string("Sales")]),
            open.change("Employee", employee + 1, ["department": open.reference("Department", keys)]),
        ]
        let outcome = try open.store.save(batch)
        let department = withExtendedLifetime(outcome.inserted.pages) { Snapshot(retaining: outcome.inserted.rows[1]) }
        guard case .integer(let count) = department.value(department.layout.slotByName["headcount"]!) else {
            Issue.record("no count")
            return
        }
        #expect(count == 2)
        #expect(raw.value("SELECT ZHEADCOUNT FROM ZDEPARTMENT") == "2")
    }

    @Test func largeValuesGoToFilesThatComeAndGoWithTheirRows() throws {
        let large = Data(repeating: 7, count: 200_000)
        let row = try open.insert("Employee", ["photo": .data(large), "name": .string("Anna")])
        let small = try open.insert("Employee", ["photo": .data(Data([1, 2, 3]))])
        let folder = ExternalFiles(storeURL: url).folder
        #expect(folder.path.hasSuffix(".company_SUPPORT/_EXTERNAL_DATA"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        #expect(raw.value("SELECT ZPHOTO FROM ZEMPLOYEE WHERE Z_PK = \(small.key)") == "01010203")
        #expect(raw.value("SELECT ZPHOTO FROM ZEMPLOYEE WHERE Z_PK = \(row.key)")?.hasPrefix("02") == true)
        let read = try open.store.readRows([row.key], of: open.layout("Employee"))
        let snapshot = try #require(open.firstSnapshot(read))
        #expect(snapshot.data(snapshot.layout.slotByName["photo"]!) == large)
        var batch = SaveBatch()
        batch.deletes = [open.change("Employee", row.key, [:], base: row)]
        _ = try open.store.save(batch)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aRefusedSaveLeavesNoFiles() throws {
        let badge = UUID()
        _ = try open.insert("Employee", ["badge": .uuid(badge)])
        #expect(throws: SaveConflicts.self) {
            try open.insert("Employee", ["badge": .uuid(badge), "photo": .data(Data(repeating: 1, count: 200_000))])
        }
        let folder = ExternalFiles(storeURL: url).folder
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).isEmpty)
    }

    @Test func orderedDestinationsKeepSparsePositions() throws {
        let owner = try open.insert("Employee", ["name": .string("Anna")])
        let layout = open.layout("Employee")
        let tasks = layout.slots[layout.slotByName["tasks"]!]
        let keys = try ["a", "b", "c"].map {
            try open.insert("Task", ["name": .string($0), "owner": open.reference("Employee", owner.key)]).key
        }
        func references(_ keys: [Int64]) -> [RowReference] {
            keys.map { RowReference(key: $0, layoutIndex: open.layout("Task").index) }
        }
        var batch = SaveBatch()
        batch.relationshipChanges = [
            RelationshipChange(layout: layout, slot: tasks.index, ownerKey: owner.key, added: references(keys))
        ]
        _ = try open.store.save(batch)
        #expect(raw.rows("SELECT Z_FOK_OWNER FROM ZTASK ORDER BY Z_PK") == [["2048"], ["3072"], ["4096"]])
        var move = RelationshipChange(layout: layout, slot: tasks.index, ownerKey: owner.key)
        move.order = references([keys[2], keys[0], keys[1]])
        var second = SaveBatch()
        second.relationshipChanges = [move]
        _ = try open.store.save(second)
        let rows = try open.store.relatedRows(to: owner.key, through: tasks, of: layout)
        defer { withExtendedLifetime(rows.pages) {} }
        #expect(rows.rows.map(\.rowKey) == [keys[2], keys[0], keys[1]])
    }

    @Test func manyToManyPairsStandInTheJoinTable() throws {
        let owner = try open.insert("Employee", ["name": .string("Anna")])
        let tag = try open.insert("Tag", ["name": .string("red")])
        let layout = open.layout("Tag")
        let slot = layout.slots[layout.slotByName["employees"]!]
        var batch = SaveBatch()
        let reference = RowReference(key: owner.key, layoutIndex: open.layout("Employee").index)
        batch.relationshipChanges = [
            RelationshipChange(layout: layout, slot: slot.index, ownerKey: tag.key, added: [reference])
        ]
        _ = try open.store.save(batch)
        #expect(raw.rows("SELECT Z_2EMPLOYEES, Z_4TAGS FROM Z_2TAGS") == [[String(owner.key), String(tag.key)]])
        let related = try open.store.relatedRows(toAll: [tag.key], through: slot, of: layout)
        defer { withExtendedLifetime(related.rows.pages) {} }
        #expect(related.ownerKeys == [tag.key])
        #expect(related.rows.rows.map(\.rowKey) == [owner.key])
        var delete = SaveBatch()
        delete.deletes = [open.change("Tag", tag.key, [:], base: tag)]
        _ = try open.store.save(delete)
        #expect(raw.value("SELECT count(*) FROM Z_2TAGS") == "0")
    }

    @Test func metadataReachesTheFileWithTheNextSave() throws {
        open.store.metadata["color"] = "blue"
        #expect(try SQLiteStore.metadataForPersistentStore(with: url)["color"] == nil)
        try open.insert("Tag", [:])
        #expect(try SQLiteStore.metadataForPersistentStore(with: url)["color"] as? String == "blue")
        try SQLiteStore.setMetadata(["color": "red"], forPersistentStoreAt: url)
        let read = try SQLiteStore.metadataForPersistentStore(with: url)
        #expect(read["color"] as? String == "red")
        #expect(read[NSStoreUUIDKey] as? String == open.store.identifier)
    }

    @Test func historyTablesAreMadeOnDemand() throws {
        let url = folder.file("history.sqlite")
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let row = try open.insert("Employee", ["name": .string("Anna")])
        var batch = SaveBatch()
        batch.author.transactionAuthor = "importer"
        batch.updates = [open.change("Employee", row.key, ["age": .integer(1)], base: row)]
        _ = try open.store.save(batch)
        let raw = SQLiteFile(url)
        #expect(
            raw.rows("SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS NOT NULL FROM ACHANGE")
                == [["0", "2", "1", "1", "0"], ["1", "2", "1", "2", "1"]])
        #expect(
            raw.value("SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON t.ZAUTHORTS = s.Z_PK")
                == "importer")
    }

    @Test func aDecimalKeepsItsDigits() throws {
        let open = try OpenStore(model: TestModel.company(), url: folder.file("decimals.sqlite"))
        let value = try #require(Decimal(string: "1234567890123.0625"))
        try open.insert("Employee", ["salary": .decimal(value)])
        let layout = open.layout("Employee")
        #expect(try open.strings("Employee", "salary") == ["1234567890123.0625"])
        var plan = StoreFetch(entity: layout)
        plan.shape = .dictionaries
        plan.columns = StoreFetch.DictionaryColumns(properties: ["salary"])
        guard case .dictionaries(let results) = try open.store.fetch(plan) else { return }
        #expect(results.first?["salary"] as? NSDecimalNumber == NSDecimalNumber(decimal: value))
    }

    @Test func dictionariesHoldThePlainBytesOfExternalValues() throws {
        let open = try OpenStore(model: TestModel.company(), url: folder.file("external.sqlite"))
        let small = Data([2, 1, 7])
        let large = Data(repeating: 9, count: 150_000)
        try open.insert("Employee", ["age": .integer(1), "photo": .data(small)])
        try open.insert("Employee", ["age": .integer(2), "photo": .data(large)])
        var plan = StoreFetch(entity: open.layout("Employee"))
        plan.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        plan.shape = .dictionaries
        plan.columns = StoreFetch.DictionaryColumns(properties: ["photo"])
        guard case .dictionaries(let results) = try open.store.fetch(plan) else { return }
        #expect(results.map { $0["photo"] as? Data } == [small, large])
    }
}
