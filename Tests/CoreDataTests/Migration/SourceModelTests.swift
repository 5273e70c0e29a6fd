import CoreData
import TestSupport
import Testing

/// Which of several models that fit a store its migration starts from.
@Suite struct SourceModelTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private func contents(_ attribute: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Item" syncable="YES">\(attribute)</entity>
        </model>
        """
    }

    /// Two versions in one folder: `title` and `name` have one renaming identifier, which hashes do not tell.
    private func writeVersions() throws -> NSManagedObjectModel {
        let versions = store.folder.file("Model.xcdatamodeld")
        for (name, attribute) in [
            ("One", #"<attribute name="title" optional="YES" attributeType="String" elementID="heading"/>"#),
            ("Two", #"<attribute name="name" optional="YES" attributeType="String" elementID="heading"/>"#),
        ] {
            let folder = versions.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(contents(attribute).utf8).write(to: folder.appendingPathComponent("contents"))
        }
        return try #require(NSManagedObjectModel(contentsOf: versions.appendingPathComponent("Two.xcdatamodel")))
    }

    @Test func aRenamingThatOnlyTheVersionInTheFileKnowsKeepsTheValues() throws {
        // The copy in the store does not know the identifier.
        try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        #expect(cached.entitiesByName["Item"]?.attributesByName["title"]?.renamingIdentifier == "title")
        try store.migrate(to: try writeVersions())
        #expect(store.file.rows("SELECT ZNAME FROM ZITEM") == [["kept"]])
    }

    @Test func withoutAVersionThatFitsTheModelInTheStoreCounts() throws {
        try store.open(model(entity("Item", text("title"), text("note")))) { $0.insert("Item", ["title": "lost", "note": "n"]) }
        // No version has a note.
        try store.migrate(to: try writeVersions())
        #expect(store.file.rows("SELECT ZNAME FROM ZITEM") == [[nil]])
    }
}
