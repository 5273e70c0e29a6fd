import TestSupport
import Testing

@testable import CoreData

/// Predicates and sort orders in SQL (behaviours 197 to 206).
struct PredicateTests {
    let folder: TemporaryFolder
    let open: OpenStore
    let badge = UUID()

    init() throws {
        folder = try TemporaryFolder()
        open = try OpenStore(model: TestModel.company(), url: folder.file("company.sqlite"))
        let sales = try open.insert("Department", ["name": .string("Sales")])
        let lab = try open.insert("Department", ["name": .string("Lab")])
        func add(
            _ entity: String, _ name: String?, _ age: Int64?, _ department: Snapshot?,
            _ more: [String: StoredValue] = [:]
        )
            throws -> Snapshot
        {
            var values = more
            if let name { values["name"] = .string(name) }
            if let age { values["age"] = .integer(age) }
            if let department { values["department"] = open.reference("Department", department.key) }
            return try open.insert(entity, values)
        }
        let anna = try add(
            "Employee", "Anna", 30, sales,
            [
                "salary": .decimal(Decimal(string: "10.5")!), "badge": .uuid(badge), "hired": .double(1000),
                "active": .integer(1),
            ])
        let andre = try add(
            "Employee", "André", 40, sales, ["salary": .decimal(20), "hired": .double(2000), "rating": .double(0.5)])
        _ = try add("Employee", "bob", 50, lab, ["site": .string("https://example.com/b")])
        _ = try add("Manager", "Carla", 60, nil, ["level": .integer(3)])
        _ = try add("Employee", nil, nil, nil)
        let red = try open.insert("Tag", ["name": .string("red")])
        let blue = try open.insert("Tag", ["name": .string("blue")])
        var batch = SaveBatch()
        let layout = open.layout("Employee")
        func tags(_ owner: Snapshot, _ added: [Snapshot]) -> RelationshipChange {
            RelationshipChange(
                layout: layout, slot: layout.slotByName["tags"]!, ownerKey: owner.key,
                added: added.map { RowReference(key: $0.key, layoutIndex: open.layout("Tag").index) })
        }
        batch.relationshipChanges = [tags(anna, [red, blue]), tags(andre, [blue])]
        _ = try open.store.save(batch)
    }

    @Test(arguments: [
        ("name == 'Anna'", ["Anna"]),
        ("name != 'Anna' AND name != nil", ["André", "Carla", "bob"]),
        ("name ==[c] 'BOB'", ["bob"]),
        ("name ==[cd] 'ANDRE'", ["André"]),
        ("name BEGINSWITH 'An'", ["André", "Anna"]),
        ("name BEGINSWITH[c] 'an'", ["André", "Anna"]),
        ("name ENDSWITH 'a'", ["Anna", "Carla"]),
        ("name CONTAINS 'nn'", ["Anna"]),
        ("name CONTAINS[cd] 'DRE'", ["André"]),
        ("name LIKE 'A*'", ["André", "Anna"]),
        ("name LIKE[c] '?OB'", ["bob"]),
        ("name MATCHES '[A-C].*a'", ["Anna", "Carla"]),
        ("age > 30 AND age <= 50", ["André", "bob"]),
        ("age BETWEEN {30, 40}", ["André", "Anna"]),
        ("age IN {30, 60}", ["Anna", "Carla"]),
        ("NOT (age == 30) AND name != nil", ["André", "Carla", "bob"]),
        ("age + 10 == 40", ["Anna"]),
        ("department.name == 'Sales'", ["André", "Anna"]),
        ("department == nil AND name != nil", ["Carla"]),
        ("department.name BEGINSWITH 'L'", ["bob"]),
        ("ANY tags.name == 'red'", ["Anna"]),
        ("tags.name == 'blue'", ["André", "Anna"]),
        ("ALL tags.name == 'blue' AND tags.@count > 0", ["André"]),
        ("NONE tags.name == 'blue' AND name != nil", ["Carla", "bob"]),
        ("tags.@count == 2", ["Anna"]),
        ("SUBQUERY(tags, $t, $t.name == 'red' OR $t.name == 'blue').@count == 2", ["Anna"]),
        ("department.employees.@count == 2", ["André", "Anna"]),
        ("salary == 10.5", ["Anna"]),
        ("salary > 15", ["André"]),
        ("active == YES", ["Anna"]),
        ("rating < 0.75", ["André"]),
        ("level == 3", ["Carla"]),
        ("TRUEPREDICATE AND name != nil", ["André", "Anna", "Carla", "bob"]),
        ("FALSEPREDICATE", []),
        ("name IN 'Anna and others'", ["Anna"]),
    ])
    func aPredicateSelectsTheRowsThatItDescribes(format: String, expected: [String]) throws {
        #expect(try open.names("Employee", format) == expected)
    }

