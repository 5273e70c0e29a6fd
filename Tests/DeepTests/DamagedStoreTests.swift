import CoreData
import TestSupport
import Testing

/// Stores with cut off ends and flipped bits: errors or wrong values, never a crash. The process
/// would end with it.
@Suite(.enabled(if: LongTests.areEnabled)) struct DamagedStoreTests {
    /// The files of a good store: one that was closed, or one whose rows are still in its journal.
    private func goodStore(_ folder: TemporaryFolder, isClosed: Bool) throws -> [String: Data] {
        let url = folder.file("good.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = coordinator.newContext()
        for number in 0..<60 {
            let author = context.author("Author \(number)", born: Int16(number))
            let tag = context.tag("tag \(number)")
            for book in 0..<4 {
                context.book("Book \(number) \(book)", pages: Int32(book), rating: 0.5, by: author, tags: [tag])
            }
            context.novel(String(repeating: "Novel \(number) ", count: 40), pages: 1, genre: "crime", by: author)
        }
        try context.save()
        if isClosed { try coordinator.remove(store) }
        var files: [String: Data] = [:]
        for suffix in ["", "-wal"] { files[suffix] = try? Data(contentsOf: URL(fileURLWithPath: url.path + suffix)) }
        withExtendedLifetime(store) {}
        return files
    }

    /// Writes the files of a store, one of them damaged.
    private func writeDamaged(_ good: [String: Data], to url: URL, _ generator: inout SeededGenerator) throws {
        let victim = good.keys.filter { good[$0]?.isEmpty == false }.sorted().randomElement(using: &generator) ?? ""
        for (suffix, content) in good {
            var content = content
            if suffix == victim { damage(&content, &generator) }
            try content.write(to: URL(fileURLWithPath: url.path + suffix))
        }
    }

    @Test(arguments: [true, false], 1...4)
    func aDamagedStoreGivesErrorsOrValuesButNoCrash(_ isClosed: Bool, _ seed: Int) throws {
        let folder = try TemporaryFolder()
        let good = try goodStore(folder, isClosed: isClosed)
        var generator = SeededGenerator(seed: UInt64(seed))
        var opened = 0
        for variant in 0..<400 {
            let url = folder.file("bad\(variant).sqlite")
            try writeDamaged(good, to: url, &generator)
            if use(url, readOnly: variant % 3 == 0) { opened += 1 }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        }
        // Most damage lies where only few rows are.
        #expect(opened > 50)
    }

    @Test(arguments: [true, false], 1...2)
    func aDamagedStoreIsMigratedOrRefusedButDoesNotCrash(_ isClosed: Bool, _ seed: Int) throws {
        let folder = try TemporaryFolder()
        let good = try goodStore(folder, isClosed: isClosed)
        var generator = SeededGenerator(seed: UInt64(seed + 100))
        var migrated = 0
        for variant in 0..<200 {
            let url = folder.file("bad\(variant).sqlite")
            try writeDamaged(good, to: url, &generator)
            let model = Library.model()
            model.entitiesByName["Author"]?.properties += [
                NSAttributeDescription("note", .stringAttributeType, optional: false, default: "none")
            ]
            model.entities += [
                NSEntityDescription(
                    "Aaa", class: "NSManagedObject", [NSAttributeDescription("x", .stringAttributeType)])
            ]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try? coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                    NSPersistentStoreTimeoutOption: 1,
                ])
            if let store {
                migrated += 1
                try coordinator.remove(store)
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        }
        #expect(migrated > 20)
    }

    private func damage(_ content: inout Data, _ generator: inout SeededGenerator) {
        if Int.random(in: 0..<5, using: &generator) == 0 {
            content = content.prefix(Int.random(in: 0..<content.count, using: &generator))
            return
        }
        for _ in 0..<Int.random(in: 1...30, using: &generator) {
            let place = content.startIndex + Int.random(in: 0..<content.count, using: &generator)
            content[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
    }

    /// Does everything that one does with a store.
    ///
    /// - Returns: whether it could be opened.
    private func use(_ url: URL, readOnly: Bool) -> Bool {
        _ = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        guard
            let store = try? coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [
                    NSReadOnlyPersistentStoreOption: readOnly, NSPersistentHistoryTrackingKey: true,
                    NSIgnorePersistentStoreVersioningOption: true, NSPersistentStoreTimeoutOption: 1,
                ])
        else { return false }
        let context = coordinator.newContext()
        var seen = 0
        for book in (try? context.books()) ?? [] {
            seen += Int(book.pages) & 1
            seen += book.title?.count ?? 0
            seen += book.author?.name?.count ?? 0
            seen += book.tags.reduce(0) { $0 + ($1.label?.count ?? 0) }
        }
        for author in (try? context.authors("born > 3")) ?? [] { seen += author.books.count }
        _ = try? context.titles("ANY tags.label BEGINSWITH 'tag' AND author.books.@count > 2")
        let batched = NSFetchRequest<LibraryBook>(entityName: "Book")
        batched.fetchBatchSize = 7
        for book in (try? context.fetch(batched)) ?? [] { seen += book.title?.count ?? 0 }
        context.refreshAllObjects()
        for author in (try? context.authors()) ?? [] { author.born = Int16(truncatingIfNeeded: seen) }
        context.book("A new book", by: context.author("A new author"))
        if (try? context.save()) == nil { context.rollback() }
        for book in ((try? context.books()) ?? []).prefix(20) { context.delete(book) }
        try? context.save()
        try? coordinator.remove(store)
        return true
    }
}
