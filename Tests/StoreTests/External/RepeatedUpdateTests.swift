import TestSupport
import Testing

@testable import CoreData

/// Updates of rows with external files that a uniqueness constraint holds up until other rows of
/// the save have made room.
struct RepeatedUpdateTests {
    @Test func rowsThatExchangeUniqueValuesLeaveNoFileThatNobodyNames() throws {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType), photo])
        person.uniquenessConstraints = [["name"]]
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([person]))
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.newContext()
        let names = ["Ada", "Bea", "Cid"]
        let people = names.map { name in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            person.setValue(Archive.large(name, 1), forKey: "photo")
            return person
        }
        try context.save()
        for (person, name) in zip(people, names[1...] + names[..<1]) {
            person.setValue(name, forKey: "name")
            person.setValue(Archive.large(name, 2), forKey: "photo")
        }
        try context.save()
        let files = folder.file(".store_SUPPORT/_EXTERNAL_DATA")
        let stored = try FileManager.default.contentsOfDirectory(atPath: files.path)
        let named = SQLiteFile(url).column("SELECT substr(CAST(substr(ZPHOTO, 2) AS TEXT), 1, 36) FROM ZPERSON")
        #expect(Set(stored) == Set(named.compactMap { $0 }))
        #expect(
            Set(stored.compactMap { FileManager.default.contents(atPath: files.appendingPathComponent($0).path) })
                == Set(names.map { Archive.large($0, 2) }))
    }
}
