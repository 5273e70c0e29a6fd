import TestSupport
import Testing

@testable import CoreData

/// Rows that were read while others saved.
@Suite struct StaleRowTests {
    private let cache = RowCache()
    private let library: Library
    private let layout: EntityLayout

    init() throws {
        library = try Library(.inMemory)
        layout = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"]).resolvedLayout
    }

    private func row(version: Int64) -> [RowPage] {
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        _ = builder.appendRow(key: 1, version: version)
        return builder.finish()
    }

    @Test func rowsThatWereReadAreCached() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        #expect(cache.snapshot(for: 1)?.version == 1)
    }

    @Test func aRowReadBeforeASaveIsNotCachedAfterIt() {
        let generation = cache.generation
        // The context that saved the newer row is gone already, and the row with it.
        cache.insert(row(version: 2))
        #expect(cache.snapshot(for: 1) == nil)
        let read = row(version: 1)
        cache.insert(read, readAt: generation)
        #expect(cache.snapshot(for: 1) == nil)
    }

    @Test func aRowReadBeforeItsDeletionIsNotCachedAfterIt() {
        let generation = cache.generation
        cache.remove(1)
        let read = row(version: 1)
        cache.insert(read, readAt: generation)
        #expect(cache.snapshot(for: 1) == nil)
    }

    @Test func aRowThatNobodyLookedForDoesNotComeBackWhenTheSavedOneGoes() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        // Gone at once, as above.
        cache.insert(row(version: 2))
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func aDeletedRowDoesNotComeBackFromTheRowsThatNobodyLookedFor() {
        let read = row(version: 1)
        cache.insert(read, readAt: cache.generation)
        cache.remove(1)
        #expect(cache.snapshot(for: 1) == nil)
        withExtendedLifetime(read) {}
    }

    @Test func writersThatFollowEachOtherSeeEachOthersRowsWhileOthersRead() async throws {
        let library = try Library(.sqlite)
        let context = library.context
        let id = try context.performAndWait {
            let author = context.author("Lem")
            try context.save()
            return author.objectID
        }
        let coordinator = library.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 {
                    let context = coordinator.newContext()
                    try await context.perform {
                        let author = try context.existingObject(with: id) as? LibraryAuthor
                        author?.born += 1
                        try context.save()
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<300 {
                        let context = coordinator.newContext()
                        try await context.perform { _ = try context.authors() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(library.file.value("SELECT ZBORN FROM ZAUTHOR") == "300")
    }
}
