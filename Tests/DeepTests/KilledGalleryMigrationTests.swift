import CoreData
import TestSupport
import Testing

/// Programs that are killed while they migrate a store with external data, relationships and
/// history: the store is the former one or the new one, with every value, and no file is missing or
/// left over.
struct KilledGalleryMigrationTests {
    @Test func aKilledMigrationLeavesOneOfBothVersionsWhole() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("gallery.sqlite")
        try Gallery.create(url, options: [NSPersistentHistoryTrackingKey: true])
        var version = GalleryVersion.first
        for store in try version.open(url).persistentStores { try store.persistentStoreCoordinator?.remove(store) }
        var generator = SeededGenerator(seed: 4)
        // The work after which a program is killed, from the migration's beginning on: grown and
        // shrunk, so that some kills come before its end, and some after.
        var work = 4_000_000
        var killed = (before: 0, after: 0)
        for round in 1...(LongTests.areEnabled ? 300 : 12) {
            let before = try use(url, version, &generator)
            let turns = Int.random(in: 0..<work, using: &generator)
            let run = try ProgramRun(
                OtherProgram.url, ["gallery", "migrated", url.path, String(version.other.rawValue), String(turns)])
            let found = try #require(try GalleryVersion(of: url), "round \(round): the store has no version")
            let lines = run.output.split(separator: "\n")
            #expect(
                ["", "migrated", "migrated,done"].contains(lines.joined(separator: ",")),
                "round \(round): \(run.output)")
            if !lines.isEmpty { #expect(found == version.other, "round \(round): a migration that was over is lost") }
            #expect(try Gallery.problems(url, model: found.model) == [], "round \(round)")
            let after = try content(url, found)
            #expect(after.common == before.common, "round \(round)")
            if found == version { #expect(after.sketches == before.sketches, "round \(round)") }
            #expect(after.transactions >= before.transactions, "round \(round): history is lost")
            if found == version { killed.before += 1 } else { killed.after += lines.contains("done") ? 0 : 1 }
            work = found == version ? work + work / 4 : max(work - work / 5, 100_000)
            version = found
        }
        #expect(killed.before > 0)
        if LongTests.areEnabled { #expect(killed.after > 0) }
    }

    /// Saves some changes; what the store holds then.
    private func use(_ url: URL, _ version: GalleryVersion, _ generator: inout SeededGenerator) throws -> Content {
        let coordinator = try version.open(url)
        let context = coordinator.newContext()
        for _ in 0..<6 { _ = try Gallery.step(in: context, &generator) }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return try content(url, version)
    }

    private struct Content {
        var common: [String]
        var sketches: [String]
        var transactions: Int
    }

    private func content(_ url: URL, _ version: GalleryVersion) throws -> Content {
        let coordinator = try version.open(url)
        let lines = try version.lines(coordinator.newContext())
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let transactions = SQLiteFile(url).integer("SELECT count(*) FROM ATRANSACTION") ?? -1
        return Content(common: lines.common, sketches: lines.sketches, transactions: transactions)
    }
}
