import CoreData
import TestSupport
import Testing

/// Migrations of many rows: the memory that they need does not depend on how many there are.
@Suite(.enabled(if: LongTests.areEnabled), .serialized) struct ManyRowsMigrationTests {
    private static func version(_ isNew: Bool) -> NSManagedObjectModel {
        let maker = NSEntityDescription(
            "Maker", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let part = NSEntityDescription(
            isNew ? "Component" : "Part", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("count", .integer64AttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
            ])
        if isNew {
            part.renamingIdentifier = "Part"
            part.properties += [NSAttributeDescription("unit", .stringAttributeType, optional: false, default: "kg")]
        }
        relate(maker, "parts", toMany: true, ordered: isNew, part, inverse: "maker", inverseToMany: isNew)
        return isNew
            ? NSManagedObjectModel([
                NSEntityDescription(
                    "Catalogue", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)]),
                maker,
                part,
            ])
            : NSManagedObjectModel([maker, part])
    }

    /// The bytes that this process has in memory.
    private static func residentBytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }

    @Test(arguments: [100_000, 400_000, 1_600_000]) func manyRowsAreMigratedInLittleMemory(rows: Int) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(false))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
        // Rows by SQL, so that this process has not had them in memory.
        let file = SQLiteFile(url)
        file.execute(
            """
            BEGIN;
            INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME)
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, 1, 1, 'Maker ' \
            || i FROM n;
            INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZMAKER, ZWEIGHT, ZNAME)
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
              SELECT i, 2, 1, i * 7, 1 + i % 1000, i / 4.0, 'Part ' || i FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows);
            COMMIT;
            """)
        let before = Self.residentBytes()
        let start = ContinuousClock.now
        let peak = try migrate(url)
        let time = ContinuousClock.now - start
        print("Migrated \(rows) rows in \(time), with at most \((peak - before) / 1024) KiB more than before.")
        #expect(peak - before < 24 * 1024 * 1024)
        #expect(
            file.integer(
                "SELECT count(*) FROM ZCOMPONENT WHERE ZUNIT = 'kg' AND ZCOUNT = Z_PK * 7 AND ZNAME = 'Part ' || Z_PK")
                == rows)
        #expect(file.integer("SELECT count(*) FROM Z_2MAKER") == rows)
        #expect(file.value("PRAGMA integrity_check") == "ok")
    }

    /// - Returns: the most bytes that were in memory when progress was reported.
    private func migrate(_ url: URL) throws -> Int {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(true))
        let description = NSPersistentStoreDescription(url: url)
        let peak = Peak()
        description.migrationProgressHandler = { _ in peak.note(Self.residentBytes()) }
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        return peak.bytes
    }
}

/// Called on one thread.
private final class Peak: @unchecked Sendable {
    // Sendable: the handler runs on the thread that adds the store and reads the result.
    private(set) var bytes = 0

    func note(_ value: Int) { bytes = max(bytes, value) }
}
