import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Both commands on stores that are made of SQL texts, in the form in which Apple's framework
/// writes them; no model is at hand.
struct OwnStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ store: OwnStore) throws -> String { try store.make(in: folder).path }

    private func rows(_ path: String, _ entity: String, _ more: String...) throws -> [[String: Any]] {
        let run = ToolRun(["query", path, entity, "--format", "json"] + more)
        #expect(run.status == 0, "\(run.errors)")
        return try run.rows()
    }

    /// The rows of each entity alone, and the number of the entities that each store has.
    private static let counts: [String: [String: Int]] = [
        "Orchard519": ["Gardener": 2, "Plant": 0, "Bush": 1, "Tree": 2, "FruitTree": 1],
        "Playlists640": ["Album": 2, "Playlist": 2, "Song": 2, "Recording": 2],
        "Playlists640Migrated": ["Album": 2, "Playlist": 2, "Song": 2, "Recording": 2],
        "Museum849": ["Exhibit": 3, "Room": 2], "Harvest1345": ["Crop": 3, "Field": 1, "Greenhouse": 1],
        "Voyage1526": ["LogEntry": 3, "Port": 2, "Ship": 2],
    ]

    @Test(arguments: OwnStore.all) func infoCountsTheRowsOfEveryEntity(store: OwnStore) throws {
        let run = ToolRun(["info", try make(store), "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let report = try #require(try run.json() as? [String: Any])
        let entities = try #require(report["entities"] as? [[String: Any]])
        var counts: [String: Int] = [:]
        for entity in entities { counts[entity["name"] as? String ?? ""] = entity["ownRows"] as? Int }
        #expect(counts == Self.counts[store.name])
    }

    @Test(arguments: OwnStore.all) func whereTheModelComesFromIsSaid(store: OwnStore) throws {
        #expect(ToolRun(["info", try make(store)]).output.contains("inferred from the tables") == !store.hasModel)
    }

    @Test(arguments: OwnStore.all) func everyEntityIsQueriedAndNothingChanges(store: OwnStore) throws {
        let path = try make(store)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for (entity, count) in Self.counts[store.name] ?? [:] {
            #expect(try rows(path, entity).count >= count, "\(entity)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func aStoreWithoutAModelShowsItsValues() throws {
        let path = try make(.orchard)
        let trees = try rows(path, "Tree", "--where", "height > 2", "--sort", "height")
        #expect(trees.map { $0["label"] as? String } == ["Apple", "Oak"])
        #expect(trees.map { $0["objectID"] as? String } == ["FruitTree/p4", "Tree/p2"])
        #expect(trees.last?["rings"] as? Int == 140)
        #expect(trees.last?["planted"] as? String == "1900-01-02T00:00:00Z")
        #expect(try rows(path, "Gardener", "--where", "badge == 7").first?["favorite"] as? String == "FruitTree/p4")
    }

    @Test(arguments: [OwnStore.playlists, .migratedPlaylists]) func relationshipsOfManyToManyAreFollowed(
        store: OwnStore
    ) throws {
        let path = try make(store)
        let songs = try rows(path, "Song", "--where", "ANY playlists.name == 'Morning'", "--sort", "title")
        #expect(songs.map { $0["title"] as? String } == ["A Case", "All I Want"])
        #expect(try rows(path, "Playlist", "--sort", "name").map { $0["songs"] as? Int } == [2, 3])
    }

    @Test func valuesOfEachTypeAreShown() throws {
        let exhibit = try #require(try rows(try make(.museum), "Exhibit", "--where", "label == 'Amphora'").first)
        #expect(exhibit["code"] as? String == "00112233-4455-6677-8899-AABBCCDDEEFF")
        #expect(exhibit["page"] as? String == "https://example.org/amphora?size=large")
        #expect((exhibit["weight"] as? NSNumber)?.doubleValue == 2.5)
        #expect(exhibit["room"] as? String == "Room/p1")
        let field = try #require(try rows(try make(.harvest), "Field", "--where", "cropCount == 2").first)
        #expect(field["name"] as? String == "North")
        #expect(field["crops"] as? Int == 2)
        let ships = try rows(try make(.voyage), "Ship", "--sort", "name")
        #expect(ships.map { $0["logs"] as? Int } == [0, 2])
    }
}
