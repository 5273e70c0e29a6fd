import CoreData
import Foundation
import SafeCoreData

// Reads of a stack on the main actor beside a large write.

extension Harness {
    /// The bound of a single read, in milliseconds.
    private static let bound = 50.0
    private static let count = 200_000

    /// Prints the slowest read of all runs in milliseconds, where other cases print ratios.
    @MainActor func readBesideWrites() async throws {
        try await readBeside("M1 slowest read (ms) beside inserting 200,000", holding: 100) { context in
            for number in 0..<Self.count { Wide(context: context).fill(number) }
        }
        try await readBeside("M2 slowest read (ms) beside changing 200,000", holding: 100) { context in
            for object in try context.fetch(NSFetchRequest<Wide>(entityName: "Wide")) { object.b &+= 1 }
        }
        try await readBeside("M3 the same, with all of them in views", holding: Self.count) { context in
            for object in try context.fetch(NSFetchRequest<Wide>(entityName: "Wide")) { object.b &+= 1 }
        }
    }

    /// - Parameter held: how many objects the reader has views of.
    @MainActor private func readBeside(
        _ name: String, holding held: Int, _ body: @escaping @Sendable (WriteContext) throws -> Void
    ) async throws {
        guard wants(name) else { return }
        let url = newURL()
        let stack = DataStack(model: model, store: .file(url))
        try await stack.write { context in
            for number in 0..<Self.count { Wide(context: context).fill(number) }
        }
        let views = try await stack.read { context in
            let request = NSFetchRequest<Wide>(entityName: "Wide")
            request.fetchLimit = held
            return try context.fetch(request)
        }
        for view in views { Self.sink &+= view.a }
        var slowest: [Double] = []
        var readCount = 0
        for _ in 0..<runs {
            let write = Written()
            Task {
                do { try await stack.write(body) } catch { write.failure = error }
                write.isDone = true
            }
            var slowestRead = 0.0
            while !write.isDone {
                let start = DispatchTime.now().uptimeNanoseconds
                // What a view shows, and a query: the time counts from the wish to read, which may
                // have to wait for the main queue.
                try await Task { @MainActor in
                    try await stack.read { context in
                        let request = NSFetchRequest<Wide>(entityName: "Wide")
                        request.fetchLimit = 100
                        for view in try context.fetch(request) { Self.sink &+= view.b }
                        Self.sink &+= views[0].b
                    }
                }.value
                slowestRead = max(slowestRead, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6)
                readCount += 1
                await Task.yield()
            }
            if let failure = write.failure { throw failure }
            slowest.append(slowestRead)
        }
        withExtendedLifetime(views) {}
        try await stack.close()
        remove(url)
        let worst = slowest.max() ?? 0
        record(
            name, ratio: worst, bound: Self.bound,
            detail: String(format: "median of %d writes %.2f ms, %d reads", runs, Self.median(slowest), readCount))
    }
}

/// What has become of a write. Used on the main actor.
@MainActor private final class Written {
    var isDone = false
    var failure: (any Error)?
}

extension Wide {
    fileprivate func fill(_ number: Int) {
        let number = Int64(number)
        (a, b, c, d, e) = (number, number, number, number, number)
        (f, g, h, i, j) = (number, number, number, number, number)
    }
}