    @Test func unequalIncludesNil() throws {
        #expect(try open.rows("Employee", NSPredicate(format: "name != 'Anna'")).rows.count == 4)
        #expect(try open.rows("Employee", NSPredicate(format: "NOT (name == 'Anna')")).rows.count == 4)
    }

    @Test func valuesAreComparedInTheFormOfTheirColumn() throws {
        #expect(try open.names("Employee", "badge == %@", [badge]) == ["Anna"])
        #expect(try open.names("Employee", "hired > %@", [Date(timeIntervalSinceReferenceDate: 1500)]) == ["André"])
        #expect(try open.names("Employee", "site == %@", [URL(string: "https://example.com/b")!]) == ["bob"])
    }

    @Test func longListsAreBoundAsOneValue() throws {
        let ages = (0..<5000).map { $0 * 10 }
        #expect(try open.names("Employee", "age IN %@", [ages]) == ["André", "Anna", "Carla", "bob"])
        let names = (0..<2000).map { "n\($0)\"'" } + ["Anna"]
        #expect(try open.names("Employee", "name IN %@", [names]) == ["Anna"])
        let badges = (0..<100).map { _ in UUID() } + [badge]
        #expect(try open.names("Employee", "badge IN %@", [badges]) == ["Anna"])
    }

    @Test func objectsAreComparedByTheirKeys() throws {
        let sales = NSManagedObjectID(key: 1, layout: open.layout("Department"), store: open.store)
        #expect(try open.names("Employee", "department == %@", [sales]) == ["André", "Anna"])
        #expect(try open.names("Employee", "department IN %@", [[sales]]) == ["André", "Anna"])
        let anna = NSManagedObjectID(key: 1, layout: open.layout("Employee"), store: open.store)
        #expect(try open.names("Employee", "SELF == %@", [anna]) == ["Anna"])
        #expect(try open.names("Employee", "SELF IN %@", [[anna]]) == ["Anna"])
        #expect(try open.names("Department", "%@ IN employees", [anna]) == ["Sales"])
        #expect(try open.names("Department", "employees CONTAINS %@", [anna]) == ["Sales"])
    }

    @Test func nilSortsFirstAscendingAndLastDescending() throws {
        let up = try open.strings("Employee", sort: [NSSortDescriptor(key: "name", ascending: true)])
        #expect(up == [nil, "Andr\u{e9}", "Anna", "Carla", "bob"])
        let down = try open.strings("Employee", sort: [NSSortDescriptor(key: "name", ascending: false)])
        #expect(down == up.reversed())
    }

