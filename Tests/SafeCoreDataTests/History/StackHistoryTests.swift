import SafeCoreData
import TestSupport
import Testing

/// The changes of a stack's history by class.
struct StackHistoryTests {
    @Test(arguments: StoreKind.allCases) func changesHaveTheirClass(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let (album, asset) = try await shop.stack.write { context in
            let album = Album(context: context, name: "Summer")
            let asset = Asset(context: context, title: "Sea")
            return (album.objectID, asset.objectID)
        }
        try await shop.stack.write { context in
            let asset = try context.object(with: asset, as: Asset.self)
            asset.title = "Lake"
            asset.album = try context.object(with: album, as: Album.self)
        }
        let transactions = try await shop.stack.history(after: nil)
        #expect(transactions.count == 2)
        #expect(transactions[0].changes(of: Asset.self) == [.inserted(asset)])
        #expect(transactions[0].changes(of: Album.self) == [.inserted(album)])
        let updates = transactions[1].changes(of: Asset.self)
        #expect(updates.count == 1)
        guard case .updated(asset, let properties)? = updates.first else {
            Issue.record("\(updates)")
            return
        }
        #expect(properties.names == ["title", "album"])
        #expect(properties.contains(\.title))
        #expect(properties.contains(\.album))
        #expect(!properties.contains(\.note))
        #expect(updates.first?.objectID == asset)
    }

    @Test(arguments: StoreKind.allCases) func deletedObjectsLeaveAPartialSnapshot(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let (made, identifier) = (Date(timeIntervalSinceReferenceDate: 1000), UUID())
        let objectID = try await shop.stack.write { context in
            let asset = Asset(context: context, title: "Sea")
            asset.size = 7
            asset.made = made
            asset.price = Decimal(string: "12.25")
            asset.rank = .high
            asset.box = Dimensions(width: 2, height: 3)
            asset.bytes = Data([1, 2])
            asset.identifier = identifier
            asset.note = "not kept"
            return asset.objectID
        }
        let before = try await shop.stack.currentHistoryToken()
        try await shop.stack.write { context in context.delete(try context.object(with: objectID, as: Asset.self)) }
        let changes = try await shop.stack.history(after: before).flatMap { $0.changes(of: Asset.self) }
        guard case .deleted(objectID, let last)? = changes.first else {
            Issue.record("\(changes)")
            return
        }
        #expect(changes.count == 1)
        #expect(last.title == "Sea")
        #expect(last.size == 7)
        #expect(last.made == made)
        #expect(last.price == Decimal(string: "12.25"))
        #expect(last.rank == .high)
        #expect(last.box == Dimensions(width: 2, height: 3))
        #expect(last.bytes == Data([1, 2]))
        #expect(last.identifier == identifier)
        #expect(!last.has(\.note))
        #expect(!last.has(\.album))
        #expect(last.objectID == ObjectReference(objectID))
    }

    @Test(arguments: StoreKind.allCases) func missingValuesAreNil(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        let objectID = try await shop.stack.insertAsset("Sea")
        try await shop.stack.write { context in context.delete(try context.object(with: objectID, as: Asset.self)) }
        let changes = try await shop.stack.history(after: nil).flatMap { $0.changes(of: Asset.self) }
        guard case .deleted(_, let last)? = changes.last else {
            Issue.record("\(changes)")
            return
        }
        #expect(last.has(\.made))
        #expect(last.made == nil)
        #expect(last.box == nil)
        #expect(last.rank == .low)
    }

