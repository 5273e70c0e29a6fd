import CoreData
import TestSupport
import Testing

/// Processes that change one store at the same time and follow each other by its history.
@Suite(.serialized) struct FollowedHistoryTests {
    /// A store's place as other programs take it.
    private func argument(_ url: URL) -> String { url.isFileURL ? url.path : url.absoluteString }

    @Test(arguments: StoreKind.persistent, LongTests.areEnabled ? [2, 4, 8] : [2, 4])
    func processesEndWithTheSameObjects(kind: StoreKind, count: Int) throws {
        let folder = try TemporaryFolder()
        let url = try #require(kind.url(folder.file("followed.sqlite")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let seconds = LongTests.areEnabled ? "60" : "1"
        let programs = try (1...count).map {
            try RunningProgram(OtherProgram.url, ["follow", argument(url), String($0), seconds])
        }
        let starts = programs.map { $0.nextLine() }
        #expect(starts.allSatisfy { $0.hasPrefix("saved ") }, "\(starts)")
        let outputs = programs.map { $0.finish() }
        let context = coordinator.newContext()
        let expected = try context.authors().map { author in
            "\(author.objectID.uriRepresentation().lastPathComponent) \(author.name ?? "nil") \(author.born)"
        }.sorted().joined(separator: "\n")
        #expect(!expected.isEmpty)
        for output in outputs { #expect(output == expected + "\n") }
        try coordinator.remove(store)
    }

    /// While this process saves and purges, a reader is killed again and again. It goes on with the
    /// transaction at which it was killed, or with the next one.
    @Test(arguments: StoreKind.persistent) func aKilledReaderMissesNothing(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let url = try #require(kind.url(folder.file("read.sqlite")))
        let description = NSPersistentStoreDescription(url: url)
        description.type = kind.type
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.historyRetention = HistoryRetention(maximumAge: 0, deletesReadTransactions: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        let context = coordinator.newContext()
        _ = try coordinator.historyToken(beginning: "reader")
        var generator = SeededGenerator(seed: 1)
        var (saved, read, delivered) = (0, 0, 0)
        for _ in 1...(LongTests.areEnabled ? 200 : 10) {
            for _ in 1...40 {
                context.author("author \(saved)")
                try context.save()
                saved += 1
            }
            let program = try RunningProgram(OtherProgram.url, ["read", argument(url), "reader"])
            let last = min(saved, read + Int.random(in: 1...50, using: &generator))
            var next = try #require(Int(program.nextLine()))
            // A server may keep a place after the reader that sent it was killed.
            #expect((read + 1...delivered + 1).contains(next))
            while next < last {
                let number = try #require(Int(program.nextLine()))
                #expect(number == next + 1)
                next = number
            }
            delivered = program.finish().split(separator: "\n").compactMap { Int($0) }.last ?? next
            // It read on until it was killed, perhaps before it had kept the last place.
            let token = try #require(try coordinator.historyToken(forReader: "reader"))
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.resultType = .count
            let left = try #require((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int)
            read = saved - left
            #expect(read >= next - 1)
            #expect(read <= delivered)
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        request.resultType = .count
        let kept = try #require((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int)
        #expect(kept < saved)
    }
}
