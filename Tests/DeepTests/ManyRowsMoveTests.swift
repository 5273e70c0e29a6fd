import CoreData
import TestSupport
import Testing

/// Stores of many large rows that move: the memory that this needs does not depend on how much they
/// hold.
@Suite(.enabled(if: LongTests.areEnabled), .serialized) struct ManyRowsMoveTests {
    /// How many bytes the text of a row has, and how many its data.
    private static let size = 4096

    private static func model() -> NSManagedObjectModel {
        let maker = NSEntityDescription(
            "Maker", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer64AttributeType),
                NSAttributeDescription("note", .stringAttributeType),
                NSAttributeDescription("data", .binaryDataAttributeType),
            ])
        relate(maker, "parts", toMany: true, part, inverse: "maker")
        return NSManagedObjectModel([maker, part])
    }

    private static func open(_ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        return coordinator
    }

    /// The most bytes that this process has had in memory.
    private static func peakBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }

    /// The note of each row is two digits over and over, and the data are the same.
    private static func fill(_ file: SQLiteFile, rows: Int) throws {
        try file.run(
            """
            BEGIN;
            INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME)
              WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT i + 1, 1, 1, 'Maker \
            ' || i FROM n;
            INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZMAKER, ZNOTE, ZDATA)
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)),
              t(i, note) AS (SELECT i, replace(hex(zeroblob(\(size / 2))), '00', printf('%02d', i % 100)) FROM n)
              SELECT i, 2, 1, i, 1 + i % 100, note, CAST(note AS BLOB) FROM t;
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows);
            COMMIT;
            """)
    }

    @Test(arguments: StoreKind.persistent, [20_000, 80_000])
    func aStoreOfManyRowsMovesInLittleMemory(kind: StoreKind, rows: Int) async throws {
        let folder = try TemporaryFolder()
        let source = folder.file("source.sqlite")
        let target = try #require(kind.url(folder.file("target.sqlite")))
        let coordinator = try Self.open(source)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try Self.fill(SQLiteFile(source), rows: rows)
        // The keys and IDs of all objects are held, and blocks of about 8 MiB on their way.
        let most = (64 << 20) + rows * 512
        let type = kind.type
        // A process of its own: what other tests hold says nothing about this.
        await #expect(processExitsWith: .success) {
            [source = source as URL, target = target as URL, type = type as String, most = most as Int] in
            let coordinator = try ManyRowsMoveTests.open(source)
            let store = try #require(coordinator.persistentStores.first)
            // From here on the peak is counted anew, where the system lets that be done.
            _ = try? FileHandle(forWritingAtPath: "/proc/self/clear_refs")?.write(contentsOf: Data("5".utf8))
            let before = try ManyRowsMoveTests.peakBytes()
            try coordinator.migratePersistentStore(store, to: target, options: nil, withType: type)
            let grown = try ManyRowsMoveTests.peakBytes() - before
            print("Moved a store to \(type) with at most \(grown / 1024) KiB more than before, of \(most / 1024).")
            try #require(grown < most)
        }
        // All of them are there as they were.
        let tables = StoreTables(kind, folder.file("target.sqlite"))
        let digits = kind == .sqlite ? "printf('%02d', {number} % 100)" : "lpad(({number} % 100)::text, 2, '0')"
        let note =
            kind == .sqlite
            ? "replace(hex(zeroblob(\(Self.size / 2))), '00', \(digits))" : "repeat(\(digits), \(Self.size / 2))"
        let data = kind == .sqlite ? "CAST(\(note) AS BLOB)" : "convert_to(\(note), 'UTF8')"
        let right = tables.value(
            "SELECT count(DISTINCT {number}) FROM {part} WHERE {note} = \(note) AND {data} = \(data)")
        #expect(right == "\(rows)")
        let related = tables.value(
            "SELECT count(*) FROM {part} p JOIN {maker} m ON m.{id} = p.{maker_id} WHERE m.{name} = 'Maker ' || "
                + "(p.{number} % 100)"
        )
        #expect(related == "\(rows)")
    }
}
