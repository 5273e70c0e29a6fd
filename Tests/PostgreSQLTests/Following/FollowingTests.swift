import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store follows the commits of others.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct FollowingTests {
    private static let following = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]

    @Test func savesOfOtherProgramsAreTold() throws {
        let warehouse = try Warehouse(options: Self.following)
        let told = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: warehouse.coordinator, queue: nil
        ) { _ in told.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        let other = try warehouse.otherProgram()
        // The listener may not have begun yet.
        let isTold = try wait(upTo: 20) {
            try other.performAndWait {
                _ = other.insert("Tag", ["label": "new"])
                try other.save()
            }
            return wait(upTo: 1) { told.withLock { $0 } > 0 }
        }
        #expect(isTold)
    }

    @Test func contextsThatMergeShowWhatOthersHaveSaved() throws {
        let warehouse = try Warehouse(options: Self.following)
        let context = warehouse.context
        context.automaticallyMergesChangesFromParent = true
        let (changed, deleted) = try context.performAndWait {
            let (changed, deleted) = (
                context.insert("Item", ["name": "before"]), context.insert("Item", ["name": "doomed"])
            )
            try context.save()
            return (changed, deleted)
        }
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            for item in try other.all("Item") {
                if item.value(forKey: "name") as? String == "doomed" {
                    other.delete(item)
                } else {
                    item.setValue("after", forKey: "name")
                }
            }
            try other.save()
        }
        // Each further save is heard of too, should the listener have begun after the first.
        let follows = try wait(upTo: 20) {
            try other.performAndWait {
                _ = other.insert("Tag", ["label": "noise"])
                try other.save()
            }
            return wait(upTo: 1) {
                context.performAndWait {
                    changed.value(forKey: "name") as? String == "after"
                        && (deleted.isDeleted || deleted.managedObjectContext == nil)
                }
            }
        }
        #expect(follows)
    }

    @Test func whatWasCommittedWhileTheListenerWasCutOffIsFound() throws {
        let made = try Warehouse()
        let name = "follower of \(made.schema)"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let url = try #require(
            URL(string: "\(made.url.absoluteString)&application_name=\(name.replacing(" ", with: "%20"))"))
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: Self.following)
        let context = coordinator.newContext()
        context.automaticallyMergesChangesFromParent = true
        let item = try context.performAndWait {
            let item = context.insert("Item", ["name": "0"])
            try context.save()
            return item
        }
        let other = try made.otherProgram()
        for round in 1...3 {
            // The listener's and the others of this store only: other tests listen too. They come
            // back when they are needed.
            let ended =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '\(name)'"
            #expect(try made.texts(ended) != ["0"] || round > 1)
            try other.performAndWait {
                try other.all("Item")[0].setValue("\(round)", forKey: "name")
                try other.save()
            }
            let follows = wait(upTo: 20) {
                context.performAndWait { item.value(forKey: "name") as? String == "\(round)" }
            }
            #expect(follows, "round \(round)")
        }
    }

    /// Many saves in a row are read again a few times, and the last of them is what is shown.
    @Test func theLastOfManySavesIsShown() throws {
        let warehouse = try Warehouse(options: Self.following)
        let context = warehouse.context
        context.automaticallyMergesChangesFromParent = true
        let items = try context.performAndWait {
            let items = (0..<300).map { context.insert("Item", ["name": "\($0)"]) }
            try context.save()
            return items
        }
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            let theirs = try other.all("Item")
            for round in 1...100 {
                for item in theirs.shuffled().prefix(20) { item.setValue(round, forKey: "stockCount") }
                theirs[0].setValue(round, forKey: "stockCount")
                try other.save()
            }
        }
        let expected = try other.performAndWait { try other.all("Item").map { $0.value(forKey: "stockCount") as? Int } }
        let follows = wait(upTo: 20) {
            context.performAndWait { items.map { $0.value(forKey: "stockCount") as? Int } == expected }
        }
        #expect(follows)
    }

    @Test func whatCannotBeReadAtPresentIsReadLater() throws {
        let warehouse = try Warehouse(options: Self.following)
        let context = warehouse.context
        context.automaticallyMergesChangesFromParent = true
        let item = try context.performAndWait {
            let item = context.insert("Item", ["name": "before"])
            try context.save()
            return item
        }
        // The table is away just when it is told that it was changed.
        try warehouse.run(
            """
            UPDATE item SET name = 'after', version = version + 1; ALTER TABLE item RENAME TO gone; \
            WITH n AS (UPDATE ocd_store SET last_transaction = last_transaction + 1 RETURNING last_transaction) \
            SELECT pg_notify(\(PostgreSQLTransactions.channel), last_transaction || ' somebody') FROM n
            """)
        #expect(wait(upTo: 20) { Warnings.all.contains { $0.contains("cannot be read at present") } })
        #expect(context.performAndWait { item.value(forKey: "name") as? String } == "before")
        try warehouse.run("ALTER TABLE gone RENAME TO item")
        #expect(wait(upTo: 20) { context.performAndWait { item.value(forKey: "name") as? String == "after" } })
    }

    @Test func transactionsAreNumberedWithoutGaps() throws {
        let warehouse = try Warehouse()
        let contexts = try (0..<4).map { _ in try warehouse.otherProgram() }
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            for _ in 0..<10 {
                contexts[index].performAndWait {
                    contexts[index].transactionAuthor = "writer \(index)"
                    _ = contexts[index].insert("Tag", ["label": "\(index)"])
                    do { try contexts[index].save() } catch { Issue.record(error) }
                }
            }
        }
        #expect(try warehouse.texts("SELECT number FROM ocd_transaction ORDER BY number") == (1...40).map { "\($0)" })
        #expect(
            try warehouse.texts("SELECT author || ' ' || count(*) FROM ocd_transaction GROUP BY author ORDER BY 1")
                == (0..<4).map { "writer \($0) 10" })
        #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["40"])
    }
}
