import TestSupport
import Testing

@testable import CoreData

/// How old a row may be when a fault takes it (behaviour 113).
struct StalenessTests {
    let folder: TemporaryFolder
    let open: OpenStore
    let context: NSManagedObjectContext
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        context = open.coordinator.newContext()
        context.currentTime = { 1_000_000_000_000_000_000 }
    }

    private func tag() throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
    }

    private func setTime(sinceReading seconds: Double, _ tag: NSManagedObject) throws {
        let read = try #require(tag.page).time
        context.currentTime = { read + UInt64(seconds * 1e9) }
    }

    @Test func aFaultTakesARowThatIsYoungEnough() throws {
        context.stalenessInterval = 60
        let tag = try tag()
        try setTime(sinceReading: 59, tag)
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        #expect(tag.value(forKey: "name") as? String == "red")
    }

    @Test func aFaultReadsARowThatIsTooOldAgain() throws {
        context.stalenessInterval = 60
        let tag = try tag()
        try setTime(sinceReading: 61, tag)
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        #expect(tag.value(forKey: "name") as? String == "blue")
    }

    @Test func aCachedRowOfAnotherContextGrowsOldToo() throws {
        let other = open.coordinator.newContext()
        let cached = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        context.stalenessInterval = 60
        let young = context.object(with: cached.objectID)
        try setTime(sinceReading: 59, cached)
        #expect(young.value(forKey: "name") as? String == "red")
        context.refresh(young, mergeChanges: false)
        try setTime(sinceReading: 61, cached)
        #expect(young.value(forKey: "name") as? String == "blue")
    }

    @Test func aLoadedObjectStaysAsItIs() throws {
        context.stalenessInterval = 60
        let tag = try tag()
        try setTime(sinceReading: 1, tag)
        #expect(tag.value(forKey: "name") as? String == "red")
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        try setTime(sinceReading: 3600, tag)
        #expect(tag.value(forKey: "name") as? String == "red")
    }

    @Test func aNegativeIntervalLastsForEver() throws {
        let tag = try tag()
        try setTime(sinceReading: 1e9, tag)
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        #expect(tag.value(forKey: "name") as? String == "red")
    }

    @Test func anIntervalOfZeroReadsEachTime() throws {
        context.stalenessInterval = 0
        let tag = try tag()
        SQLiteFile(url).execute("UPDATE ZTAG SET ZNAME = 'blue'")
        #expect(tag.value(forKey: "name") as? String == "blue")
    }
}
