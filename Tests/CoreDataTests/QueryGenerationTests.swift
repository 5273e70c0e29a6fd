import CoreData
import Foundation
import TestSupport
import Testing

/// Contexts that are pinned to a state of the stores.
struct QueryGenerationTests {
    private let library: Library
    private let reader: NSManagedObjectContext
    private let writer: NSManagedObjectContext

    init() throws {
        library = try Library()
        reader = library.newContext()
        writer = library.newContext()
        writer.author("Ada")
        try writer.save()
    }

    private func add(_ name: String) throws {
        writer.author(name)
        try writer.save()
    }

    private func rename(_ name: String, to other: String) throws {
        try #require(try writer.authors().first { $0.name == name }).name = other
        try writer.save()
    }

    private func pin(_ context: NSManagedObjectContext) throws {
        try context.setQueryGenerationFrom(.current)
        _ = try context.names()
    }

    @Test func aContextIsNotPinnedUnlessItIsAskedTo() throws {  // 226
        #expect(reader.queryGenerationToken == nil)
        #expect(try reader.names() == ["Ada"])
        try add("Bob")
        #expect(try reader.names() == ["Ada", "Bob"])
        try pin(reader)
        #expect(reader.queryGenerationToken != nil)
        try reader.setQueryGenerationFrom(nil)
        try add("Cyd")
        #expect(reader.queryGenerationToken == nil)
        #expect(try reader.names() == ["Ada", "Bob", "Cyd"])
    }

    @Test func aTokenIsTheCurrentOneUntilItsStateIsRead() throws {  // 226
        try reader.setQueryGenerationFrom(.current)
        #expect(reader.queryGenerationToken == .current)
        #expect(reader.queryGenerationToken?.hash == NSQueryGenerationToken.current.hash)
        _ = try reader.names()
        let token = try #require(reader.queryGenerationToken)
        #expect(token != .current)
        #expect(token == reader.queryGenerationToken)
        try writer.setQueryGenerationFrom(token)
        #expect(writer.queryGenerationToken == token)
        try writer.setQueryGenerationFrom(.current)
        #expect(writer.queryGenerationToken == .current)
        #expect(writer.queryGenerationToken != token)
    }

    @Test func theStateAtTheNextReadIsKept() throws {  // 227
        try reader.setQueryGenerationFrom(.current)
        try add("Bob")
        #expect(try reader.names() == ["Ada", "Bob"])
        try add("Cyd")
        try rename("Ada", to: "Eve")
        #expect(try reader.names() == ["Ada", "Bob"])
        #expect(try reader.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) == 2)
        #expect(try library.newContext().names() == ["Bob", "Cyd", "Eve"])
    }

    @Test func faultsRelationshipsAndDictionariesAreReadAsTheyWere() throws {
        let author = try #require(try writer.authors().first)
        let book = LibraryBook(context: writer)
        (book.title, book.author) = ("One", author)
        try writer.save()
        try pin(reader)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.returnsObjectsAsFaults = true
        request.includesPropertyValues = false
        let faults = try reader.fetch(request)
        book.title = "Two"
        author.name = "Eve"
        let other = LibraryBook(context: writer)
        (other.title, other.author) = ("Three", author)
        try writer.save()
        #expect(faults.map(\.title) == ["One"])
        #expect(faults.first?.author?.name == "Ada")
        #expect(faults.first?.author?.books.count == 1)
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(try reader.fetch(dictionaries).map { $0["title"] as? String } == ["One"])
        // The rows of now are the others' still.
        #expect(try library.newContext().fetch(request).compactMap(\.title).sorted() == ["Three", "Two"])
    }

    @Test func rowsThatAreGoneAreStillThere() throws {
        try pin(reader)
        reader.refreshAllObjects()
        try writer.authors().forEach(writer.delete)
        try writer.save()
        #expect(try reader.names() == ["Ada"])
        #expect(library.file.rows("SELECT * FROM ZAUTHOR").isEmpty)
        try reader.setQueryGenerationFrom(.current)
        #expect(try reader.names() == [])
    }

