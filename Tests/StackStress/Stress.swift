import Foundation
import SafeCoreData

/// Money moves between accounts while others look: the sum is the same at every moment.
struct Stress {
    private static let accounts = 8
    private let stack: DataStack
    private let rounds: Int

    init(_ store: StoreLocation, rounds: Int) {
        stack = DataStack(model: StressModel.make(), store: store)
        self.rounds = rounds
    }

    static func stores() -> [StoreLocation] {
        let name = "OpenCoreDataStress-\(UUID().uuidString)"
        return [
            .inMemory, .file(FileManager.default.temporaryDirectory.appendingPathComponent(name + "/stress.sqlite")),
        ]
    }

    func run() async throws -> Bool {
        let stack = stack
        let ids = try await stack.write { context in
            let accounts = (0..<Self.accounts).map { number in
                let account = Account(context: context)
                account.name = "account \(number)"
                account.balance = 1000
                account.opened = Date(timeIntervalSinceReferenceDate: Double(number))
                return account
            }
            try context.obtainPermanentIDs(for: accounts)
            return accounts.map(\.objectID)
        }
        let sums = try await withThrowingTaskGroup(of: Bool.self) { group in
            for worker in 0..<4 {
                group.addTask { try await write(ids, worker) }
                group.addTask { try await read() }
                group.addTask { try await readInBackground(ids) }
            }
            group.addTask { await watch() }
            return try await group.reduce(true) { $0 && $1 }
        }
        let entries = try await stack.read { try $0.count(for: NSFetchRequest<Entry>(entityName: "Entry")) }
        try await stack.destroy()
        if let folder = stack.location.url?.deletingLastPathComponent() {
            try FileManager.default.removeItem(at: folder)
        }
        return sums && entries == 4 * rounds
    }

    private func write(_ ids: [NSManagedObjectID], _ worker: Int) async throws -> Bool {
        for round in 0..<rounds {
            let (from, to) = (ids[(worker + round) % ids.count], ids[(worker * 3 + round * 5 + 1) % ids.count])
            try await stack.write { context in
                let source = try context.object(with: from, as: Account.self)
                let destination = try context.object(with: to, as: Account.self)
                source.balance -= 7
                destination.balance += 7
                destination.changes += 1
                let entry = Entry(context: context)
                entry.amount = 7
                entry.text = "from \(source.name)"
                entry.account = destination
                if round.isMultiple(of: 10) { source.name += "." }
            }
            // Some writes fail and must leave nothing.
            if round.isMultiple(of: 5) { await fail(from) }
        }
        return true
    }

    private func fail(_ id: NSManagedObjectID) async {
        struct Stop: Error {}
        do {
            try await stack.write { context in
                try context.object(with: id, as: Account.self).balance += 1_000_000
                throw Stop()
            }
        } catch {
            // Expected.
        }
    }

    private func read() async throws -> Bool {
        for _ in 0..<rounds {
            let isRight = try await stack.read { context in
                let request = NSFetchRequest<Account>(entityName: "Account")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let accounts = try context.fetch(request)
                let moved = accounts.reduce(0) { $0 + $1.entries.reduce(0) { $0 + $1.amount } }
                return accounts.count == Self.accounts && moved.isMultiple(of: 7)
                    && accounts.allSatisfy { !$0.name.isEmpty }
            }
            if !isRight { return false }
        }
        return true
    }

    /// Reads in blocks that write nothing, beside the reads of the main context.
    private func readInBackground(_ ids: [NSManagedObjectID]) async throws -> Bool {
        for _ in 0..<rounds {
            let sum = try await stack.write { context in
                try ids.reduce(0) { try $0 + context.object(with: $1, as: Account.self).balance }
            }
            if sum != Int64(Self.accounts) * 1000 { return false }
        }
        return true
    }

    /// Keeps views on the main actor while others write.
    @MainActor private func watch() async -> Bool {
        for _ in 0..<rounds {
            guard let views = try? await stack.read({ try $0.fetch(NSFetchRequest<Account>(entityName: "Account")) })
            else {
                return false
            }
            await Task.yield()
            if views.contains(where: { $0.name.isEmpty }) { return false }
        }
        return true
    }
}
