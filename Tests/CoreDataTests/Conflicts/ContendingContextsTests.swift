import CoreData
import TestSupport
import Testing

/// Several contexts with all policies change, delete and recreate a few rows, also while others
/// resolve their conflicts.
struct ContendingContextsTests {
    @Test(arguments: Contest.Arena.allCases, 1...(LongTests.areEnabled ? 40 : 1))
    func everySaveSucceedsOrReportsAConflictAndTheRowsAreThoseExpected(_ arena: Contest.Arena, _ seed: Int) throws {
        let contest = try Contest(arena, seed: UInt64(seed))
        for step in 0..<250 {
            try contest.doSomething()
            if let problem = contest.problem {
                Issue.record("seed \(seed), step \(step): \(problem)")
                return
            }
        }
        #expect(contest.saves > 20)
        #expect(contest.interruptions > 0)
    }
}

/// The contexts, their moves, and what each of their saves must have done.
final class Contest {
    enum Arena: CaseIterable {
        case inMemory
        /// Two of the contexts have a coordinator of their own on the file, as another process has.
        case sqlite
        case sqliteWithHistory
        /// As do two on the schema.
        case postgreSQL
        case postgreSQLWithHistory

        static let allCases: [Arena] =
            [.inMemory, .sqlite, .sqliteWithHistory]
            + (StoreKind.allCases.contains(.postgreSQL) ? [.postgreSQL, .postgreSQLWithHistory] : [])

        var kind: StoreKind {
            switch self {
            case .inMemory: .inMemory
            case .sqlite, .sqliteWithHistory: .sqlite
            case .postgreSQL, .postgreSQLWithHistory: .postgreSQL
            }
        }
    }

