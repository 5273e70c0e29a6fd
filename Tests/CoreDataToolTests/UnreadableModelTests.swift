import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Stores whose model or metadata cannot be used.
struct UnreadableModelTests {
    private func store(_ change: String) throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        try Shop.make(at: url)
        #expect(SQLiteFile(url).execute(change))
        return (folder, url.path)
    }

    @Test func infoNamesTheClassThatItDoesNotKnow() throws {
        let archive = KeyedArchiveBuilder.data { builder in
            let property = builder.object("NSHologramDescription", ["NSPropertyName": builder.add(.text("name"))])
            let entity = builder.object(
                "NSEntityDescription",
                [
                    "NSEntityName": builder.add(.text("Product")),
                    "NSProperties": builder.dictionary([("name", property)]),
                ])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("Product", entity)])])
        }
        let stored = StandInModel.storedBlock(archive)
        let (folder, path) = try store("UPDATE Z_MODELCACHE SET Z_CONTENT = x'\(stored.hexadecimal)'")
        let run = ToolRun(["info", path])
        #expect(run.status == 0)
        #expect(run.output.contains("'NSHologramDescription'"))
        #expect(run.output.contains("Product"))
        withExtendedLifetime(folder) {}
    }

    @Test func metadataThatUnfoldWithoutEndAreNotRead() throws {
        let bomb = BinaryListWriter.dictionaryBomb(depth: 30).hexadecimal
        let (folder, path) = try store("UPDATE Z_METADATA SET Z_PLIST = x'\(bomb)'")
        let run = ToolRun(["info", path])
        #expect(run.status == 0)
        #expect(run.output.contains("Product"))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: URL(fileURLWithPath: path))
        #expect(metadata["k"] == nil)
        #expect(metadata[NSStoreUUIDKey] != nil)
        withExtendedLifetime(folder) {}
    }
}
