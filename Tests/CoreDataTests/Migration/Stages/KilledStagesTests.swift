import CoreData
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Processes that are killed in the middle of a staged migration, and several at once.
@Suite(.serialized) struct KilledStagesTests {
    private enum End: Int, CaseIterable {
        case beforeHandler, inHandler, afterSave, inProgress, atEnd
    }

    /// The child's side: it ends itself at a point of the migration.
    private static func migrate(_ path: String, endingAt end: Int?) throws {
        func pass(_ point: End) { if point.rawValue == end { kill(getpid(), SIGKILL) } }
        let custom = NSCustomMigrationStage(
            migratingFrom: PetVersions.first.reference, to: PetVersions.second.reference)
        custom.willMigrateHandler = { _, _ in pass(.beforeHandler) }
        custom.didMigrateHandler = { manager, stage in
            pass(.inHandler)
            try PetVersions.makePets(manager, stage)
            pass(.afterSave)
        }
        let stages = NSStagedMigrationManager([
            custom, NSLightweightMigrationStage([PetVersions.third.versionChecksum]),
        ])
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        let inProgress = end == End.inProgress.rawValue
        let atEnd = end == End.atEnd.rawValue
        description.migrationProgressHandler = { fraction in
            if inProgress, fraction > 0.6 { kill(getpid(), SIGKILL) }
            if atEnd, fraction == 1 { kill(getpid(), SIGKILL) }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PetVersions.third)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test func aKilledMigrationLeavesTheFormerOrTheNewStore() async throws {
        for end in End.allCases {
            let store = try MigratedStore()
            try PetVersions.fill(store)
            let before = store.content
            let path = store.url.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, end = end.rawValue as Int] in
                try Self.migrate(path, endingAt: end)
            }
            if end != .atEnd { #expect(store.content == before, "\(end)") }
            try Self.migrate(path, endingAt: nil)
            let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
            #expect(pairs == PetVersions.expected, "\(end)")
            #expect(store.file.value("PRAGMA integrity_check") == "ok")
        }
    }

    @Test func twoProcessesMigrateOnce() async throws {
        let store = try MigratedStore()
        try PetVersions.fill(store)
        let path = store.url.path
        await withDiscardingTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        try Self.migrate(path, endingAt: nil)
                    }
                }
            }
        }
        let pairs = try store.open(PetVersions.third) { try PetVersions.pairs($0) }
        #expect(pairs == PetVersions.expected)
        #expect(store.file.integer("SELECT count(*) FROM ZPET") == 2)
    }
}
