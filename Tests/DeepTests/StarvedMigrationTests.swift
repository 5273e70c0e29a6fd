import CoreData
import TestSupport
import Testing

/// Migrations for which something is lacking: the program is told so, and the store is the former
/// one or the new one, whole. The program makes the store, takes away what is lacking, migrates,
/// gives it back, looks at the store, migrates it then, and does so with more and more until the
/// first attempt goes through.
@Suite(.serialized) struct StarvedMigrationTests {
    struct Series: CustomTestStringConvertible {
        let kind: String
        let type: String
        /// How much more there is each time.
        let step: Int

        var testDescription: String { "\(kind), \(type)" }
    }

    private static let kinds = ["altered", "copied", "mapped", "managed", "staged", "backedUp"]
    private static let (database, files) = ("SQLite", ["XML", "Binary"])

    /// The series of all kinds of migrations; a short run has some of
    /// databases alone, with larger steps.
    private static func series(
        _ step: Int, _ stepOfFiles: Int, stepOfShort: Int? = nil, in short: String...
    ) -> [Series] {
        // A file is read and written as a whole, however its mapping is found; one of XML takes
        // seconds where the engine is not optimized.
        let kindsOfFiles = ["mapped", "managed", "staged", "backedUp"]
        let all =
            kinds.map { Series(kind: $0, type: database, step: step) }
            + kindsOfFiles.map { Series(kind: $0, type: files[1], step: stepOfFiles) }
            + [Series(kind: "staged", type: files[0], step: 8 * stepOfFiles)]
        if LongTests.areEnabled { return all }
        return all.filter { $0.type == database }.filter { short.contains($0.kind) }
            .map { Series(kind: $0.kind, type: $0.type, step: stepOfShort ?? 4 * step) }
    }

    private func expectSoundness(_ run: ProgramRun, _ location: SourceLocation = #_sourceLocation) {
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(run.status == 0, sourceLocation: location)
        #expect(lines.dropLast() == [], sourceLocation: location)
        let refusals = lines.last?.split(separator: " ")
        #expect(refusals?.first == "refused", sourceLocation: location)
        #expect(refusals?.last.flatMap { Int($0) } ?? 0 > 0, sourceLocation: location)
    }

    private func arguments(_ series: Series, _ shortage: String, in folder: TemporaryFolder) -> [String] {
        ["starved", "series", series.kind, series.type, folder.file("store").path, shortage, String(series.step)]
    }

    private func runOnSmallDisk(_ series: Series, _ shortage: String) throws {
        let folder = try TemporaryFolder()
        expectSoundness(
            try SmallFileSystem.run(
                kibibytes: 48_000, over: folder.url, OtherProgram.url, arguments(series, shortage, in: folder)))
    }

    private func run(_ series: Series, _ shortage: String) throws {
        let folder = try TemporaryFolder()
        expectSoundness(try ProgramRun(OtherProgram.url, arguments(series, shortage, in: folder)))
    }

    @Test(
        .enabled(if: SmallFileSystem.reasonForNone == nil, "\(SmallFileSystem.reasonForNone ?? "")"),
        arguments: series(196_608, 80_000, in: "altered"))
    func aFullDiskLeavesOneOfBothVersionsWhole(series: Series) throws { try runOnSmallDisk(series, "full") }

    @Test(
        .enabled(if: SmallFileSystem.reasonForNone == nil, "\(SmallFileSystem.reasonForNone ?? "")"),
        arguments: series(60_000, 60_000, stepOfShort: 0, in: "backedUp"))
    func aDiskThatFillsMeanwhileLeavesOneOfBothVersionsWhole(series: Series) throws {
        try runOnSmallDisk(series, "filling")
    }

    @Test(arguments: series(16_384, 60_000, in: "copied"))
    func aLimitOnTheSizeOfFilesLeavesOneOfBothVersionsWhole(series: Series) throws { try run(series, "size") }

    @Test(arguments: series(1, 2, in: "altered")) func aLackOfDescriptorsLeavesOneOfBothVersionsWhole(series: Series)
        throws
    { try run(series, "descriptors") }
}
