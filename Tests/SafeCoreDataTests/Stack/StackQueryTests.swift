import Dispatch
import SafeCoreData
import Synchronization
import TestSupport
import Testing

/// Queries of a stack: reads off the main actor, many at once.
struct StackQueryTests {
    private let folder: TemporaryFolder
    private let url: URL
    /// On a file.
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("stock.sqlite")
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url))
    }

    private func stack(_ kind: StoreKind, maximumConnections: Int? = nil) -> DataStack {
        var options = DataStackOptions()
        options.maximumConnections = maximumConnections
        return DataStack(
            entities: Vendor.self, Article.self, Shelf.self, store: kind.location(folder.file("\(kind).sqlite")),
            options: options)
    }

    private func insert(_ names: String..., into stack: DataStack) async throws {
        try await stack.write { context in
            for (number, name) in names.enumerated() {
                _ = Article(context: context, name: name, unitPrice: 1, stockCount: number)
            }
        }
    }

    // MARK: Results

    @Test(arguments: StoreKind.allCases) func aFetchGivesSnapshotsInOrder(kind: StoreKind) async throws {
        let stack = stack(kind)
        try await insert("Bolt", "Nut", "Screw", "Washer", into: stack)
        #expect(try await stack.fetch(Article.self).count == 4)
        let some = try await stack.fetch(
            Article.self, where: #Predicate { $0.stockCount > 0 }, sortBy: [.descending(\.name)], limit: 2, offset: 1)
        #expect(some.map(\.name) == ["Screw", "Nut"])
        #expect(some.map(\.stockCount) == [2, 1])
        #expect(try await stack.fetch(Article.self, limit: 0).isEmpty)
        #expect(try await stack.fetch(Article.Snapshot.self, sortBy: [.ascending(\.name)]).map(\.name).first == "Bolt")
    }

    @Test(arguments: StoreKind.allCases) func aQueryGivesATupleOfValues(kind: StoreKind) async throws {
        let stack = stack(kind)
        try await insert("Bolt", "Nut", into: stack)
        let (count, first, id) = try await stack.query { context in
            let first = try context.first(Article.self, sortBy: [.ascending(\.name)])
            return (try context.count(Article.self), first?.snapshot(), first?.objectID)
        }
        #expect(count == 2)
        #expect(first?.name == "Bolt")
        #expect(
            try await stack.write { try $0.first(Article.self, where: #Predicate { $0.name == "Bolt" })?.objectID }
                == id)
        let names = try await stack.query { try $0.snapshots(Article.self, sortBy: [.descending(\.name)]).map(\.name) }
        #expect(names == ["Nut", "Bolt"])
    }

    @Test func snapshotsOfASuperclassLoseNothingUnseen() async throws {
        let stack = DataStack(entities: PaperNovel.self)
        try await stack.write { context in
            _ = PaperBook(context: context, inheriting: .init(title: "Elements"), author: "Euclid")
        }
        let error = await #expect(throws: SnapshotError.self) { try await stack.fetch(PaperMedium.self) }
        guard case .losesProperties? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await stack.fetch(PaperBook.Snapshot.self).map(\.author) == ["Euclid"])
    }

    // MARK: At once

    @Test(arguments: StoreKind.persistent) func queriesRunBesideEachOther(kind: StoreKind) async throws {
        let stack = stack(kind)
        try await insert("Bolt", into: stack)
        let meeting = Meeting(of: 4)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...4 {
                group.addTask {
                    try await stack.query { context in
                        let count = try context.count(Article.self)
                        return meeting.wait() ? count : -1
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [1, 1, 1, 1])
    }

    @Test(arguments: StoreKind.persistent) func noMoreQueriesRunAtOnceThanTheStoreHasReaders(kind: StoreKind)
        async throws
    {
        let stack = stack(kind, maximumConnections: 4)
        try await insert("Bolt", into: stack)
        let running = RunningCount()
        let meeting = Meeting(of: 3)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 1...30 {
                group.addTask {
                    try await stack.query { context in
                        running.begin()
                        defer { running.end() }
                        return try context.count(Article.self) == 1 && meeting.wait()
                    }
                }
            }
            for try await isServed in group { #expect(isServed) }
        }
        #expect(running.most == 3)
    }

    @MainActor @Test func aQueryOfTheMainActorRunsElsewhere() async throws {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        #expect(try await stack.query { _ in DispatchQueue.getSpecific(key: key) == nil })
    }

    @Test(arguments: StoreKind.allCases) func aQueryDoesNotWaitForAWriteThatRuns(kind: StoreKind) async throws {
        let stack = stack(kind)
        try await insert("Bolt", into: stack)
        let (writeRuns, queryIsDone) = (Meeting(of: 2), Meeting(of: 2))
        async let write = stack.write { context in
            _ = Article(context: context, name: "Nut", unitPrice: 1)
            return writeRuns.wait() && queryIsDone.wait()
        }
        let count = try await stack.query { context in writeRuns.wait() ? try context.count(Article.self) : -1 }
        #expect(count == 1)
        #expect(await queryIsDone.attend())
        #expect(try await write)
        #expect(try await stack.query { try $0.count(Article.self) } == 2)
    }

    // MARK: States

    @Test func allThatAQueryReadsOfAFileIsOfOneMoment() async throws {
        try await insert("Bolt", into: stack)
        let (hasRead, isWritten) = (Meeting(of: 2), Meeting(of: 2))
        async let counts = stack.query { context in
            let first = try context.count(Article.self)
            guard hasRead.wait(), isWritten.wait() else { return [-1] }
            return [
                first, try context.count(Article.self),
                try context.count(Article.self, where: #Predicate { $0.name == "Bolt" }),
            ]
        }
        #expect(await hasRead.attend())
        try await stack.write { context in
            try context.first(Article.self)?.name = "Nail"
            _ = Article(context: context, name: "Nut", unitPrice: 1)
        }
        #expect(await isWritten.attend())
        #expect(try await counts == [1, 1, 1])
        #expect(try await stack.fetch(Article.self, sortBy: [.ascending(\.name)]).map(\.name) == ["Nail", "Nut"])
    }

    @Test(arguments: StoreKind.allCases) func aQuerySeesWhatAWriteBeforeItHasWritten(kind: StoreKind) async throws {
        let stack = stack(kind)
        for number in 1...20 {
            try await insert("\(number)", into: stack)
            #expect(try await stack.query { try $0.count(Article.self) } == number)
            #expect(try await stack.fetch(Article.self).count == number)
        }
    }

    /// Each query reads a state of its own, by a connection that is used again.
    @Test func manyQueriesOpenFewConnections() async throws {
        try await insert("Bolt", into: stack)
        for _ in 1...50 { #expect(try await stack.query { try $0.fetch(Article.self).map(\.name) } == ["Bolt"]) }
        let path = url.resolvingSymlinksInPath().path
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)) == path
        }
        #expect((1...3).contains(open.count))
    }

    // MARK: Refusals

    @Test func whatAQueryChangesIsReportedAndDiscarded() async throws {
        let stack = DataStack(model: Shop.model())
        let id = try await stack.insertItem("Bolt")
        let error = await #expect(throws: DataStackError.self) {
            try await stack.query { context in
                try context.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.soldOnceMore)
            }
        }
        #expect(error == .changedWhileReading(["Item \(id) (sold)"]))
        let sold = try await stack.query { try $0.fetch(NSFetchRequest<ShopItem>(entityName: "Item")).map(\.sold) }
        #expect(sold == [0])
    }

    @Test func aQueryOfACancelledTaskEndsBeforeItsTurn() async throws {
        let stack = stack(.sqlite, maximumConnections: 2)
        try await insert("Bolt", into: stack)
        let (begins, mayEnd) = (Meeting(of: 2), Meeting(of: 2))
        async let first = stack.query { _ in begins.wait() && mayEnd.wait() }
        #expect(await begins.attend())
        let second = Task { try await stack.query { try $0.count(Article.self) } }
        second.cancel()
        #expect(await mayEnd.attend())
        #expect(try await first)
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await stack.query { try $0.count(Article.self) } == 1)
    }

    @Test func aQueryTellsWhyTheStoreIsNotOpen() async throws {
        try Data("no database at all".utf8).write(to: folder.file("text.sqlite"))
        let stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(folder.file("text.sqlite")))
        await #expect(throws: CocoaError.self) { try await stack.query { _ in } }
        await #expect(throws: CocoaError.self) { try await stack.fetch(Article.self) }
    }

    // MARK: Opening and closing

    @Test func queriesCalledBeforeTheStoreIsOpenAreServed() async throws {
        let gate = Gate()
        let stack = gate.stack()
        let queries = (1...20).map { _ in
            Task { try await stack.query { try $0.count(for: NSFetchRequest<ShopItem>(entityName: "Item")) } }
        }
        gate.open()
        for query in queries { #expect(try await query.value == 0) }
    }

    @Test func closingWaitsForTheQueriesCalledBefore() async throws {
        try await insert("Bolt", into: stack)
        let (begins, mayGoOn) = (Meeting(of: 2), Meeting(of: 2))
        let stack = stack
        async let names = stack.query { context in
            guard begins.wait(), mayGoOn.wait() else { return [""] }
            return try context.fetch(Article.self).map(\.name)
        }
        #expect(await begins.attend())
        let states = stack.states
        async let closing: Void = stack.close()
        for await state in states { if case .closed = state { break } }
        #expect(await mayGoOn.attend())
        #expect(try await names == ["Bolt"])
        try await closing
        await #expect(throws: DataStackError.closed) { try await stack.query { try $0.count(Article.self) } }
        try await stack.reopen()
        #expect(try await stack.query { try $0.count(Article.self) } == 1)
    }

    @Test func queriesDuringAReplacementAreServedFromTheCopy() async throws {
        try await insert("Bolt", into: stack)
        let source = folder.file("other.sqlite")
        let other = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(source))
        try await insert("Nut", "Screw", into: other)
        try await other.close()
        let stack = stack
        let states = stack.states
        async let replacing: Void = stack.replaceStore(withCopyOf: source)
        for await state in states { if case .opening = state { break } }
        #expect(try await stack.query { try $0.count(Article.self) } == 2)
        try await replacing
    }
}

/// How many blocks run, and how many did at most.
private final class RunningCount: Sendable {
    private let count = Mutex((now: 0, most: 0))

    func begin() { count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func end() { count.withLock { $0.now -= 1 } }
    var most: Int { count.withLock { $0.most } }
}