    @Test(arguments: StoreKind.allCases) func subclassesAreChangesOfTheirSuperclass(kind: StoreKind)
        async throws
    {
        let shop = try RecordedShop(kind)
        let objectID = try await shop.stack.write { context in
            let movie = Movie(context: context, inheriting: .init(title: "Waves"))
            movie.seconds = 12.5
            return movie.objectID
        }
        try await shop.stack.write { context in
            let movie = try context.object(with: objectID, as: Movie.self)
            movie.codec = "av1"
            movie.title = "Wind"
        }
        try await shop.stack.write { context in context.delete(try context.object(with: objectID, as: Movie.self)) }
        let transactions = try await shop.stack.history(after: nil)
        let asAssets = transactions.flatMap { $0.changes(of: Asset.self) }
        let asMovies = transactions.flatMap { $0.changes(of: Movie.Snapshot.self) }
        #expect(asAssets.map(\.objectID) == [objectID, objectID, objectID])
        #expect(asMovies.map(\.objectID) == [objectID, objectID, objectID])
        #expect(transactions.flatMap { $0.changes(of: Album.self) }.isEmpty)
        guard case .updated(_, let ofAsset) = asAssets[1], case .updated(_, let ofMovie) = asMovies[1],
            case .deleted(_, let asset) = asAssets[2], case .deleted(_, let movie) = asMovies[2]
        else {
            Issue.record("\(asAssets) \(asMovies)")
            return
        }
        #expect(ofAsset.contains(\.title))
        #expect(ofMovie.contains(\.title))
        #expect(ofMovie.contains(\.codec))
        #expect(!ofMovie.contains(\.seconds))
        #expect(asset.title == "Wind")
        #expect(movie.title == "Wind")
        #expect(movie.seconds == 12.5)
        #expect(!movie.has(\.codec))
    }

    @Test(arguments: StoreKind.allCases) func anAbstractClassHasTheChangesOfItsSubclasses(
        kind: StoreKind
    ) async throws {
        let folder = try TemporaryFolder()
        var options = DataStackOptions()
        options.tracksHistory = true
        let stack = DataStack(
            entities: KeptBook.self, store: kind.location(folder.file("kept.sqlite")),
            options: options)
        let objectID = try await stack.write { context in
            KeptBook(context: context, inheriting: .init(title: "Emma")).objectID
        }
        try await stack.write { context in context.delete(try context.object(with: objectID, as: KeptBook.self)) }
        let changes = try await stack.history(after: nil).flatMap { $0.changes(of: KeptMedium.self) }
        guard case .deleted(objectID, let last)? = changes.last else {
            Issue.record("\(changes)")
            return
        }
        #expect(last.title == "Emma")
        #expect(last.propertyNames == ["title"])
    }

    @Test(arguments: StoreKind.allCases) func aLimitAndATokenGiveTheNext(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind)
        for title in ["a", "b", "c"] { try await shop.stack.insertAsset(title) }
        let first = try await shop.stack.history(after: nil, limit: 2)
        #expect(first.map(\.transactionNumber) == [1, 2])
        #expect(try await shop.stack.history(after: first.last?.token).map(\.transactionNumber) == [3])
        #expect(try await shop.stack.history(after: nil, limit: 0).isEmpty)
        #expect(try await shop.stack.currentHistoryToken() == shop.stack.history(after: first[1].token)[0].token)
    }

    @Test func aStackWithoutAHistorySaysSo() async throws {
        let shop = try RecordedShop { $0.tracksHistory = false }
        let error = await #expect(throws: CocoaError.self) { _ = try await shop.stack.history(after: nil) }
        #expect(error?.localizedDescription.contains("no history") == true)
        var transactions = shop.stack.history(reader: "a").makeAsyncIterator()
        await #expect(throws: CocoaError.self) { _ = try await transactions.next() }
    }

    @Test func aStackBoundsItsHistory() throws {
        let retention = DataStackOptions().historyRetention
        #expect(retention?.maximumAge == 2_592_000)
        #expect(retention?.maximumCount == 100_000)
        #expect(retention?.deletesReadTransactions == false)
    }

    @Test(arguments: StoreKind.allCases) func theRetentionCounts(kind: StoreKind) async throws {
        let shop = try RecordedShop(kind) { $0.historyRetention = HistoryRetention(maximumCount: 3) }
        for _ in 1...50 { try await shop.stack.insertAsset("a") }
        let count = try await shop.stack.history(after: nil).count
        #expect((3...19).contains(count), "\(count)")
    }
}
