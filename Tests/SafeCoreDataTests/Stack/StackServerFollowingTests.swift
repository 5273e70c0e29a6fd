import SafeCoreData
import TestSupport
import Testing

@testable import SafeCoreData

/// Stacks on a server take over by themselves what others save there.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct StackServerFollowingTests: TwoStacks {
    private let shop: ServerShop
    let stack: DataStack
    /// Another stack on the same schema, which knows nothing of the first one: as another program.
    let other: DataStack

    init() throws {
        shop = try ServerShop()
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .postgreSQL(shop.url))
        other = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .postgreSQL(shop.url))
    }

    @MainActor @Test func viewsShowWhatAnotherStackHasChanged() async throws {
        let ids = try await insert("Bolt", "Nut", into: stack)
        let views = try await stack.read { context in try ids.map { try context.object(with: $0, as: Article.self) } }
        #expect(views.map(\.stockCount) == [0, 0])
        try await change("Bolt") { $1.stockCount = 5 }
        let isCounted = await comesTrue { views[0].stockCount == 5 }
        #expect(isCounted)
        #expect(views[1].stockCount == 0)
        try await change("Bolt") { $1.note = "long" }
        let isNoted = await comesTrue { views[0].note == "long" }
        #expect(isNoted)
        try await stack.close()
        try await other.close()
    }

    @MainActor @Test func viewsOfWhatAnotherStackHasDeletedAreEmpty() async throws {
        let ids = try await insert("Bolt", "Nut", into: stack)
        let views = try await stack.read { context in try ids.map { try context.object(with: $0, as: Article.self) } }
        #expect(views.map(\.name) == ["Bolt", "Nut"])
        try await change("Nut") { $0.delete($1) }
        let isEmptied = await comesTrue { views[1].managedObjectContext == nil }
        #expect(isEmptied)
        #expect(views[0].name == "Bolt")
        #expect(try await stack.read { try $0.fetch(Article.self).map(\.name) } == ["Bolt"])
        try await stack.close()
        try await other.close()
    }

    /// A program in another process, which finds the model in the store.
    @MainActor @Test func viewsShowWhatAnotherProcessHasChanged() async throws {
        let counted = NSManagedObjectModel([
            NSEntityDescription(
                "Item", class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSAttributeDescription("stockCount", .integer32AttributeType, optional: false, default: 0),
                ])
        ])
        let place = try ServerShop()
        let stack = DataStack(model: counted, store: .postgreSQL(place.url))
        let ids = try await stack.write { context in
            (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).objectID }
        }
        let views = try await stack.read { context in
            try ids.map { try context.object(with: $0, as: NSManagedObject.self) }
        }
        let before = views.map { $0.object.value(forKey: "stockCount") as? Int }
        #expect(before == [0, 0])
        // Each save raises one of them by 1 and the other by 2.
        let program = try ProgramRun(OtherProgram.url, ["count", place.url.absoluteString, "7", "3"])
        #expect(program.status == 0, "\(program.output)")
        #expect(program.output.hasPrefix("saved 3"), "\(program.output)")
        #expect(place.tables.integer("SELECT sum(stock_count) FROM item") == 9)
        let follow = await comesTrue {
            views.reduce(0) { $0 + ($1.object.value(forKey: "stockCount") as? Int ?? 0) } == 9
        }
        #expect(follow)
        try await stack.close()
    }

    @Test func resultsFollowAnotherStack() async throws {
        _ = try await insert("Bolt", "Nut", into: stack)
        var states = stack.results(Article.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
            .makeAsyncIterator()
        #expect(try await states.next()?.values.map(\.name) == ["Bolt", "Nut"])
        _ = try await insert("Anchor", into: other)
        try await change("Bolt") { $1.stockCount = 9 }
        try await change("Nut") { $1.note = "long" }
        var last: [Article.Snapshot] = []
        while last.map(\.name) != ["Anchor", "Nut"] || last.last?.note != "long" {
            last = try #require(try await states.next()).values
        }
        try await change("Anchor") { $0.delete($1) }
        while last.map(\.name) != ["Nut"] { last = try #require(try await states.next()).values }
        try await stack.close()
        try await other.close()
    }

    @Test func theValuesOfAnObjectEndWhenAnotherStackDeletesIt() async throws {
        let id = try await insert("Bolt", into: stack)[0]
        var values = stack.values(of: id, as: Article.self).makeAsyncIterator()
        #expect(try await values.next()?.stockCount == 0)
        try await change("Bolt") { $1.stockCount = 7 }
        #expect(try await values.next()?.stockCount == 7)
        try await change("Bolt") { $0.delete($1) }
        #expect(try await values.next() == nil)
        try await stack.close()
        try await other.close()
    }

    /// A write reads what is in the database, whatever this stack knows of it.
    @Test func aWriteBuildsOnWhatAnotherStackHasSaved() async throws {
        let id = try await insert("Bolt", into: stack)[0]
        for _ in 0..<5 {
            try await change("Bolt") { $1.stockCount += 1 }
            try await stack.write(retries: 5) { try $0.object(with: id, as: Article.self).stockCount += 1 }
        }
        #expect(shop.tables.column("SELECT stock_count FROM article") == ["10"])
        try await stack.close()
        try await other.close()
    }
}
