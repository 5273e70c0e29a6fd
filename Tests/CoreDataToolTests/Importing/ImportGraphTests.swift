import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Relationships between rows, and with objects of the store.
struct ImportGraphTests {
    let place: ImportPlace

    init() throws { place = try ImportPlace() }

    /// Imports lines in one save, or in saves of one or two rows.
    private func run(_ lines: [String], _ batch: Int?) throws -> ToolRun {
        let run = try batch.map { try place.run(lines: lines, "--batch", "\($0)") } ?? place.run(lines: lines)
        #expect(run.status == 0, "\(run.errors)")
        return run
    }

    static let batches: [Int?] = [nil, 1, 2]

    @Test(arguments: batches) func referencesToLaterRowsAreSet(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Item/p5", "name": "a", "maker": "Maker/p9"}"#, #"{"objectID": "Item/p6", "name": "b"}"#,
                #"{"objectID": "Maker/p9", "name": "m", "items": ["Item/p5", "Item/p6"]}"#,
            ], batch)
        #expect(place.rows("SELECT Z_PK, ZMAKER FROM ZITEM ORDER BY 1") == [["5", "9"], ["6", "9"]])
        #expect(place.value("SELECT Z_PK FROM ZMAKER") == "9")
    }

    @Test(arguments: batches) func oneSideIsEnough(batch: Int?) throws {
        _ = try run(
            [#"{"objectID": "Maker/p1", "items": ["Item/p2"]}"#, #"{"objectID": "Item/p2", "name": "b"}"#], batch)
        #expect(place.value("SELECT ZMAKER FROM ZITEM WHERE Z_PK = 2") == "1")
    }

    @Test(arguments: batches) func rowsWaitForRequiredDestinations(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Note/p1", "text": "x", "item": "Item/p3"}"#,
                #"{"objectID": "Note/p2", "text": "y", "item": "Item/p3"}"#, #"{"objectID": "Item/p1", "name": "a"}"#,
                #"{"objectID": "Item/p3", "name": "b"}"#,
            ], batch)
        #expect(place.rows("SELECT Z_PK, ZITEM FROM ZNOTE ORDER BY 1") == [["1", "3"], ["2", "3"]])
    }

    @Test(arguments: batches) func cyclesOfRequiredReferencesAreSavedTogether(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Left/p1", "right": "Right/p2"}"#, #"{"objectID": "Maker/p1", "name": "m"}"#,
                #"{"objectID": "Maker/p2", "name": "n"}"#, #"{"objectID": "Right/p2", "left": "Left/p1"}"#,
            ], batch)
        #expect(place.value("SELECT ZRIGHT FROM ZLEFT") == "2")
        #expect(place.value("SELECT ZLEFT FROM ZRIGHT") == "1")
    }

    @Test(arguments: batches) func cyclesOfOneEntityAreSet(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Item/p1", "name": "a", "next": "Item/p2"}"#,
                #"{"objectID": "Item/p2", "name": "b", "next": "Item/p3"}"#,
                #"{"objectID": "Item/p3", "name": "c", "next": "Item/p1"}"#,
            ], batch)
        #expect(
            place.rows("SELECT ZNEXT, ZPREVIOUS FROM ZITEM ORDER BY Z_PK") == [["2", "3"], ["3", "1"], ["1", "2"]])
    }

    @Test(arguments: batches) func anObjectCanReferToItself(batch: Int?) throws {
        _ = try run([#"{"objectID": "Item/p1", "name": "a", "next": "Item/p1"}"#], batch)
        #expect(place.value("SELECT ZNEXT FROM ZITEM") == "1")
    }

    @Test(arguments: batches) func oneToOneRelationshipsHaveBothEnds(batch: Int?) throws {
        _ = try run(
            [#"{"objectID": "Badge/p4", "maker": "Maker/p2"}"#, #"{"objectID": "Maker/p2", "badge": "Badge/p4"}"#],
            batch)
        #expect(place.value("SELECT ZBADGE FROM ZMAKER") == "4")
        #expect(place.value("SELECT ZMAKER FROM ZBADGE") == "2")
    }

    @Test(arguments: batches) func ordersOfManyToManyRelationshipsAreKept(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Item/p1", "name": "a", "playlists": ["Playlist/p2", "Playlist/p1"]}"#,
                #"{"objectID": "Playlist/p1", "songs": ["Item/p3", "Item/p1", "Item/p2"]}"#,
                #"{"objectID": "Item/p2", "name": "b"}"#,
                #"{"objectID": "Playlist/p2", "songs": ["Item/p2", "Item/p1"]}"#,
                #"{"objectID": "Item/p3", "name": "c"}"#,
            ], batch)
        let exported = ToolRun(["export", place.store, "--entity", "Playlist"]).output
        #expect(exported.contains(#""songs": ["Item/p3", "Item/p1", "Item/p2"]"#), "\(exported)")
        #expect(exported.contains(#""songs": ["Item/p2", "Item/p1"]"#), "\(exported)")
    }

    @Test(arguments: batches) func rowsOfSubentitiesAreDestinations(batch: Int?) throws {
        _ = try run(
            [
                #"{"objectID": "Note/p1", "item": "Rare/p2"}"#, #"{"objectID": "Item/p1", "name": "a"}"#,
                #"{"objectID": "Rare/p2", "name": "b", "grade": 3}"#,
            ], batch)
        #expect(place.value("SELECT ZITEM FROM ZNOTE") == "2")
        let sql = "SELECT Z_NAME FROM ZITEM JOIN Z_PRIMARYKEY USING (Z_ENT) ORDER BY Z_PK"
        #expect(place.rows(sql) == [["Item"], ["Rare"]])
    }

    @Test func wholeURIsAreIdentities() throws {
        _ = try run(
            [
                #"{"objectID": "x-coredata://8A2B/Maker/p1"}"#,
                #"{"objectID": "Item/p2", "name": "b", "maker": "x-coredata://8A2B/Maker/p1"}"#,
            ], nil)
        #expect(place.value("SELECT ZMAKER FROM ZITEM") == "1")
    }

    @Test func objectsOfTheStoreAreDestinations() throws {
        _ = try run([#"{"objectID": "Maker/p3", "name": "m"}"#], nil)
        _ = try run([#"{"objectID": "Item/p1", "name": "a", "maker": "Maker/p3"}"#], nil)
        #expect(place.value("SELECT ZMAKER FROM ZITEM") == "3")
    }

    @Test func newObjectsGetNewKeysInTablesThatAreNotEmpty() throws {
        _ = try run([#"{"objectID": "Maker/p3", "name": "m"}"#], nil)
        _ = try run(
            [
                #"{"objectID": "Item/p8", "name": "a", "maker": "Maker/p3"}"#,
                #"{"objectID": "Maker/p3", "name": "n"}"#,
            ], nil)
        #expect(place.rows("SELECT Z_PK, ZNAME FROM ZMAKER ORDER BY 1") == [["3", "m"], ["4", "n"]])
        #expect(place.rows("SELECT Z_PK, ZMAKER FROM ZITEM") == [["8", "4"]])
    }

    @Test func highestKeysAreNoted() throws {
        _ = try run([#"{"objectID": "Rare/p40", "name": "m"}"#, #"{"objectID": "Item/p7", "name": "m"}"#], nil)
        #expect(place.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'") == "40")
    }

    private static let wrongReferences: [(String, String)] = [
        (#""maker": "Maker/p9""#, "Item/p1.maker: Maker/p9 is neither in the file nor in the store"),
        (#""maker": "Badge/p1""#, "'Badge/p1' is not an object of 'Maker'"),
        (#""maker": "Makr/p1""#, "there is no entity 'Makr'. Did you mean 'Maker'"),
        (#""maker": "Maker/x1""#, "'Maker/x1' names no object"), (#""maker": "Maker/p0""#, "names no object"),
        (#""maker": "Maker/p99999999999999999999""#, "names no object"),
        (#""maker": ["Maker/p1"]"#, "this is no object"),
        (#""notes": "Note/p1""#, "this is no list of objects"), (#""notes": [1]"#, "this is no list of objects"),
        (#""playlists": ["Playlist/p1", "Playlist/p1"]"#, "'Playlist/p1' is there twice"),
    ]

    @Test(arguments: LongTests.some(4, of: wrongReferences))
    func wrongReferencesAreRefused(_ member: String, _ wanted: String) throws {
        let run = try place.run(lines: [#"{"objectID": "Item/p1", "name": "a", \#(member)}"#])
        #expect(run.status == 1)
        #expect(run.errors.contains(wanted), "\(run.errors)")
        #expect(!place.hasStore)
    }

    @Test(arguments: batches) func aRequiredRelationshipMustHaveAnObject(batch: Int?) throws {
        let options = batch.map { ["--batch", "\($0)"] } ?? []
        let path = try place.file(
            "rows.ndjson", #"{"objectID": "Maker/p1"}"# + "\n" + #"{"objectID": "Note/p1", "item": null}"# + "\n")
        let run = ToolRun(["import", place.store, path, "--model", place.model] + options)
        #expect(run.status == 1)
        #expect(run.errors.contains("line 2: Note/p1.item: the relationship must have an object"), "\(run.errors)")
        #expect(!place.hasStore)
    }

    @Test func tooFewObjectsAreRefused() throws {
        let run = try place.run(lines: [#"{"objectID": "Team/p1", "name": "t"}"#])
        #expect(run.errors.contains("line 1: Team/p1.members: Members must have at least 1 entry"), "\(run.errors)")
        #expect(!place.hasStore)
    }
}
