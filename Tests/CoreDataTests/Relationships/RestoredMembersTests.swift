import CoreData
import TestSupport
import Testing

final class RestoredAlbum: NSManagedObject {
    @Managed var title: String?
    @Managed var songs: NSOrderedSet
    @Managed var labels: NSSet
}

final class RestoredSong: NSManagedObject {
    @Managed var title: String?
    @Managed var album: RestoredAlbum?
}

final class RestoredLabel: NSManagedObject {
    @Managed var name: String?
    @Managed var albums: NSSet
}

/// To-many relationships that end as they began: there is nothing to save.
@Suite(.everyStore) struct RestoredMembersTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext
    private let album: RestoredAlbum
    private let songs: [RestoredSong]
    private let label: RestoredLabel

    /// An album of three songs with one label, saved; the relationships are loaded or still faults.
    private init(loaded: Bool) throws {
        let album = NSEntityDescription(
            "Album", class: "RestoredAlbum", [NSAttributeDescription("title", .stringAttributeType)])
        let song = NSEntityDescription(
            "Song", class: "RestoredSong", [NSAttributeDescription("title", .stringAttributeType)])
        let label = NSEntityDescription(
            "Label", class: "RestoredLabel", [NSAttributeDescription("name", .stringAttributeType)])
        relate(album, "songs", toMany: true, ordered: true, song, inverse: "album")
        relate(album, "labels", toMany: true, label, inverse: "albums", inverseToMany: true)
        stack = try TestStack([album, song, label])
        let writing = stack.newContext()
        let made = RestoredAlbum(context: writing)
        for title in ["a", "b", "c"] {
            let song = RestoredSong(context: writing)
            song.title = title
            song.album = made
        }
        RestoredLabel(context: writing).albums = NSSet(object: made)
        try writing.save()
        context = stack.context
        self.album = try #require(try context.fetch(NSFetchRequest<RestoredAlbum>(entityName: "Album")).first)
        self.label = try #require(try context.fetch(NSFetchRequest<RestoredLabel>(entityName: "Label")).first)
        let request = NSFetchRequest<RestoredSong>(entityName: "Song")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        songs = try context.fetch(request)
        if loaded { #expect(self.album.songs.count + self.album.labels.count == 4) }
    }

    /// The column of the songs' places in their album.
    private var position: String { stack.kind == .sqlite ? "Z_FOK_ALBUM" : "album_pos" }

    /// The versions, members and their order in the tables; nil for a store in memory.
    private func rows() -> [[String?]]? {
        stack.tables.map { tables in
            tables.rows(
                "SELECT {version}, NULL, NULL FROM {album} UNION ALL SELECT {version}, {album_id}, \(position) FROM "
                    + "{song}"
            )
                + tables.rows("SELECT {version} FROM {label}")
        }
    }

    /// The titles in the order of the store.
    private func storedTitles() throws -> [String?] {
        if let tables = stack.tables { return tables.column("SELECT {title} FROM {song} ORDER BY \(position)") }
        return titles(try #require(try stack.newContext().existingObject(with: album.objectID) as? RestoredAlbum))
    }

    private func titles(_ album: RestoredAlbum) -> [String?] { album.songs.map { ($0 as? RestoredSong)?.title } }

    private func expectNothingToSave(after change: () -> Void) throws {
        let before = rows()
        change()
        #expect(album.changedValues().isEmpty)
        #expect(!album.hasPersistentChangedValues)
        for song in songs { #expect(!song.hasPersistentChangedValues) }
        #expect(!label.hasPersistentChangedValues)
        try context.save()
        #expect(!context.hasChanges)
        #expect(rows() == before)
        #expect(titles(album) == ["a", "b", "c"])
        #expect(try storedTitles() == ["a", "b", "c"])
    }

    @Test(arguments: [true, false]) static func theLastSongIsRemovedAndAdded(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            let songs = test.album.mutableOrderedSetValue(forKey: "songs")
            songs.remove(test.songs[2])
            songs.add(test.songs[2])
        }
    }

    @Test(arguments: [true, false]) static func theLastSongLeavesItsAlbumAndComesBack(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            test.songs[2].album = nil
            test.songs[2].album = test.album
        }
    }

    @Test(arguments: [true, false]) static func aSongIsInsertedWhereItWasTaken(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            let songs = test.album.mutableOrderedSetValue(forKey: "songs")
            songs.removeObject(at: 0)
            songs.insert(test.songs[0], at: 0)
        }
    }

    @Test(arguments: [true, false]) static func twoSongsAreExchangedTwice(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            let songs = test.album.mutableOrderedSetValue(forKey: "songs")
            songs.exchangeObject(at: 0, withObjectAt: 2)
            songs.exchangeObject(at: 0, withObjectAt: 2)
        }
    }

    @Test(arguments: [true, false]) static func allSongsAreReplacedAndSetAgain(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            test.album.songs = NSOrderedSet()
            test.album.songs = NSOrderedSet(array: test.songs)
        }
    }

    @Test(arguments: [true, false]) static func aNewSongIsAddedAndRemoved(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            let song = RestoredSong(context: test.context)
            test.album.mutableOrderedSetValue(forKey: "songs").insert(song, at: 1)
            test.context.delete(song)
            test.context.processPendingChanges()
        }
    }

    @Test(arguments: [true, false]) static func aLabelIsRemovedAndAdded(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            test.album.mutableSetValue(forKey: "labels").remove(test.label)
            test.album.mutableSetValue(forKey: "labels").add(test.label)
        }
    }

    @Test(arguments: [true, false]) static func anAlbumLeavesItsLabelAndComesBack(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        try test.expectNothingToSave {
            test.label.mutableSetValue(forKey: "albums").remove(test.album)
            test.label.mutableSetValue(forKey: "albums").add(test.album)
        }
    }

    @Test(arguments: [true, false]) static func theFirstSongRemovedAndAddedIsTheLast(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        test.songs[0].album = nil
        test.songs[0].album = test.album
        #expect(test.album.changedValues().keys.sorted() == ["songs"])
        try test.context.save()
        #expect(try test.storedTitles() == ["b", "c", "a"])
    }

    @Test(arguments: [true, false]) static func aChangeAfterARestoredOneIsSaved(loaded: Bool) throws {
        let test = try RestoredMembersTests(loaded: loaded)
        test.songs[2].album = nil
        test.songs[2].album = test.album
        try test.context.save()
        test.album.mutableOrderedSetValue(forKey: "songs").exchangeObject(at: 0, withObjectAt: 1)
        try test.context.save()
        #expect(try test.storedTitles() == ["b", "a", "c"])
    }
}
