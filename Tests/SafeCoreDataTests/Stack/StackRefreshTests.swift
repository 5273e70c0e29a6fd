import Observation
import SafeCoreData
import TestSupport
import Testing

/// Merging what other programs have written, in stacks that do not follow them by themselves.
struct StackRefreshTests: TwoStacks {
    private let folder: TemporaryFolder
    private let url: URL
    let stack: DataStack
    /// Another stack on the same file, which knows nothing of the first one: as another program.
    let other: DataStack

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("stock.sqlite")
        var options = DataStackOptions()
        options.followsOtherPrograms = false
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url), options: options)
        other = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url), options: options)
    }

    @MainActor @Test func viewsShowWhatOthersHaveWritten() async throws {
        let ids = try await insert("Bolt", "Nut", "Screw", into: stack)
        let views = try await stack.read { context in try ids.map { try context.object(with: $0, as: Article.self) } }
        #expect(views.map(\.stockCount) == [0, 0, 0])
        try await change("Bolt") { $1.stockCount = 5 }
        try await change("Nut") { $0.delete($1) }
        _ = try await insert("Washer", into: other)
        #expect(views.map(\.stockCount) == [0, 0, 0])
        try await stack.refresh()
        #expect(views[0].stockCount == 5)
        #expect(views[1].managedObjectContext == nil)
        #expect(views[2].name == "Screw")
        #expect(
            try await stack.read { try $0.fetch(Article.self).map(\.name).sorted() } == ["Bolt", "Screw", "Washer"])
    }

    /// Another process, which knows the model only from the store.
    @MainActor @Test func viewsShowWhatAnotherProgramHasWritten() async throws {
        let ids = try await insert("Bolt", "Nut", "Screw", into: stack)
        let views = try await stack.read { context in try ids.map { try context.object(with: $0, as: Article.self) } }
        #expect(views.map(\.stockCount) == [0, 0, 0])
        let program = try ProgramRun(
            OtherProgram.url, ["change", url.path, "Article", "Bolt", "stockCount", "5", "Nut"])
        #expect(program.status == 0, "\(program.output)")
        #expect(program.output.contains("saved"), "\(program.output)")
        #expect(views.map(\.stockCount) == [0, 0, 0])
        try await stack.refresh()
        #expect(views[0].stockCount == 5)
        #expect(views[1].managedObjectContext == nil)
        #expect(views[2].name == "Screw")
        try await stack.write { try $0.object(with: ids[0], as: Article.self).stockCount += 1 }
        #expect(
            SQLiteFile(url).rows("SELECT ZNAME, ZSTOCKCOUNT FROM ZARTICLE ORDER BY ZNAME") == [
                ["Bolt", "6"], ["Screw", "0"],
            ])
    }

    @MainActor @Test func viewsFollowWithoutRefreshUnlessTheyAreTold() async throws {
        let following = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(url))
        let id = try await insert("Bolt", into: stack)[0].uriRepresentation()
        func view(in stack: DataStack) async throws -> ReadOnly<Article> {
            try await stack.read { context in
                try #require(try context.first(Article.self, where: #Predicate { $0.name == "Bolt" }))
            }
        }
        let (told, untold) = (try await view(in: following), try await view(in: stack))
        #expect(untold.stockCount == 0)
        #expect(told.objectID.uriRepresentation() == id)
        try await change("Bolt") { $1.stockCount = 5 }
        let hasFollowed = await comesTrue { told.stockCount == 5 }
        #expect(hasFollowed)
        #expect(untold.stockCount == 0)
    }

    @MainActor @Test func whatNobodyHoldsAnyMoreIsReadFromTheStore() async throws {
        let ids = try await insert("Bolt", "Nut", into: stack)
        let kept = try await stack.read { context in
            // Both rows are on one page, which the first object keeps.
            let articles = try context.fetch(Article.self, sortBy: [.ascending(\.name)])
            return articles[0]
        }
        #expect(kept.name == "Bolt")
        try await change("Nut") { $1.stockCount = 7 }
        try await stack.refresh()
        #expect(try await stack.read { try $0.object(with: ids[1], as: Article.self).stockCount } == 7)
    }

    @MainActor @Test func relationshipsFollow() async throws {
        let (vendorID, shelfID) = try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            let shelf = Shelf(context: context, label: "A")
            for name in ["1", "2", "3"] {
                let article = Article(context: context, name: name, unitPrice: 1, vendor: vendor)
                shelf.articles.append(article)
            }
            return (vendor.objectID, shelf.objectID)
        }
        let vendor = try await stack.read { try $0.object(with: vendorID, as: Vendor.self) }
        let shelf = try await stack.read { try $0.object(with: shelfID, as: Shelf.self) }
        #expect(vendor.articles.count == 3)
        #expect(vendor.articleCount == 3)
        #expect(shelf.articles.map(\.name) == ["1", "2", "3"])
        try await change("2") { _, article in article.vendor = nil }
        try await change("3") { _, article in
            let articles = try #require(article.shelf).articles
            article.shelf?.articles = articles.reversed()
        }
        try await stack.refresh()
        #expect(vendor.articles.map(\.name).sorted() == ["1", "3"])
        #expect(vendor.articleCount == 2)
        #expect(shelf.articles.map(\.name) == ["3", "2", "1"])
    }

    @MainActor @Test func observersAreToldOfWhatHasChangedOnly() async throws {
        let ids = try await insert("Bolt", "Nut", into: stack)
        let views = try await stack.read { context in try ids.map { try context.object(with: $0, as: Article.self) } }
        let told = Log()
        func watch(_ name: String, _ read: () -> Void) {
            withObservationTracking(read) { told.add(name) }
        }
        watch("Bolt's number") { _ = views[0].stockCount }
        watch("Bolt's name") { _ = views[0].name }
        watch("Nut's number") { _ = views[1].stockCount }
        try await change("Bolt") { $1.stockCount = 5 }
        try await stack.refresh()
        #expect(told.all == ["Bolt's number"])
        // What nobody keeps is not read again.
        withExtendedLifetime(views) {}
    }

    @Test func sequencesOfResultsFollow() async throws {
        let ids = try await insert("Bolt", "Nut", "Screw", into: stack)
        var states = stack.results(Article.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
            .makeAsyncIterator()
        let first = try #require(try await states.next())
        #expect(first.values.map(\.name) == ["Bolt", "Nut", "Screw"])
        try await change("Bolt") { $1.stockCount = 9 }
        try await change("Nut") { $0.delete($1) }
        try await change("Screw") { $1.note = "long" }
        let anchor = try await insert("Anchor", into: other)[0]
        try await stack.refresh()
        let second = try #require(try await states.next())
        #expect(
            second.objectIDs.map { $0.uriRepresentation() } == [anchor.uriRepresentation(), ids[2].uriRepresentation()])
        #expect(second.values.map(\.name) == ["Anchor", "Screw"])
        #expect(second.values[1].note == "long")
        #expect(first.objectIDs.applying(try #require(second.difference)) == second.objectIDs)
        // What is the same again gives no state.
        try await stack.refresh()
        _ = try await insert("Last", into: stack)
        #expect(try await states.next()?.values.map(\.name) == ["Anchor", "Last", "Screw"])
    }

    @Test func partsOfResultsFollow() async throws {
        _ = try await insert("B", "C", "D", into: stack)
        var states = stack.results(Article.self, sortBy: [.ascending(\.name)], limit: 2).makeAsyncIterator()
        #expect(try await states.next()?.values.map(\.name) == ["B", "C"])
        _ = try await insert("A", into: other)
        try await stack.refresh()
        #expect(try await states.next()?.values.map(\.name) == ["A", "B"])
        try await change("A") { $0.delete($1) }
        try await stack.refresh()
        #expect(try await states.next()?.values.map(\.name) == ["B", "C"])
    }

    @Test func resultsFollowWhatTheyAskOfRelatedObjects() async throws {
        try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            _ = Article(context: context, name: "Bolt", unitPrice: 1, vendor: vendor)
            _ = Article(context: context, name: "Nut", unitPrice: 1)
        }
        var states = stack.results(Article.self, where: #Predicate { $0.vendor?.name == "ACME" }).makeAsyncIterator()
        #expect(try await states.next()?.values.map(\.name) == ["Bolt"])
        try await change("Bolt") { _, article in article.vendor?.name = "Other" }
        try await stack.refresh()
        #expect(try await states.next()?.values.isEmpty == true)
    }

    @Test func aDraftStaysAsItIsAndMeetsTheConflict() async throws {
        let id = try await insert("Bolt", into: stack)[0]
        let draft = try await stack.draft(of: id, as: Article.self)
        try await draft.perform { $0.note = "mine" }
        try await change("Bolt") { $1.stockCount = 5 }
        try await stack.refresh()
        #expect(try await draft.perform { "\($0.stockCount) \($0.note ?? "")" } == "0 mine")
        let error = await #expect(throws: DraftConflictError.self) { try await draft.apply() }
        #expect(error?.conflicts == [DraftConflict(objectID: id, kind: .changed(properties: ["stockCount"]))])
        try await draft.apply(mergePolicy: .mergeByPropertyObjectTrump)
        #expect(SQLiteFile(url).rows("SELECT ZSTOCKCOUNT, ZNOTE FROM ZARTICLE") == [["5", "mine"]])
    }

    @MainActor @Test func aStoreInMemoryHasNothingToTakeOver() async throws {
        let stack = DataStack(entities: Vendor.self, Article.self, Shelf.self)
        let id = try await insert("Bolt", into: stack)[0]
        let view = try await stack.read { try $0.object(with: id, as: Article.self) }
        var states = stack.results(Article.self).makeAsyncIterator()
        _ = try await states.next()
        try await stack.refresh()
        #expect(view.name == "Bolt")
        try await stack.write(to: view) { _, article in article.name = "Nut" }
        #expect(view.name == "Nut")
        #expect(try await states.next()?.values.map(\.name) == ["Nut"])
    }

    @MainActor @Test func aClosedStackCannotBeRefreshed() async throws {
        let id = try await insert("Bolt", into: stack)[0]
        let view = try await stack.read { try $0.object(with: id, as: Article.self) }
        #expect(view.name == "Bolt")
        let stack = stack
        // Called one after the other: either all is taken over, or the stack is closed before.
        let refreshing = Task { try await stack.refresh() }
        let closing = Task { try await stack.close() }
        try await closing.value
        do { try await refreshing.value } catch { #expect(error as? DataStackError == .closed) }
        await #expect(throws: DataStackError.closed) { try await stack.refresh() }
        try await stack.reopen()
        try await stack.refresh()
        #expect(try await stack.read { try $0.count(Article.self) } == 1)
    }

    @Test func aRefreshBesideWritesLosesNothing() async throws {
        let ids = try await insert("Bolt", "Nut", into: stack)
        let (stack, other) = (stack, other)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { try await stack.refresh() }
                group.addTask {
                    try await stack.write(retries: 1000) {
                        try $0.object(with: ids[0], as: Article.self).stockCount += 1
                    }
                }
                group.addTask {
                    try await other.write(retries: 1000) { context in
                        let article = try #require(
                            try context.first(Article.self, where: #Predicate { $0.name == "Bolt" }))
                        article.stockCount += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        try await stack.refresh()
        #expect(try await stack.read { try $0.object(with: ids[0], as: Article.self).stockCount } == 40)
    }
}
