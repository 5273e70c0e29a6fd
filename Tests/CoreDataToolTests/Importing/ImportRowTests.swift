import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Rows of files: their form, identities and matches.
struct ImportRowTests {
    let place: ImportPlace

    init() throws { place = try ImportPlace() }

    private static let good = #"{"objectID": "Maker/p1", "name": "m"}"#

    private static let wrongRows: [(String, String)] = [
        (
            #"{"objectID": "Maker/p2", "nmae": "x"}"#,
            "line 2: Maker/p2.nmae: 'Maker' has no such property. Did you mean 'name'"
        ),
        (#"{"objectID": "Makr/p2"}"#, "line 2: there is no entity 'Makr'. Did you mean 'Maker'"),
        (#"{"objectID": "Base/p2"}"#, "line 2: Base/p2: 'Base' is abstract"),
        (#"{"objectID": "Maker/p2", "name": "x", "name": "y"}"#, "line 2: name: the key is there twice"),
        (#"{"objectID": 5}"#, "line 2: objectID: this is no text"),
        (#"{"name": "x"}"#, "line 2: the row has no objectID"),
        ("[1]", "line 2: this is no object"), (#"{"objectID": "Maker/p2", "na"#, "line 2: this is no JSON"),
        (#"{"objectID": "Maker/p2", "name": "\ud800"}"#, "line 2: this is no JSON: half of a surrogate pair"),
        (#"{"objectID": "Maker/p1"}"#, "line 2: Maker/p1: the same object is in line 1 already"),
        (#"{"objectID": "Maker/p-2"}"#, "line 2: 'Maker/p-2' names no object"),
    ]

    @Test(arguments: LongTests.some(4, of: wrongRows))
    func wrongRowsAreNamedWithTheirLine(_ line: String, _ wanted: String) throws {
        let run = try place.run(lines: [Self.good, line])
        #expect(run.status == 1)
        #expect(run.errors.contains(wanted), "\(run.errors)")
        #expect(run.errors.contains("Nothing was written."))
        #expect(!place.hasStore)
    }

    @Test func aKeyWithoutAnyAboveItIsRefused() throws {
        let run = try place.run(lines: [#"{"objectID": "Maker/p9223372036854775807"}"#])
        #expect(run.errors.contains("has too high a key"), "\(run.errors)")
        #expect(!place.hasStore)
    }

    @Test(arguments: [[], ["--batch", "1"]]) func aMissingFileMakesNoStore(_ options: [String]) {
        let run = ToolRun(["import", place.store, place.store + ".ndjson", "--model", place.model] + options)
        #expect(run.errors.contains("There is no file"))
        #expect(!place.hasStore)
    }

    @Test func invalidUTF8IsRefused() throws {
        let path = try place.workplace.file(
            "rows.ndjson", Data(#"{"objectID": "Maker/p1", "name": ""#.utf8) + Data([0xff]) + Data("\"}\n".utf8))
        #expect(place.run(path).errors.contains("line 1: this is no JSON: a string is not valid UTF-8"))
    }

    @Test func theByteOrderMarkAndEmptyLinesAreSkipped() throws {
        let path = try place.file("rows.ndjson", "\u{feff}\(Self.good)\r\n\r\n  \n{\"objectID\": \"Maker/p2\"}")
        let run = place.run(path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.value("SELECT group_concat(Z_PK) FROM ZMAKER") == "1,2")
    }

    @Test func utf16IsNamed() throws {
        let path = try place.workplace.file("rows.ndjson", Data([0xff, 0xfe, 0x7b, 0]))
        #expect(place.run(path).errors.contains("is UTF-16 text. Convert it to UTF-8."))
    }

    @Test func skippedRowsAreReportedAndTheRestIsWritten() throws {
        let run = try place.run(
            lines: [
                #"{"objectID": "Item/p1", "name": null}"#, #"{"objectID": "Note/p1", "item": "Item/p1"}"#,
                #"{"objectID": "Item/p2", "name": "b", "next": "Item/p1"}"#, Self.good, "{",
            ], "--skip-refused")
        #expect(run.status == 3)
        #expect(run.errors.contains("line 1: Item/p1.name:"), "\(run.errors)")
        #expect(run.errors.contains("line 2: Note/p1.item: the row of Item/p1 in line 1 is refused"), "\(run.errors)")
        #expect(run.errors.contains("line 3: Item/p2.next: the row of Item/p1 in line 1 is refused"), "\(run.errors)")
        #expect(run.output.contains("3 rows refused"), "\(run.output)")
        #expect(place.rows("SELECT Z_PK, ZNEXT FROM ZITEM") == [["2", nil]])
        #expect(place.value("SELECT count(*) FROM ZNOTE") == "0")
    }

    @Test func rowsThatFailOnlyTogetherAreSkipped() throws {
        let run = try place.run(lines: [Self.good, #"{"objectID": "Team/p1"}"#], "--skip-refused")
        #expect(run.status == 3)
        #expect(place.value("SELECT count(*) FROM ZMAKER") == "1")
        #expect(place.value("SELECT count(*) FROM ZTEAM") == "0")
    }

    @Test func aDryRunWritesNothing() throws {
        let run = try place.run(lines: [Self.good], "--dry-run")
        #expect(run.status == 0)
        #expect(run.output.contains("1 object would be imported into Store.sqlite"), "\(run.output)")
        #expect(!place.hasStore)
    }

    @Test func aDryRunLeavesAStoreAsItIs() throws {
        _ = try place.run(lines: [Self.good])
        let before = try place.workplace.contents()["Store.sqlite"]
        #expect(try place.run(lines: [#"{"objectID": "Maker/p1"}"#], "--dry-run").status == 0)
        #expect(try place.workplace.contents()["Store.sqlite"] == before)
    }

    @Test func theReportHasAllProblemsAsJSON() throws {
        let lines = (0..<150).map { #"{"objectID": "Item/p\#($0 + 1)"}"# }
        let run = try place.run(lines: lines, "--report", "json")
        let report = try #require(try run.json() as? [String: Any])
        #expect((report["problems"] as? [Any])?.count == 150)
        #expect(report["refused"] as? Int == 150)
        #expect(report["stopped"] as? Bool == true)
        let text = try place.run(lines: lines)
        #expect(text.errors.contains("and 50 more; --report json shows all"), "\(text.errors)")
    }

    @Test func aNewStoreNeedsAModel() throws {
        let path = try place.file("rows.ndjson", Self.good)
        #expect(ToolRun(["import", place.store, path]).errors.contains("--model MODEL"))
    }

    @Test func aStoreWithoutAModelIsNotChanged() throws {
        let store = try OwnStore.orchard.make(in: TemporaryFolder())
        let path = try place.file("rows.ndjson", #"{"objectID": "Gardener/p9"}"#)
        #expect(ToolRun(["import", store.path, path]).status == 1)
    }

    // MARK: Matches

    @Test func uniqueValuesUpdateTheirObject() throws {
        _ = try place.run(lines: [#"{"objectID": "Item/p4", "name": "a", "code": "x", "size": 5}"#])
        let run = try place.run(
            lines: [
                #"{"objectID": "Item/p9", "name": "b", "code": "x"}"#,
                #"{"objectID": "Item/p10", "name": "c", "code": "y"}"#,
            ])
        #expect(run.output.contains("Item: 1 new, 1 updated"), "\(run.output)")
        #expect(place.rows("SELECT Z_PK, ZNAME, ZSIZE FROM ZITEM ORDER BY 1") == [["4", "b", "5"], ["5", "c", nil]])
    }

    @Test func updatesNeedNoRequiredValues() throws {
        _ = try place.run(lines: [#"{"objectID": "Item/p4", "name": "a", "code": "x"}"#])
        #expect(try place.run(lines: [#"{"objectID": "Item/p1", "code": "x", "size": 3}"#]).status == 0)
        #expect(place.rows("SELECT ZNAME, ZSIZE FROM ZITEM") == [["a", "3"]])
    }

    @Test func rowsWithTheSameUniqueValueAreRefused() throws {
        let run = try place.run(
            lines: [
                #"{"objectID": "Item/p1", "name": "a", "code": "x"}"#,
                #"{"objectID": "Rare/p2", "name": "b", "code": "x"}"#,
            ])
        #expect(run.errors.contains("line 2: Rare/p2: code: the row in line 1 has the same"), "\(run.errors)")
    }

    @Test(arguments: [[], ["--batch", "1"]]) func valuesThatAreUniqueOnlyByDefaultConflict(_ options: [String]) throws {
        let path = try place.file("rows.ndjson", #"{"objectID": "Token/p1"}"# + "\n" + #"{"objectID": "Token/p2"}"#)
        let run = ToolRun(["import", place.store, path, "--model", place.model, "--skip-refused"] + options)
        #expect(run.status == 3)
        #expect(run.errors.contains("Token/p2.serial: another object has this value already"), "\(run.errors)")
        #expect(place.value("SELECT count(*) FROM ZTOKEN WHERE ZSERIAL = 5") ?? "" <= "1")
    }

    @Test func keysToMatchAreChosen() throws {
        _ = try place.run(lines: [#"{"objectID": "Maker/p1", "name": "m"}"#, #"{"objectID": "Maker/p2", "name": "n"}"#])
        let run = try place.run(
            lines: [
                #"{"objectID": "Badge/p1", "name": "b"}"#,
                #"{"objectID": "Maker/p7", "name": "n", "badge": "Badge/p1"}"#,
            ],
            "--match", "name")
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.rows("SELECT Z_PK, ZBADGE FROM ZMAKER ORDER BY 1") == [["1", nil], ["2", "1"]])
    }

    @Test func severalMatchesAreRefused() throws {
        _ = try place.run(lines: [#"{"objectID": "Maker/p1", "name": "m"}"#, #"{"objectID": "Maker/p2", "name": "m"}"#])
        let run = try place.run(lines: [#"{"objectID": "Maker/p3", "name": "m"}"#], "--match", "name")
        #expect(run.errors.contains("the values belong to several objects: Maker/p1, Maker/p2"), "\(run.errors)")
    }

    @Test func identitiesCanBeMatched() throws {
        _ = try place.run(lines: [#"{"objectID": "Maker/p3", "name": "m"}"#])
        let run = try place.run(
            lines: [#"{"objectID": "Maker/p3", "name": "n"}"#, #"{"objectID": "Maker/p9", "name": "o"}"#],
            "--match", "objectID")
        #expect(run.status == 0, "\(run.errors)")
        #expect(place.rows("SELECT Z_PK, ZNAME FROM ZMAKER ORDER BY 1") == [["3", "n"], ["4", "o"]])
    }

    @Test func unknownKeysToMatchAreNamed() throws {
        let run = try place.run(lines: [Self.good], "--match", "nmae")
        #expect(run.errors.contains("no entity has an attribute 'nmae'. Did you mean"), "\(run.errors)")
    }

    @Test func historyIsContinued() throws {
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let url = URL(fileURLWithPath: place.store)
        try FileManager.default.copyItem(atPath: place.model, toPath: place.store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bazaar.model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        let context = coordinator.newContext()
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
            try context.save()
        }
        try coordinator.remove(store)
        #expect(try place.run(lines: [Self.good]).status == 0)
        #expect(place.value("SELECT count(*) FROM ATRANSACTION") == "2")
    }

    @Test func theModelAndItsHashesStay() throws {
        _ = try place.run(lines: [#"{"objectID": "Item/p4", "name": "a", "tags": "AQI="}"#])
        #expect(ToolRun(["model", "export", place.store]).output == ToolRun(["model", "export", place.model]).output)
        let url = URL(fileURLWithPath: place.store)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(Bazaar.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(metadata[ImportProgress.key] == nil)
    }
}
