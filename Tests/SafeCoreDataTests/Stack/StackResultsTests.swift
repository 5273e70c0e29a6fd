import SafeCoreData
import TestSupport
import Testing

extension DataStack {
    @discardableResult
    fileprivate nonisolated(nonsending) func insertArticles(_ names: String..., count: Int = 0) async throws
        -> [NSManagedObjectID]
    {
        try await write { context in
            names.map { name in
                let article = Article(context: context, name: name, unitPrice: 1)
                article.stockCount = count
                return article.objectID
            }
        }
    }
}

/// Sequences of snapshots that follow a stack.
struct StackResultsTests {
    private let folder: TemporaryFolder
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(folder.file("stock.sqlite")))
    }

    @Test func resultsAreSnapshotsAndFollowEachWrite() async throws {
        let objectIDs = try await stack.insertArticles("Nut", "Bolt", "Screw", count: 2)
        var states = stack.results(Article.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
            .makeAsyncIterator()
        let first = try #require(try await states.next())
        #expect(first.values.map(\.name) == ["Bolt", "Nut", "Screw"])
        #expect(first.difference == nil)
        try await stack.write { context in
            try context.object(with: objectIDs[0], as: Article.self).stockCount = 9
            try context.object(with: objectIDs[1], as: Article.self).note = "long"
            context.delete(try context.object(with: objectIDs[2], as: Article.self))
            _ = Article(context: context, name: "Anchor", unitPrice: 3)
        }
        let second = try #require(try await states.next())
        #expect(second.values.map(\.name) == ["Anchor", "Bolt"])
        #expect(second.values[1].note == "long")
        #expect(second.updatedObjectIDs == [objectIDs[1]])
        #expect(first.objectIDs.applying(try #require(second.difference)) == second.objectIDs)
    }

    @Test func aLimitGivesTheFirst() async throws {
        try await stack.insertArticles("B", "C", "D")
        var states = stack.results(Article.self, sortBy: [.ascending(\.name)], limit: 2).makeAsyncIterator()
        #expect(try await states.next()?.values.map(\.name) == ["B", "C"])
        try await stack.insertArticles("A")
        #expect(try await states.next()?.values.map(\.name) == ["A", "B"])
        var none = stack.results(Article.self, limit: 0).makeAsyncIterator()
        #expect(try await none.next()?.values.isEmpty == true)
    }

    @Test func manyWritesEndWithTheLastState() async throws {
        let sequence = stack.results(Article.self, sortBy: [.ascending(\.name)])
        let reader = Task {
            var last: [String] = []
            var objectIDs: [NSManagedObjectID] = []
            for try await state in sequence {
                if let difference = state.difference { #expect(objectIDs.applying(difference) == state.objectIDs) }
                objectIDs = state.objectIDs
                last = state.values.map(\.name)
                if last.last == "ZZ" { break }
            }
            return last
        }
        for number in 10..<60 { try await stack.insertArticles("\(number)") }
        try await stack.insertArticles("ZZ")
        #expect(try await reader.value == (10..<60).map(String.init) + ["ZZ"])
    }

    @Test func oneObjectIsFollowedUntilItIsDeleted() async throws {
        let objectID = try await stack.insertArticles("Nut", "Bolt")[0]
        var values = stack.values(of: objectID, as: Article.self).makeAsyncIterator()
        #expect(try await values.next()?.name == "Nut")
        try await stack.insertArticles("Other")
        try await stack.write { try $0.object(with: objectID, as: Article.self).stockCount = 7 }
        #expect(try await values.next()?.stockCount == 7)
        try await stack.write { $0.delete(try $0.object(with: objectID, as: Article.self)) }
        #expect(try await values.next() == nil)
        var gone = stack.values(of: objectID, as: Article.self).makeAsyncIterator()
        let error = await #expect(throws: CocoaError.self) { try await gone.next() }
        #expect(error?.code == .managedObjectReferentialIntegrity)
    }

    @Test @MainActor func aViewIsFollowed() async throws {
        let objectID = try await stack.insertArticles("Nut")[0]
        let view = try await stack.read { try $0.object(with: objectID, as: Article.self) }
        var values = stack.values(of: view).makeAsyncIterator()
        #expect(try await values.next()?.name == "Nut")
        try await stack.write(to: view) { _, article in article.note = "new" }
        #expect(try await values.next()?.note == "new")
    }

    @Test func closingTheStackEndsSequences() async throws {
        try await stack.insertArticles("Nut")
        var states = stack.results(Article.self).makeAsyncIterator()
        #expect(try await states.next()?.values.count == 1)
        try await stack.close()
        #expect(try await states.next() == nil)
        var late = stack.results(Article.self).makeAsyncIterator()
        await #expect(throws: DataStackError.closed) { try await late.next() }
        try await stack.reopen()
        var again = stack.results(Article.self).makeAsyncIterator()
        #expect(try await again.next()?.values.map(\.name) == ["Nut"])
    }

    @Test func subclassesNeedTheirSnapshotType() async throws {
        let paper = DataStack(entities: PaperNovel.self)
        try await paper.write { context in
            _ = PaperNovel(
                context: context, inheriting: .init(inheriting: .init(title: "Emma"), author: "Austen"), genre: "comedy"
            )
        }
        var media = paper.results(PaperMedium.self).makeAsyncIterator()
        await #expect(throws: SnapshotError.self) { try await media.next() }
        var novels = paper.results(PaperNovel.Snapshot.self, where: #Predicate { $0.genre == "comedy" })
            .makeAsyncIterator()
        #expect(try await novels.next()?.values.map(\.title) == ["Emma"])
    }

    @Test func aStackThatCannotOpenSaysWhy() async throws {
        let broken = DataStack(modelAt: folder.file("missing.mom"))
        var states = broken.results(Article.self).makeAsyncIterator()
        await #expect(throws: (any Error).self) { try await states.next() }
    }
}
