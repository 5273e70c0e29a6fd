import CSQLite
import CoreData
import Foundation
import SafeCoreData
import Synchronization

// Persistent history: what it costs a save, reading it against the same statement by hand, and how
// soon others hear of a commit.

extension Harness {
    func history() async throws {
        try saveWithHistory()
        try saveOftenWithHistory()
        try readHistory()
        try await hearOfOthers()
        try takeOverFromOthers()
        try readBesideWriter()
    }

    private func recordedCoordinator(_ url: URL, isRecorded: Bool = true) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: isRecorded,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: isRecorded,
        ]
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        return coordinator
    }

    private func saveWithHistory() throws {
        func save(isRecorded: Bool) throws -> Double {
            let url = newURL()
            defer { remove(url) }
            let context = context(try recordedCoordinator(url, isRecorded: isRecorded))
            return try Self.time { try insertWide(50_000, context) }
        }
        try compare("H1 save 50,000 x 10 integers with history", bound: 1.25) {
            try save(isRecorded: true)
        } raw: {
            try save(isRecorded: false)
        }
    }

    private func saveOftenWithHistory() throws {
        func save(isRecorded: Bool) throws -> Double {
            let url = newURL()
            defer { remove(url) }
            let context = context(try recordedCoordinator(url, isRecorded: isRecorded))
            return try Self.time { for _ in 0..<100 { try insertWide(20, context) } }
        }
        try compare("H2 100 saves of 20 objects with history", bound: 1.25) {
            try save(isRecorded: true)
        } raw: {
            try save(isRecorded: false)
        }
    }

    private func readHistory() throws {
        guard wants("H3") else { return }
        let url = newURL()
        defer { remove(url) }
        let coordinator = try recordedCoordinator(url)
        let context = context(coordinator)
        for _ in 0..<100 { try insertWide(1_000, context) }
        let raw = try RawDatabase(url.path)
        try compare("H3 read 100,000 changes of 100 transactions", bound: 1.5) {
            try Self.time {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    for change in transaction.changes ?? [] { Self.sink &+= Int64(change.changeType.rawValue) }
                }
            }
        } raw: {
            try Self.time {
                let statement = try raw.prepare(
                    "SELECT c.Z_PK, c.ZTRANSACTIONID, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS, t.ZTIMESTAMP, "
                        + "s.ZNAME FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID "
                        + "LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZPROCESSIDTS ORDER BY c.Z_PK")
                var changes: [HandWrittenChange] = []
                while sqlite3_step(statement) == SQLITE_ROW { changes.append(HandWrittenChange(statement)) }
                sqlite3_finalize(statement)
                for change in changes { Self.sink &+= change.kind }
            }
        }
    }

    /// What a program would keep of a change that it reads by hand.
    private final class HandWrittenChange {
        let (number, transaction, kind, entity, key): (Int64, Int64, Int64, Int64, Int64)
        let columns: [UInt8]
        let date: Double
        let process: String?

        init(_ statement: OpaquePointer) {
            number = sqlite3_column_int64(statement, 0)
            transaction = sqlite3_column_int64(statement, 1)
            kind = sqlite3_column_int64(statement, 2)
            entity = sqlite3_column_int64(statement, 3)
            key = sqlite3_column_int64(statement, 4)
            let count = Int(sqlite3_column_bytes(statement, 5))
            columns = Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, 5), count: count))
            date = sqlite3_column_double(statement, 6)
            process = RawDatabase.text(statement, 7)
        }
    }

    /// The time from another program's commit, here through the C API, to the element of the
    /// sequence.
    private func hearOfOthers() async throws {
        guard wants("H4") else { return }
        let url = newURL()
        defer { remove(url) }
        var options = DataStackOptions()
        options.tracksHistory = true
        let stack = DataStack(model: model, store: .file(url), options: options)
        try await stack.write { _ = Wide(context: $0) }
        let raw = try RawDatabase(url.path)
        var transactions = stack.history(reader: "bench").makeAsyncIterator()
        _ = try await transactions.next()
        var times: [Double] = []
        for number in 2...(20 * runs) {
            let start = DispatchTime.now().uptimeNanoseconds
            try raw.execute(
                "BEGIN IMMEDIATE; INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(number), 16002, 0); "
                    + "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
                    + "SELECT 16001, 1, Z_ENT, 1, \(number) FROM ZWIDE LIMIT 1; COMMIT")
            guard try await transactions.next()?.transactionNumber == Int64(number) else { return }
            times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6)
        }
        record(
            "H4 ms from another's commit to the sequence", ratio: Self.median(times), bound: 20,
            detail: String(format: "longest %.1f ms", times.max() ?? 0))
        try await stack.close()
    }

    private func takeOverFromOthers() throws {
        guard wants("H5") else { return }
        let url = newURL()
        defer { remove(url) }
        let coordinator = try recordedCoordinator(url)
        try insertWide(100_000, context(coordinator))
        let holder = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        holder.persistentStoreCoordinator = coordinator
        holder.automaticallyMergesChangesFromParent = true
        let held = try holder.performAndWait {
            let held = try holder.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
            for object in held { Self.sink &+= object.a }
            return held
        }
        let writer = context(try recordedCoordinator(url))
        let request = NSFetchRequest<Wide>(entityName: "Wide")
        request.fetchLimit = 10_000
        let changed = try writer.fetch(request)
        let lastID = changed[changed.count - 1].objectID
        guard let last = held.first(where: { $0.objectID == lastID }) else { return }
        var (round, saves): (Int64, [Double]) = (1_000_000_000, [])
        try compare("H5 take over 10,000 of 100,000 from another", bound: 3) {
            round += 1
            let value = round
            for object in changed { object.b = value }
            saves.append(try Self.time { try writer.save() })
            return Self.time {
                while holder.performAndWait({ last.b != value }) { usleep(500) }
            }
        } raw: {
            saves.popLast() ?? 1
        }
        withExtendedLifetime(held) {}
    }

    /// Fetches, while another coordinator saves without a pause. The bound is a throughput of 0.8.
    private func readBesideWriter() throws {
        guard wants("H6") else { return }
        let url = newURL()
        defer { remove(url) }
        let coordinator = try recordedCoordinator(url)
        try insertWide(10_000, context(coordinator))
        func read() throws -> Double {
            try Self.time {
                for _ in 0..<40 {
                    let reader = context(coordinator)
                    for object in try reader.fetch(NSFetchRequest<Wide>(entityName: "Wide")) { Self.sink &+= object.a }
                }
            }
        }
        try compare("H6 read 40 x 10,000 rows beside a writer", bound: 1.25) {
            let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            writer.persistentStoreCoordinator = try recordedCoordinator(url)
            let end = End()
            writer.perform {
                let request = NSFetchRequest<Wide>(entityName: "Wide")
                request.fetchLimit = 100
                while !end.isReached.load(ordering: .relaxed) {
                    for object in (try? writer.fetch(request)) ?? [] { object.b &+= 1 }
                    try? writer.save()
                }
            }
            defer {
                end.isReached.store(true, ordering: .relaxed)
                writer.performAndWait {}
            }
            return try read()
        } raw: {
            try read()
        }
    }
}

/// Tells a loop on another thread to end.
private final class End: Sendable {
    let isReached = Atomic<Bool>(false)
}
