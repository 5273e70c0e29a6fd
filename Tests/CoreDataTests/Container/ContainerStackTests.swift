import CoreData
import Synchronization
import TestSupport
import Testing

/// A container whose stores lie in a folder that the test names.
private final class ElsewhereContainer: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreDataTests-elsewhere")
    }
}

/// Containers and store descriptions.
struct ContainerStackTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("library.sqlite")
    }

    private func container(_ descriptions: NSPersistentStoreDescription...) -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = descriptions
        return container
    }

    /// Loads the stores and gives what the handler was told, in order.
    private func load(_ container: NSPersistentContainer) -> [(String?, (any Error)?)] {
        let calls = Mutex<[(String?, (any Error)?)]>([])
        container.loadPersistentStores { description, error in
            calls.withLock { $0.append((description.url?.lastPathComponent, error)) }
        }
        return calls.withLock { $0 }
    }

    @Test func aContainerDescribesOneStoreNamedLikeItself() {  // 318
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        #expect(container.name == "Library")
        #expect(container.persistentStoreDescriptions.count == 1)
        let description = container.persistentStoreDescriptions.first
        #expect(
            description?.url == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Library.sqlite"))
        #expect(description?.type == NSSQLiteStoreType)
        #expect(container.persistentStoreCoordinator.managedObjectModel === container.managedObjectModel)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test func theDirectoryMayBeOverridden() {  // 323
        let container = ElsewhereContainer(name: "Library", managedObjectModel: Library.model())
        let place = container.persistentStoreDescriptions.first?.url?.deletingLastPathComponent().lastPathComponent
        #expect(place == "OpenCoreDataTests-elsewhere")
    }

    @Test func loadingCallsTheHandlerOncePerDescription() throws {  // 319
        let labels = NSPersistentStoreDescription(url: folder.file("labels.sqlite"))
        labels.configuration = "Labels"
        let writing = NSPersistentStoreDescription(url: folder.file("writing.sqlite"))
        writing.configuration = "Writing"
        let container = container(labels, writing)
        let calls = load(container)
        #expect(calls.map(\.0) == ["labels.sqlite", "writing.sqlite"])
        #expect(calls.allSatisfy { $0.1 == nil })
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test func aStoreThatFailsIsReportedAndTheOthersAreLoaded() throws {  // 319
        try Data(repeating: 7, count: 5000).write(to: folder.file("bad.sqlite"))
        let bad = NSPersistentStoreDescription(url: folder.file("bad.sqlite"))
        bad.configuration = "Labels"
        let good = NSPersistentStoreDescription(url: url)
        good.configuration = "Writing"
        let container = container(bad, good)
        let calls = load(container)
        #expect(calls.map(\.0) == ["bad.sqlite", "library.sqlite"])
        #expect(calls.first?.1 != nil)
        #expect(calls.last?.1 == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
    }

    @Test func asynchronousLoadingCallsBackToo() async throws {  // 319
        let description = NSPersistentStoreDescription(url: url)
        description.shouldAddStoreAsynchronously = true
        let container = container(description)
        let failed = await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in continuation.resume(returning: error != nil) }
        }
        #expect(!failed)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func asynchronousStoresAreAddedAndToldOfOneAfterTheOther() async throws {  // 319
        try Data().write(to: folder.file("file"))
        // One where no directory can be made, and one that is added before the call returns.
        let paths = ["file/x", "1", "2", "3", "4", "5"].map { folder.file($0 + ".sqlite") }
        let descriptions = paths.enumerated().map { place, url in
            let description = NSPersistentStoreDescription(url: url)
            // Files take longer.
            if place % 2 == 0, place > 0 { description.type = NSInMemoryStoreType }
            description.shouldAddStoreAsynchronously = place != 4
            return description
        }
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = descriptions
        let told = Mutex<[String]>([])
        let (running, overlaps) = (Counter(), Counter())
        await withCheckedContinuation { continuation in
            container.loadPersistentStores { description, error in
                if running.increase() > 1 { overlaps.increase() }
                _ = wait(upTo: 0.02) { running.value > 1 }
                running.increase(by: -1)
                let count = told.withLock {
                    $0.append((error == nil ? "" : "not ") + (description.url?.lastPathComponent ?? ""))
                    return $0.count
                }
                if count == descriptions.count { continuation.resume() }
            }
        }
        #expect(told.withLock { $0 } == ["4.sqlite", "not x.sqlite", "1.sqlite", "2.sqlite", "3.sqlite", "5.sqlite"])
        #expect(overlaps.value == 0)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [4, 1, 2, 3, 5].map { paths[$0] })
    }

    @Test func aDescriptionStartsWithTheDocumentedDefaults() {  // 320
        let description = NSPersistentStoreDescription(url: url)
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.url == url)
        #expect(description.configuration == nil)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(!description.isReadOnly)
        #expect(description.timeout == 240)
    }

    @Test func propertiesOfADescriptionAreItsOptions() {  // 321
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = true
        #expect((description.options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true)
        description.setOption(false as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
        #expect(!description.isReadOnly)
        description.timeout = 3
        #expect((description.options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue == 3)
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        #expect(description.sqlitePragmas["journal_mode"] as? String == "DELETE")
        let pragmas = description.options[NSSQLitePragmasOption] as? NSDictionary
        #expect(pragmas?["journal_mode"] as? String == "DELETE")
        description.shouldMigrateStoreAutomatically = false
        #expect((description.options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue == false)
    }

    @Test func theOptionsOfADescriptionReachTheStore() throws {  // 321, 300
        #expect(load(container(NSPersistentStoreDescription(url: url))).first?.1 == nil)
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = true
        let container = container(description)
        #expect(load(container).first?.1 == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.first?.isReadOnly == true)
        let context = container.newBackgroundContext()
        context.author("New")
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test func theViewContextIsOneMainQueueContext() {  // 322
        let container = container(NSPersistentStoreDescription(url: url))
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
        #expect(container.viewContext === container.viewContext)
        #expect(!container.viewContext.automaticallyMergesChangesFromParent)
    }

    @Test func backgroundContextsAreNewAndConnected() {  // 152
        let container = container(NSPersistentStoreDescription(url: url))
        let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        #expect(first !== second)
        #expect(first.concurrencyType == .privateQueueConcurrencyType)
        #expect(first.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test func eachBackgroundTaskHasAContextOfItsOwn() async throws {  // 153
        let container = container(NSPersistentStoreDescription(url: url))
        #expect(load(container).first?.1 == nil)
        let first = try await container.performBackgroundTask { context in
            context.author("Ada")
            try context.save()
            return context
        }
        let second = await container.performBackgroundTask { $0 }
        #expect(first !== second)
        #expect(first.concurrencyType == .privateQueueConcurrencyType)
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
        await withCheckedContinuation { continuation in
            container.performBackgroundTask { context in
                #expect(context !== first)
                #expect(context !== second)
                continuation.resume()
            }
        }
    }

    @Test func aMissingFolderOfAStoreIsMade() throws {  // 319
        let place = folder.file("missing/library.sqlite")
        #expect(load(container(NSPersistentStoreDescription(url: place))).first?.1 == nil)
        #expect(FileManager.default.fileExists(atPath: place.path))
    }
}
