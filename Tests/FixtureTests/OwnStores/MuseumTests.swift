import CoreData
import TestSupport
import Testing

/// A store of framework 849: identifiers, addresses, files beside the store, constraints, and a
/// history without a table of texts.
struct MuseumTests {
    let store: OpenedStore

    init() throws { store = try OpenedStore(.museum, isTracked: true) }

    private var externalFolder: URL { store.folder.file(".Museum849_SUPPORT/_EXTERNAL_DATA") }

    private func externalFiles() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: externalFolder.path).sorted()) ?? []
    }

    @Test func theValuesAreThoseOfTheRowsAndOfTheFile() throws {
        let amphora = try store.object("Exhibit", 1)
        #expect(amphora.text("label") == "Amphora")
        #expect(amphora.number("weight") == 2.5)
        #expect(amphora.value(forKey: "code") as? UUID == UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(amphora.value(forKey: "page") as? URL == URL(string: "https://example.org/amphora?size=large"))
        #expect(amphora.value(forKey: "tags") as? [String] == ["old", "red"])
        // The first byte of an attribute with external storage says where the rest is; of another
        // one it is a value.
        #expect(amphora.value(forKey: "scan") as? Data == Data([0x0A, 0x0B, 0x0C]))
        #expect(amphora.value(forKey: "sketch") as? Data == Data([0x01, 0x0A, 0x0B, 0x0C]))
        let bust = try store.object("Exhibit", 2)
        #expect(bust.value(forKey: "scan") as? Data == OwnStore.scan)
        #expect(bust.value(forKey: "weight") == nil)
        #expect(bust.value(forKey: "page") == nil)
        #expect(bust.value(forKey: "tags") == nil)
        let unnamed = try store.object("Exhibit", 3)
        #expect(unnamed.value(forKey: "label") == nil)
        #expect(unnamed.number("weight") == 0.125)
        #expect(unnamed.value(forKey: "scan") == nil)
        #expect(unnamed.value(forKey: "sketch") as? Data == Data([2]))
        #expect(try store.object("Room", 1).number("floor") == -1)
        #expect(try store.object("Room", 1).many("exhibits") == [1, 2])
        #expect(try store.object("Room", 2).text("name") == "Ivory")
        #expect(try store.object("Room", 2).many("exhibits") == [])
        #expect(unnamed.one("room") == nil)
        #expect(bust.one("room") == "Room/p1")
    }

    @Test func valuesOfEachTypeAreWrittenAsTheRowsHaveThem() throws {
        let exhibit = try store.object("Exhibit", 3)
        exhibit.setValue(UUID(uuidString: "0F0E0D0C-0B0A-0908-0706-050403020100"), forKey: "code")
        exhibit.setValue(URL(string: "https://example.org/%C3%A9"), forKey: "page")
        exhibit.setValue(Data([9, 8]), forKey: "scan")
        exhibit.setValue(Data([9, 8]), forKey: "sketch")
        exhibit.setValue(try store.object("Room", 2), forKey: "room")
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_OPT, ZROOM, ZPAGE, ZCODE, ZSCAN, ZSKETCH FROM ZEXHIBIT WHERE Z_PK = 3") == [
                ["2", "2", "https://example.org/%C3%A9", "0F0E0D0C0B0A09080706050403020100", "010908", "0908"]
            ])
    }

    @Test func aLongValueGoesToAFileThatTheRowNames() throws {
        let content = Data(repeating: 0x5A, count: 150_000)
        try store.object("Exhibit", 1).setValue(content, forKey: "scan")
        try store.context.save()
        let cell = try #require(try store.file.cells("SELECT ZSCAN FROM ZEXHIBIT WHERE Z_PK = 1").first?.first?.blob)
        #expect(cell.first == 2)
        #expect(cell.last == 0)
        let name = String(decoding: cell.dropFirst().dropLast(), as: UTF8.self)
        #expect(UUID(uuidString: name) != nil)
        #expect(try Data(contentsOf: externalFolder.appendingPathComponent(name)) == content)
        #expect(externalFiles() == [OwnStore.scanFile, name].sorted())
    }

    @Test func aFileGoesWithTheLastRowThatNamesIt() throws {
        store.context.delete(try store.object("Exhibit", 2))
        try store.context.save()
        try store.stack.close()
        #expect(externalFiles() == [])
    }

    @Test func aChangeOfOtherValuesKeepsTheFileAndItsName() throws {
        try store.object("Exhibit", 2).setValue("Marble bust", forKey: "label")
        try store.context.save()
        try store.stack.close()
        #expect(
            store.file.value("SELECT ZSCAN FROM ZEXHIBIT WHERE Z_PK = 2")
                == "02" + Data(OwnStore.scanFile.utf8).hexadecimal + "00")
        #expect(externalFiles() == [OwnStore.scanFile])
    }

    @Test func aCodeThatIsTakenIsRefused() throws {
        _ = try store.insert(
            "Exhibit", ["code": try #require(UUID(uuidString: "FFEEDDCC-BBAA-9988-7766-554433221100"))])
        let error = try #require(errorThrown { try store.context.save() })
        #expect(error.singleCodes == [NSManagedObjectConstraintMergeError])
        #expect(store.file.value("SELECT count(*) FROM ZEXHIBIT") == "3")
        #expect(store.file.value("SELECT count(*) FROM ATRANSACTION") == "1")
    }

    @Test func aSaveIsATransactionThatNamesItsAuthorInItsRow() throws {
        store.context.transactionAuthor = "keeper"
        store.context.name = "desk"
        // The bits: room, code, label, page, scan, sketch, tags, weight.
        try store.object("Exhibit", 1).setValue(3.5, forKey: "weight")
        try store.object("Exhibit", 2).setValue("Head", forKey: "label")
        store.context.delete(try store.object("Exhibit", 3))
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_PK, Z_ENT, ZAUTHOR, ZCONTEXTNAME FROM ATRANSACTION ORDER BY Z_PK") == [
                ["1", "16002", "curator", nil], ["2", "16002", "keeper", "desk"],
            ])
        #expect(
            store.file.rows(
                "SELECT Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID = 2 ORDER "
                    + "BY ZENTITYPK"
            ) == [
                ["16001", "1", "1", "1", "01"], ["16001", "1", "1", "2", "20"], ["16001", "2", "1", "3", nil],
            ])
        #expect(store.file.column("SELECT Z_PK FROM ACHANGE ORDER BY Z_PK") == ["1", "2", "3", "4", "5", "6", "7"])
        #expect(
            store.file.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
                ["CHANGE", "7"], ["TRANSACTION", "2"],
            ])
        #expect(store.file.value("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTIONSTRING'") == "0")
    }

    @Test func aMigrationKeepsRowsFilesAndHistory() throws {
        try store.stack.close()
        let model = OwnStore.museum.model()
        let exhibit = try #require(model.entitiesByName["Exhibit"])
        exhibit.indexes = []
        let title = NSAttributeDescription("title", .stringAttributeType)
        title.renamingIdentifier = "label"
        exhibit.properties =
            exhibit.properties.filter { $0.name != "label" } + [
                title, NSAttributeDescription("year", .integer16AttributeType, default: -500),
            ]
        let file = store.file
        func rows(_ label: String) -> [[String?]] {
            file.rows(
                "SELECT Z_PK, Z_ENT, Z_OPT, ZROOM, ZWEIGHT, \(label), ZPAGE, ZCODE, ZTAGS, ZSCAN, ZSKETCH FROM "
                    + "ZEXHIBIT ORDER BY 1"
            )
        }
        let before = rows("ZLABEL")
        let changes = file.rows("SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE ORDER BY 1")
        let uuid = file.value("SELECT Z_UUID FROM Z_METADATA")
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true,
        ]
        let stack = try Stack(model, store.url, options: options)
        #expect(
            file.column("SELECT name || ' ' || type FROM pragma_table_info('ZEXHIBIT') ORDER BY 1")
                == [
                    "ZCODE BLOB",
                    "ZPAGE VARCHAR",
                    "ZROOM INTEGER",
                    "ZSCAN BLOB",
                    "ZSKETCH BLOB",
                    "ZTAGS BLOB",
                    "ZTITLE VARCHAR",
                    "ZWEIGHT FLOAT",
                    "ZYEAR INTEGER",
                    "Z_ENT INTEGER",
                    "Z_OPT INTEGER",
                    "Z_PK INTEGER",
                ])
        #expect(rows("ZTITLE") == before)
        #expect(file.column("SELECT ZYEAR FROM ZEXHIBIT") == ["-500", "-500", "-500"])
        #expect(
            file.rows("SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE ORDER BY 1") == changes
        )
        #expect(file.value("SELECT ZAUTHOR FROM ATRANSACTION WHERE Z_PK = 1") == "curator")
        #expect(file.value("SELECT Z_UUID FROM Z_METADATA") == uuid)
        #expect(externalFiles() == [OwnStore.scanFile])
        let bust = try #require(try stack.objects(exhibit).first { $0.key == 2 })
        #expect(bust.value(forKey: "scan") as? Data == OwnStore.scan)
        #expect(bust.text("title") == "Bust")
    }
}
