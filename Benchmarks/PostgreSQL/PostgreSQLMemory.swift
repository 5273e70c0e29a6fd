import CPostgreSQL
import CoreData
import CoreDataPostgreSQL
import Foundation
import TestSupport

/// A row of libpq's kept as a class instance, for the comparison of memory.
private final class RawRow {
    let a, b, c, d, e, f, g, h, i, j: Int64

    init(_ result: OpaquePointer, _ row: Int32) {
        a = RawPostgreSQL.int8(result, row, 0)
        b = RawPostgreSQL.int8(result, row, 1)
        c = RawPostgreSQL.int8(result, row, 2)
        d = RawPostgreSQL.int8(result, row, 3)
        e = RawPostgreSQL.int8(result, row, 4)
        f = RawPostgreSQL.int8(result, row, 5)
        g = RawPostgreSQL.int8(result, row, 6)
        h = RawPostgreSQL.int8(result, row, 7)
        i = RawPostgreSQL.int8(result, row, 8)
        j = RawPostgreSQL.int8(result, row, 9)
    }
}

extension Harness {
    /// Compares how much a process grows by holding 200,000 objects, each side in a process of its
    /// own.
    func postgreSQLMemory(_ server: PostgreSQLServer) throws {
        guard wants("PG1") else { return }
        let bench = try PostgreSQLBench(server, model)
        try insertWide(200_000, bench.context())
        let engine = try Self.childGrowth("engine", bench.url.absoluteString)
        let raw = try Self.childGrowth("raw", bench.url.absoluteString)
        record(
            "PG1 growth of the resident set", ratio: engine / raw, bound: 2.5,
            detail: String(format: "%.1f MB / %.1f MB", engine / 1e6, raw / 1e6))
    }

    /// The child's side: holds everything, then prints the growth of its peak resident set in
    /// bytes.
    func runPostgreSQLMemoryChild(_ side: String, _ place: String) throws {
        guard let url = URL(string: place), let components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { return }
        func parameter(_ name: String) -> String { components.queryItems?.first { $0.name == name }?.value ?? "" }
        if side == "engine" {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
            let context = context(coordinator)
            let before = Self.peakResidentBytes()
            let objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
            for object in objects { Self.sink &+= object.a &+ object.j }
            print(Self.peakResidentBytes() - before)
            withExtendedLifetime(objects) {}
        } else {
            let raw = try RawPostgreSQL(
                "host=\(parameter("host")) dbname=\(components.path.dropFirst()) user=\(parameter("user"))",
                schema: parameter("ocd.schema"))
            let before = Self.peakResidentBytes()
            var objects: [RawRow] = []
            try raw.prepare("all", "SELECT \(Self.columns) FROM wide")
            try raw.send("all")
            try raw.rows { objects.append(RawRow($0, $1)) }
            for object in objects { Self.sink &+= object.a &+ object.j }
            print(Self.peakResidentBytes() - before)
            withExtendedLifetime(objects) {}
        }
    }
}
