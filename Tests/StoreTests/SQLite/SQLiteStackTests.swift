import TestSupport
import Testing

@testable import CoreData

@Suite("Coordinators with SQLite stores")
struct SQLiteStackTests {
    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = SampleStacks.context(coordinator)
        try context.performAndWait {
            let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: context)
            let red = try SampleStacks.insert("Tag", ["name": "red"], into: context)
            let ann = try SampleStacks.insert("Manager", ["name": "Ann", "salary": 300], into: context)
            ann.setValue(sales, forKey: "department")
            ann.setValue(NSSet(object: red), forKey: "tags")
            let tasks = try ["c", "a", "b"].map { try SampleStacks.insert("Task", ["title": $0], into: context) }
            ann.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            try context.save()
        }
    }

    @Test func aMissingFileIsMadeAndAnotherKindOfFileIsRefused() throws {  // 298
        let directory = try TemporaryFolder()
        let url = directory.file("Company.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(FileManager.default.fileExists(atPath: url.path))
        let text = directory.file("notes.txt")
        try "These are notes, no database.".write(to: text, atomically: true, encoding: .utf8)
        let error =
            #expect(throws: (any Error).self) { try coordinator.addPersistentStore(type: .sqlite, at: text) }
            as NSError?
        #expect(error?.code == CocoaError.fileReadCorruptFile.rawValue)
        #expect(error?.localizedDescription.contains("notes.txt") == true)
        #expect(try String(contentsOf: text, encoding: .utf8) == "These are notes, no database.")
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test func metadataAreReadWithoutAStack() throws {  // 303
        let directory = try TemporaryFolder()
        let url = directory.file("Company.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        try fill(coordinator)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(
            SampleStacks.company().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let any = try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        #expect(any[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    }

    @Test func aStoreOfAnotherModelIsRefusedWithTheDifferences() throws {
        let directory = try TemporaryFolder()
        let url = directory.file("Company.sqlite")
        let old = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company(salary: .doubleAttributeType))
        try old.remove(old.addPersistentStore(type: .sqlite, at: url))
        let new = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let error = #expect(throws: NSError.self) { try new.addPersistentStore(type: .sqlite, at: url) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(
            error?.localizedDescription.contains("'salary' was of type Double, now Integer 64") == true,
            "\(error?.localizedDescription ?? "")")
        #expect(new.persistentStores.isEmpty)
    }

    @Test(arguments: [true, false])
    func contentMovesBetweenMemoryAndSQLite(toSQLite: Bool) throws {  // 305
        let directory = try TemporaryFolder()
        let url = directory.file("Company.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let memory = try #require(URL(string: "memory://company"))
        let old = try coordinator.addPersistentStore(type: toSQLite ? .inMemory : .sqlite, at: toSQLite ? memory : url)
        try fill(coordinator)
        try coordinator.migratePersistentStore(old, to: toSQLite ? url : memory, type: toSQLite ? .sqlite : .inMemory)
        let context = SampleStacks.context(coordinator)
        try context.performAndWait { () throws in
            #expect(try SampleStacks.names(context, "Employee", "ANY tags.name == 'red'") == ["Ann"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Manager")
            request.predicate = NSPredicate(format: "department.name == 'Sales'")
            let ann = try #require(context.fetch(request).first)
            let titles = NodeValue.elements(of: ann.value(forKey: "tasks")).compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "title") as? String
            }
            #expect(titles == ["c", "a", "b"])
        }
    }

    @Test func storesCanBeDestroyedAndReplaced() throws {  // 306, 307
        let directory = try TemporaryFolder()
        let url = directory.file("Company.sqlite")
        let copy = directory.file("Copy.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        try fill(coordinator)
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        let other = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        try other.addPersistentStore(type: .sqlite, at: copy)
        let context = SampleStacks.context(other)
        #expect(try context.performAndWait { try SampleStacks.names(context, "Tag") } == ["red"])
        let again = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        try again.addPersistentStore(type: .sqlite, at: url)
        let empty = SampleStacks.context(again)
        #expect(try empty.performAndWait { try SampleStacks.names(empty, "Tag") } == [])
    }
}
