import CoreData
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Processes that are killed in the middle of their saves.
@Suite(.enabled(if: LongTests.areEnabled), .serialized) struct KilledSaveTests {
    /// Each save of a process adds an author with so many books.
    private static let books = 40
    private static let variable = "OPENCOREDATA_KILLED_STORE"

    @Test func aKilledProcessLeavesWholeSavesOnly() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        setenv(Self.variable, url.path, 1)
        var generations = 0
        for round in 0..<80 {
            setenv(Self.variable + "_ROUND", String(round), 1)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try Self.saveUntilKilled()
            }
            generations = try check(url, acknowledged: folder.file("saved"), atLeast: generations, round)
        }
        // The processes did get somewhere.
        #expect(generations > 80)
    }

    /// The child's side: saves one generation after the other, until another thread kills the
    /// process.
    private static func saveUntilKilled() throws {
        let environment = ProcessInfo.processInfo.environment
        let path = environment[variable] ?? ""
        var generator = SeededGenerator(seed: UInt64(environment[variable + "_ROUND"] ?? "") ?? 0)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
            options: [NSPersistentHistoryTrackingKey: true])
        let context = coordinator.newContext()
        var generation = try context.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author"))
        let acknowledgements = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("saved")
        let turns = Int.random(in: 0..<40_000_000, using: &generator)
        Thread.detachNewThread {
            // A random amount of work, so that the signal meets the other thread anywhere.
            let spent = Atomic<Int>(0)
            while spent.wrappingAdd(1, ordering: .relaxed).newValue < turns {}
            kill(getpid(), SIGKILL)
        }
        while true {
            generation += 1
            let author = context.author("Generation \(generation)", born: 1)
            for number in 0..<books {
                context.book("Book \(generation) \(number)", pages: Int32(generation), by: author)
            }
            // A change of what the last save made.
            for last in try context.authors("name == %@", ["Generation \(generation - 1)"]) { last.born = 2 }
            try context.save()
            try Data("\(generation)".utf8).write(to: acknowledgements, options: .atomic)
        }
    }

    /// - Returns: how many generations the store holds.
    private func check(_ url: URL, acknowledged: URL, atLeast former: Int, _ round: Int) throws -> Int {
        let known = (try? String(contentsOf: acknowledged, encoding: .utf8)).flatMap { Int($0) } ?? 0
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        let authors = try context.authors()
        #expect(authors.count >= max(former, known), "round \(round): a save that was over is lost")
        for author in authors {
            #expect(author.books.count == Self.books, "round \(round): \(author.name ?? "nil") was saved in part")
        }
        #expect(authors.filter { $0.born == 1 }.count == min(1, authors.count), "round \(round)")
        let file = SQLiteFile(url)
        #expect(file.value("PRAGMA integrity_check") == "ok")
        #expect(file.integer("SELECT count(*) FROM ZBOOK") == authors.count * Self.books)
        #expect(file.integer("SELECT count(*) FROM ATRANSACTION") == authors.count)
        #expect(
            (file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") ?? 0)
                >= (file.integer("SELECT max(Z_PK) FROM ZBOOK") ?? 0))
        try coordinator.remove(store)
        return authors.count
    }
}