    /// A merge policy that lets other contexts save between the resolution of conflicts and the
    /// next attempt.
    private final class OpenDoor: NSMergePolicy, @unchecked Sendable {
        // Sendable: used by one thread.
        var visit: (() -> Void)?

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            if !list.isEmpty { visit?() }
        }
    }

    private struct Player {
        let context: NSManagedObjectContext
        let policy: NSMergePolicyType
    }

    private var generator: SeededGenerator
    private let library: Library
    private let rows: ContestRows
    private var players: [Player] = []
    private var serial = 0
    private var isVisiting = false
    /// Whose save is under test.
    private var saving: NSManagedObjectContext?
    private(set) var problem: String?
    private(set) var saves = 0
    private(set) var interruptions = 0
    /// The store's content when the last attempt of the tested save began, and the changes since
    /// the first attempt.
    private var before: ContestRows.State = [:]
    private var interruption = ContestOutcome.Interruption()

    init(_ arena: Arena, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        let isRecorded = [.sqliteWithHistory, .postgreSQLWithHistory].contains(arena)
        let options: [AnyHashable: Any]? = isRecorded ? [NSPersistentHistoryTrackingKey: true] : nil
        library = try Library(arena.kind, options: options)
        rows = ContestRows(library)
        let author = library.context.author("A", born: 1)
        for number in 0..<3 { library.context.book("B\(number)", pages: 1, by: number == 0 ? author : nil) }
        library.context.tag("T")
        try library.context.save()
        let other = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        if arena != .inMemory {
            try other.addPersistentStore(
                ofType: arena.kind.type, configurationName: nil, at: arena.kind.url(library.url), options: options)
        }
        let types: [NSMergePolicyType] = [
            .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType,
        ]
        for (index, type) in types.enumerated() {
            let context = index >= 5 && arena != .inMemory ? other.newContext() : library.newContext()
            context.retainsRegisteredObjects = true
            let policy = OpenDoor(merge: type)
            policy.visit = { [unowned self] in visit() }
            context.mergePolicy = policy
            players.append(Player(context: context, policy: type))
        }
    }

    private func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private func name() -> String {
        serial += 1
        return "n\(serial)"
    }

    // MARK: Moves

    func doSomething() throws {
        let player = players[random(0..<players.count)]
        if random(0..<4) == 0 { try save(player) } else { try change(player.context) }
    }

    /// Others change and save while a save resolves its conflicts.
    private func visit() {
        guard !isVisiting else { return }
        isVisiting = true
        defer { isVisiting = false }
        if random(0..<2) == 0 {
            interruptions += 1
            interruption.happened = true
            let others = players.filter { $0.context !== saving }
            for _ in 0..<3 {
                guard let other = others.randomElement(using: &generator), other.policy != .errorMergePolicyType else {
                    continue
                }
                try? change(other.context)
                try? other.context.save()
                interruption.states.append(rows.state())
            }
        }
        before = rows.state()
        interruption.states.append(before)
    }

    private func change(_ context: NSManagedObjectContext) throws {
        let books = try context.books().filter { !$0.isDeleted }
        let authors = try context.authors().filter { !$0.isDeleted }
        let tags = try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).filter { !$0.isDeleted }
        let book = books.isEmpty ? nil : books[random(0..<books.count)]
        switch random(0..<14) {
        case 0..<3: book?.title = name()
        case 3..<5: book?.pages = Int32(random(0..<1000))
        case 5: authors.first?.name = name()
        case 6: book?.author = random(0..<2) == 0 ? nil : authors.first
        case 7: book.map { if let tag = tags.first { $0.tags = $0.tags.isEmpty ? [tag] : [] } }
        case 8: tags.first?.label = name()
        case 9..<11: if let book { context.delete(book) }
        case 11: if random(0..<2) == 0, let author = authors.first { context.delete(author) }
        case 12:
            if books.count < 4 { context.book(name(), pages: 5, by: authors.first) }
            if authors.isEmpty { context.author(name()) }
            if tags.isEmpty { context.tag(name()) }
        default: if random(0..<3) == 0 { context.refreshAllObjects() }
        }
        context.processPendingChanges()
    }

    // MARK: Saves

    private func save(_ player: Player) throws {
        let context = player.context
        let intentions = ContestOutcome.intentions(of: context)
        let new = Dictionary(uniqueKeysWithValues: context.insertedObjects.map { (ContestRows.name($0), $0) })
        before = rows.state()
        interruption = .init(states: [before])
        saving = context
        saves += 1
        do {
            try context.save()
        } catch let error as CocoaError
            where error.code == .managedObjectMerge && player.policy == .errorMergePolicyType
        {
            if rows.state() != before { problem = "a refused save changed the store" }
            getGoing(context, after: error)
            return
        } catch {
            problem = "a save with policy \(player.policy.rawValue) failed: \(error)"
            return
        }
        if context.hasChanges {
            let left = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
            problem =
                "changes are left after a save with policy \(player.policy.rawValue): \(left.map(ContestRows.name))"
        }
        let names = new.filter { $0.value.managedObjectContext != nil }.mapValues(ContestRows.name)
        let outcome = ContestOutcome(
            policy: player.policy, intentions: intentions.mapValues { $0.renaming(names) }, new: Set(names.values),
            before: before,
            after: rows.state(), interruption: interruption)
        problem = problem ?? outcome.problem ?? rows.problem
    }

    /// A context whose save was refused goes on after its changes or the objects in conflict were
    /// given up or merged.
    private func getGoing(_ context: NSManagedObjectContext, after refusal: CocoaError) {
        let way = random(0..<3)
        var error: (any Error)? = refusal
        for _ in 0..<4 {
            guard let conflicts = (error as? CocoaError)?.persistentStoreSaveConflicts else { break }
            switch way {
            case 0: context.rollback()
            case 1: for conflict in conflicts { context.refresh(conflict.sourceObject, mergeChanges: true) }
            default: for conflict in conflicts { context.refresh(conflict.sourceObject, mergeChanges: false) }
            }
            do {
                try context.save()
                return
            } catch let next {
                error = next
            }
        }
        problem = "stuck after a refused save, way \(way): \(error.map { "\($0)" } ?? "")"
    }
}
