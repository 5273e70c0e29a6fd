import CoreData
import TestSupport
import Testing

/// Migrations to a new store on a file system that has space for it, or lacks it.
@Suite(.enabled(if: SmallFileSystem.reasonForNone == nil, "\(SmallFileSystem.reasonForNone ?? "")"))
struct SpaceForMigrationTests {
    private func migrate(kibibytes: Int) throws -> String {
        let folder = try TemporaryFolder()
        return try SmallFileSystem.run(
            kibibytes: kibibytes, over: folder.url, OtherProgram.url,
            ["gallery", "migrated", folder.file("gallery.sqlite").path]
        ).output
    }

    @Test func theSpaceIsCheckedBeforeAnythingIsWritten() throws {
        let output = try migrate(kibibytes: 2_600)
        #expect(output.hasPrefix("error \(CocoaError.fileWriteOutOfSpace.rawValue): "))
        #expect(output.contains("has space for"))
        #expect(output.contains("needs up to"))
    }

    @Test func withEnoughSpaceTheStoreIsMigrated() throws {
        #expect(try migrate(kibibytes: 20_000) == "done\n")
    }
}
