import CSQLite
import CoreData
import Foundation

// The cases. Each side does the same work on the same file: the engine through managed objects, the
// other by hand. What is fetched stays alive until the clock has stopped: the raw side keeps
// nothing, so it has nothing to let go of.

extension Harness {
    private static let wideColumns = "ZA, ZB, ZC, ZD, ZE, ZF, ZG, ZH, ZI, ZJ"

    /// A store with `count` objects of 10 integers.
    func wideStore(_ count: Int) throws -> (url: URL, coordinator: NSPersistentStoreCoordinator) {
        let url = newURL()
        let coordinator = try coordinator(url)
        try insertWide(count, context(coordinator))
        return (url, coordinator)
    }

    func insertWide(_ count: Int, _ context: NSManagedObjectContext) throws {
        for index in 0..<count {
            let object = Wide(context: context)
            let value = Int64(index)
            object.a = value
            object.b = value &* 3
            object.c = value &* 5
            object.d = value &* 7
            object.e = value &* 11
            object.f = value &* 13
            object.g = value &* 17
            object.h = value &* 19
            object.i = value &* 23
            object.j = value &* 29
        }
        try context.save()
    }

    static func sum(_ object: Wide) -> Int64 {
        object.a &+ object.b &+ object.c &+ object.d &+ object.e &+ object.f &+ object.g &+ object.h &+ object.i
            &+ object.j
    }

    private static func sum(_ statement: OpaquePointer) -> Int64 {
        var sum: Int64 = 0
        for column in Int32(0)..<10 { sum &+= sqlite3_column_int64(statement, column) }
        return sum
    }

