import CoreData
import Foundation
import TestSupport
import Testing

/// Many contexts on one store, and a process that dies while it saves.
struct ConcurrencyTests {
    @Test(arguments: StoreKind.allCases)
    func readersSeeWholeSavesWhileOneWrites(kind: StoreKind) async throws {
        let library = try Library(kind)
        let (first, second) = (library.context.author("A", born: 0), library.context.author("B", born: 0))
        try library.context.save()
        let ids = (first.objectID, second.objectID)
        let coordinator = library.coordinator
        let torn = Counter()
        let written = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let context = coordinator.newContext()
                defer { written.increase() }
                for year in 1...60 {
                    try await context.perform {
                        context.object(with: ids.0).setValue(year, forKey: "born")
                        context.object(with: ids.1).setValue(year, forKey: "born")
                        context.book("\(year)")
                        try context.save()
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    var finished = false
                    while !finished {
                        finished = written.value > 0
                        let context = coordinator.newContext()
                        try await context.perform {
                            let request = NSFetchRequest<NSDictionary>(entityName: "Author")
                            request.resultType = .dictionaryResultType
                            request.propertiesToFetch = ["born"]
                            let years = Set(
                                try context.fetch(request).compactMap { ($0["born"] as? NSNumber)?.intValue })
                            if years.count != 1 { torn.increase() }
                            for book in try context.books() where book.title == nil { torn.increase() }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(torn.value == 0)
        let fresh = library.newContext()
        #expect(try fresh.authors().map(\.born) == [60, 60])
        #expect(try fresh.books().count == 60)
    }

    @Test func writersOnSeveralContextsLoseNothing() async throws {  // 208
        let library = try Library()
        let counter = library.context.author("Counter", born: 0)
        try library.context.save()
        let id = counter.objectID
        let coordinator = library.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        let context = coordinator.newContext()
                        try await context.perform {
                            while true {
                                guard let counter = try context.existingObject(with: id) as? LibraryAuthor else {
                                    return
                                }
                                counter.born += 1
                                do {
                                    try context.save()
                                    return
                                } catch let error as CocoaError where error.code == .managedObjectMerge {
                                    context.refresh(counter, mergeChanges: false)
                                }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(library.file.value("SELECT ZBORN FROM ZAUTHOR") == "40")
        #expect(library.file.value("SELECT Z_OPT FROM ZAUTHOR") == "41")
    }

    @Test func aProcessKilledWhileItSavesLeavesWholeSaves() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("killed.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
        // Each save of the child inserts an author with three books. It dies by its own hand, on
        // another thread, in the middle of one of them.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path as String] in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path))
            let context = coordinator.newContext()
            for number in 0..<100_000 {
                let author = context.author("\(number)")
                for title in ["a", "b", "c"] { context.book(title, by: author) }
                if number == 30 { Thread.detachNewThread { kill(getpid(), SIGKILL) } }
                try context.save()
            }
        }
        let file = SQLiteFile(url)
        #expect(file.value("PRAGMA integrity_check") == "ok")
        let authors = try #require(Int(file.value("SELECT count(*) FROM ZAUTHOR") ?? ""))
        #expect(authors >= 30)
        #expect(file.value("SELECT count(*) FROM ZBOOK") == "\(authors * 3)")
        #expect(file.value("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR NOT IN (SELECT Z_PK FROM ZAUTHOR)") == "0")
        #expect(
            file.value("SELECT Z_MAX >= (SELECT max(Z_PK) FROM ZBOOK) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "1")
        let again = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try again.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = again.newContext()
        #expect(try context.authors().allSatisfy { $0.books.count == 3 })
        context.author("after")
        try context.save()
    }
}
