import CPostgreSQL
import CoreData
import CoreDataPostgreSQL
import Foundation
import TestSupport

// The store in a database beside libpq by hand, on the same tables of a private server.

/// A store in a schema of its own, and a connection to it by hand.
final class PostgreSQLBench {
    let url: URL
    let schema: String
    let coordinator: NSPersistentStoreCoordinator
    let raw: RawPostgreSQL

    init(_ server: PostgreSQLServer, _ model: NSManagedObjectModel) throws {
        schema = server.newSchemaName()
        url = server.url(schema: schema)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        raw = try RawPostgreSQL(server.connectionString(), schema: schema)
    }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

extension Harness {
    func postgreSQL() throws {
        guard (1...8).contains(where: { wants("PG\($0)") }) else { return }
        guard let server = PostgreSQLServer.shared else {
            return print("PostgreSQL: no server is installed, its cases were left out")
        }
        try fetchFromPostgreSQL(server)
        try insertIntoPostgreSQL(server)
        try updateInPostgreSQL(server)
        try lookUpInPostgreSQL(server)
        try findPrefixesInPostgreSQL(server)
        try walkRelatedInPostgreSQL(server)
        try saveSingleObjectsInPostgreSQL(server)
        try postgreSQLMemory(server)
    }

    /// A store with `count` objects of 10 integers, on which nothing is left to be done.
    private func wideDatabase(_ server: PostgreSQLServer, _ count: Int) throws -> PostgreSQLBench {
        let bench = try PostgreSQLBench(server, model)
        try insertWide(count, bench.context())
        try bench.raw.run("VACUUM ANALYZE wide")
        return bench
    }

    static let columns = "a, b, c, d, e, f, g, h, i, j"

    private static func sum(_ result: OpaquePointer, _ row: Int32, from first: Int32 = 0) -> Int64 {
        var sum: Int64 = 0
        for column in first..<(first + 10) { sum &+= RawPostgreSQL.int8(result, row, column) }
        return sum
    }

