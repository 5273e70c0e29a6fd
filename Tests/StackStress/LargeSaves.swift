import Foundation
import SafeCoreData
import Synchronization

/// Saves of more objects than are looked for one by one, taken over by contexts that read, refresh
/// and begin anew meanwhile: no value goes back to what it was before, and at the end each context
/// has the last ones.
struct LargeSaves {
    private static let count = 1500
    private let coordinator: NSPersistentStoreCoordinator
    private let rounds: Int

    init(_ store: StoreLocation, rounds: Int) throws {
        self.rounds = rounds
        coordinator = try StressModel.coordinator(store)
    }

    func run() throws -> Bool {
        let writer = context()
        try writer.performAndWait {
            for number in 0..<Self.count { Account(context: writer).name = "account \(number)" }
            try writer.save()
        }
        let isOver = Atomic<Bool>(false)
        let isRight = Atomic<Bool>(true)
        let group = DispatchGroup()
        let readers = (0..<3).map { _ in context() }
        for (number, reader) in readers.enumerated() {
            group.enter()
            Thread.detachNewThread {
                var work = Reading(reader, seed: number)
                do {
                    while !isOver.load(ordering: .acquiring) {
                        if try !work.turn() { isRight.store(false, ordering: .relaxed) }
                    }
                    if try !work.showsOnly(rounds) { isRight.store(false, ordering: .relaxed) }
                } catch {
                    print("\(error)")
                    isRight.store(false, ordering: .relaxed)
                }
                group.leave()
            }
        }
        for round in 1...rounds {
            try writer.performAndWait {
                for account in try writer.fetch(NSFetchRequest<Account>(entityName: "Account")) {
                    account.balance = Int64(round)
                }
                try writer.save()
            }
        }
        isOver.store(true, ordering: .releasing)
        group.wait()
        return isRight.load(ordering: .relaxed)
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        return context
    }

    /// The work of one reading thread on a context.
    private struct Reading {
        private let context: NSManagedObjectContext
        private var held: [Account] = []
        private var seen: [Int64] = []
        private var random: SplitMix

        init(_ context: NSManagedObjectContext, seed: Int) {
            self.context = context
            random = SplitMix(state: UInt64(seed))
        }

        /// Whether no value is older than it was.
        mutating func turn() throws -> Bool {
            let choice = random.index(12)
            return try context.performAndWait {
                if held.isEmpty || choice == 0 {
                    context.reset()
                    held = try context.fetch(NSFetchRequest<Account>(entityName: "Account"))
                    seen = Array(repeating: 0, count: held.count)
                } else if choice == 1 {
                    for account in held.prefix(200) { context.refresh(account, mergeChanges: false) }
                } else if choice == 2 {
                    held.removeLast(held.count / 3)
                    seen.removeLast(seen.count - held.count)
                } else if choice == 3 {
                    _ = try context.fetch(NSFetchRequest<Account>(entityName: "Account"))
                }
                var isRight = true
                for (place, account) in held.enumerated() {
                    let value = account.balance
                    if value < seen[place] { isRight = false }
                    seen[place] = value
                }
                return isRight
            }
        }

        /// Whether all that is held shows a value: behind all merges.
        func showsOnly(_ value: Int) throws -> Bool {
            context.performAndWait { held.allSatisfy { $0.balance == Int64(value) } }
        }
    }
}
