import CoreData
import TestSupport
import Testing

final class OrderedList: NSManagedObject {
    @Managed var name: String?
    @Managed var songs: NSOrderedSet?
    @Managed var mixes: NSOrderedSet?

    @ManagedAccessor func insertIntoSongs(_ value: OrderedSong, at index: Int)
    @ManagedAccessor func removeFromSongs(at index: Int)
    @ManagedAccessor func replaceSongs(at index: Int, with value: OrderedSong)
    @ManagedAccessor func addToSongs(_ value: OrderedSong)
    @ManagedAccessor func removeFromSongs(_ value: OrderedSong)

    var titles: String { (songs?.array as? [OrderedSong] ?? []).map { $0.title ?? "nil" }.joined() }
    var mixTitles: String { (mixes?.array as? [OrderedSong] ?? []).map { $0.title ?? "nil" }.joined() }
}

final class OrderedSong: NSManagedObject {
    @Managed var title: String?
    @Managed var list: OrderedList?
    @Managed var mixedIn: Set<OrderedList>
}

@Suite(.everyStore) struct OrderedRelationshipTests {
    let stack: TestStack
    let list: OrderedList
    let songs: [OrderedSong]

    init() throws {
        let list = NSEntityDescription("List", class: "OrderedList", [.init("name", .stringAttributeType)])
        let song = NSEntityDescription("Song", class: "OrderedSong", [.init("title", .stringAttributeType)])
        relate(list, "songs", toMany: true, ordered: true, song, inverse: "list")
        relate(list, "mixes", toMany: true, ordered: true, song, inverse: "mixedIn", inverseToMany: true)
        stack = try TestStack([list, song])
        self.list = OrderedList(context: stack.context)
        songs = "ABCDE".map { [stack] title in
            let song = OrderedSong(context: stack.context)
            song.title = String(title)
            return song
        }
        self.list.songs = NSOrderedSet(array: [songs[2], songs[0], songs[1]])
        try stack.context.save()
    }

    func storedTitles() throws -> String {
        try #require(try stack.newContext().existingObject(with: list.objectID) as? OrderedList).titles
    }

    @Test("99: the order is kept through save and fetch") func theOrderIsKept() throws {
        #expect(list.titles == "CAB")
        #expect(try storedTitles() == "CAB")
        #expect(songs[0].list === list)
    }

    @Test("99: the accessors insert, remove and replace at an index") func indexedAccessors() throws {
        list.insertIntoSongs(songs[3], at: 1)
        #expect(list.titles == "CDAB")
        #expect(songs[3].list === list)
        try stack.context.save()
        #expect(try storedTitles() == "CDAB")
        list.removeFromSongs(at: 0)
        #expect(list.titles == "DAB")
        #expect(songs[2].list == nil)
        list.replaceSongs(at: 1, with: songs[4])
        #expect(list.titles == "DEB")
        #expect(songs[0].list == nil)
        #expect(songs[4].list === list)
        list.addToSongs(songs[0])
        list.removeFromSongs(songs[4])
        #expect(list.titles == "DBA")
        try stack.context.save()
        #expect(try storedTitles() == "DBA")
    }

    @Test("99: the mutable ordered set is a live view") func theMutableOrderedSetIsLive() throws {
        let proxy = list.mutableOrderedSetValue(forKey: "songs")
        proxy.insert(songs[4], at: 0)
        #expect(list.titles == "ECAB")
        proxy.exchangeObject(at: 0, withObjectAt: 3)
        #expect(list.titles == "BCAE")
        proxy.moveObjects(at: [0], to: 2)
        #expect(list.titles == "CABE")
        proxy.removeObject(at: 1)
        #expect(list.titles == "CBE")
        songs[2].list = nil
        #expect(proxy.count == 2)
        #expect(proxy.object(at: 0) as? OrderedSong === songs[1])
        #expect(proxy.firstObject as? OrderedSong === songs[1])
        try stack.context.save()
        #expect(try storedTitles() == "BE")
    }

    @Test("99: a new order of the same objects is a change") func reorderingIsAChange() throws {
        list.songs = NSOrderedSet(array: [songs[0], songs[1], songs[2]])
        #expect(list.hasPersistentChangedValues)
        try stack.context.save()
        #expect(list.titles == "ABC")
        #expect(try storedTitles() == "ABC")
    }

