import CoreData
import TestSupport
import Testing

/// A file system that fills while a program saves: rows, external values, history and migration.
@Suite(.enabled(if: SmallFileSystem.reasonForNone == nil, "\(SmallFileSystem.reasonForNone ?? "")"))
struct FullDiskTests {
    /// Each refused save says that there is no space; nothing that was saved is lost or half done;
    /// with space again the same context saves. The program looks at these itself, as nobody else
    /// sees its file system.
    @Test(arguments: LongTests.areEnabled ? 1...12 : 1...1) func savesWithoutSpaceSaySoAndAreMadeLater(seed: Int) throws
    {
        let folder = try TemporaryFolder()
        let rounds = LongTests.areEnabled ? 60 : 6
        let run = try SmallFileSystem.run(
            kibibytes: 24_000, over: folder.url, OtherProgram.url,
            ["full", folder.url.path, String(seed), String(rounds)])
        #expect(run.output == "sound\n")
        #expect(run.status == 0)
    }
}
