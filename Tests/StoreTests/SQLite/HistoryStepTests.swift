import TestSupport
import Testing

@testable import CoreData

/// A step of a retention beside another writer.
struct HistoryStepTests {
    @Test func aStepDoesNotWaitForAnotherWriter() throws {
        let library = try Library(
            .sqlite, options: [NSPersistentHistoryTrackingKey: true, NSPersistentStoreTimeoutOption: 1])
        for name in ["Ada", "Bob", "Eve"] {
            library.context.author(name)
            try library.context.save()
        }
        let history = try #require(library.store.history)
        let retention = HistoryRetention(maximumCount: 1)
        let writer = library.file
        try writer.run("BEGIN IMMEDIATE")
        // Other deletions wait, and fail when the time is over.
        #expect(throws: CocoaError.self) { try history.deleteHistory(.before(2)) }
        #expect(try history.deleteHistory(.exceeding(retention)) == 0)
        try writer.run("COMMIT")
        #expect(try history.deleteHistory(.exceeding(retention)) == 2)
        // The store waits for others again.
        try writer.run("BEGIN IMMEDIATE")
        library.context.author("Zoe")
        #expect(throws: CocoaError.self) { try library.context.save() }
        try writer.run("COMMIT")
        try library.context.save()
    }
}
