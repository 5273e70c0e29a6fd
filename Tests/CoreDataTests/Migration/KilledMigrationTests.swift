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

/// Processes that are killed in the middle of a migration.
@Suite(.serialized) struct KilledMigrationTests {
    private static let rows = 25_000

    private static var first: NSManagedObjectModel {
        let item = entity("Item", text("name")), group = entity("Group", text("name"))
        relate(group, "items", toMany: true, item, inverse: "group")
        return model(item, group)
    }

    private static var second: NSManagedObjectModel {
        let item = entity(
            "Thing", was: "Item", text("title", was: "name"), number("count", optional: false, default: 7))
        let group = entity("Group", text("name"))
        relate(group, "items", toMany: true, ordered: true, item, inverse: "group", inverseToMany: true)
        return model(item, group)
    }

    @Test func aKilledMigrationLeavesTheFormerStore() async throws {
        let store = try MigratedStore()
        try store.open(Self.first) { context in
            let group = context.insert("Group", ["name": "all"])
            for number in 0..<Self.rows { context.insert("Item", ["name": "\(number)", "group": group]) }
        }
        let before = store.content
        let path = store.url.path
        // The last report comes after the commit.
        for call in LongTests.some(3, of: Array(1...8)) {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, call = call as Int] in
                try Self.migrateUntilKilled(path, call)
            }
            #expect(store.file.value("PRAGMA integrity_check") == "ok")
            #expect(store.content == before, "killed at report \(call)")
        }
        try store.migrate(to: Self.second)
        #expect(store.file.integer("SELECT count(*) FROM ZTHING WHERE ZCOUNT = 7") == Self.rows)
        #expect(store.file.integer("SELECT count(*) FROM Z_1ITEMS") == Self.rows)
    }

    /// The child's side.
    private static func migrateUntilKilled(_ path: String, _ call: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        let calls = Atomic<Int>(0)
        description.migrationProgressHandler = { _ in
            if calls.wrappingAdd(1, ordering: .relaxed).newValue == call { kill(getpid(), SIGKILL) }
        }
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
    }
}
