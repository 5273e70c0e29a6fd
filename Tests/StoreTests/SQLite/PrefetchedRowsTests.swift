import TestSupport
import Testing

@testable import CoreData

/// Rows of many owners: by the index of their foreign key, or by reading the whole table where most
/// of it is theirs.
struct PrefetchedRowsTests {
    private static let employeeCount = 900

    /// 100 departments, and employees that belong to them in no order; some to none, and some are
    /// managers.
    private static func store(
        _ folder: TemporaryFolder, _ random: inout SeededGenerator, owners: Range<Int> = 0..<100
    ) throws -> OpenStore {
        let open = try OpenStore(model: TestModel.company(), url: folder.file("store.sqlite"))
        let context = open.coordinator.newContext()
        let departments = (0..<100).map { number in
            let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
            department.setValue("Department \(number)", forKey: "name")
            return department
        }
        try context.save()
        for number in 0..<employeeCount {
            let isManager = Int.random(in: 0..<5, using: &random) == 0
            let employee = NSEntityDescription.insertNewObject(
                forEntityName: isManager ? "Manager" : "Employee", into: context)
            employee.setValue("Employee \(number)", forKey: "name")
            let isOfNone = Int.random(in: 0..<8, using: &random) == 0
            if !isOfNone { employee.setValue(departments[owners].randomElement(using: &random), forKey: "department") }
        }
        try context.save()
        return open
    }

    private static func plan(
        _ open: OpenStore, _ keys: [Int64]
    ) throws -> (isMostOfTable: Bool, plan: RelatedRowsPlan<RowDecoder>) {
        let backend = try open.store.backend()
        let layout = open.layout("Department")
        let slot = layout.slots[try #require(layout.slotByName["employees"])]
        let keys = SQLKeys(keys, backend.mapping.dialect)
        let plan = try backend.relatedRowsPlan(slot, of: layout, keys.form)
        return (try backend.pool.read { try plan.isMostOfTable(keys, $0) }, plan)
    }

    @Test(arguments: [1...100, 1...90, 1...30, 60...100, 100...100])
    func rowsOfManyOwnersAreThoseThatTheFileHas(owners: ClosedRange<Int64>) throws {  // 109
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 7)
        let open = try Self.store(folder, &random)
        let layout = open.layout("Department")
        let slot = layout.slots[try #require(layout.slotByName["employees"])]
        let related = try open.store.relatedRows(toAll: Array(owners), through: slot, of: layout)
        defer { withExtendedLifetime(related.rows.pages) {} }
        let pairs = zip(related.ownerKeys, related.rows.rows).map { [String($0), String($1.rowKey)] }
        let raw = SQLiteFile(folder.file("store.sqlite"))
        let expected = raw.rows(
            "SELECT ZDEPARTMENT, Z_PK FROM ZEMPLOYEE WHERE ZDEPARTMENT BETWEEN \(owners.lowerBound) AND "
                + "\(owners.upperBound)"
        )
        #expect(related.rows.areDistinct)
        #expect(pairs.count == expected.count)
        #expect(Set(pairs) == Set(expected))
    }

    @Test func theWholeTableIsReadOnlyWhereMostOfItIsAskedFor() throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 8)
        let open = try Self.store(folder, &random)
        #expect(try Self.plan(open, Array(1...100)).isMostOfTable)
        #expect(try !Self.plan(open, Array(1...30)).isMostOfTable)
        // Too few owners to ask, and owners with gaps.
        #expect(try !Self.plan(open, Array(1...20)).isMostOfTable)
        #expect(try !Self.plan(open, Array(1...49) + Array(52...100)).isMostOfTable)
        // The table was longer once: its last key says nothing of how many rows it has.
        let raw = SQLiteFile(folder.file("store.sqlite"))
        #expect(raw.execute("UPDATE ZEMPLOYEE SET Z_PK = 1000000 WHERE Z_PK = \(Self.employeeCount)"))
        #expect(try !Self.plan(open, Array(1...100)).isMostOfTable)
    }

    /// The range has most of the table each time: the first owners show whether counting is worth
    /// it.
    @Test(arguments: [0: true, 50: false]) func theFirstOwnersDecideWhetherAllAreCounted(
        firstOwner: Int, isMost: Bool
    ) throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 10)
        let open = try Self.store(folder, &random, owners: firstOwner..<100)
        #expect(try Self.plan(open, Array(1...100)).isMostOfTable == isMost)
    }

    @Test func objectsOfManyOwnersInNoOrderAreTheirOwners() throws {  // 109
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 9)
        let open = try Self.store(folder, &random)
        let context = open.coordinator.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
        request.relationshipKeyPathsForPrefetching = ["employees"]
        let departments = try context.fetch(request)
        #expect(departments.count == 100)
        let raw = SQLiteFile(folder.file("store.sqlite"))
        var count = 0
        for department in departments {
            #expect(!department.hasFault(forRelationshipNamed: "employees"))
            let employees = try #require(department.value(forKey: "employees") as? Set<NSManagedObject>)
            #expect(employees.allSatisfy { $0.value(forKey: "department") as? NSManagedObject === department })
            let keys = employees.compactMap { $0.objectID.key.map(String.init) }
            let key = try #require(department.objectID.key)
            #expect(
                Set(keys) == Set(raw.rows("SELECT Z_PK FROM ZEMPLOYEE WHERE ZDEPARTMENT = \(key)").compactMap { $0[0] })
            )
            count += employees.count
        }
        #expect(count > Self.employeeCount / 2)
    }

    /// Rows that come after all that were read before are known to have no objects yet; the others
    /// are looked for.
    @Test(arguments: 1...(LongTests.areEnabled ? 20 : 5))
    func everyRowHasOneObjectInWhateverOrderRowsAreRead(seed: Int) throws {  // 109
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: UInt64(seed))
        let open = try Self.store(folder, &random)
        let context = open.coordinator.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        var objects: [Int64: NSManagedObject] = [:]
        for _ in 0..<12 {
            let first = Int64.random(in: 1...Int64(Self.employeeCount), using: &random)
            let last = first + Int64.random(in: 0..<200, using: &random)
            request.predicate = NSPredicate(
                format: "SELF IN %@",
                (first...last).map { NSManagedObjectID(key: $0, layout: open.layout("Employee"), store: open.store) })
            for object in try context.fetch(request) {
                let key = try #require(object.objectID.key)
                #expect(objects[key] == nil || objects[key] === object)
                objects[key] = object
            }
            // Objects that are let go of leave their keys to new ones.
            for key in objects.keys.sorted() where Int.random(in: 0..<4, using: &random) == 0 { objects[key] = nil }
        }
    }
}
