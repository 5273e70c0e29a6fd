import CoreData
import Synchronization
import TestSupport
import Testing

/// Runs each test of a suite once on every kind of store that this machine has: stacks and libraries that are not told a kind are of the
/// kind of the run, which issues name.
struct EveryStore: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        for kind in StoreKind.allCases {
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
    static var everyStore: Self { Self() }
}

/// That the trait does what it says.
@Suite(.everyStore) struct EveryStoreTests {
    private static let seen = Kinds()
    private let stack: TestStack

    init() throws { stack = try TestStack([NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])]) }

    @Test func testsAndWhatTheirSuiteMakesAreOfTheKindOfTheRun() throws {
        #expect(stack.kind == StoreKind.current)
        #expect(try Library().kind == StoreKind.current)
        #expect(stack.coordinator.persistentStores.first?.type == StoreKind.current.type)
        Self.seen.add(StoreKind.current)
        if StoreKind.current == StoreKind.allCases.last { #expect(Self.seen.all == StoreKind.allCases) }
    }

    @Test(arguments: [1, 2]) func theSecondPathLeadsToTheStore(count: Int) throws {
        for _ in 0..<count { NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context).setValue("a", forKey: "name") }
        try stack.context.save()
        #expect(
            stack.tables?.column("SELECT {name} FROM {item}") ?? Array(repeating: "a", count: count) == Array(repeating: "a", count: count))
        #expect((stack.tables == nil) == (stack.kind == .inMemory))
    }

    private final class Kinds: Sendable {
        private let kinds = Mutex<[StoreKind]>([])
        var all: [StoreKind] { kinds.withLock { $0 } }
        func add(_ kind: StoreKind) { kinds.withLock { $0.append(kind) } }
    }
}
