import Observation
import SafeCoreData
import Synchronization
import TestSupport
import Testing

/// Views that are read inside of `withObservationTracking`.
@MainActor struct ReadObservationTests {
    private let folder: TemporaryFolder
    private let stack: DataStack
    private let nut: NSManagedObjectID
    private let bolt: NSManagedObjectID

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        stack = DataStack(entities: Vendor.self, Article.self, Shelf.self, store: .file(folder.file("stock.sqlite")))
        (nut, bolt) = try await stack.write { context in
            let vendor = Vendor(context: context, name: "ACME")
            let nut = Article(context: context, name: "Nut", unitPrice: 1)
            nut.vendor = vendor
            return (nut.objectID, Article(context: context, name: "Bolt", unitPrice: 2).objectID)
        }
    }

    private func view(_ objectID: NSManagedObjectID) async throws -> ReadOnly<Article> {
        try await stack.read { try $0.object(with: objectID, as: Article.self) }
    }

    /// Counts the changes that a read reports.
    private func tracking(_ read: () -> Void) -> Counter {
        let counter = Counter()
        withObservationTracking(read) { counter.increase() }
        return counter
    }

    private func write(_ objectID: NSManagedObjectID, _ change: @escaping @Sendable (Article) -> Void) async throws {
        try await stack.write { context in change(try context.object(with: objectID, as: Article.self)) }
    }

    @Test func aChangeOfAPropertyThatWasReadIsReported() async throws {
        let view = try await view(nut)
        let changes = tracking { _ = view.stockCount }
        try await write(nut) { $0.stockCount = 5 }
        #expect(changes.value == 1)
        #expect(view.stockCount == 5)
    }

    @Test func changesOfOtherPropertiesAndObjectsAreNotReported() async throws {
        let (view, other) = (try await view(nut), try await view(bolt))
        _ = other.name
        let changes = tracking { _ = (view.stockCount, view.name) }
        try await write(nut) { $0.note = "new" }
        try await write(bolt) { $0.stockCount = 5 }
        try await write(nut) { $0.stockCount = $0.stockCount }
        #expect(changes.value == 0)
        try await write(nut) { $0.name = "Wing nut" }
        #expect(changes.value == 1)
    }

    @Test func aReadThatIsNotTrackedReportsNothing() async throws {
        let view = try await view(nut)
        _ = view.stockCount
        let changes = tracking {}
        try await write(nut) { $0.stockCount = 5 }
        #expect(changes.value == 0)
    }

    /// An object notes its reads until one that is not tracked: whatever happens to it meanwhile
    /// must show in what it reads.
    @Test func observedObjectsReadTheirPresentValues() async throws {
        let view = try await view(nut)
        _ = tracking { _ = (view.stockCount, view.vendor?.name) }
        try await write(nut) { ($0.stockCount, $0.note) = (5, "new") }
        #expect(view.stockCount == 5)
        #expect(view.note == "new")
        let changes = tracking { #expect(view.stockCount == 5) }
        try await write(nut) { $0.stockCount = 6 }
        #expect(changes.value == 1)
        let second = tracking { #expect(view.stockCount == 6) }
        _ = view.name
        try await write(nut) { $0.note = nil }
        #expect(second.value == 0)
        #expect((view.stockCount, view.note) == (6, nil))
        _ = tracking { _ = view.name }
        let nut = nut
        try await stack.write { $0.delete(try $0.object(with: nut, as: Article.self)) }
        #expect(try await stack.read { try $0.count(Article.self) } == 1)
    }

    @Test func aReportComesOnceForEachTracking() async throws {
        let view = try await view(nut)
        let first = tracking { _ = view.stockCount }
        try await write(nut) { $0.stockCount = 5 }
        try await write(nut) { $0.stockCount = 6 }
        let second = tracking { _ = view.stockCount }
        try await write(nut) { $0.stockCount = 7 }
        #expect(first.value == 1)
        #expect(second.value == 1)
    }

    @Test func eachTrackerHearsOfItsOwnProperties() async throws {
        let view = try await view(nut)
        let (count, name, again) = (
            tracking { _ = view.stockCount }, tracking { _ = view.name }, tracking { _ = view.stockCount }
        )
        try await write(nut) { $0.stockCount = 5 }
        #expect(count.value == 1)
        #expect(name.value == 0)
        #expect(again.value == 1)
    }

    @Test func relationshipsAreFollowedStepByStep() async throws {
        let (view, boltView) = (try await view(nut), try await view(bolt))
        let name = tracking { _ = view.vendor?.name }
        let members = tracking { _ = view.vendor?.articles.count }
        try await write(nut) { $0.vendor?.name = "Other" }
        #expect(name.value == 1)
        #expect(members.value == 0)
        let vendor = tracking { _ = boltView.vendor }
        let (nut, bolt) = (nut, bolt)
        try await stack.write { context in
            let vendor = try context.object(with: nut, as: Article.self).vendor
            try context.object(with: bolt, as: Article.self).vendor = vendor
        }
        #expect(vendor.value == 1)
        #expect(members.value == 1)
    }

    @Test func aComputedPropertyStandsForWhatItReads() async throws {
        let view = try await view(nut)
        let changes = tracking { _ = view.total }
        try await write(nut) { $0.note = "new" }
        #expect(changes.value == 0)
        try await write(nut) { $0.unitPrice = 9 }
        #expect(changes.value == 1)
    }

    @Test func aChangeOfACompositeAttributeIsReported() async throws {
        let stack = DataStack(entities: Freight.self, store: .file(folder.file("freight.sqlite")))
        let freight = try await stack.write { context in
            Freight(context: context, name: "first", address: ParcelAddress(city: "Vienna", marks: ["x"]), kind: .used)
                .objectID
        }
        func write(_ change: @escaping @Sendable (Freight) -> Void) async throws {
            try await stack.write { context in change(try context.object(with: freight, as: Freight.self)) }
        }
        let view = try await stack.read { try $0.object(with: freight, as: Freight.self) }
        let (city, other, kind) = (
            tracking { _ = view.address.city }, tracking { _ = view.other }, tracking { _ = view.kind }
        )
        try await write { $0.name = "second" }
        #expect((city.value, other.value, kind.value) == (0, 0, 0))
        try await write { $0.address.city = "Graz" }
        #expect((city.value, other.value, kind.value) == (1, 0, 0))
        try await write { $0.other = ParcelAddress(city: "Linz") }
        #expect((city.value, other.value, kind.value) == (1, 1, 0))
        let (again, marks) = (tracking { _ = view.other }, tracking { _ = view.address.marks })
        try await write { ($0.kind, $0.other) = (.fresh, nil) }
        #expect((again.value, marks.value, kind.value) == (1, 0, 1))
        try await write { $0.address.marks = ["y"] }
        #expect(marks.value == 1)
        try await stack.close()
    }

    @Test func aDeletionAndTheEndOfTheStackAreReported() async throws {
        let (view, other) = (try await view(nut), try await view(bolt))
        let (deleted, closed) = (tracking { _ = view.name }, tracking { _ = other.name })
        let nut = nut
        try await stack.write { $0.delete(try $0.object(with: nut, as: Article.self)) }
        #expect(deleted.value == 1)
        #expect(closed.value == 0)
        try await stack.close()
        #expect(closed.value == 1)
    }
}
