import CoreData
import Synchronization
import TestSupport
import Testing

/// Many contexts that write and read one store at once, for longer.
@Suite(.enabled(if: LongTests.areEnabled)) struct ConcurrencyStressTests {
    private static let accounts = 20
    private static let start: Int32 = 1000

    /// Writers move pages between books; no fetch may ever see a sum that is not the one of the
    /// beginning.
    @Test(arguments: StoreKind.allCases)
    func theSumStaysTheSameForEveryReader(_ kind: StoreKind) async throws {
        let library = try Library(kind)
        for number in 0..<Self.accounts { library.context.book("Book \(number)", pages: Self.start) }
        try library.context.save()
        let coordinator = library.coordinator
        let total = Int64(Self.accounts) * Int64(Self.start)
        let moves = Counter()
        let conflicts = Counter()
        let writersLeft = Counter()
        writersLeft.increase(by: 6)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    defer { writersLeft.increase(by: -1) }
                    var generator = SeededGenerator(seed: UInt64(writer))
                    let context = coordinator.newContext()
                    for _ in 0..<1000 {
                        try Self.move(Int32.random(in: 1...5, using: &generator), context, &generator, conflicts)
                        moves.increase()
                    }
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    let context = coordinator.newContext()
                    while writersLeft.value > 0 {
                        let sum = try context.performAndWait { try Self.sum(context, asDictionary: reader % 2 == 0) }
                        if sum != total { Issue.record("a reader saw the sum \(sum) instead of \(total)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(moves.value == 6000)
        let reader = library.newContext()
        #expect(try Self.sum(reader, asDictionary: false) == total)
        if kind == .sqlite {
            #expect(library.file.integer("SELECT sum(ZPAGES) FROM ZBOOK").map { Int64($0) } == total)
            #expect(library.file.value("PRAGMA integrity_check") == "ok")
        }
    }

    private static func move(
        _ pages: Int32, _ context: NSManagedObjectContext, _ generator: inout SeededGenerator, _ conflicts: Counter
    ) throws {
        let titles = [
            "Book \(Int.random(in: 0..<accounts, using: &generator))",
            "Book \(Int.random(in: 0..<accounts, using: &generator))",
        ]
        if titles[0] == titles[1] { return }
        try context.performAndWait {
            while true {
                let books = try context.books("title IN %@", [titles])
                guard books.count == 2 else { throw CocoaError(.coreData) }
                books[0].pages -= pages
                books[1].pages += pages
                do {
                    try context.save()
                    return
                } catch CocoaError.managedObjectMerge {
                    // Another writer was faster: look again.
                    conflicts.increase()
                    context.rollback()
                    context.refreshAllObjects()
                }
            }
        }
    }

    private static func sum(_ context: NSManagedObjectContext, asDictionary: Bool) throws -> Int64 {
        guard asDictionary else {
            context.reset()
            return try context.books().reduce(0) { $0 + Int64($1.pages) }
        }
        let column = NSExpressionDescription(
            "sum", NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")]),
            .integer64AttributeType)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column]
        return (try context.fetch(request).first?["sum"] as? NSNumber)?.int64Value ?? 0
    }

    /// Inserts through many coordinators, as many processes would: no key is handed out twice,
    /// nothing is lost.
    @Test func manyCoordinatorsInsertIntoOneFile() async throws {
        let library = try Library()
        let url = library.url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
                    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
                    let context = coordinator.newContext()
                    for number in 0..<300 {
                        try context.performAndWait {
                            let author = context.author("Author \(writer) \(number)")
                            for book in 0..<5 { context.book("Book \(writer) \(number) \(book)", by: author) }
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(library.file.integer("SELECT count(*) FROM ZAUTHOR") == 1800)
        #expect(library.file.integer("SELECT count(DISTINCT ZTITLE) FROM ZBOOK") == 9000)
        #expect(library.file.integer("SELECT count(*) FROM ZBOOK b JOIN ZAUTHOR a ON b.ZAUTHOR = a.Z_PK") == 9000)
        #expect(library.file.value("PRAGMA integrity_check") == "ok")
    }
}
