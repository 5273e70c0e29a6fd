import CoreData

/// The contents of a report about a store; the objects of its samples are read when they are
/// written.
struct ReportContents {
    struct Fact {
        let name: String
        let value: String
    }

    /// A bar of a chart.
    struct Bar {
        let name: String
        /// The number of steps by which the name is indented.
        var depth = 0
        let value: Int64
        /// The value for people.
        let text: String
    }

    let title: String
    /// The most important numbers.
    let figures: [Fact]
    let facts: [Fact]
    /// What is wrong with the store, in sentences.
    let findings: [String]
    let diagram: EntityDiagram
    /// The number of objects of each entity, subentities behind their superentities.
    let counts: [Bar]
    /// The room of each table with its indexes in the file, the largest first; empty if unknown.
    let sizes: [Bar]
    let spreads: [DateSpread]
    /// Samples of the entities that have objects.
    let samples: [EntitySample]

    /// - Parameters:
    ///   - limit: the greatest number of objects in the sample of an entity.
    ///   - findings: what is wrong beside the problems that the store itself shows, in sentences.
    init(_ store: ReadableStore, limit: Int, findings: [String] = []) throws {
        let report = try StoreReport(store)
        title = store.file.originalURL.lastPathComponent
        self.findings = report.warnings + findings
        facts = Self.facts(report)
        counts = report.entities.map { entity in
            Bar(
                name: entity.name + (entity.isAbstract ? " (abstract)" : ""), depth: entity.depth, value: entity.own,
                text: ReportNumber.grouped(entity.own))
        }
        let objects = report.entities.reduce(0) { $0 &+ $1.own }
        figures = [
            Fact(name: "Objects", value: ReportNumber.grouped(objects)),
            Fact(name: "Entities", value: ReportNumber.grouped(Int64(report.entities.count))),
            Fact(name: "Size", value: ReportNumber.bytes(report.size)),
            Fact(name: "Findings", value: ReportNumber.grouped(Int64(self.findings.count))),
        ]
        diagram = try EntityDiagram(try NamedModel.declared(store.model, store.contents), named: title)
        sizes = Self.sizes(store.reader)
        let places = store.model.entities.filter { !$0.isAbstract }.compactMap { EntityPlace($0, in: store) }
            .filter { $0.count > 0 }.sorted { $0.name < $1.name }
        spreads = places.compactMap { DateSpread($0, in: store) }
        samples = try places.enumerated().map { try EntitySample($1, number: $0 + 1, limit: limit, in: store) }
    }

    private static func facts(_ report: StoreReport) -> [Fact] {
        let facts: [(name: String, value: String?)] = [
            ("File", report.path),
            ("UUID", report.text(NSStoreUUIDKey)),
            ("Size", StoreReport.bytes(report.size)),
            ("WAL", report.walSize.map { $0 == 0 ? "empty" : StoreReport.bytes($0) } ?? "none"),
            ("Model", report.origin.text),
            ("Model versions", report.identifiers.isEmpty ? nil : report.identifiers.joined(separator: ", ")),
            ("Framework version", report.text(StoreReport.frameworkKey)),
            ("Format version", report.formatVersion.map(String.init)),
        ]
        return facts.compactMap { fact in fact.value.map { Fact(name: fact.name, value: $0) } }
    }

    private static func sizes(_ reader: SQLiteReader) -> [Bar] {
        // Not every SQLite library has the table dbstat, and damaged pages cannot be counted.
        let rows = try? reader.rows(
            "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name "
                + "GROUP BY m.tbl_name ORDER BY 2 DESC, 1")
        return (rows ?? []).compactMap { row in
            guard let table = row[0].text, let size = row[1].integer else { return nil }
            return Bar(name: table, value: size, text: ReportNumber.bytes(size))
        }
    }
}

/// An entity of a store, with the table and the number that its rows have.
struct EntityPlace {
    let entity: NSEntityDescription
    let name: String
    let table: StoreInspection.EntityTable
    let number: Int
    /// The number of objects.
    let count: Int64

    /// Returns nil for an entity without a table.
    init?(_ entity: NSEntityDescription, in store: ReadableStore) {
        let name = entity.name ?? ""
        guard let table = store.survey.tables.first(where: { $0.entities.contains { $0.name == name } }),
            let number = table.entities.first(where: { $0.name == name })?.number
        else { return nil }
        self.entity = entity
        self.name = name
        self.table = table
        self.number = number
        count = store.survey.counts[number] ?? 0
    }

    /// The rows of the entity in SQL, behind `FROM`.
    var rows: String { "\(SQLiteReader.identifier(table.name)) t WHERE t.Z_ENT = \(number)" }
}

/// Numbers for people.
enum ReportNumber {
    /// Returns `1,234,567`.
    static func grouped(_ number: Int64) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits[...]] + groups).joined(separator: ",")
    }

    /// Returns `1.2 MB`.
    static func bytes(_ count: Int64) -> String {
        count < 1000 ? "\(count) bytes" : String(StoreReport.bytes(count).prefix { $0 != "(" }.dropLast())
    }
}
