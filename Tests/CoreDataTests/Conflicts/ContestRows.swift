import CoreData
import TestSupport

/// The rows of a library: properties as texts, by entity and key. Destinations are keys.
struct ContestRows {
    typealias State = [String: [String: String]]

    private let library: Library
    /// Nil for a store in memory.
    private let tables: StoreTables?

    init(_ library: Library) {
        self.library = library
        tables = library.kind.isDatabase ? library.tables : nil
    }

    /// The store's present content: read with the database's own library, or by a fresh context for
    /// a store in memory.
    func state() -> State { tables.map(state) ?? contextState() }

    private func state(_ tables: StoreTables) -> State {
        var state: State = [:]
        func text(_ value: String?) -> String { value ?? "nil" }
        for row in tables.rows("SELECT {id}, {name}, {born} FROM {author}") {
            state["Author/p\(text(row[0]))"] = ["name": text(row[1]), "born": text(row[2])]
        }
        for row in tables.rows("SELECT {id}, {label} FROM {tag}") {
            state["Tag/p\(text(row[0]))"] = ["label": text(row[1])]
        }
        for row in tables.rows("SELECT {id}, {title}, {pages}, {rating}, {published}, {author_id} FROM {book}") {
            state["Book/p\(text(row[0]))"] = [
                "title": text(row[1]), "pages": text(row[2]),
                "rating": row[3].flatMap(Double.init).map { "\($0)" } ?? "nil",
                "published": text(row[4]), "author": row[5].map { "→Author/p\($0)" } ?? "nil",
            ]
        }
        return state
    }

    private func contextState() -> State {
        let context = library.coordinator.newContext()
        return withExtendedLifetime(context) {
            var state: State = [:]
            for entity in ["Author", "Book", "Tag"] {
                for object in (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))) ?? [] {
                    state[Self.name(object)] = Dictionary(
                        uniqueKeysWithValues: Self.names(object).map { ($0, Self.text(object.value(forKey: $0))) })
                }
            }
            return state
        }
    }

    /// The violated invariant, if any: dangling keys and pairs, or a history whose last entry is
    /// not the present content.
    var problem: String? {
        switch library.kind {
        case .sqlite: problemOfFile
        case .postgreSQL: problemOfSchema
        case .inMemory, .xml, .binary: nil
        }
    }

    private var problemOfSchema: String? {
        let lost = tables?.column(
            """
            SELECT 'pair ' || j::text FROM book_tags j WHERE book_id NOT IN (SELECT id FROM book) OR tag_id NOT IN \
            (SELECT id FROM tag) \
            UNION ALL SELECT 'book ' || id FROM book WHERE author_id IS NOT NULL AND author_id NOT IN (SELECT id FROM \
            author)
            """)
        return lost == [] ? nil : "keys lead nowhere: \(lost ?? [])"
    }

    private var problemOfFile: String? {
        let file = library.file
        if let join = file.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") {
            let columns = file.column("SELECT name FROM pragma_table_info('\(join)')").compactMap { $0 }
            if let books = columns.first(where: { $0.hasSuffix("BOOKS") }),
                let tags = columns.first(where: { $0.hasSuffix("TAGS") })
            {
                let count = file.integer(
                    "SELECT count(*) FROM \(join) WHERE \(books) NOT IN (SELECT Z_PK FROM ZBOOK) OR \(tags) NOT IN "
                        + "(SELECT Z_PK FROM ZTAG)"
                )
                if count != 0 { return "\(count.map(String.init) ?? "?") pairs of the join table lead nowhere" }
            }
        }
        guard file.value("SELECT name FROM sqlite_master WHERE name = 'ACHANGE'") != nil else { return nil }
        for (entity, table) in [("Author", "ZAUTHOR"), ("Book", "ZBOOK"), ("Tag", "ZTAG")] {
            let wrong = file.column(
                """
                SELECT ZENTITYPK FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY AND p.Z_NAME = '\(entity)'
                WHERE c.Z_PK = (SELECT MAX(Z_PK) FROM ACHANGE l WHERE l.ZENTITY = c.ZENTITY AND l.ZENTITYPK = \
                c.ZENTITYPK)
                AND (c.ZCHANGETYPE = 2) = (c.ZENTITYPK IN (SELECT Z_PK FROM \(table)))
                """)
            if !wrong.isEmpty { return "the history of \(entity) \(wrong) ends with something else than the row" }
        }
        return nil
    }

    // MARK: Objects as texts

    static func names(_ object: NSManagedObject) -> [String] {
        let toOne = object.entity.relationshipsByName.filter { !$0.value.isToMany }.keys
        return Array(object.entity.attributesByName.filter { !$0.value.isTransient }.keys) + Array(toOne)
    }

    static func name(_ object: NSManagedObject) -> String {
        "\(object.entity.name ?? "?")/\(object.objectID.uriRepresentation().lastPathComponent)"
    }

    static func text(_ value: Any?) -> String {
        switch value {
        case let object as NSManagedObject: "→" + name(object)
        case nil, is NSNull: "nil"
        case let value?: "\(value)"
        }
    }
}
