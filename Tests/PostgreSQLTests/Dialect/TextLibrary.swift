import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Books whose titles have indexes of folded texts, parts and orders; `copy` is the same text
/// without.
enum TextLibrary {
    struct Wishes {
        var fold: String? = "cd"
        var search: String? = "trigram"
        var order: String? = "localizedStandardCompare:"
        /// Makes the entity another one.
        var version = ""
        var condition: String?
        var entity = "Book"
        var title = "title"

        static let none = Wishes(fold: nil, search: nil, order: nil)
    }

    static func model(_ wishes: Wishes = Wishes()) -> NSManagedObjectModel {
        let title = NSAttributeDescription(wishes.title, .stringAttributeType)
        title.renamingIdentifier = "title"
        title.userInfo = ["ocd.fold": wishes.fold, "ocd.search": wishes.search, "ocd.order": wishes.order]
            .compactMapValues { $0 }
        let summary = NSAttributeDescription("summary", .stringAttributeType)
        summary.userInfo = wishes.search.map { ["ocd.search": $0] }
        let book = NSEntityDescription(
            wishes.entity, class: "NSManagedObject",
            [
                title, summary, NSAttributeDescription("copy", .stringAttributeType),
                NSAttributeDescription("year", .integer32AttributeType),
            ])
        book.versionHashModifier = wishes.version
        book.renamingIdentifier = "Book"
        let byTitle = NSFetchIndexDescription(
            name: "byTitle", elements: [.init(property: title, collationType: .binary)])
        byTitle.partialIndexPredicate = wishes.condition.map { NSPredicate(format: $0) }
        book.indexes = [
            byTitle,
            NSFetchIndexDescription(name: "bySummary", elements: [.init(property: summary, collationType: .binary)]),
        ]
        return NSManagedObjectModel([book])
    }

    /// The server's database with pg_trgm, in a schema that no store works in.
    static let hasTrigrams: Bool = {
        do {
            let connection = try WireConnection.open()
            defer { connection.close() }
            try connection.run(
                "CREATE SCHEMA IF NOT EXISTS \"ex tensions\"; CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA \"ex "
                    + "tensions\""
            )
            return true
        } catch {
            return false
        }
    }()

    /// The names of the indexes of books, but for that of the key.
    static func indexes(_ url: URL, _ schema: String) -> [String] {
        PostgreSQLTables(url).column(
            "SELECT indexname FROM pg_indexes WHERE schemaname = '\(schema)' AND tablename = 'book' ORDER BY 1"
        )
        .compactMap { $0 }.filter { $0 != "book_pkey" }
    }

    /// The server's plan of a fetch.
    static func plan(
        _ warehouse: Warehouse, _ format: String?, by order: [CoreData.NSSortDescriptor] = [], limit: Int = 0,
        isGeneric: Bool = false
    ) throws -> String {
        let store = try #require(warehouse.store as? PostgreSQLStore)
        let backend = try store.backend()
        let entity = try #require(backend.mapping.layouts.layoutByName["Book"].flatMap { backend.mapping.entity($0) })
        var fetch = StoreFetch(entity: entity.layout)
        fetch.shape = .references
        fetch.predicate = format.map { NSPredicate(format: $0) }
        fetch.sortDescriptors = order
        fetch.limit = limit
        let made = try SQLGenerator(mapping: backend.mapping, store: store).fetch(fetch, entity) {
            backend.selectPlan(entity, includesSubentities: true).columns
        }.statement(backend.mapping.dialect)
        var lines: [String] = []
        try backend.pool.withConnection { connection in
            if isGeneric {
                // A plan for all constants: it is made before there are any.
                let values = made.values.map { value in
                    if case .string(let text) = value {
                        return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
                    }
                    return "NULL"
                }
                try connection.wire.run("SET plan_cache_mode TO force_generic_plan; PREPARE books AS \(made.sql)")
                try connection.execute(WireStatement("EXPLAIN EXECUTE books(\(values.joined(separator: ", ")))")) {
                    lines.append($0.string(0) ?? "")
                }
                try connection.wire.run("DEALLOCATE books; RESET plan_cache_mode")
            } else {
                let statement = try store.statement("EXPLAIN " + made.sql, made.arguments)
                try connection.execute(statement) { lines.append($0.string(0) ?? "") }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Many books with titles of some words.
    static func fill(_ warehouse: Warehouse, count: Int) throws {
        try warehouse.run(
            """
            INSERT INTO book (id, version, title, summary, copy, year) SELECT n, 1, t, t, t, n % 100 FROM (SELECT n, \
            concat_ws(' ', \
            (ARRAY['Ärger', 'Müller', 'maß', 'Élan', 'Zebra', 'ångström', 'alpha', 'BETA'])[n % 8 + 1], md5(n::text), \
            n) AS t \
            FROM generate_series(1, \(count)) n) AS books; UPDATE ocd_entity SET last_key = \(count)
            """)
        // Puts into the index of parts what it has only listed until then.
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("VACUUM ANALYZE \(warehouse.schema).book")
    }
}
