import SafeCoreData
import TestSupport
import Testing

/// Stores that stacks bring to the newest version of a plan.
struct TypedPlanTests {
    private let shop: ShopStore

    init() throws { shop = try ShopStore() }

    @Test func anInferredStepRenamesAndAddsInitialValues() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV2)
        #expect(shop.column("SELECT ZFAMILY || ZJOINED FROM ZSTOREDPERSON ORDER BY 1") == ["Byron3600", "Cox3600"])
    }

    @Test func inferredStepsKeepTheIdentifierOfTheStore() async throws {
        try await shop.fill()
        let identifier = shop.column("SELECT Z_UUID FROM Z_METADATA")
        try await shop.open(ShopStore.toV2)
        #expect(shop.column("SELECT Z_UUID FROM Z_METADATA") == identifier)
    }

    @Test func twoStacksThatOpenAStoreMigrateItOnce() async throws {
        try await shop.fill()
        let stacks = (0..<2).map { _ in DataStack(migration: ShopStore.toV3, store: .file(shop.url)) }
        for stack in stacks { try await stack.opened() }
        for stack in stacks { #expect(try await stack.query { try $0.count(ShopV3.StoredOrder.self) } == 3) }
        for stack in stacks { try await stack.close() }
        #expect(shop.column("SELECT COUNT(*) FROM ZSTOREDPERSON") == ["2"])
    }

    @Test func aStoreOfTheOldestVersionGoesThroughAllSteps() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(
            shop.column("SELECT ZFULLNAME || ' ' || ZRANK || ' ' || ZJOINED FROM ZSTOREDPERSON ORDER BY 1")
                == ["Ada Byron regular 3600", "Bob Cox new 3600"])
    }

    @Test func aStoreOfAMiddleVersionGoesThroughTheRemainingSteps() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV2)
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT ZFULLNAME FROM ZSTOREDPERSON ORDER BY 1") == ["Ada Byron", "Bob Cox"])
    }

    @Test func theStackReadsTheNewClasses() async throws {
        try await shop.fill()
        let stack = DataStack(migration: ShopStore.toV3, store: .file(shop.url))
        let lines = try await stack.read { context in
            try context.fetch(ShopV3.StoredPerson.self, sortBy: [.ascending(\.fullName)]).map {
                "\($0.fullName) \($0.adviser?.fullName ?? "-") \($0.address?.street ?? "-")"
            }
        }
        #expect(lines == ["Ada Byron - Main 1", "Bob Cox Ada Byron -"])
    }

    @Test func aValueOfANarrowerTypeIsCopied() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT ZSPENT FROM ZSTOREDPERSON ORDER BY ZFULLNAME") == ["7.0", "0.0"])
    }

    @Test func aRequiredPropertyIsComputedForExistingObjects() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT ZCODE FROM ZSTOREDORDER ORDER BY ZNUMBER") == ["N1", "N2", "N3"])
    }

    @Test func aRequiredPropertyThatNothingSetsIsRefused() async throws {
        try await shop.fill()
        let before = shop.bytes
        let plan = ShopStore.toV2.step(to: ShopV3.self) { step in
            step.map(ShopV2.StoredPerson.self, to: ShopV3.StoredPerson.self) { old, new in new.fullName = old.first }
            step.drop(ShopV2.StoredTag.self)
        }
        let error = await #expect(throws: CocoaError.self) { try await shop.open(plan) }
        #expect(error?.localizedDescription.contains("ShopV2 to ShopV3") == true)
        #expect(error?.localizedDescription.contains("code") == true)
        #expect(shop.bytes == before)
    }

    @Test func oneObjectIsSplitIntoSeveral() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(
            shop.column(
                "SELECT a.ZSTREET || p.ZFULLNAME FROM ZSTOREDADDRESS a JOIN ZSTOREDPERSON p ON p.Z_PK = a.ZRESIDENT")
                == ["Main 1Ada Byron"])
        #expect(shop.column("SELECT COUNT(*) FROM ZSTOREDADDRESS") == ["1"])
    }

    @Test func objectsWithEqualKeysAreMerged() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT ZTEXT FROM ZSTOREDTAG ORDER BY 1") == ["big", "red"])
        let stack = DataStack(migration: ShopStore.toV3, store: .file(shop.url))
        let numbers = try await stack.read { context in
            try context.fetch(ShopV3.StoredTag.self, sortBy: [.ascending(\.text)]).map { tag in
                tag.orders.map { "\($0.number)" }.sorted().joined(separator: ",")
            }
        }
        #expect(numbers == ["3", "1,2"])
    }

    @Test func textsOfOtherCodePointsAreNotMerged() async throws {
        let stack = DataStack(migration: MigrationPlan(from: ShopV1.self), store: .file(shop.url))
        try await stack.write { context in
            for text in ["\u{e9}", "e\u{301}", "\u{e9}"] { _ = ShopV1.StoredTag(context: context, text: text) }
        }
        try await stack.close()
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT hex(ZTEXT) FROM ZSTOREDTAG ORDER BY 1") == ["65CC81", "C3A9"])
    }

    @Test func aDroppedClassLosesItsObjects() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT COUNT(*) FROM ZSTOREDVISIT") == ["0"])
    }

    @Test func aClassThatTheStepDoesNotNameIsCopied() async throws {
        try await shop.fill()
        let plan = ShopStore.toV2.step(to: ShopV3.self) { step in
            step.drop(ShopV2.StoredPerson.self)
            step.drop(ShopV2.StoredOrder.self)
            step.drop(ShopV2.StoredTag.self)
        }
        try await shop.open(plan)
        #expect(shop.column("SELECT ZPAGE FROM ZSTOREDVISIT") == ["start"])
        #expect(shop.column("SELECT COUNT(*) FROM ZSTOREDPERSON") == ["0"])
    }

    @Test func relationshipsKeepTheirOrder() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV3)
        let stack = DataStack(migration: ShopStore.toV3, store: .file(shop.url))
        let numbers = try await stack.read { context in
            try context.fetch(ShopV3.StoredPerson.self, sortBy: [.ascending(\.fullName)]).map {
                $0.orders.map(\.number)
            }
        }
        #expect(numbers == [[3, 2, 1], []])
    }

    @Test func aStoreOfTheNewestVersionIsOnlyOpened() async throws {
        try await shop.fill()
        try await shop.open(ShopStore.toV2)
        let identifier = shop.column("SELECT Z_UUID FROM Z_METADATA")
        let plan = MigrationPlan(from: ShopV1.self).step(to: ShopV2.self) { step in
            step.map(ShopV1.StoredPerson.self, to: ShopV2.StoredPerson.self) { _, _ in throw BadRow(number: 0) }
        }
        try await shop.open(plan)
        #expect(shop.column("SELECT Z_UUID FROM Z_METADATA") == identifier)
    }

    @Test func aNewStoreHasTheNewestVersion() async throws {
        try await shop.open(ShopStore.toV3)
        #expect(shop.column("SELECT COUNT(*) FROM ZSTOREDADDRESS") == ["0"])
    }

    @Test func aStoreInMemoryHasTheNewestVersion() async throws {
        let stack = DataStack(migration: ShopStore.toV3)
        try await stack.write { _ = ShopV3.StoredVisit(context: $0, page: "start") }
        #expect(try await stack.read { try $0.count(ShopV3.StoredVisit.self) } == 1)
    }

    @Test func theStateShowsHowFarTheChainIs() async throws {
        try await shop.fill()
        let stack = DataStack(migration: ShopStore.toV3, store: .file(shop.url))
        var fractions: [Double] = []
        for await state in stack.states {
            if case .migrating(let fraction) = state { fractions.append(fraction) }
            if case .open = state { break }
            if case .failed = state { break }
        }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(fractions.count > 3)
    }

    @Test func aStackThatDoesNotMigrateLeavesTheStore() async throws {
        try await shop.fill()
        var options = DataStackOptions()
        options.migratesAutomatically = false
        let stack = DataStack(migration: ShopStore.toV3, store: .file(shop.url), options: options)
        let error = await #expect(throws: CocoaError.self) { try await stack.opened() }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        #expect(shop.column("SELECT ZLAST FROM ZSTOREDPERSON ORDER BY 1") == ["Byron", "Cox"])
    }

    @Test func manyObjectsAreMigrated() async throws {
        let stack = DataStack(migration: MigrationPlan(from: ShopV1.self), store: .file(shop.url))
        try await stack.write { context in
            for number in 0..<20_000 { _ = ShopV1.StoredOrder(context: context, number: number) }
        }
        try await stack.close()
        let largest = StoredLargest()
        let plan = ShopStore.toV2.step(to: ShopV3.self) { step in
            step.map(ShopV2.StoredOrder.self, to: ShopV3.StoredOrder.self) { old, new, objects in
                new.code = "N\(old.number)"
                if old.number % 500 == 0 { largest.note(objects.context.registeredObjects.count) }
            }
        }
        try await shop.open(plan)
        #expect(shop.column("SELECT COUNT(DISTINCT ZCODE) FROM ZSTOREDORDER") == ["20000"])
        // The context holds one batch at a time.
        #expect(largest.value <= 2_000)
    }
}
