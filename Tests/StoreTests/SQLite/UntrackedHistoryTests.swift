import TestSupport
import Testing

@testable import CoreData

/// A store once opened with history must go on being opened with it (258): otherwise its history
/// would get a gap.
struct UntrackedHistoryTests {
    private let directory: TemporaryFolder
    private var url: URL { directory.file("notes.sqlite") }

    init() throws { directory = try TemporaryFolder() }

    private static let tracked = NSPersistentHistoryTrackingKey

    private func model(_ attributes: String...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            SampleStacks.entity("Note", attributes.map { SampleStacks.attribute($0, .stringAttributeType) })
        ]
        return model
    }

    private func open(_ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel? = nil) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model("text"))
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return coordinator
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func insert(_ text: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(text, forKey: "text")
            try context.save()
        }
    }

    /// Opens the store, saves a note, and closes it.
    private func save(_ text: String, _ options: [AnyHashable: Any]?) throws {
        let coordinator = try open(options)
        try insert(text, coordinator)
        try close(coordinator)
    }

    private func integer(_ sql: String) throws -> Int64? {
        try SQLiteConnection(path: url.path, mode: .readOnly, timeout: 5).integer(sql)
    }

    private func transactions() throws -> Int64? { try integer("SELECT count(*) FROM ATRANSACTION") }

    private var warnings: [String] { Warnings.all.filter { $0.contains(url.path) } }

    private func expectRemedy(_ error: (any Error)?) {
        let error = error as NSError?
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(
            error?.localizedRecoverySuggestion?.contains("NSPersistentHistoryTrackingKey") == true,
            "\(String(describing: error))")
        #expect(error?.localizedDescription.contains(url.path) == true, "\(String(describing: error))")
    }

    @Test(arguments: [nil, false]) func withoutTheOptionTheStoreIsReadOnly(option: Bool?) throws {
        try save("first", [Self.tracked: true])
        let coordinator = try open(option.map { [Self.tracked: $0 as NSNumber] })
        #expect(coordinator.persistentStores.first?.isReadOnly == true)
        #expect(warnings.count == 1)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            let note = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
            #expect(note.value(forKey: "text") as? String == "first")
            note.setValue("changed", forKey: "text")
            expectRemedy(#expect(throws: (any Error).self) { try context.save() })
            context.rollback()
            context.delete(note)
            expectRemedy(#expect(throws: (any Error).self) { try context.save() })
            context.rollback()
            let new = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            expectRemedy(#expect(throws: (any Error).self) { try context.save() })
            if let store = coordinator.persistentStores.first { context.assign(new, to: store) }
            expectRemedy(#expect(throws: (any Error).self) { try context.save() })
        }
        try close(coordinator)
        try close(try open(nil))
        #expect(warnings.count == 1, "said once")
        #expect(try transactions() == 1)
        #expect(try integer("SELECT count(*) FROM ZNOTE WHERE ZTEXT = 'first'") == 1)
    }

    @Test func withTheOptionTheHistoryGoesOn() throws {
        try save("first", [Self.tracked: true])
        try close(try open(nil))
        try save("second", [Self.tracked: NSDictionary(dictionary: ["NSPersistentHistoryTrackingKey": true])])
        try save("third", [Self.tracked: 1])
        #expect(try transactions() == 3)
    }

    @Test func aHistoryWithoutTransactionsHasNoGap() throws {
        try close(try open([Self.tracked: true]))
        try save("first", nil)
        #expect(try transactions() == 0)
        #expect(try integer("SELECT count(*) FROM ZNOTE") == 1)
        #expect(warnings == [])
    }

    @Test func aStoreThatIsOnlyReadNeedsNoWarning() throws {
        try save("first", [Self.tracked: true])
        try close(try open([NSReadOnlyPersistentStoreOption: true]))
        #expect(warnings == [])
    }

    @Test func whoContinuesHistoryBeginsNone() throws {
        let continuing = [HistoryTracking.continuingOption: true]
        try save("first", continuing)
        #expect(try integer("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTION'") == 0)
        try save("second", [Self.tracked: true])
        try save("third", continuing)
        #expect(try transactions() == 2)
        #expect(warnings == [])
    }

    @Test func aStoreIsMigratedBeforeItIsReadOnly() throws {
        try save("first", [Self.tracked: true])
        let migrating = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let coordinator = try open(migrating, model("text", "author"))
        #expect(coordinator.persistentStores.first?.isReadOnly == true)
        #expect(throws: (any Error).self) { try insert("second", coordinator) }
        try close(coordinator)
        #expect(try integer("SELECT count(*) FROM ZNOTE WHERE ZTEXT = 'first' AND ZAUTHOR IS NULL") == 1)
        #expect(try transactions() == 1)
    }

    @Test func whatTakesTheStoresPlaceIsJudgedAnew() throws {
        try save("first", [Self.tracked: true])
        let coordinator = try open(nil)
        let store = try #require(coordinator.persistentStores.first)
        let other = directory.file("other.sqlite")
        let without = NSPersistentStoreCoordinator(managedObjectModel: model("text"))
        try without.remove(try without.addPersistentStore(type: .sqlite, at: other))
        #expect(coordinator.setURL(other, for: store))
        #expect(!store.isReadOnly)
        try insert("second", coordinator)
    }

    @Test func aCopyHasTheHistory() throws {
        try save("first", [Self.tracked: true])
        let copy = directory.file("copy.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model("text"))
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: copy)
        #expect(store.isReadOnly)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
        #expect(try !coordinator.addPersistentStore(type: .sqlite, at: copy).isReadOnly, "a new store")
    }

    @Test func contentThatMovesOutOfAReadOnlyStoreIsThere() throws {
        try save("first", [Self.tracked: true])
        let coordinator = try open(nil)
        let target = directory.file("moved.sqlite")
        let store = try #require(coordinator.persistentStores.first)
        let moved = try coordinator.migratePersistentStore(store, to: target, type: .sqlite)
        #expect(!moved.isReadOnly)
        try insert("second", coordinator)
        let connection = try SQLiteConnection(path: target.path, mode: .readOnly, timeout: 5)
        #expect(try connection.integer("SELECT count(*) FROM ZNOTE") == 2)
    }
}
