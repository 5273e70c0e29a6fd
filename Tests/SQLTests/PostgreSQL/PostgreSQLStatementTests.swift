import Foundation
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The dialect and the naming contain all that differs between databases: the same requests as
/// PostgreSQL's statements, as the files in the folder `Expected` have them. No database runs them.
struct PostgreSQLStatementTests {
    /// Statements are in the files below their titles.
    private static func expect(_ statements: [(title: String, sql: String)], in name: String) throws {
        try expect(statements.flatMap { ["-- " + $0.title, $0.sql] }, in: name)
    }

    private static func expect(_ lines: [String], in name: String) throws {
        try RecordedText(name, in: "Expected").expect(lines.joined(separator: "\n") + "\n")
    }

    @Test(arguments: Question.all.map(\.name))
    func predicatesAreInItsWords(part: String) throws {
        let company = try PostgreSQLCompany()
        let questions = try #require(Question.all.first { $0.name == part }).questions
        try Self.expect(
            questions.map { ("\($0.entity): \($0.format)", company.condition($0)) }, in: "predicates-" + part)
    }

    @Test func ordersSayWhereNilStands() throws {
        let company = try PostgreSQLCompany()
        let keys = Sorting.keys.map { key in
            (
                key,
                company.fetch("Employee") {
                    $0.shape = .references
                    $0.sortDescriptors = [
                        NSSortDescriptor(key: key, ascending: true), NSSortDescriptor(key: "SELF", ascending: false),
                    ]
                }
            )
        }
        let selectors = Sorting.selectors.map { selector in
            (
                selector,
                company.fetch("Employee") {
                    $0.shape = .references
                    $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: Selector(selector))]
                }
            )
        }
        try Self.expect(keys + selectors, in: "sorts")
    }

    @Test func fetchesLimitAndLeaveOut() throws {
        let company = try PostgreSQLCompany()
        let fetches = [StoreFetch.Shape.rows, .references, .count].flatMap { shape in
            [
                (
                    "\(shape) with limit, offset and keys left out",
                    company.fetch("Department") {
                        $0.shape = shape
                        $0.limit = 3
                        $0.offset = 4
                        $0.excludedKeys = [1, 2]
                    }
                ), ("\(shape) with subentities", company.fetch("Employee") { $0.shape = shape }),
                (
                    "\(shape) with an offset",
                    company.fetch("Tag") {
                        $0.shape = shape
                        $0.offset = 4
                    }
                ),
            ]
        }
        try Self.expect(fetches, in: "fetches")
    }

    @Test func dictionariesAggregateInItsTypes() throws {
        let company = try PostgreSQLCompany()
        try Self.expect(DictionaryFetch.all.map { ($0.title, company.fetch("Employee", $0.fill)) }, in: "dictionaries")
    }

    // MARK: Related rows

    @Test func relatedRowsAreJoinedInItsWords() throws {
        let company = try PostgreSQLCompany()
        var statements: [(String, String)] = []
        for (entity, name) in RelatedPaths.all {
            let owner = company.entity(entity)
            let slot = company.slot(name, of: entity)
            let destination = try company.mapping.destination(of: slot, of: owner.layout)
            for form in [SQLKeys.Form.one, .list, .range] {
                let select = SelectColumns(destination, includesSubentities: true, in: company.mapping)
                let statement = try company.mapping.relatedRows(slot, of: owner, to: select, owners: form)
                statements.append(("\(entity).\(name) of \(form)", statement.sql))
            }
        }
        try Self.expect(statements, in: "relationships")
    }

    // MARK: Saves

    /// The statements of a save of single rows, and of a store that writes many rows with one
    /// statement.
    @Test func savesAreInItsWords() throws {
        let company = try PostgreSQLCompany()
        let save = SaveStatements(mapping: company.mapping)
        var statements: [(String, String)] = []
        func add(_ title: String, _ sql: String) { statements.append((title, sql)) }
        for name in ["Department", "Employee", "Manager", "Tag", "Task", "Project"] {
            let entity = company.entity(name)
            add("insert \(name)", save.insert(entity))
            add("update \(name).name", save.update(entity) { $0 == company.slot("name", of: name).index })
            add("update everything of \(name)", save.update(entity) { _ in true })
            add("delete \(name)", save.delete(entity, checksVersion: false))
            add("delete \(name) in a version", save.delete(entity, checksVersion: true))
            add("version of \(name)", save.version(of: entity))
            add("clear \(name).name", save.clear(["name"], of: entity))
            add("owner of a unique name in \(name)", save.owner(of: ["name"], in: entity))
            let plan = PostgreSQLWritePlan(entity, company.mapping, PostgreSQLCatalog(), isExternal: false)
            add("copy \(name)", plan.copyStatement)
            add("insert many of \(name)", plan.insertStatement)
            let nothing = SlotMask(count: entity.layout.slots.count)
            var names = nothing
            names.insert(company.slot("name", of: name).index)
            for (slots, title) in [(names, "names"), (nothing, "nothing but versions")] {
                add("update \(title) of many of \(name)", plan.update(of: slots, checksVersions: true).sql)
                add("update \(title) of many locked of \(name)", plan.update(of: slots, checksVersions: false).sql)
            }
        }
        for (entity, name) in RelatedPaths.all {
            let slot = company.slot(name, of: entity)
            let owner = company.entity(entity)
            switch owner.toMany[slot.index] {
            case .join(let join, let isFirst)?:
                add("insert a pair of \(entity).\(name)", save.insertPair(join))
                add("delete a pair of \(entity).\(name)", save.deletePair(join))
                add("delete the pairs of \(entity).\(name)", save.deletePairs(join, join.ownerColumn(isFirst: isFirst)))
                if let positions = save.positions(join, isFirst: isFirst) {
                    addPositions(positions, "\(entity).\(name)")
                }
            case .inverse(let column, let destination, _)?:
                if column.isHiddenKey {
                    add("take a member of \(entity).\(name) away", save.releaseDestination(column, of: destination))
                    add("take all members of \(entity).\(name) away", save.releaseDestinations(column, of: destination))
                    add("give a member to \(entity).\(name)", save.giveDestination(column, of: destination, to: owner))
                }
                if let positions = save.positions(column, of: destination) {
                    addPositions(positions, "\(entity).\(name)")
                }
            case nil: break
            }
        }
        func addPositions(_ positions: SaveStatements.Positions, _ title: String) {
            add("last position of \(title)", save.last(positions))
            add("members of \(title)", save.members(positions))
            add("members of \(title) in order", save.orderedMembers(positions))
            add("position of a member of \(title)", save.setPosition(positions))
            add("position of a row of \(title)", save.setPosition(positions, ofRowOf: 7, isNew: false))
            add("position of a new row of \(title)", save.setPosition(positions, ofRowOf: 7, isNew: true))
        }
        try Self.expect(statements, in: "saves")
    }

    @Test func schemasHaveItsTypesAndTriggers() throws {
        let schema = PostgreSQLSchema(mapping: try PostgreSQLCompany().mapping, schema: "company")
        // The functions, which a version tells, come in texts of many statements.
        let statements = try (schema.tables() + schema.afterRows()).filter { !$0.contains(";\n") }
        try Self.expect(statements, in: "schema")
    }

    /// A server without ICU cannot keep what is made of folded texts: it is said before there is a
    /// table, and not by each save.
    @Test func derivedTextsNeedICU() throws {
        let name = NSAttributeDescription("name", .stringAttributeType)
        let search = NSDerivedAttributeDescription()
        search.name = "search"
        search.attributeType = .stringAttributeType
        search.derivationExpression = NSExpression(format: "canonical:(name)")
        let model = NSManagedObjectModel([NSEntityDescription("Part", class: "NSManagedObject", [name, search])])
        let company = try PostgreSQLCompany(model, dialect: PostgreSQLDialect(hasICU: false))
        let error = try #require(throws: NSError.self) {
            try PostgreSQLSchema(mapping: company.mapping, schema: "company").afterRows()
        }
        for word in ["search", "Part", "ICU"] { #expect(error.localizedDescription.contains(word), "\(error)") }
    }

    /// A kept statement binds other constants: what each argument is of comes from the generator
    /// for this dialect too.
    @Test func keptStatementsBindByRole() throws {
        let company = try PostgreSQLCompany()
        var fetch = StoreFetch(entity: company.entity("Employee").layout)
        fetch.shape = .references
        fetch.predicate = NSPredicate(format: "name BEGINSWITH 'a' AND age > 3 AND name ENDSWITH 'x'")
        fetch.offset = 5
        let generator = company.generator()
        let entity = company.entity("Employee")
        let columns = { SelectColumns(entity, includesSubentities: true, in: company.mapping) }
        let statement = try generator.fetch(fetch, entity, columns: columns).statement(company.mapping.dialect)
        let kept = try #require(FetchStatement(fetch, entity: entity, statement: statement))
        fetch.predicate = NSPredicate(format: "name BEGINSWITH 'bc' AND age > 4 AND name ENDSWITH 'yz'")
        fetch.offset = 6
        let again = try company.generator().fetch(fetch, entity, columns: columns).statement(company.mapping.dialect)
        #expect(kept.sql == again.sql)
        let values = try #require(kept.arguments(for: fetch, generator))
        func bound(_ arguments: [SQLArgument]) -> [String] {
            arguments.map { "\($0.value) as \(String(describing: $0.kind))" }
        }
        #expect(bound(values) == bound(again.arguments))
        fetch.predicate = NSPredicate(format: "name BEGINSWITH 'bc' AND age > 4.5 AND name ENDSWITH 'yz'")
        #expect(kept.arguments(for: fetch, generator) == nil, "a number of another type is bound otherwise")
    }

    @Test func listsAreOneTypedArgument() throws {
        let keys = SQLKeys([1, 30, 60], PostgreSQLDialect())
        #expect(keys.form == .list)
        #expect(keys.arguments.first?.first?.elements?.count == 3)
        #expect(keys.arguments.first?.first?.kind == .int64)
    }
}