    @Test func rowsSortByTheirDestination() throws {
        let order = [
            NSSortDescriptor(key: "department.name", ascending: true), NSSortDescriptor(key: "age", ascending: false),
        ]
        #expect(
            try open.strings("Employee", "name", NSPredicate(format: "age != nil"), sort: order) == [
                "Carla", "bob", "André", "Anna",
            ])
    }

    @Test func caseCountsOnlyWhereTheSelectorSaysSo() throws {
        let order = [NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)]
        #expect(
            try open.strings("Employee", "name", NSPredicate(format: "age > 30"), sort: order) == [
                "André", "bob", "Carla",
            ])
    }

    @Test(arguments: [
        "nothing == 1", "name.doubleValue == 3", "tags.employees.name == 'x'", "ANY name == 'x' AND nothing.more == 2",
    ])
    func aPredicateThatHasNoSQLIsRefusedByName(format: String) throws {
        #expect(throws: NSError.self) { try open.rows("Employee", NSPredicate(format: format)) }
    }

    @Test func blocksAndForeignSelectorsAreRefused() throws {
        #expect(throws: NSError.self) { try open.rows("Employee", NSPredicate(block: { _, _ in true })) }
        let order = [NSSortDescriptor(key: "name", ascending: true, selector: Selector("length:"))]
        #expect(throws: NSError.self) { try open.rows("Employee", nil, sort: order) }
    }

    @Test func aPrefixSearchUsesTheIndex() throws {
        let generator = SQLGenerator(mapping: try open.store.backend().mapping, store: open.store)
        let scope = generator.newScope(try generator.entity(open.layout("Employee")))
        let condition = try generator.condition(
            NSPredicate(format: "name BEGINSWITH 'An'"), in: SQLEnvironment(scope: scope))
        let raw = SQLiteFile(folder.file("company.sqlite"))
        let plan = raw.rows(
            "EXPLAIN QUERY PLAN SELECT * FROM ZEMPLOYEE t0 WHERE "
                + condition.statement(SQLiteDialect()).sql.replacingOccurrences(of: "?", with: "'x'"))
        #expect("\(plan)".contains("Z_Employee_byName"))
        #expect(SQLGenerator.upperBound(ofPrefix: "a\u{d7ff}") == "a\u{e000}")
        #expect(SQLGenerator.upperBound(ofPrefix: "a\u{10ffff}") == "b")
        #expect(SQLGenerator.upperBound(ofPrefix: "") == nil)
    }

    @Test func dictionariesHoldAttributesAndAggregates() throws {
        var plan = StoreFetch(entity: open.layout("Employee"))
        plan.shape = .dictionaries
        let count = NSExpressionDescription(
            "n", NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "name")]),
            .integer64AttributeType)
        let oldest = NSExpressionDescription(
            "oldest", NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "age")]),
            .integer64AttributeType)
        plan.predicate = NSPredicate(format: "department != nil")
        plan.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: true)]
        plan.columns = .init(properties: ["department.name", count, oldest], groupBy: ["department.name"])
        guard case .dictionaries(let rows) = try open.store.fetch(plan) else { return }
        #expect(rows.map { $0["department.name"] as? String } == ["Lab", "Sales"])
        #expect(rows.map { ($0["n"] as? NSNumber)?.intValue } == [1, 2])
        #expect(rows.map { ($0["oldest"] as? NSNumber)?.intValue } == [50, 40])
        plan.columns?.having = NSPredicate(format: "n > 1")
        guard case .dictionaries(let large) = try open.store.fetch(plan) else { return }
        #expect(large.count == 1)
    }

    @Test func countsReferencesAndPagesOfResults() throws {
        var plan = StoreFetch(entity: open.layout("Employee"))
        plan.shape = .count
        guard case .count(let all) = try open.store.fetch(plan) else { return }
        #expect(all == 5)
        plan.includesSubentities = false
        guard case .count(let plain) = try open.store.fetch(plan) else { return }
        #expect(plain == 4)
        plan.limit = 3
        guard case .count(let limited) = try open.store.fetch(plan) else { return }
        #expect(limited == 3)
        plan.shape = .references
        plan.includesSubentities = true
        plan.limit = 0
        plan.offset = 3
        plan.sortDescriptors = [NSSortDescriptor(key: "SELF", ascending: true)]
        guard case .references(let references) = try open.store.fetch(plan) else { return }
        #expect(references.map(\.layoutIndex) == [open.layout("Manager").index, open.layout("Employee").index])
    }
}
