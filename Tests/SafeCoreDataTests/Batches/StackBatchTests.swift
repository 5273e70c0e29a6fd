import SafeCoreData
import TestSupport
import Testing

@Entity(uniquenessConstraints: [["row", "number"]])
final class TheatreSeat: NSManagedObject {
    var row: String
    var number: Int
    var guest: String?
}

/// Changes of many rows through a stack.
struct StackBatchTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("stock.sqlite")
    }

    struct Row: Sendable {
        let name: String
        let price: Decimal
        var count = 0
    }

    private func stack(_ kind: StoreKind) -> DataStack {
        DataStack(entities: Article.self, Vendor.self, Shelf.self, store: kind.location(url))
    }

    /// The names and numbers of all articles, as the main context sees them.
    @MainActor private func articles(_ stack: DataStack) async throws -> [String] {
        try await stack.read { context in
            try context.fetch(Article.self, sortBy: [.ascending(\.name)]).map {
                "\($0.name) \($0.stockCount) \($0.unitPrice)"
            }
        }
    }

    @MainActor @Test(arguments: StoreKind.allCases) func allValuesBecomeObjects(kind: StoreKind) async throws {
        let stack = stack(kind)
        let vendor = try await stack.write { context in Vendor(context: context, name: "ACME").objectID }
        let rows = (1...2_500).map { Row(name: "Bolt \($0)", price: 2, count: $0) }
        let count = try await stack.write { context in
            try context.insertAll(Article.self, rows) { row, draft in
                Article(
                    context: draft, name: row.name, unitPrice: row.price, stockCount: row.count, quality: .good,
                    tags: ["new"],
                    vendor: draft.object(with: vendor) as? Vendor)
            }
        }
        #expect(count == 2_500)
        let found = try await stack.read { context in
            let articles = try context.fetch(
                Article.self, where: #Predicate { $0.stockCount > 2_498 }, sortBy: [.ascending(\.stockCount)])
            return articles.map { "\($0.name) \($0.quality) \($0.tags) \($0.vendor?.name ?? "")" }
        }
        #expect(found == [#"Bolt 2499 good ["new"] ACME"#, #"Bolt 2500 good ["new"] ACME"#])
        #expect(try await stack.read { try $0.object(with: vendor, as: Vendor.self).articleCount } == 2_500)
        #expect(try await stack.read { try $0.object(with: vendor, as: Vendor.self).articles.count } == 2_500)
    }

    /// By a constraint of several attributes.
    @Test(arguments: StoreKind.allCases) func anUpsertFindsObjectsBySeveralProperties(kind: StoreKind) async throws {
        let stack = DataStack(entities: TheatreSeat.self, store: kind.location(folder.file("seats.sqlite")))
        try await stack.write { context in
            _ = TheatreSeat(context: context, row: "A", number: 1, guest: "Ada")
            _ = TheatreSeat(context: context, row: "B", number: 1, guest: "Bob")
        }
        let guests = [("A", 1, "Ida"), ("A", 2, "Eva"), ("B", 1, "Ben"), ("B", 2, "Eli")]
        let count = try await stack.write { context in
            try context.upsert(TheatreSeat.self, by: [\.row, \.number], guests) { seat, draft in
                TheatreSeat(context: draft, row: seat.0, number: seat.1, guest: seat.2)
            }
        }
        #expect(count.inserted == 2)
        #expect(count.updated == 2)
        let seats = try await stack.fetch(TheatreSeat.self, sortBy: [.ascending(\.row), .ascending(\.number)])
        #expect(seats.map { "\($0.row)\($0.number) \($0.guest ?? "")" } == ["A1 Ida", "A2 Eva", "B1 Ben", "B2 Eli"])
        let error = await #expect(throws: CocoaError.self) {
            try await stack.write { context in
                try context.upsert(TheatreSeat.self, by: [\.row], guests) {
                    TheatreSeat(context: $1, row: $0.0, number: $0.1)
                }
            }
        }
        #expect(error?.code == .coreData)
    }

    @MainActor @Test(arguments: StoreKind.allCases) func anUpsertCountsWhatIsNewAndWhatWasThere(kind: StoreKind)
        async throws
    {
        let stack = stack(kind)
        try await stack.write { context in
            _ = Article(context: context, name: "Bolt", unitPrice: 1, stockCount: 7)
            _ = Article(context: context, name: "Nut", unitPrice: 1, stockCount: 7)
        }
        let views = try await stack.read { try $0.fetch(Article.self).map { "\($0.name)" } }
        #expect(views.count == 2)
        let rows = [Row(name: "Nut", price: 3), Row(name: "Screw", price: 4)]
        let all = try await stack.write { context in
            try context.upsert(Article.self, by: \.name, rows) { row, draft in
                Article(context: draft, name: row.name, unitPrice: row.price)
            }
        }
        #expect(all.inserted == 1)
        #expect(all.updated == 1)
        #expect(try await articles(stack) == ["Bolt 7 1", "Nut 0 3", "Screw 0 4"])
        let price = try await stack.write { context in
            try context.upsert(Article.self, by: \.name, [Row(name: "Bolt", price: 9)], updating: [\.unitPrice]) {
                row, draft in
                Article(context: draft, name: row.name, unitPrice: row.price)
            }
        }
        #expect(price.inserted == 0)
        #expect(price.updated == 1)
        #expect(try await articles(stack) == ["Bolt 7 9", "Nut 0 3", "Screw 0 4"])
    }

    @MainActor @Test(arguments: StoreKind.allCases) func anUpsertNeedsAUniqueProperty(kind: StoreKind) async throws {
        let stack = stack(kind)
        await #expect(throws: CocoaError.self) {
            try await stack.write { context in
                try context.upsert(Article.self, by: \.unitPrice, [Row(name: "Bolt", price: 9)]) { row, draft in
                    Article(context: draft, name: row.name, unitPrice: row.price)
                }
            }
        }
        #expect(try await articles(stack) == [])
    }

    @MainActor @Test(arguments: StoreKind.allCases) func updatesSetAndAdd(kind: StoreKind) async throws {
        let stack = stack(kind)
        let vendor = try await stack.write { context in
            for number in 1...4 {
                _ = Article(context: context, name: "Bolt \(number)", unitPrice: 1, stockCount: number, note: "n")
            }
            return Vendor(context: context, name: "ACME").objectID
        }
        let view = try await stack.read {
            try #require(try $0.first(Article.self, where: #Predicate { $0.stockCount == 1 })).objectID
        }
        let counts = try await stack.write { context in
            let acme = try context.object(with: vendor, as: Vendor.self)
            return [
                try context.update(
                    Article.self, where: #Predicate { $0.stockCount < 3 }, set: .increment(\.stockCount, by: 10)),
                try context.update(
                    Article.self, set: .set(\.quality, to: .good), .set(\.note, to: nil), .set(\.vendor, to: acme),
                    .increment(\.unitPrice, by: 2)),
                try context.update(
                    Article.self, where: #Predicate { $0.name == "Bolt 4" }, set: .set(\.tags, to: ["a", "b"])),
            ]
        }
        #expect(counts == [2, 4, 1])
        #expect(try await articles(stack) == ["Bolt 1 11 3", "Bolt 2 12 3", "Bolt 3 3 3", "Bolt 4 4 3"])
        let read = try await stack.read { context in
            let article = try context.object(with: view, as: Article.self)
            let last = try context.fetch(Article.self, sortBy: [.descending(\.name)])[0]
            return "\(article.quality) \(article.note ?? "nil") \(article.vendor?.name ?? "nil") \(last.tags)"
        }
        #expect(read == #"good nil ACME ["a", "b"]"#)
    }

    @MainActor @Test(arguments: StoreKind.allCases) func deletingAllFollowsDeleteRules(kind: StoreKind) async throws {
        let stack = stack(kind)
        try await stack.write { context in
            let vendors = ["ACME", "Wile"].map { Vendor(context: context, name: $0) }
            for number in 1...4 {
                _ = Article(
                    context: context, name: "Bolt \(number)", unitPrice: 1, stockCount: number,
                    vendor: vendors[number % 2])
            }
        }
        // The main context holds all of them.
        #expect(try await articles(stack).count == 4)
        let deleted = try await stack.write { context in
            try context.deleteAll(Article.self, where: #Predicate { $0.stockCount == 1 })
                + context.deleteAll(Vendor.self, where: #Predicate { $0.name == "ACME" })
        }
        #expect(deleted == 2)
        #expect(try await articles(stack) == ["Bolt 3 3 1"])
        #expect(
            try await stack.read { try $0.fetch(Vendor.self).map { "\($0.name) \($0.articles.count)" } } == ["Wile 1"])
    }

    @MainActor @Test(arguments: StoreKind.allCases) func viewsFollowWhatLeadsToTheirObjects(kind: StoreKind)
        async throws
    {
        let stack = stack(kind)
        let id = try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            _ = Article(context: context, name: "Bolt", unitPrice: 1, vendor: vendor)
            return vendor.objectID
        }
        let vendor = try await stack.read { try $0.object(with: id, as: Vendor.self) }
        func state() -> String { "\(vendor.articles.map(\.name).sorted()) \(vendor.articleCount)" }
        #expect(state() == #"["Bolt"] 1"#)
        try await stack.write { context in
            try context.insertAll(Article.self, ["Nut", "Screw"]) { name, draft in
                Article(context: draft, name: name, unitPrice: 1, vendor: draft.object(with: id) as? Vendor)
            }
        }
        #expect(state() == #"["Bolt", "Nut", "Screw"] 3"#)
        try await stack.write {
            try $0.update(Article.self, where: #Predicate { $0.name == "Nut" }, set: .set(\.vendor, to: nil))
        }
        #expect(state() == #"["Bolt", "Screw"] 2"#)
        try await stack.write { try $0.deleteAll(Article.self, where: #Predicate { $0.name == "Bolt" }) }
        #expect(state() == #"["Screw"] 1"#)
    }

    /// Delete rules reach from vendors to articles, and shelves lose these.
    @MainActor @Test(arguments: StoreKind.allCases) func viewsFollowWhatDeleteRulesReach(kind: StoreKind) async throws {
        let stack = stack(kind)
        let id = try await stack.write { context in
            let shelf = Shelf(context: context, label: "A")
            for number in 1...2 {
                let vendor = Vendor(context: context, name: "ACME \(number)")
                _ = Article(context: context, name: "Bolt \(number)", unitPrice: 1, vendor: vendor, shelf: shelf)
            }
            return shelf.objectID
        }
        let shelf = try await stack.read { try $0.object(with: id, as: Shelf.self) }
        #expect(shelf.articles.map(\.name).sorted() == ["Bolt 1", "Bolt 2"])
        #expect(try await stack.write { try $0.deleteAll(Vendor.self, where: #Predicate { $0.name == "ACME 1" }) } == 1)
        #expect(shelf.articles.map(\.name) == ["Bolt 2"])
    }

    /// Sequences tell of what a batch has changed, not of all that is related to it.
    @MainActor @Test(arguments: StoreKind.allCases) func sequencesTellOfWhatABatchHasChanged(kind: StoreKind)
        async throws
    {
        let stack = stack(kind)
        let ids = try await stack.write { context in
            try (1...3).map { number in
                let vendor = Vendor(context: context, name: "ACME \(number)")
                _ = Article(context: context, name: "Bolt \(number)", unitPrice: 1, vendor: vendor)
                try context.save()
                return vendor.objectID
            }
        }
        var states = stack.results(Vendor.self, sortBy: [.ascending(\.name)]).makeAsyncIterator()
        #expect(try await states.next()?.objectIDs.count == 3)
        try await stack.write { context in
            _ = try context.update(Article.self, where: #Predicate { $0.name == "Bolt 1" }, set: .set(\.note, to: "x"))
            _ = try context.update(
                Article.self, where: #Predicate { $0.name == "Bolt 2" }, set: .set(\.vendor, to: nil))
        }
        #expect(try await states.next()?.updatedObjectIDs == [ids[1]])
    }

    @MainActor @Test func unsavedChangesHaveToBeSavedFirst() async throws {
        let stack = stack(.sqlite)
        let count = try await stack.write { context in
            _ = Article(context: context, name: "Bolt", unitPrice: 1)
            #expect(throws: CocoaError.self) { try context.deleteAll(Article.self) }
            try context.save()
            return try context.update(Article.self, set: .set(\.stockCount, to: 2))
        }
        #expect(count == 1)
        #expect(try await articles(stack) == ["Bolt 2 1"])
    }

    @MainActor @Test func newObjectsThatAreDeletedAreNoUnsavedChanges() async throws {
        let stack = stack(.sqlite)
        let count = try await stack.write { context in
            context.delete(Article(context: context, name: "Nut", unitPrice: 1))
            return try context.deleteAll(Article.self)
        }
        #expect(count == 0)
        #expect(try await articles(stack) == [])
    }
}
