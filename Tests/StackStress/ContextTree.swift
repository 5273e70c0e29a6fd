import Foundation
import SafeCoreData
import Synchronization

#if THREAD_SANITIZER
    typealias Mutex = CoreData.Mutex
#endif

/// A tree of contexts over one store that many threads use at once, with blocks that wait for each
/// other and blocks that do not, and another context of the store that all merge with.
final class ContextTree: Sendable {
    private static let accounts = 6
    private static let threads = 4

    private let coordinator: NSPersistentStoreCoordinator
    /// The context of the store, two children, of which one merges by itself, two grandchildren,
    /// and the context beside the tree.
    private let contexts: [NSManagedObjectContext]
    private let blocks = Atomic(0)
    private let failures = Mutex<[String]>([])

    init(_ store: StoreLocation) throws {
        let coordinator = try StressModel.coordinator(store)
        self.coordinator = coordinator
        func context(below parent: NSManagedObjectContext?, merges: Bool = false) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.performAndWait {
                if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                context.automaticallyMergesChangesFromParent = merges
            }
            return context
        }
        let root = context(below: nil)
        let first = context(below: root)
        let second = context(below: root, merges: true)
        contexts = [
            root, first, second, context(below: first), context(below: second, merges: true),
            context(below: nil, merges: true),
        ]
        try root.performAndWait {
            for number in 0..<Self.accounts {
                let account = Account(context: root)
                account.name = "account \(number)"
            }
            try root.save()
        }
    }

    /// Works for some seconds on all threads.
    ///
    /// - Returns: whether all contexts show in the end what the store has.
    func run(seconds: Double) -> Bool {
        let end = Date() + seconds
        let group = DispatchGroup()
        for number in 0..<Self.threads {
            group.enter()
            Thread.detachNewThread { [self] in
                var random = SplitMix(state: UInt64(number))
                while Date() < end {
                    if random.next().isMultiple(of: 3) { enqueue(&random, group) } else { work(&random, depth: 2) }
                }
                group.leave()
            }
        }
        guard group.wait(timeout: .now() + seconds + 300) == .success else {
            print("Blocks wait for each other for ever.")
            return false
        }
        let isRight = agree()
        for failure in failures.withLock({ $0 }) { print(failure) }
        print("\(blocks.load(ordering: .relaxed)) blocks")
        return isRight && failures.withLock { $0.isEmpty }
    }

    // MARK: - Blocks

    /// Something in a context, within which there may be something in another one, wherever that is
    /// in the tree.
    private func work(_ random: inout SplitMix, depth: Int) {
        let context = contexts[random.index(contexts.count)]
        let kind = random.index(8)
        var inner = random
        random = SplitMix(state: random.next())
        context.performAndWait {
            blocks.add(1, ordering: .relaxed)
            do { try change(context, kind, &inner) } catch { note(error, context) }
            if depth > 0, inner.next().isMultiple(of: 2) { work(&inner, depth: depth - 1) }
        }
    }

    /// The same without waiting for it, half of it from tasks.
    private func enqueue(_ random: inout SplitMix, _ group: DispatchGroup) {
        let seed = random.next()
        let context = contexts[random.index(contexts.count)]
        group.enter()
        if seed.isMultiple(of: 2) {
            context.perform { [self] in
                var random = SplitMix(state: seed)
                work(&random, depth: 1)
                group.leave()
            }
        } else {
            Task { [self] in
                await context.perform { [self] in
                    var random = SplitMix(state: seed)
                    blocks.add(1, ordering: .relaxed)
                    do { try change(context, random.index(8), &random) } catch { note(error, context) }
                }
                group.leave()
            }
        }
    }

    private func change(_ context: NSManagedObjectContext, _ kind: Int, _ random: inout SplitMix) throws {
        let accounts = try context.fetch(NSFetchRequest<Account>(entityName: "Account"))
        guard !accounts.isEmpty else { return }
        let account = accounts[random.index(accounts.count)]
        switch kind {
        case 0, 1:
            let entry = Entry(context: context)
            entry.amount = Int64(random.index(100))
            entry.text = "for \(account.name)"
            entry.account = account
        case 2: account.balance += Int64(random.index(10))
        case 3: account.name += account.name.count < 30 ? "." : ""
        case 4:
            if let entry = account.entries.first { context.delete(entry) }
        case 5: try context.save()
        case 6: context.refreshAllObjects()
        default:
            let sum = account.entries.reduce(0) { $0 + $1.amount }
            if sum < 0 { failures.withLock { $0.append("An amount was not read as it was written.") } }
        }
    }

    /// Conflicts and objects that others delete meanwhile are part of the game; that objects cannot
    /// be used any more is not.
    private func note(_ error: any Error, _ context: NSManagedObjectContext) {
        let error = error as NSError
        let expected: [CocoaError.Code] = [
            .managedObjectMerge, .persistentStoreSaveConflicts, .managedObjectReferentialIntegrity,
        ]
        if expected.contains(where: { $0.rawValue == error.code }) {
            context.rollback()
        } else {
            failures.withLock { $0.append("\(error)") }
        }
    }

    // MARK: - The end

    private func agree() -> Bool {
        func entries(_ context: NSManagedObjectContext) -> Set<URL> {
            context.performAndWait {
                context.rollback()
                context.refreshAllObjects()
                let found = (try? context.fetch(NSFetchRequest<Entry>(entityName: "Entry"))) ?? []
                return Set(found.map { $0.objectID.uriRepresentation() })
            }
        }
        let fresh = NSManagedObjectContext(.privateQueue)
        fresh.performAndWait { fresh.persistentStoreCoordinator = coordinator }
        let expected = entries(fresh)
        // From the root down: what a parent takes back its children do not show any more.
        return contexts.allSatisfy { entries($0) == expected }
    }
}

/// Random numbers that are the same in each run with the same seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func index(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
