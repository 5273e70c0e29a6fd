import SafeCoreData
import Synchronization
import TestSupport
import Testing

/// The greatest of the numbers that were noted.
final class StoredLargest: Sendable {
    private let number = Mutex(0)

    func note(_ value: Int) { number.withLock { $0 = max($0, value) } }

    var value: Int { number.withLock { $0 } }
}

/// A version that no plan of these tests lists first.
enum OtherShop: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredVisit.self]

    @Entity final class StoredVisit: NSManagedObject {
        var page: String
        var seconds: Int = 0
    }
}

/// A version whose relationship leads to a class of another version.
enum MixedShop: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredVisit.self, StoredTag.self]

    @Entity final class StoredVisit: NSManagedObject {
        var page: String
        @Relationship var tag: ShopV1.StoredTag?
    }

    @Entity final class StoredTag: NSManagedObject {
        var text: String
    }
}

/// A version in which the type of a property has changed.
enum TextualShop: VersionedSchema {
    static let entities: [any EntityObject.Type] = [StoredOrder.self]

    @Entity final class StoredOrder: NSManagedObject {
        var number: String
    }
}

/// Plans that cannot be carried out, and stores that they do not fit.
struct MigrationFailureTests {
    private let shop: ShopStore

    init() throws { shop = try ShopStore() }

    /// The error of opening the store by a plan, which must leave the store as it is.
    nonisolated(nonsending) private func failure<Newest>(
        _ plan: MigrationPlan<Newest>, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CocoaError? {
        let before = shop.bytes
        let error = await #expect(throws: CocoaError.self, sourceLocation: sourceLocation) {
            try await shop.open(plan)
        }
        #expect(shop.bytes == before, sourceLocation: sourceLocation)
        return error
    }

    private static let failing = ShopStore.toV2.step(to: ShopV3.self) { step in
        step.map(ShopV2.StoredOrder.self, to: ShopV3.StoredOrder.self) { old, new in
            if old.number == 2 { throw BadRow(number: old.number) }
        }
        step.drop(ShopV2.StoredTag.self)
    }

    @Test func aClosureThatThrowsLeavesTheStore() async throws {
        try await shop.fill()
        let error = try await failure(Self.failing)
        #expect(error?.code == .migration)
        #expect(error?.userInfo[NSUnderlyingErrorKey] as? BadRow == BadRow(number: 2))
        #expect(shop.column("SELECT ZLAST FROM ZSTOREDPERSON ORDER BY 1") == ["Byron", "Cox"])
    }

    @Test func anErrorNamesTheStepAndTheObject() async throws {
        try await shop.fill()
        let error = try await failure(Self.failing)
        let key = shop.column("SELECT Z_PK FROM ZSTOREDORDER WHERE ZNUMBER = 2")[0] ?? ""
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("from ShopV2 to ShopV3"))
        #expect(text.contains("'StoredOrder'"))
        #expect(text.contains("/StoredOrder/p\(key)"))
    }

    @Test func aFailedMigrationLeavesNoFiles() async throws {
        try await shop.fill()
        _ = try await failure(Self.failing)
        let names = try FileManager.default.contentsOfDirectory(atPath: shop.folder.url.path)
        #expect(names.filter { !$0.hasPrefix("shop.sqlite") } == [])
    }

    @Test func aStoreOfAnUnlistedVersionIsRefused() async throws {
        try await shop.fill()
        let error = try await failure(MigrationPlan(from: OtherShop.self).inferred(to: ShopV2.self))
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        #expect(error?.localizedDescription.contains("OtherShop, ShopV2") == true)
    }

    @Test func aClassOfAnotherVersionIsRefused() async throws {
        try await shop.fill()
        let plan = MigrationPlan(from: ShopV1.self).step(to: ShopV2.self) { step in
            step.map(ShopV2.StoredTag.self, to: ShopV2.StoredTag.self) { _, _ in }
        }
        let error = try await failure(plan)
        #expect(error?.localizedDescription.contains("ShopV2.StoredTag is no class of ShopV1") == true)
    }

    @Test func aClassThatIsMappedTwiceToOneIsRefused() async throws {
        try await shop.fill()
        let plan = MigrationPlan(from: ShopV1.self).step(to: ShopV2.self) { step in
            step.map(ShopV1.StoredTag.self, to: ShopV2.StoredTag.self) { _, _ in }
            step.map(ShopV1.StoredTag.self, to: ShopV2.StoredTag.self) { _, _ in }
        }
        let error = try await failure(plan)
        #expect(error?.localizedDescription.contains("'StoredTag' is mapped twice") == true)
    }

    @Test func aVersionWithTwoClassesOfOneEntityIsRefused() async throws {
        let error = try await failure(MigrationPlan(from: MixedShop.self))
        #expect(error?.localizedDescription.contains("MixedShop.StoredTag, ShopV1.StoredTag") == true)
    }

    @Test func anotherTypeNeedsAClosure() async throws {
        try await shop.fill()
        let error = try await failure(MigrationPlan(from: ShopV1.self).step(to: TextualShop.self) { _ in })
        #expect(error?.localizedDescription.contains("'StoredOrder.number' has another type") == true)
        let plan = MigrationPlan(from: ShopV1.self).step(to: TextualShop.self) { step in
            step.map(ShopV1.StoredOrder.self, to: TextualShop.StoredOrder.self) { old, new in
                new.number = "\(old.number)"
            }
        }
        try await shop.open(plan)
        #expect(
            shop.column("SELECT typeof(ZNUMBER) || ZNUMBER FROM ZSTOREDORDER ORDER BY 1") == [
                "text1", "text2", "text3",
            ])
    }
}
