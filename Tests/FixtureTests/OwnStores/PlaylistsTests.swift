import CoreData
import TestSupport
import Testing

/// Stores of framework 640: ordered relationships and relationships of many to many, as they were
/// made and as a migration left them.
struct PlaylistsTests {
    private static let both = [OwnStore.playlists, .migratedPlaylists]

    private func positions(_ store: OpenedStore, _ list: Int) -> [[String?]] {
        let rows = store.file.rows("SELECT * FROM Z_2SONGS WHERE Z_2PLAYLISTS = \(list) ORDER BY Z_FOK_3SONGS")
        if rows.first?.first??.hasPrefix("error") != true { return rows.map { [$0[1], $0[2]] } }
        return store.file.rows(
            "SELECT Z_4SONGS, Z_FOK_4SONGS FROM Z_3SONGS WHERE Z_3PLAYLISTS = \(list) ORDER BY Z_FOK_4SONGS")
    }

    @Test(arguments: both) func theValuesAreThoseOfTheRows(own: OwnStore) throws {
        let store = try OpenedStore(own)
        #expect(try store.object("Album", 1).text("title") == "Blue")
        #expect(try store.object("Album", 1).number("year") == 1971)
        #expect(try store.object("Album", 2).value(forKey: "year") == nil)
        #expect(try store.object("Song", 1).text("title") == "All I Want")
        #expect(try store.object("Song", 1).number("length") == 213.5)
        #expect(try store.object("Song", 1).value(forKey: "isLive") as? Bool == false)
        #expect(try store.object("Song", 2).value(forKey: "isLive") == nil)
        let recording = try store.object("Recording", 3)
        #expect(recording.text("place") == "London")
        #expect(recording.number("length") == 262.25)
        #expect(try store.keys("Song") == [1, 2, 3, 7])
        #expect(try store.keys("Recording") == [3, 7])
    }

    @Test(arguments: both) func orderedRelationshipsHaveTheOrderOfThePositions(own: OwnStore) throws {
        let store = try OpenedStore(own)
        #expect(try store.object("Album", 1).many("songs") == [2, 1, 3])
        #expect(try store.object("Album", 2).many("songs") == [])
        #expect(try store.object("Playlist", 1).many("songs") == [3, 1])
        #expect(try store.object("Playlist", 2).many("songs") == [1, 2, 3])
        #expect(try store.object("Song", 1).many("playlists") == [1, 2])
        #expect(try store.object("Song", 2).many("playlists") == [2])
        #expect(try store.object("Recording", 7).one("album") == nil)
    }

    @Test(arguments: both) func aRelationshipOfAnEntityWithItselfIsReadTheRightWayRound(own: OwnStore) throws {
        let store = try OpenedStore(own)
        #expect(try store.object("Recording", 7).many("originals") == [1, 2])
        #expect(try store.object("Recording", 7).many("remixes") == [])
        #expect(try store.object("Song", 1).many("remixes") == [7])
        #expect(try store.object("Song", 2).many("originals") == [])
        #expect(try store.keys("Song", where: "ANY remixes.title == 'Remix'") == [1, 2])
        #expect(try store.keys("Song", where: "ANY playlists.name == 'Morning'") == [1, 3])
    }

    @Test(arguments: both) func aSongThatIsPutBetweenOthersGetsAPositionBetweenTheirs(own: OwnStore) throws {
        let store = try OpenedStore(own)
        let morning = try store.object("Playlist", 1)
        morning.mutableOrderedSetValue(forKey: "songs").insert(try store.object("Song", 2), at: 1)
        try store.context.save()
        let rows = positions(store, 1)
        #expect(rows.map { $0[0] } == ["3", "2", "1"])
        #expect(rows.first?[1] == "2048")
        #expect(rows.last?[1] == "3072")
        #expect(positions(store, 2) == [["1", "1"], ["2", "9"], ["3", "40000"]])
        #expect(try store.object("Song", 2).many("playlists") == [1, 2])
    }

    @Test(arguments: both) func aSongThatIsTakenOffAListLeavesThePositionsOfTheOthers(own: OwnStore) throws {
        let store = try OpenedStore(own)
        try store.object("Playlist", 2).mutableOrderedSetValue(forKey: "songs").remove(try store.object("Song", 2))
        try store.context.save()
        #expect(positions(store, 2) == [["1", "1"], ["3", "40000"]])
        #expect(positions(store, 1) == [["3", "2048"], ["1", "3072"]])
    }

