import CoreData
import Synchronization
import TestSupport
import Testing

/// Runs each test of a suite once on every kind of store that this machine has, or on some of them:
/// stacks and libraries that are not told a kind are of the kind of the run, which issues name.
struct EveryStore: SuiteTrait, TestTrait, TestScoping {
    let kinds: [StoreKind]
    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws {
        // A test that runs on no store passes.
        try await ConditionTrait.disabled(if: kinds.isEmpty, "the run has no store of the kinds that the test is for")
            .prepare(for: test)
    }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void)
        async throws
    {
        for kind in kinds {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on a store of the kind \(kind)")
                return issue
            }
            try await StoreKind.$current.withValue(kind) {
                try await naming.provideScope(for: test, testCase: testCase, performing: function)
            }
        }
    }
}

extension Trait where Self == EveryStore {
    /// The tests run on every kind of store.
    static var everyStore: Self { Self(kinds: StoreKind.allCases) }

    /// The tests run on stores of some kinds, which this machine has: of those whose rows outlast
    /// their coordinators, say.
    static func stores(_ kinds: [StoreKind]) -> Self { Self(kinds: kinds) }
}

/// The trait runs tests on every kind of store, and the second path reads them.
@Suite(.everyStore) struct EveryStoreTests {
    private static let seen = Kinds()
    private let stack: TestStack

    init() throws {
        stack = try TestStack([
            NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        ])
    }

    @Test func testsAndWhatTheirSuiteMakesAreOfTheKindOfTheRun() throws {
        #expect(stack.kind == StoreKind.current)
        #expect(try Library().kind == StoreKind.current)
        #expect(stack.coordinator.persistentStores.first?.type == StoreKind.current.type)
        Self.seen.add(StoreKind.current)
        if StoreKind.current == StoreKind.allCases.last { #expect(Self.seen.all == StoreKind.allCases) }
    }

    @Test(arguments: [1, 2]) func theSecondPathLeadsToTheStore(count: Int) throws {
        for _ in 0..<count {
            NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context).setValue("a", forKey: "name")
        }
        try stack.context.save()
        let names = Array(repeating: "a" as String?, count: count)
        #expect(stack.tables.map { $0.column("SELECT {name} FROM {item}") } ?? names == names)
        #expect((stack.tables == nil) == !stack.kind.isDatabase)
    }

    @Test func whatTheStoreHasIsReadByEitherPath() throws {
        for name in ["b", "a", nil] {
            NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context).setValue(name, forKey: "name")
        }
        #expect(stack.stored("name", of: "Item") == [])
        try stack.context.save()
        #expect(stack.stored("name", of: "Item") == [nil, "a", "b"])
        #expect(stack.stored(["name", "name"], of: "Item") == [[nil, nil], ["a", "a"], ["b", "b"]])
        #expect(stack.storedCount(of: "Item") == 3)
        stack.expectColumn("SELECT {version} FROM {item}", is: ["1", "1", "1"])
    }

    private final class Kinds: Sendable {
        private let kinds = Mutex<[StoreKind]>([])
        var all: [StoreKind] { kinds.withLock { $0 } }
        func add(_ kind: StoreKind) { kinds.withLock { $0.append(kind) } }
    }
}

/// The trait runs tests on the kinds that it names alone.
@Suite(.stores(StoreKind.persistent)) struct SomeStoresTests {
    @Test func testsRunOnTheKindsThatWereNamed() throws {
        #expect(StoreKind.persistent.contains(StoreKind.current))
        #expect(try Library().secondPath != nil)
    }
}
