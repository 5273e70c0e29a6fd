import CoreData
import TestSupport
import Testing

/// Primitive setters of ordered relationships: the order that is set counts, and nothing else
/// changes.
struct PrimitiveOrderTests {
    /// A saved list of the songs A and B, and others that are in none.
    private final class Playlist {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let root: NSManagedObjectContext
        let context: NSManagedObjectContext
        let list: OrderedList
        let songs: [OrderedSong]

        init(_ kind: StoreKind = .sqlite, _ key: String = "mixes", isChild: Bool = false) throws {
            folder = try TemporaryFolder()
            let list = NSEntityDescription("List", class: "OrderedList", [.init("name", .stringAttributeType)])
            let song = NSEntityDescription("Song", class: "OrderedSong", [.init("title", .stringAttributeType)])
            relate(list, "songs", toMany: true, ordered: true, song, inverse: "list")
            relate(list, "mixes", toMany: true, ordered: true, song, inverse: "mixedIn", inverseToMany: true)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([list, song]))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("songs.sqlite")))
            root = coordinator.newContext()
            if isChild {
                context = root.newChild()
            } else {
                context = root
            }
            self.list = OrderedList(context: context)
            songs = "ABCD".map { [context] title in
                let song = OrderedSong(context: context)
                song.title = String(title)
                return song
            }
            self.list.setValue(NSOrderedSet(array: [songs[0], songs[1]]), forKey: key)
            try save()
        }

        func save() throws {
            try context.save()
            if context !== root { try root.save() }
        }

        /// Sets the songs of these titles.
        func set(_ titles: String, _ key: String) {
            let songs = titles.compactMap { title in self.songs.first { $0.title == String(title) } }
            list.setPrimitiveValue(NSOrderedSet(array: songs), forKey: key)
        }

        func titles(_ key: String, of list: OrderedList? = nil) -> String {
            let songs = (list ?? self.list).value(forKey: key) as? NSOrderedSet
            return (songs?.array as? [OrderedSong] ?? []).compactMap(\.title).joined()
        }

        /// The titles as another context reads them.
        func stored(_ key: String) throws -> String {
            let other = coordinator.newContext()
            return try withExtendedLifetime(other) {
                titles(key, of: try other.existingObject(with: list.objectID) as? OrderedList)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, ["songs", "mixes"])
    func aMemberThatIsPutFirstIsReadAndSavedFirst(kind: StoreKind, key: String) throws {
        let playlist = try Playlist(kind, key)
        playlist.set("CAB", key)
        if key == "songs" {
            // The row of the member has the relationship.
            playlist.songs[2].willChangeValue(forKey: "list")
            playlist.songs[2].setPrimitiveValue(playlist.list, forKey: "list")
            playlist.songs[2].didChangeValue(forKey: "list")
        }
        #expect(playlist.titles(key) == "CAB")
        playlist.list.name = "changed"
        try playlist.save()
        #expect(playlist.titles(key) == "CAB")
        #expect(try playlist.stored(key) == "CAB")
    }

    @Test(arguments: StoreKind.allCases, ["songs", "mixes"])
    func anotherOrderOfTheSameMembersIsNoChangeButSavedWithOne(kind: StoreKind, key: String) throws {
        let playlist = try Playlist(kind, key)
        playlist.set("BA", key)
        #expect(playlist.titles(key) == "BA")
        #expect(!playlist.list.hasChanges)
        #expect(!playlist.context.hasChanges)
        #expect(playlist.list.changedValues().isEmpty)
        playlist.list.name = "changed"
        try playlist.save()
        #expect(try playlist.stored(key) == "BA")
        #expect(!playlist.context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func anOrderBetweenNotificationsIsAChange(kind: StoreKind) throws {
        let playlist = try Playlist(kind)
        playlist.list.willChangeValue(forKey: "mixes")
        playlist.set("BA", "mixes")
        playlist.list.didChangeValue(forKey: "mixes")
        #expect(playlist.list.hasPersistentChangedValues)
        #expect(Array(playlist.list.changedValues().keys) == ["mixes"])
        try playlist.save()
        #expect(try playlist.stored("mixes") == "BA")
    }

    @Test func theOrderThatIsThereIsNoChange() throws {
        let playlist = try Playlist()
        playlist.list.willChangeValue(forKey: "mixes")
        playlist.set("AB", "mixes")
        playlist.list.didChangeValue(forKey: "mixes")
        #expect(!playlist.list.hasPersistentChangedValues)
        let committed = playlist.list.committedValues(forKeys: ["mixes"])["mixes"] as? NSOrderedSet
        #expect(committed == NSOrderedSet(array: Array(playlist.songs[..<2])))
    }

    @Test func leavingJoiningAndMovingAtOnceGiveTheOrderThatIsSet() throws {
        let playlist = try Playlist()
        playlist.set("DBC", "mixes")
        #expect(playlist.titles("mixes") == "DBC")
        playlist.set("CAD", "mixes")
        #expect(playlist.titles("mixes") == "CAD")
        let committed = playlist.list.committedValues(forKeys: ["mixes"])["mixes"] as? NSOrderedSet
        #expect(committed == NSOrderedSet(array: Array(playlist.songs[..<2])))
        playlist.list.name = "changed"
        try playlist.save()
        #expect(try playlist.stored("mixes") == "CAD")
    }

    @Test func aFaultTakesTheOrder() throws {
        let playlist = try Playlist()
        playlist.context.refresh(playlist.list, mergeChanges: false)
        playlist.set("BA", "mixes")
        #expect(playlist.titles("mixes") == "BA")
    }

    @Test func aRefreshUnderChangesKeepsTheOrderAndARollbackTakesItBack() throws {
        let playlist = try Playlist()
        playlist.list.name = "changed"
        playlist.set("BA", "mixes")
        playlist.context.refresh(playlist.list, mergeChanges: true)
        #expect(playlist.titles("mixes") == "BA")
        playlist.context.rollback()
        #expect(playlist.titles("mixes") == "AB")
    }

    @Test(arguments: StoreKind.allCases) func aChildGivesTheOrderToItsParent(kind: StoreKind) throws {
        let playlist = try Playlist(kind, isChild: true)
        playlist.set("CBA", "mixes")
        playlist.list.name = "changed"
        try playlist.context.save()
        let parents = try playlist.root.existingObject(with: playlist.list.objectID) as? OrderedList
        #expect(playlist.titles("mixes", of: parents) == "CBA")
        try playlist.root.save()
        #expect(try playlist.stored("mixes") == "CBA")
    }

    @Test func undoingALaterChangeKeepsTheOrder() throws {
        let playlist = try Playlist()
        let manager = UndoManager()
        manager.groupsByEvent = false
        playlist.context.undoManager = manager
        playlist.set("BA", "mixes")
        manager.beginUndoGrouping()
        playlist.list.mutableOrderedSetValue(forKey: "mixes").add(playlist.songs[3])
        playlist.context.processPendingChanges()
        manager.endUndoGrouping()
        #expect(playlist.titles("mixes") == "BAD")
        playlist.context.undo()
        #expect(playlist.titles("mixes") == "BA")
        playlist.context.redo()
        #expect(playlist.titles("mixes") == "BAD")
    }
}
