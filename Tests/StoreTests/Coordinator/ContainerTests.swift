import Foundation
import Testing

@testable import CoreData

@Suite("Containers and store descriptions")
struct ContainerTests {
    @Test func aDescriptionHasTheDocumentedDefaults() {  // 320
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/data/x.sqlite"))
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(!description.isReadOnly)
        #expect(description.configuration == nil)
    }

    @Test func propertiesAreViewsOfTheOptions() {  // 321
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/data/x.sqlite"))
        description.isReadOnly = true
        description.timeout = 5
        description.setValue(NSString(string: "DELETE"), forPragmaNamed: "journal_mode")
        #expect(description.options[NSReadOnlyPersistentStoreOption] as? NSNumber == true)
        #expect(description.options[NSPersistentStoreTimeoutOption] as? NSNumber == 5)
        #expect((description.options[NSSQLitePragmasOption] as? NSDictionary)?.count == 1)
        #expect(description.sqlitePragmas["journal_mode"] as? NSString == "DELETE")
        description.setOption(NSNumber(value: false), forKey: NSReadOnlyPersistentStoreOption)
        #expect(!description.isReadOnly)
        description.setValue(nil, forPragmaNamed: "journal_mode")
        #expect(description.options[NSSQLitePragmasOption] == nil)
    }

    @Test func copiesAreEqualAndIndependent() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/data/x.sqlite"))
        description.configuration = "People"
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description)
        copy.isReadOnly = true
        #expect(copy != description)
        #expect(!description.isReadOnly)
    }

    final class TemporaryContainer: NSPersistentContainer, @unchecked Sendable {
        // Sendable: adds no state.
        override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/elsewhere", isDirectory: true) }
    }

    @Test func aContainerDescribesOneSQLiteStoreInItsDirectory() {  // 318, 323
        let container = TemporaryContainer(name: "Company", managedObjectModel: SampleStacks.company())
        #expect(container.persistentStoreDescriptions.map(\.type) == [NSSQLiteStoreType])
        #expect(container.persistentStoreDescriptions.first?.url?.path == "/elsewhere/Company.sqlite")
    }

    final class AuditedContext: NSManagedObjectContext, @unchecked Sendable {
        // Sendable: adds no state.
    }

    final class AuditedContainer: NSPersistentContainer, @unchecked Sendable {
        // Sendable: the context is made when it is first used, by the only test that has the
        // container.
        private lazy var main = audited(.mainQueueConcurrencyType)

        override var viewContext: NSManagedObjectContext { main }

        override func newBackgroundContext() -> NSManagedObjectContext { audited(.privateQueueConcurrencyType) }

        private func audited(_ type: NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext {
            let context = AuditedContext(concurrencyType: type)
            context.persistentStoreCoordinator = persistentStoreCoordinator
            return context
        }
    }

    @Test func aContainerGivesTheContextsOfItsSubclass() async {
        let container = AuditedContainer(name: "Company", managedObjectModel: SampleStacks.company())
        #expect(container.viewContext is AuditedContext)
        #expect(container.viewContext === container.viewContext)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
        let isAudited = await container.performBackgroundTask { $0 is AuditedContext }
        #expect(isAudited)
    }

    @Test func theDefaultDirectoryFollowsTheBaseDirectorySpecification() {
        let home = URL(fileURLWithPath: "/home/ann", isDirectory: true)
        func path(_ environment: [String: String]) -> String {
            DefaultStoreDirectory.url(programName: "shop", environment: environment, home: home).path
        }
        #expect(path([:]) == "/home/ann/.local/share/shop")
        #expect(path(["XDG_DATA_HOME": "/data"]) == "/data/shop")
        #expect(path(["XDG_DATA_HOME": "relative"]) == "/home/ann/.local/share/shop")
    }

    @Test func aMissingModelIsReportedWithThePlacesLookedAt() throws {
        let error = #expect(throws: NSError.self) { _ = try NSPersistentContainer(findingModelNamed: "Nothing") }
        #expect(error?.localizedDescription.contains("Nothing.momd") == true)
        #expect(error?.localizedDescription.contains(Bundle.main.bundlePath) == true)
    }

    private func container() -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Company", managedObjectModel: SampleStacks.company())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        return container
    }

    @Test func loadingCallsBackOncePerDescriptionBeforeItReturns() {  // 319
        let container = container()
        let unknown = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/nothing/x"))
        unknown.type = "Unknown"
        unknown.isReadOnly = true
        container.persistentStoreDescriptions += [unknown]
        var calls: [String] = []
        container.loadPersistentStores { description, error in
            calls.append("\(description.type) \((error as NSError?)?.code ?? 0)")
        }
        #expect(calls == ["InMemory 0", "Unknown 134000"])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func loadingMayBeAsynchronous() async throws {  // 319
        let container = container()
        container.persistentStoreDescriptions.first?.shouldAddStoreAsynchronously = true
        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in continuation.resume(returning: error) }
        }
        #expect(error == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
        let second = NSPersistentStoreDescription()
        second.type = NSInMemoryStoreType
        let store = try await container.persistentStoreCoordinator.addPersistentStore(with: second)
        #expect(store.number == 1)
    }

    @Test func newDescriptionsAreOfStoresInMemory() throws {
        let description = NSPersistentStoreDescription()
        #expect(description.url == URL(fileURLWithPath: "/dev/null"))
        #expect((description.copy() as? NSPersistentStoreDescription)?.url == description.url)
        for type in [NSSQLiteStoreType, NSInMemoryStoreType] {
            let container = NSPersistentContainer(name: "Company", managedObjectModel: SampleStacks.company())
            container.persistentStoreDescriptions = ["People", "Work"].map { configuration in
                let description = NSPersistentStoreDescription()
                description.type = type
                description.configuration = configuration
                return description
            }
            container.loadPersistentStores { _, error in #expect(error == nil, "\(type)") }
            #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in
                _ = try SampleStacks.insert("Tag", ["name": "red"], into: context)
                try context.save()
                context.reset()
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 1)
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee")) == 0)
            }
        }
    }

    @Test func contextsAreConnected() async throws {  // 322
        let container = container()
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
        let count = try await container.performBackgroundTask { context in
            _ = try SampleStacks.insert("Tag", ["name": "red"], into: context)
            try context.save()
            return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        }
        #expect(count == 1)
        #expect(container.newBackgroundContext().concurrencyType == .privateQueueConcurrencyType)
    }
}