    @Test func contextsWithOneTokenReadTheSameState() throws {  // 228
        let other = library.newContext()
        try reader.setQueryGenerationFrom(.current)
        try other.setQueryGenerationFrom(reader.queryGenerationToken)
        #expect(other.queryGenerationToken == reader.queryGenerationToken)
        #expect(try reader.names() == ["Ada"])
        try add("Bob")
        #expect(try other.names() == ["Ada"])
        let third = library.newContext()
        try pin(third)
        #expect(third.queryGenerationToken != reader.queryGenerationToken)
        #expect(try third.names() == ["Ada", "Bob"])
    }

    @Test func savingMergingAndResettingGoOnAndBatchesDoNot() throws {  // 229
        func advances(_ action: () throws -> Void) throws -> Bool {
            try pin(reader)
            let before = try reader.names()
            let token = try #require(reader.queryGenerationToken)
            try add("New \(before.count)")
            try action()
            let has = try reader.names().count > before.count
            #expect(has == (reader.queryGenerationToken != token))
            #expect(reader.queryGenerationToken != nil)
            return has
        }
        #expect(try advances { reader.reset() })
        #expect(try advances { try reader.setQueryGenerationFrom(.current) })
        #expect(
            try advances {
                reader.mergeChanges(
                    fromContextDidSave: Notification(
                        name: NSManagedObjectContext.didSaveObjectsNotification, object: writer))
            })
        #expect(
            try advances {
                reader.author("Own")
                try reader.save()
            })
        #expect(
            try !advances {
                let update = NSBatchUpdateRequest(entityName: "Author")
                update.propertiesToUpdate = ["born": 1]
                _ = try reader.execute(update)
            })
        #expect(try !advances { reader.refreshAllObjects() })
    }

    @Test func automaticMergingGoesOn() throws {
        reader.automaticallyMergesChangesFromParent = true
        try pin(reader)
        try add("Bob")
        reader.performAndWait {}
        #expect(try reader.names() == ["Ada", "Bob"])
    }

    @Test func goingOnReadsNoObjectAgain() throws {  // 230
        try reader.setQueryGenerationFrom(.current)
        let author = try #require(try reader.authors().first)
        #expect(author.name == "Ada")
        try rename("Ada", to: "Eve")
        try reader.setQueryGenerationFrom(.current)
        _ = try reader.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author"))
        #expect(author.name == "Ada")
        reader.refresh(author, mergeChanges: false)
        #expect(author.name == "Eve")
    }

    @Test("231: stores without a log are read as they are", arguments: [true, false])
    func storesWithoutALogAreReadAsTheyAre(inMemory: Bool) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        let library = try inMemory ? Library(.inMemory) : Library(.sqlite, options: options)
        let (reader, writer) = (library.newContext(), library.newContext())
        try pin(reader)
        writer.author("Ada")
        try writer.save()
        #expect(try reader.names() == ["Ada"])
    }

    @Test func aStoreThatWasAddedLaterHasNoObjects() throws {  // 232
        try pin(reader)
        let store = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.folder.file("second.sqlite"), options: nil)
        let author = writer.author("Bob")
        writer.assign(author, to: store)
        try writer.save()
        #expect(try reader.names() == ["Ada"])
        try reader.setQueryGenerationFrom(.current)
        #expect(try reader.names() == ["Ada", "Bob"])
    }

    @Test func aChildHasNoGeneration() throws {  // 158
        try pin(reader)
        let child = reader.newChild()
        #expect(child.queryGenerationToken == nil)
        #expect(throws: CocoaError.self) { try child.setQueryGenerationFrom(.current) }
        try add("Bob")
        #expect(try child.performAndWait { try child.names() } == ["Ada"])
    }

    @Test func aTokenOfOtherStoresIsRefused() throws {
        let other = try Library()
        try other.context.setQueryGenerationFrom(.current)
        #expect(throws: CocoaError.self) { try reader.setQueryGenerationFrom(other.context.queryGenerationToken) }
        #expect(reader.queryGenerationToken == nil)
    }

    @Test func whatOthersChangedSinceIsAConflict() throws {
        try pin(reader)
        let author = try #require(try reader.authors().first)
        try rename("Ada", to: "Eve")
        author.born = 1815
        let token = reader.queryGenerationToken
        let error = #expect(throws: NSError.self) { try reader.save() }
        #expect(error?.code == CocoaError.managedObjectMerge.rawValue)
        #expect(reader.queryGenerationToken == token)
        reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try reader.save()
        #expect(try library.newContext().authors().map { ($0.name ?? "") + "\($0.born)" } == ["Eve1815"])
        #expect(try reader.names() == ["Eve"])
    }

    @Test func unsavedChangesAreSeenAboveThePinnedState() throws {
        try pin(reader)
        let author = try #require(try reader.authors().first)
        author.name = "Mine"
        try add("Bob")
        #expect(try reader.names() == ["Mine"])
        reader.author("Own")
        #expect(try reader.names() == ["Mine", "Own"])
    }

    @Test func valuesInFilesOfTheirOwnAreReadAsTheyWere() throws {
        let folder = try TemporaryFolder()
        let model = NSManagedObjectModel()
        let photo = NSEntityDescription()
        photo.name = "Photo"
        let data = NSAttributeDescription()
        (data.name, data.attributeType, data.allowsExternalBinaryDataStorage) = ("data", .binaryDataAttributeType, true)
        photo.properties = [data]
        model.entities = [photo]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("photos.sqlite"), options: nil)
        let (writer, reader) = (coordinator.newContext(), coordinator.newContext())
        let object = NSManagedObject(entity: photo, insertInto: writer)
        let (first, second) = (Data(repeating: 1, count: 200_000), Data(repeating: 2, count: 300_000))
        object.setValue(first, forKey: "data")
        try writer.save()
        try reader.setQueryGenerationFrom(.current)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
        #expect(try reader.count(for: request) == 1)
        for value in [second, first, second] {
            object.setValue(value, forKey: "data")
            try writer.save()
        }
        writer.delete(object)
        try writer.save()
        let read = try #require(try reader.fetch(request).first)
        #expect(read.value(forKey: "data") as? Data == first)
        withExtendedLifetime(writer) {}
    }

    @Test func aRemovedStoreEndsTheGeneration() throws {
        try pin(reader)
        try library.coordinator.remove(library.store)
        reader.performAndWait {}
        #expect(try reader.names() == [])
        // Nothing holds the file's log any more.
        let log = library.url.path + "-wal"
        let size = (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
        #expect(size == 0)
    }

    @Test func tokensAreArchivedAsTheCurrentOne() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: NSQueryGenerationToken.current, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data)
        #expect(read == NSQueryGenerationToken.current)
        try pin(reader)
        let token = try #require(reader.queryGenerationToken)
        let other = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: other)) == nil)
    }

    /// Readers at many states beside a writer, each against what was there when it was pinned.
    @Test func manyGenerationsStayApart() throws {
        var random = SeededGenerator(seed: 7)
        var pinned: [(context: NSManagedObjectContext, names: [String?])] = []
        for number in 0..<200 {
            let authors = try writer.authors()
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try add("N\(number)")
            case 1: authors.randomElement(using: &random)?.name = "R\(number)"
            case 2: authors.randomElement(using: &random).map(writer.delete)
            default:
                let context = library.newContext()
                try context.setQueryGenerationFrom(.current)
                pinned.append((context, try context.names()))
                #expect(try context.names() == writer.names())
                if pinned.count > 6 { pinned.removeFirst() }
            }
            try writer.save()
            if let (context, names) = pinned.randomElement(using: &random) {
                if Bool.random(using: &random) { context.refreshAllObjects() }
                #expect(try context.names() == names)
            }
        }
    }
}