    func fetchWide() throws {
        guard wants("W1") else { return }
        let (url, coordinator) = try wideStore(200_000)
        let raw = try RawDatabase(url.path)
        try compare("W1 fetch 200,000 x 10 integers, read all", bound: 1.8) {
            let context = context(coordinator)
            var objects: [Wide] = []
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                var sum: Int64 = 0
                objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
                for object in objects { sum &+= Self.sum(object) }
                Self.sink &+= sum
            }
        } raw: {
            try Self.time {
                var sum: Int64 = 0
                let statement = try raw.prepare("SELECT \(Self.wideColumns) FROM ZWIDE")
                while sqlite3_step(statement) == SQLITE_ROW { sum &+= Self.sum(statement) }
                sqlite3_finalize(statement)
                Self.sink &+= sum
            }
        }
    }

    func insertWide() throws {
        try compare("W2 insert 50,000 x 10 integers, one save", bound: 2.5) {
            let url = newURL()
            let coordinator = try coordinator(url)
            let context = context(coordinator)
            defer { remove(url) }
            return try Self.time { try insertWide(50_000, context) }
        } raw: {
            let url = newURL()
            _ = try coordinator(url)
            let raw = try RawDatabase(url.path)
            defer { remove(url) }
            return try Self.time {
                try raw.execute("BEGIN IMMEDIATE")
                let statement = try raw.prepare(
                    "INSERT INTO ZWIDE (Z_PK, Z_ENT, Z_OPT, \(Self.wideColumns)) VALUES (?,4,1,?,?,?,?,?,?,?,?,?,?)")
                let factors: [Int64] = [1, 3, 5, 7, 11, 13, 17, 19, 23, 29]
                for index in Int64(0)..<50_000 {
                    sqlite3_bind_int64(statement, 1, index + 1)
                    for column in 0..<10 { sqlite3_bind_int64(statement, Int32(column + 2), index &* factors[column]) }
                    sqlite3_step(statement)
                    sqlite3_reset(statement)
                }
                sqlite3_finalize(statement)
                try raw.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 50000 WHERE Z_NAME = 'Wide'")
                try raw.execute("COMMIT")
            }
        }
    }

    // MARK: - Mixed rows

    private func mixedStore(_ count: Int) throws -> (url: URL, coordinator: NSPersistentStoreCoordinator) {
        let url = newURL()
        let coordinator = try coordinator(url)
        try insertMixed(count, context(coordinator))
        return (url, coordinator)
    }

    func insertMixed(_ count: Int, _ context: NSManagedObjectContext) throws {
        for index in 0..<count {
            let object = Mixed(context: context)
            object.name = "name \(String(format: "%06d", (index &* 7919) % count))"
            object.note = "A note about number \(index), somewhat longer than a short text"
            object.city = "City \(index % 100)"
            object.price = Double(index) * 0.25
            object.count = Int64(index)
            object.date = Date(timeIntervalSinceReferenceDate: Double(index))
        }
        try context.save()
    }

    private static let mixedColumns = "ZCOUNT, ZPRICE, ZDATE, ZNAME, ZNOTE, ZCITY"

    static func read(_ object: Mixed) -> Int64 {
        object.count &+ Int64(object.price) &+ Int64(object.date?.timeIntervalSinceReferenceDate ?? 0)
            &+ Int64(object.name?.utf8.count ?? 0) &+ Int64(object.note?.utf8.count ?? 0)
            &+ Int64(object.city?.utf8.count ?? 0)
    }

    private static func readMixed(_ statement: OpaquePointer) -> Int64 {
        let date = Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 2))
        return sqlite3_column_int64(statement, 0) &+ Int64(sqlite3_column_double(statement, 1))
            &+ Int64(date.timeIntervalSinceReferenceDate) &+ Int64(RawDatabase.text(statement, 3)?.utf8.count ?? 0)
            &+ Int64(RawDatabase.text(statement, 4)?.utf8.count ?? 0)
            &+ Int64(RawDatabase.text(statement, 5)?.utf8.count ?? 0)
    }

    func fetchMixed() throws {
        guard wants("W3") else { return }
        let (url, coordinator) = try mixedStore(50_000)
        let raw = try RawDatabase(url.path)
        try compare("W3 fetch 50,000 mixed rows, read all", bound: 1.4) {
            let context = context(coordinator)
            var objects: [Mixed] = []
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                objects = try context.fetch(NSFetchRequest<Mixed>(entityName: "Mixed"))
                for object in objects { Self.sink &+= Self.read(object) }
            }
        } raw: {
            try Self.time {
                let statement = try raw.prepare("SELECT \(Self.mixedColumns) FROM ZMIXED")
                while sqlite3_step(statement) == SQLITE_ROW { Self.sink &+= Self.readMixed(statement) }
                sqlite3_finalize(statement)
            }
        }
    }

    func prefixQueries() throws {
        guard wants("W7") else { return }
        let (url, coordinator) = try mixedStore(200_000)
        let raw = try RawDatabase(url.path)
        let prefixes = (0..<1000).map { String(format: "name %03d", $0 % 200) }
        try compare("W7 indexed prefix, sort, limit 100 of 200,000, 1,000 times", bound: 1.2) {
            let context = context(coordinator)
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
                let statement = try raw.prepare(
                    "SELECT \(Self.mixedColumns) FROM ZMIXED WHERE ZNAME >= ? AND ZNAME < ? ORDER BY ZNAME LIMIT 100")
                for prefix in prefixes {
                    RawDatabase.bind(statement, 1, prefix)
                    RawDatabase.bind(
                        statement, 2, String(prefix.dropLast()) + String(UnicodeScalar(prefix.utf8.last! + 1)))
                    while sqlite3_step(statement) == SQLITE_ROW { Self.sink &+= Self.readMixed(statement) }
                    sqlite3_reset(statement)
                }
                sqlite3_finalize(statement)
            }
        }
    }

    // MARK: - Relationships

    func createDepartments(_ context: NSManagedObjectContext) throws {
        for number in 0..<1000 {
            let department = Department(context: context)
            department.name = "Department \(number)"
            for index in 0..<100 {
                let employee = Employee(context: context)
                employee.name = "Employee \(index)"
                employee.salary = Int64(number * 100 + index)
                employee.department = department
            }
        }
        try context.save()
    }

    func createRelated() throws {
        try compare("W4 create and save 1,000 x 100 related objects", bound: 1.5) {
            let url = newURL()
            let coordinator = try coordinator(url)
            let context = context(coordinator)
            defer { remove(url) }
            return try Self.time { try createDepartments(context) }
        } raw: {
            let url = newURL()
            _ = try coordinator(url)
            let raw = try RawDatabase(url.path)
            defer { remove(url) }
            return try Self.time {
                try raw.execute("BEGIN IMMEDIATE")
                let department = try raw.prepare("INSERT INTO ZDEPARTMENT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?,1,1,?)")
                let employee = try raw.prepare(
                    "INSERT INTO ZEMPLOYEE (Z_PK, Z_ENT, Z_OPT, ZSALARY, ZDEPARTMENT, ZNAME) VALUES (?,2,1,?,?,?)")
                for number in 0..<1000 {
                    sqlite3_bind_int64(department, 1, Int64(number + 1))
                    RawDatabase.bind(department, 2, "Department \(number)")
                    sqlite3_step(department)
                    sqlite3_reset(department)
                    for index in 0..<100 {
                        sqlite3_bind_int64(employee, 1, Int64(number * 100 + index + 1))
                        sqlite3_bind_int64(employee, 2, Int64(number * 100 + index))
                        sqlite3_bind_int64(employee, 3, Int64(number + 1))
                        RawDatabase.bind(employee, 4, "Employee \(index)")
                        sqlite3_step(employee)
                        sqlite3_reset(employee)
                    }
                }
                sqlite3_finalize(department)
                sqlite3_finalize(employee)
                try raw.execute("COMMIT")
            }
        }
    }

    func walkRelated() throws {
        guard wants("W4 fetch and walk with prefetching") || wants("W4 fetch and walk one") else { return }
        let url = newURL()
        let coordinator = try coordinator(url)
        try createDepartments(context(coordinator))
        let raw = try RawDatabase(url.path)
        func walk(prefetching: Bool) throws -> Double {
            let context = context(coordinator)
            var departments: [Department] = []
            defer { withExtendedLifetime(departments) {} }
            return try Self.time {
                let request = NSFetchRequest<Department>(entityName: "Department")
                if prefetching { request.relationshipKeyPathsForPrefetching = ["employees"] }
                departments = try context.fetch(request)
                for department in departments {
                    for employee in department.employees {
                        Self.sink &+= employee.salary &+ Int64(employee.name?.utf8.count ?? 0)
                    }
                }
            }
        }
        try compare("W4 fetch and walk with prefetching", bound: 2.0) {
            try walk(prefetching: true)
        } raw: {
            try Self.time {
                let departments = try raw.prepare("SELECT Z_PK, ZNAME FROM ZDEPARTMENT")
                var names: [Int64: String] = [:]
                while sqlite3_step(departments) == SQLITE_ROW {
                    names[sqlite3_column_int64(departments, 0)] = RawDatabase.text(departments, 1)
                }
                sqlite3_finalize(departments)
                let employees = try raw.prepare(
                    "SELECT ZDEPARTMENT, ZSALARY, ZNAME FROM ZEMPLOYEE ORDER BY ZDEPARTMENT")
                while sqlite3_step(employees) == SQLITE_ROW {
                    Self.sink &+=
                        sqlite3_column_int64(employees, 1) &+ Int64(RawDatabase.text(employees, 2)?.utf8.count ?? 0)
                }
                sqlite3_finalize(employees)
            }
        }
        try compare("W4 fetch and walk one relationship at a time", bound: 2.3) {
            try walk(prefetching: false)
        } raw: {
            try Self.time {
                let departments = try raw.prepare("SELECT Z_PK, ZNAME FROM ZDEPARTMENT")
                let employees = try raw.prepare("SELECT ZSALARY, ZNAME FROM ZEMPLOYEE WHERE ZDEPARTMENT = ?")
                while sqlite3_step(departments) == SQLITE_ROW {
                    sqlite3_bind_int64(employees, 1, sqlite3_column_int64(departments, 0))
                    while sqlite3_step(employees) == SQLITE_ROW {
                        Self.sink &+=
                            sqlite3_column_int64(employees, 0) &+ Int64(RawDatabase.text(employees, 1)?.utf8.count ?? 0)
                    }
                    sqlite3_reset(employees)
                }
                sqlite3_finalize(departments)
                sqlite3_finalize(employees)
            }
        }
    }

    // MARK: - Updates and look-ups

    func updateWide() throws {
        guard wants("W5") else { return }
        let (url, coordinator) = try wideStore(50_000)
        let raw = try RawDatabase(url.path)
        try compare("W5 load 50,000, change one property each, save", bound: 2.0) {
            let context = context(coordinator)
            var objects: [Wide] = []
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
                for object in objects { object.a = object.a &+ 1 }
                try context.save()
            }
        } raw: {
            try Self.time {
                try raw.execute("BEGIN IMMEDIATE")
                var rows: [(key: Int64, version: Int64, a: Int64)] = []
                let select = try raw.prepare("SELECT Z_PK, Z_OPT, \(Self.wideColumns) FROM ZWIDE")
                while sqlite3_step(select) == SQLITE_ROW {
                    for column in Int32(3)..<12 { Self.sink &+= sqlite3_column_int64(select, column) }
                    rows.append(
                        (
                            sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1),
                            sqlite3_column_int64(select, 2)
                        ))
                }
                sqlite3_finalize(select)
                let update = try raw.prepare("UPDATE ZWIDE SET ZA = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?")
                for row in rows {
                    sqlite3_bind_int64(update, 1, row.a &+ 1)
                    sqlite3_bind_int64(update, 2, row.version + 1)
                    sqlite3_bind_int64(update, 3, row.key)
                    sqlite3_bind_int64(update, 4, row.version)
                    sqlite3_step(update)
                    sqlite3_reset(update)
                }
                sqlite3_finalize(update)
                try raw.execute("COMMIT")
            }
        }
    }

    func lookUpByID() throws {
        guard wants("W6") else { return }
        let (url, coordinator) = try wideStore(100_000)
        let raw = try RawDatabase(url.path)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Wide")
        request.resultType = .managedObjectIDResultType
        let identifiers = try context(coordinator).fetch(request).shuffled(using: &Self.generator)
        let keys = identifiers.compactMap { Int64($0.uriRepresentation().lastPathComponent.dropFirst()) }
        func lookUp() throws -> Double {
            let context = context(coordinator)
            return try Self.time {
                for identifier in identifiers {
                    if let object = try context.existingObject(with: identifier) as? Wide {
                        Self.sink &+= Self.sum(object)
                    }
                }
            }
        }
        func rawLookUp() throws -> Double {
            try Self.time {
                let statement = try raw.prepare("SELECT \(Self.wideColumns) FROM ZWIDE WHERE Z_PK = ?")
                for key in keys {
                    sqlite3_bind_int64(statement, 1, key)
                    if sqlite3_step(statement) == SQLITE_ROW { Self.sink &+= Self.sum(statement) }
                    sqlite3_reset(statement)
                }
                sqlite3_finalize(statement)
            }
        }
        try compare("W6 100,000 look-ups by object ID, fresh context", bound: 2.0, engine: lookUp, raw: rawLookUp)
        let holder = context(coordinator)
        let held = try holder.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
        try compare("W6 100,000 look-ups by object ID, rows cached", bound: 0.5, engine: lookUp, raw: rawLookUp)
        withExtendedLifetime((holder, held)) {}
    }

    /// The same order in every run.
    nonisolated(unsafe) private static var generator = LinearCongruentialGenerator(state: 42)
}

struct LinearCongruentialGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}