    private func fetchFromPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG1") else { return }
        let bench = try wideDatabase(server, 200_000)
        try bench.raw.prepare("all", "SELECT \(Self.columns) FROM wide")
        try compare("PG1 fetch 200,000 x 10 integers, read all", bound: 1.8) {
            let context = bench.context()
            var objects: [Wide] = []
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
                for object in objects { Self.sink &+= Self.sum(object) }
            }
        } raw: {
            try Self.time {
                try bench.raw.send("all")
                try bench.raw.rows { Self.sink &+= Self.sum($0, $1) }
            }
        }
    }

    private func insertIntoPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG2") else { return }
        let bench = try PostgreSQLBench(server, model)
        let factors: [Int64] = [1, 3, 5, 7, 11, 13, 17, 19, 23, 29]
        try compare("PG2 insert 50,000 x 10 integers, one save", bound: 3) {
            try bench.raw.run("TRUNCATE wide")
            let context = bench.context()
            return try Self.time { try insertWide(50_000, context) }
        } raw: {
            try bench.raw.run("TRUNCATE wide")
            return try Self.time {
                var index: Int64 = 0
                try bench.raw.copy("COPY wide (id, version, \(Self.columns)) FROM STDIN (FORMAT binary)") { bytes in
                    if index == 50_000 { return false }
                    bytes.append(Int16(12))
                    bytes.append(Int32(8))
                    bytes.append(index + 1)
                    bytes.append(Int32(4))
                    bytes.append(Int32(1))
                    for factor in factors {
                        bytes.append(Int32(8))
                        bytes.append(index &* factor)
                    }
                    index += 1
                    return true
                }
            }
        }
    }

    private func updateInPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG3") else { return }
        let bench = try wideDatabase(server, 50_000)
        try bench.raw.prepare("all", "SELECT id, version, a FROM wide")
        try bench.raw.prepare(
            "update",
            "UPDATE wide t SET version = t.version + 1, a = d.a FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS "
                + "d(id, version, a) "
                + "WHERE t.id = d.id AND t.version = d.version")
        try compare("PG3 change one property of 50,000, save", bound: 1.5) {
            try bench.raw.run("VACUUM wide")
            let context = bench.context()
            let objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                for object in objects { object.a = object.a &+ 1 }
                try context.save()
            }
        } raw: {
            try bench.raw.run("VACUUM wide")
            var rows: [(key: Int64, version: Int64, a: Int64)] = []
            try bench.raw.send("all")
            try bench.raw.rows { result, row in
                let version =
                    PQgetvalue(result, row, 1).map {
                        Int32(bigEndian: UnsafeRawPointer($0).loadUnaligned(as: Int32.self))
                    } ?? 0
                rows.append((RawPostgreSQL.int8(result, row, 0), Int64(version), RawPostgreSQL.int8(result, row, 2)))
            }
            return try Self.time {
                try bench.raw.send(
                    "update", RawBytes(rows.map(\.key)), RawBytes(rows.map(\.version)), RawBytes(rows.map { $0.a &+ 1 })
                )
                try bench.raw.rows { _, _ in }
            }
        }
    }

    private func lookUpInPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG4") || wants("PG5") else { return }
        let bench = try wideDatabase(server, 100_000)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Wide")
        request.resultType = .managedObjectIDResultType
        var generator = LinearCongruentialGenerator(state: 42)
        let identifiers = try bench.context().fetch(request).shuffled(using: &generator)
        let keys = identifiers.compactMap { Int64($0.uriRepresentation().lastPathComponent.dropFirst()) }
        try bench.raw.prepare("one", "SELECT \(Self.columns) FROM wide WHERE id = $1")
        try bench.raw.prepare("many", "SELECT \(Self.columns) FROM wide WHERE id = ANY($1::int8[])")
        let count = 5_000
        try compare("PG4 5,000 look-ups by object ID, fresh context", bound: 1.6) {
            let context = bench.context()
            return try Self.time {
                for identifier in identifiers.prefix(count) {
                    if let object = try context.existingObject(with: identifier) as? Wide {
                        Self.sink &+= Self.sum(object)
                    }
                }
            }
        } raw: {
            try Self.time {
                for key in keys.prefix(count) {
                    try bench.raw.send("one", RawBytes(key))
                    try bench.raw.rows { Self.sink &+= Self.sum($0, $1) }
                }
            }
        }
        let groups = stride(from: 0, to: 50_000, by: 1000).map { $0..<($0 + 1000) }
        try compare("PG5 1,000 objects by ID at once, 50 times", bound: 2) {
            let context = bench.context()
            return try Self.time {
                for group in groups {
                    let request = NSFetchRequest<Wide>(entityName: "Wide")
                    request.predicate = NSPredicate(format: "SELF IN %@", Array(identifiers[group]))
                    for object in try context.fetch(request) { Self.sink &+= Self.sum(object) }
                }
            }
        } raw: {
            try Self.time {
                for group in groups {
                    try bench.raw.send("many", RawBytes(keys[group]))
                    try bench.raw.rows { Self.sink &+= Self.sum($0, $1) }
                }
            }
        }
    }

    private func findPrefixesInPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG6") else { return }
        let bench = try PostgreSQLBench(server, model)
        try insertMixed(200_000, bench.context())
        try bench.raw.run("VACUUM ANALYZE mixed")
        let prefixes = (0..<1000).map { String(format: "name %03d", $0 % 200) }
        try bench.raw.prepare(
            "prefix",
            "SELECT count, price, date, name, note, city FROM mixed WHERE name >= $1::text AND name < $2::text ORDER "
                + "BY name NULLS FIRST LIMIT 100"
        )
        try compare("PG6 indexed prefix, sort, limit 100, 1,000 times", bound: 1.3) {
            let context = bench.context()
            return try Self.time {
                for prefix in prefixes {
                    let request = NSFetchRequest<Mixed>(entityName: "Mixed")
                    request.predicate = NSPredicate(format: "name BEGINSWITH %@", prefix)
                    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                    request.fetchLimit = 100
                    for object in try context.fetch(request) { Self.sink &+= Self.read(object) }
                }
            }
        } raw: {
            try Self.time {
                for prefix in prefixes {
                    let end = String(prefix.dropLast()) + String(UnicodeScalar((prefix.utf8.last ?? 0) + 1))
                    try bench.raw.send("prefix", RawBytes(prefix), RawBytes(end))
                    try bench.raw.rows { Self.sink &+= Self.readMixed($0, $1) }
                }
            }
        }
    }

    private static func readMixed(_ result: OpaquePointer, _ row: Int32) -> Int64 {
        // Microseconds since 2000, one year before Foundation's.
        let date = Date(timeIntervalSinceReferenceDate: Double(RawPostgreSQL.int8(result, row, 2)) / 1e6 - 31_622_400)
        return RawPostgreSQL.int8(result, row, 0) &+ Int64(RawPostgreSQL.double(result, row, 1))
            &+ Int64(date.timeIntervalSinceReferenceDate) &+ Int64(RawPostgreSQL.text(result, row, 3)?.utf8.count ?? 0)
            &+ Int64(RawPostgreSQL.text(result, row, 4)?.utf8.count ?? 0)
            &+ Int64(RawPostgreSQL.text(result, row, 5)?.utf8.count ?? 0)
    }

    private func walkRelatedInPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG7") else { return }
        let bench = try PostgreSQLBench(server, model)
        try createDepartments(bench.context())
        try bench.raw.run("VACUUM ANALYZE employee; ")
        try bench.raw.prepare("departments", "SELECT id, name FROM department")
        try bench.raw.prepare("employees", "SELECT department_id, salary, name FROM employee ORDER BY department_id")
        try compare("PG7 walk 1,000 x 100 with prefetching", bound: 2.5) {
            let context = bench.context()
            var departments: [Department] = []
            defer { withExtendedLifetime(departments) {} }
            return try Self.time {
                let request = NSFetchRequest<Department>(entityName: "Department")
                request.relationshipKeyPathsForPrefetching = ["employees"]
                departments = try context.fetch(request)
                for department in departments {
                    for employee in department.employees {
                        Self.sink &+= employee.salary &+ Int64(employee.name?.utf8.count ?? 0)
                    }
                }
            }
        } raw: {
            try Self.time {
                var names: [Int64: String] = [:]
                try bench.raw.send("departments")
                try bench.raw.rows { names[RawPostgreSQL.int8($0, $1, 0)] = RawPostgreSQL.text($0, $1, 1) }
                try bench.raw.send("employees")
                try bench.raw.rows { result, row in
                    Self.sink &+=
                        RawPostgreSQL.int8(result, row, 1) &+ Int64(RawPostgreSQL.text(result, row, 2)?.utf8.count ?? 0)
                }
                withExtendedLifetime(names) {}
            }
        }
    }

    private func saveSingleObjectsInPostgreSQL(_ server: PostgreSQLServer) throws {
        guard wants("PG8") else { return }
        let bench = try PostgreSQLBench(server, model)
        // Keys that the engine does not give are looked for behind those of all rows.
        try bench.raw.run("CREATE TABLE raw_employee (LIKE employee INCLUDING ALL)")
        try bench.raw.prepare("begin", "BEGIN")
        try bench.raw.prepare(
            "insert", "INSERT INTO raw_employee (id, version, name, salary) VALUES ($1::int8, 1, $2::text, $3::int8)")
        try bench.raw.prepare("commit", "COMMIT")
        var last: Int64 = 0
        try compare("PG8 1,000 saves of one object", bound: 1.5) {
            let context = bench.context()
            return try Self.time {
                for index in 0..<1000 {
                    let employee = Employee(context: context)
                    employee.name = "Employee \(index)"
                    employee.salary = Int64(index)
                    try context.save()
                }
            }
        } raw: {
            try Self.time {
                for index in Int64(0)..<1000 {
                    last += 1
                    PQenterPipelineMode(bench.raw.connection)
                    try bench.raw.send("begin")
                    try bench.raw.send("insert", RawBytes(last), RawBytes("Employee \(index)"), RawBytes(index))
                    try bench.raw.send("commit")
                    PQpipelineSync(bench.raw.connection)
                    try bench.raw.finishPipeline()
                }
            }
        }
    }
}
