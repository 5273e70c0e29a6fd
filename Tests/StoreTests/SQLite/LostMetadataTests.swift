import TestSupport
import Testing

@testable import CoreData

/// Stores whose metadata do not say which model they were made with.
struct LostMetadataTests {
    let folder: TemporaryFolder
    let url: URL

    /// Statements that take the metadata away.
    static let losses = [
        "DROP TABLE Z_METADATA", "DELETE FROM Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = NULL",
        "UPDATE Z_METADATA SET Z_PLIST = X'00'", "UPDATE Z_METADATA SET Z_PLIST = 'text', Z_UUID = NULL",
        "UPDATE Z_METADATA SET Z_PLIST = X'62706C6973743030', Z_UUID = NULL",
        "UPDATE Z_METADATA SET Z_PLIST = X'\(BinaryListWriter.dictionaryBomb(depth: 30).hexadecimal)'",
        "UPDATE Z_METADATA SET Z_PLIST = X'\(BinaryListWriter.bomb(depth: 30).hexadecimal)', Z_UUID = NULL",
        "UPDATE Z_METADATA SET Z_UUID = NULL",
    ]

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("company.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Employee", ["name": .string("Anna")])
        try open.insert("Tag", ["name": .string("red")])
        try open.close()
    }

    @Test(arguments: losses) func aStoreThatFitsTheModelOpensAndKeepsItsIdentity(loss: String) throws {
        #expect(SQLiteFile(url).execute(loss))
        let open = try OpenStore(model: TestModel.company(), url: url)
        #expect(try open.names("Employee", "TRUEPREDICATE") == ["Anna"])
        let identifier = try #require(open.store.identifier)
        #expect(!identifier.isEmpty)
        try open.close()
        let again = try OpenStore(model: TestModel.company(), url: url)
        #expect(again.store.identifier == identifier)
        try again.insert("Tag", ["name": .string("blue")])
        try again.close()
        // From the first save on the metadata are whole.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(TestModel.company().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(metadata[NSStoreUUIDKey] as? String == identifier)
        #expect(SQLiteFile(url).value("SELECT count(*) FROM Z_METADATA") == "1")
    }

    @Test(arguments: losses) func aStoreThatFitsIsReadWithoutBeingWritten(loss: String) throws {
        #expect(SQLiteFile(url).execute(loss))
        let before = try Data(contentsOf: url)
        let open = try OpenStore(model: TestModel.company(), url: url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try open.names("Employee", "TRUEPREDICATE") == ["Anna"])
        try open.close()
        #expect(try Data(contentsOf: url) == before)
    }

    private func refusal(_ model: NSManagedObjectModel) -> NSError? {
        errorThrown { _ = try OpenStore(model: model, url: url) }
    }

    @Test(arguments: losses.dropLast()) func aModelThatNeedsMoreIsRefusedWithAListOfIt(loss: String) throws {
        #expect(SQLiteFile(url).execute(loss))
        let model = TestModel.company()
        try #require(model.entitiesByName["Tag"]).properties.append(TestModel.attribute("color", .stringAttributeType))
        model.entities.append(NSEntityDescription("Room", class: "NSManagedObject", [] as [NSAttributeDescription]))
        let error = try #require(refusal(model))
        #expect(error.code == CocoaError.Code.persistentStoreIncompatibleSchema.rawValue)
        for part in ["ZTAG.ZCOLOR", "ZROOM", "company.sqlite"] {
            #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
        }
        // Nothing was made of what was there.
        #expect(SQLiteFile(url).value("SELECT ZNAME FROM ZTAG") == "red")
    }

    @Test func anEntityThatTheStoreDoesNotNumberIsMissing() throws {
        SQLiteFile(url).execute("DROP TABLE Z_METADATA")
        let model = TestModel.company()
        let intern = NSEntityDescription("Intern", class: "NSManagedObject", [] as [NSAttributeDescription])
        try #require(model.entitiesByName["Manager"]).subentities.append(intern)
        model.entities.append(intern)
        #expect(refusal(model)?.localizedDescription.contains("'Intern'") == true)
    }

    @Test func aColumnOfAnotherTypeIsNamed() throws {
        SQLiteFile(url).execute("UPDATE Z_METADATA SET Z_PLIST = NULL")
        let model = TestModel.company()
        let tag = try #require(model.entitiesByName["Tag"])
        tag.properties.removeAll { $0.name == "name" }
        tag.properties.append(TestModel.attribute("name", .integer64AttributeType))
        #expect(refusal(model)?.localizedDescription.contains("ZTAG.ZNAME as INTEGER") == true)
    }

    @Test func aModelThatDoesNotKnowObjectsOfTheStoreIsRefused() throws {
        SQLiteFile(url).execute("UPDATE Z_METADATA SET Z_PLIST = NULL")
        let model = TestModel.company()
        let employee = try #require(model.entitiesByName["Employee"])
        model.entities.removeAll { $0.name == "Tag" }
        employee.properties.removeAll { $0.name == "tags" }
        let text = refusal(model)?.localizedDescription ?? "opened"
        #expect(text.contains("'Tag'"), "\(text)")
        #expect(text.contains("ZTAG"), "\(text)")
        // Without objects the entity does not matter.
        SQLiteFile(url).execute("DELETE FROM ZTAG")
        #expect(refusal(model) == nil)
    }

    @Test func withoutTheTableOfKeysItIsNoStore() throws {
        SQLiteFile(url).execute("DROP TABLE Z_METADATA; DROP TABLE Z_PRIMARYKEY")
        #expect(refusal(TestModel.company())?.localizedDescription.contains("Z_PRIMARYKEY") == true)
    }

    @Test func aStoreWithoutTheTableOfKeysSaysSo() throws {
        SQLiteFile(url).execute("DROP TABLE Z_PRIMARYKEY")
        #expect(refusal(TestModel.company())?.localizedDescription.contains("Z_PRIMARYKEY") == true)
    }
}