    @Test(arguments: both) func theOrderOfAnAlbumIsKeptInItsSongs(own: OwnStore) throws {
        let store = try OpenedStore(own)
        try store.object("Album", 1).mutableOrderedSetValue(forKey: "songs").add(try store.object("Recording", 7))
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_PK, ZALBUM FROM ZSONG ORDER BY Z_FOK_ALBUM") == [
                ["2", "1"], ["1", "1"], ["3", "1"], ["7", "1"],
            ])
        #expect(
            store.file.rows("SELECT Z_FOK_ALBUM FROM ZSONG WHERE Z_PK < 7 ORDER BY Z_PK") == [
                ["3072"], ["2048"], ["4096"],
            ])
    }

    @Test(arguments: both) func newRowsHaveKeysAboveThoseThatAreThere(own: OwnStore) throws {
        let store = try OpenedStore(own)
        // In the migrated store Z_MAX is 4 for songs and 1 for albums, although there are keys up
        // to 7 and 2.
        let (song, album) = (
            try store.insert("Recording", ["title": "New"]), try store.insert("Album", ["title": "Next"])
        )
        song.setValue(album, forKey: "album")
        try store.context.save()
        #expect(song.place == "Recording/p8")
        #expect(album.place == "Album/p3")
        #expect(
            store.file.rows("SELECT Z_ENT, Z_OPT, ZALBUM, ZTITLE FROM ZSONG WHERE Z_PK = 8") == [
                ["4", "1", "3", "New"]
            ])
        #expect(
            store.file.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (1, 3) ORDER BY 1") == [
                ["1", "3"], ["3", "8"],
            ])
    }

    @Test func whatAMigrationLeftBehindIsNotTouched() throws {
        let store = try OpenedStore(.migratedPlaylists)
        let song = try store.object("Song", 1)
        song.setValue("All I Want (1971)", forKey: "title")
        try store.context.save()
        let genres = store.file.rows("SELECT ZGENRE, Z_OPT FROM ZSONG WHERE Z_PK < 4 ORDER BY Z_PK")
        #expect(genres == [["folk", "2"], ["folk", "2"], ["folk", "1"]])
        #expect(store.file.value("SELECT ZNAME FROM ZLABEL") == "Reprise")
        #expect(store.file.value("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = 4") == "Take")
    }

    @Test(arguments: both) func theNextMigrationGivesTheTablesOfANewStore(own: OwnStore) throws {
        let folder = try TemporaryFolder()
        let url = try own.make(in: folder)
        let model = OwnStore.playlists.model()
        model.entitiesByName["Song"]?.properties += [
            NSAttributeDescription("rating", .integer16AttributeType, default: 3)
        ]
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let stack = try Stack(model, url, options: options)
        let file = SQLiteFile(url)
        #expect(
            file.column("SELECT name || ' ' || type FROM pragma_table_info('ZSONG') ORDER BY 1")
                == [
                    "ZALBUM INTEGER",
                    "ZISLIVE INTEGER",
                    "ZLENGTH FLOAT",
                    "ZPLACE VARCHAR",
                    "ZRATING INTEGER",
                    "ZTITLE VARCHAR",
                    "Z_ENT INTEGER",
                    "Z_FOK_ALBUM INTEGER",
                    "Z_OPT INTEGER",
                    "Z_PK INTEGER",
                ])
        #expect(
            file.rows(
                "SELECT Z_PK, Z_ENT, ZRATING, ZALBUM, Z_FOK_ALBUM, ZLENGTH, ZTITLE, ZPLACE FROM ZSONG ORDER BY Z_PK")
                == [
                    ["1", "3", "3", "1", "3072", "213.5", "All I Want", nil],
                    ["2", "3", "3", "1", "2048", "182.0", "Carey", nil],
                    ["3", "4", "3", "1", "4096", "262.25", "A Case", "London"],
                    ["7", "4", "3", nil, nil, nil, "Remix", nil],
                ])
        #expect(
            file.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [
                ["1", "Album", "0"], ["2", "Playlist", "0"], ["3", "Song", "0"], ["4", "Recording", "3"],
            ])
        let playlists = try stack.objects(try #require(model.entitiesByName["Playlist"]))
        #expect(playlists.map { $0.many("songs") } == [[3, 1], [1, 2, 3]])
        let recordings = try stack.objects(try #require(model.entitiesByName["Recording"]))
        #expect(recordings.last?.many("originals") == [1, 2])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        #expect(metadata["org.example.note"] as? String == "kept & untouched")
        #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName)
    }
}