    @Test("99: setting the inverse appends") func settingTheInverseAppends() throws {
        songs[3].list = list
        #expect(list.titles == "CABD")
        try stack.context.save()
        #expect(try storedTitles() == "CABD")
    }

    @Test("99: deleting a member keeps the order of the others") func deletingAMember() throws {
        stack.context.delete(songs[0])
        try stack.context.save()
        #expect(list.titles == "CB")
        #expect(try storedTitles() == "CB")
    }

    @Test("99: an object that leaves an ordered relationship loses its position") func leavingTakesThePosition() throws
    {
        let position = stack.kind == .sqlite ? "Z_FOK_LIST" : "list_pos"
        stack.expectColumn("SELECT count(\(position)) FROM {song}", is: ["3"])
        songs[0].list = nil
        try stack.context.save()
        stack.expectColumn("SELECT {title} FROM {song} WHERE \(position) IS NOT NULL ORDER BY {title}", is: ["B", "C"])
        #expect(try storedTitles() == "CB")
    }

    @Test("99: the ordered side of a many-to-many relationship says the order, whichever entity's name comes first")
    func theOrderedSideSaysTheOrder() throws {
        let item = NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let zone = NSEntityDescription("Zone", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(zone, "items", toMany: true, ordered: true, item, inverse: "zones", inverseToMany: true)
        let stack = try TestStack([item, zone])
        let items = "ABC".map { name in
            let item = NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context)
            item.setValue(String(name), forKey: "name")
            return item
        }
        let place = NSManagedObject(entity: stack.entity("Zone"), insertInto: stack.context)
        place.mutableOrderedSetValue(forKey: "items").addObjects(from: [items[2], items[0], items[1]])
        try stack.context.save()
        let stored = try stack.newContext().existingObject(with: place.objectID).value(forKey: "items") as? NSOrderedSet
        #expect(
            stored?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["C", "A", "B"])
    }

    @Test("99: an ordered many-to-many relationship keeps an order for each owner") func orderedManyToMany() throws {
        let other = OrderedList(context: stack.context)
        list.mixes = NSOrderedSet(array: [songs[4], songs[0], songs[2]])
        other.mixes = NSOrderedSet(array: [songs[0], songs[2], songs[4]])
        #expect(songs[0].mixedIn == [list, other])
        try stack.context.save()
        let context = stack.newContext()
        #expect((try context.existingObject(with: list.objectID) as? OrderedList)?.mixTitles == "EAC")
        #expect((try context.existingObject(with: other.objectID) as? OrderedList)?.mixTitles == "ACE")
        list.mutableOrderedSetValue(forKey: "mixes").insert(songs[1], at: 1)
        try stack.context.save()
        let second = stack.newContext()
        #expect((try second.existingObject(with: list.objectID) as? OrderedList)?.mixTitles == "EBAC")
    }

    @Test("132: a refresh lays the unsaved order over what others have added", arguments: ["songs", "mixes"])
    func aRefreshKeepsTheUnsavedOrder(key: String) throws {
        let members = list.mutableOrderedSetValue(forKey: key)
        members.removeAllObjects()
        members.addObjects(from: Array(songs.prefix(3)))
        try stack.context.save()
        let other = stack.newContext()
        let same = try #require(other.object(with: list.objectID) as? OrderedList)
        same.mutableOrderedSetValue(forKey: key).add(other.object(with: songs[4].objectID))
        try other.save()
        func titles(_ list: OrderedList) -> String { key == "songs" ? list.titles : list.mixTitles }
        members.insert(songs[3], at: 0)
        members.moveObjects(at: IndexSet(integer: 3), to: 1)
        #expect(titles(list) == "DCAB")
        stack.context.refresh(list, mergeChanges: true)
        #expect(titles(list) == "DCABE")
        stack.context.refreshAllObjects()
        try stack.context.save()
        let fresh = try #require(stack.newContext().object(with: list.objectID) as? OrderedList)
        #expect(titles(fresh) == "DCABE")
        #expect(titles(list) == "DCABE")
    }
}
