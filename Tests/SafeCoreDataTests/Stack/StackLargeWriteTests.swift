import SafeCoreData
import TestSupport
import Testing

/// Writes of many objects, of which the main context holds few or all.
struct StackLargeWriteTests {
    private static let count = 2500

    private let folder: TemporaryFolder
    private let stack: DataStack

    init() throws {
        folder = try TemporaryFolder()
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(folder.file("stock.sqlite")))
    }

    nonisolated(nonsending) private func insert(_ numbers: Range<Int>) async throws {
        try await stack.write { context in
            for number in numbers { _ = Article(context: context, name: "\(number)", unitPrice: 1, stockCount: number) }
        }
    }

    @MainActor @Test func viewsFollowAWriteOfManyObjects() async throws {
        try await insert(0..<Self.count)
        let few = try await stack.read {
            try $0.fetch(Article.self, where: #Predicate { $0.stockCount < 3 }, sortBy: [.ascending(\.name)])
        }
        let all = try await stack.read { try $0.fetch(Article.self, sortBy: [.ascending(\.stockCount)]) }
        #expect(all.map(\.stockCount) == Array(0..<Self.count))
        try await stack.write { context in
            for article in try context.fetch(Article.self) {
                if article.stockCount == 1 { context.delete(article) } else { article.stockCount += 1 }
            }
            for number in 0..<Self.count { _ = Article(context: context, name: "new \(number)", unitPrice: 1) }
        }
        #expect([few[0], few[2]].map(\.stockCount) == [1, 3])
        #expect(few[1].managedObjectContext == nil)
        #expect(all.filter { $0.managedObjectContext != nil }.map(\.stockCount) == [1] + Array(3...Self.count))
        #expect(try await stack.read { try $0.count(Article.self) } == 2 * Self.count - 1)
    }

    @Test func sequencesOfResultsGetAllNewObjects() async throws {
        var states = stack.results(Article.self, sortBy: [.ascending(\.stockCount)]).makeAsyncIterator()
        #expect(try await states.next()?.values.isEmpty == true)
        try await insert(0..<Self.count)
        #expect(try await states.next()?.values.map(\.stockCount) == Array(0..<Self.count))
    }
}
