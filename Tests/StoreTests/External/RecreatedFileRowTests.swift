import TestSupport
import Testing

@testable import CoreData

/// Rows with files and places in an order that one context deletes and another, which had changed
/// them, saves again.
struct RecreatedFileRowTests {
    private static let policies = [NSMergePolicy.mergeByPropertyObjectTrump, NSMergePolicy.overwrite]

    /// The names of a book's chapters in order, as a coordinator reads them that knows nothing
    /// else.
    private func chapters(_ archive: Archive, _ book: String) throws -> [String] {
        let coordinator = try Archive.open(archive.url, archive.options)
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "name == %@", book)
        let context = coordinator.newContext()
        let found = try #require(try context.fetch(request).first)
        return found.mutableOrderedSetValue(forKey: "chapters").compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        }
    }

    @Test(arguments: policies, 1...(LongTests.areEnabled ? 30 : 2))
    func itsFilesAreWrittenAgainAndTheOrderOfTheOthersStays(policy: NSMergePolicy, seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let archive = try Archive(options: [NSPersistentHistoryTrackingKey: true])
        let book = archive.insert("Book", "book")
        var names = ["a", "b", "c", "d"]
        var scans: [String: Int] = [:]
        for name in names {
            book.mutableOrderedSetValue(forKey: "chapters").add(archive.insert("Chapter", name))
            scans[name] = 1
        }
        try archive.context.save()
        archive.context.mergePolicy = policy
        let other = seed % 2 == 0 ? try Archive.open(archive.url, archive.options) : archive.coordinator
        for round in 0..<6 {
            archive.context.refreshAllObjects()
            let name = names[Int.random(in: 0..<names.count, using: &generator)]
            let chapter = try archive.object("Chapter", name)
            #expect(chapter.value(forKey: "scan") as? Data == Archive.large(name, scans[name] ?? 0))
            let deleting = other.newContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Chapter")
            request.predicate = NSPredicate(format: "name == %@", name)
            deleting.delete(try #require(try deleting.fetch(request).first))
            try deleting.save()
            chapter.setValue(round, forKey: "count")
            if Bool.random(using: &generator) {
                scans[name] = round + 10
                chapter.setValue(Archive.large(name, round + 10), forKey: "scan")
            }
            try archive.context.save()
            #expect(!archive.context.hasChanges)
            names.removeAll { $0 == name }
            names.append(name)

            for name in names {
                #expect(
                    archive.storedValue("Chapter", name, "scan") == Archive.large(name, scans[name] ?? 0),
                    "\(name) in round \(round)")
                #expect(
                    archive.storedValue("Chapter", name, "cover") == Archive.large(name, 2), "\(name) in round \(round)"
                )
            }
            #expect(try chapters(archive, "book") == names, "round \(round)")
            // The last entries of the history say what became of the row.
            #expect(
                archive.raw.rows(
                    "SELECT ZCHANGETYPE FROM ACHANGE WHERE ZENTITY = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = "
                        + "'Chapter') "
                        + "AND ZENTITYPK = (SELECT Z_PK FROM ZCHAPTER WHERE ZNAME = '\(name)') ORDER BY Z_PK DESC "
                        + "LIMIT 2"
                ).map { $0[0] } == ["0", "2"])
        }
        for store in other.persistentStores { try other.remove(store) }
        try archive.reopen()
        #expect(try archive.filesOnDisk() == archive.namedFiles())
    }
}
