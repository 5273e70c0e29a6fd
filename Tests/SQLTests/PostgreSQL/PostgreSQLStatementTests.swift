import Foundation
import Testing

@testable import CoreData

/// What a second database needs is behind the dialect and the naming: the same requests in PostgreSQL's words, as the files in the folder
/// `Expected` say them. No database runs them.
@Suite struct PostgreSQLStatementTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Expected")

    /// The statements of a file, each below its title.
    private static func expected(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appendingPathComponent(name + ".sql"), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func expect(_ statements: [(title: String, sql: String)], in name: String) throws {
        let expected = try expected(name)
        let lines = statements.flatMap { ["-- " + $0.title, $0.sql] }
        for (line, wanted) in zip(lines, expected) { #expect(line == wanted) }
        #expect(lines.count == expected.count)
    }

    @Test(arguments: ["equality", "orders", "texts", "lists", "objects", "collections", "calculations"])
    func predicatesAreInItsWords(part: String) throws {
        let company = try PostgreSQLCompany()
        let questions = try #require(Question.all.first { $0.name == part }).questions
        try Self.expect(questions.map { ("\($0.entity): \($0.format)", company.condition($0)) }, in: "predicates-" + part)
    }

    @Test func ordersSayWhereNilStands() throws {
        let company = try PostgreSQLCompany()
        let keys = Sorting.keys.map { key in
            (
                key,
                company.fetch("Employee") {
                    $0.shape = .references
                    $0.sortDescriptors = [NSSortDescriptor(key: key, ascending: true), NSSortDescriptor(key: "SELF", ascending: false)]
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
        let wanted = DictionaryFetch.all.filter { $0.title != "distinct, in another order" }
        try Self.expect(wanted.map { ($0.title, company.fetch("Employee", $0.fill)) }, in: "dictionaries")
    }

    @Test func schemasHaveItsTypesAndTriggers() throws {
        let schema = PostgreSQLSchema(mapping: try PostgreSQLCompany().mapping, schema: "company")
        #expect(try schema.tables() + schema.afterRows() == (try Self.expected("schema")))
    }

    /// A server without ICU cannot keep what is made of folded texts: it is said before there is a table, and not by each save.
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

    /// A kept statement binds other constants: what each argument is of comes from the generator for this dialect too.
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
        func bound(_ arguments: [SQLArgument]) -> [String] { arguments.map { "\($0.value) as \(String(describing: $0.kind))" } }
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
