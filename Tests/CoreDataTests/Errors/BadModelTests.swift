import CoreData
import TestSupport
import Testing

/// Models that cannot be used.
struct BadModelTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: ["", "no model", "bplist00", "<?xml version=\"1.0\"?><model><entity", "<html></html>"])
    func aMalformedModelFileGivesNoModel(content: String) throws {
        let file = folder.file("Bad.mom")
        try Data(content.utf8).write(to: file)
        #expect(NSManagedObjectModel(contentsOf: file) == nil)
        #expect(try String(contentsOf: file, encoding: .utf8) == content)
    }

    @Test func aMissingModelFileGivesNoModel() {
        #expect(NSManagedObjectModel(contentsOf: folder.file("None.momd")) == nil)
    }

    @Test func aMalformedModelFileIsExplainedByTheThrowingInitializer() throws {
        let package = folder.file("Bad.xcdatamodel")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        try Data("<model><entity name=\"A\"><relationship name=\"b\" destinationEntity=\"B\"/></entity></model>".utf8)
            .write(to: package.appendingPathComponent("contents"))
        #expect(NSManagedObjectModel(contentsOf: package) == nil)
    }

    @Test func aDanglingInverseIsReportedWithBothNames() throws {
        let model = Library.model()
        let book = try #require(model.entitiesByName["Book"])
        let author = try #require(model.entitiesByName["Author"])
        let books = author.relationshipsByName["books"]
        author.properties = author.properties.filter { $0.name != "books" }
        #expect(book.relationshipsByName["author"]?.inverseRelationship === books)
        let error = #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator(validating: model) }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0.userInfo)" } ?? ""
        #expect(message.contains("Book"), "\(message)")
        #expect(message.contains("author"), "\(message)")
    }

    @Test func aRelationshipWithoutDestinationIsReported() throws {
        let relationship = NSRelationshipDescription()
        relationship.name = "nowhere"
        let entity = NSEntityDescription("Lost", class: "NSManagedObject", [relationship])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let error = #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator(validating: model) }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0.userInfo)" } ?? ""
        #expect(message.contains("Lost"), "\(message)")
        #expect(message.contains("nowhere"), "\(message)")
    }

    @Test func aClassThatDoesNotExistIsReplacedByTheGeneralOne() throws {  // 27
        let entity = NSEntityDescription(
            "Ghost", class: "NoSuchClass", [NSAttributeDescription("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try TestStack(model, url: folder.file("ghosts.sqlite"))
        let ghost = NSEntityDescription.insertNewObject(forEntityName: "Ghost", into: stack.context)
        ghost.setValue("Boo", forKey: "name")
        try stack.context.save()
        #expect(SQLiteFile(folder.file("ghosts.sqlite")).column("SELECT ZNAME FROM ZGHOST") == ["Boo"])
    }
}
