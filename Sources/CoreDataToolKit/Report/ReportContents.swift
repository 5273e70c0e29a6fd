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
    /// The faults of the store, in sentences.
    let findings: [String]
    let diagram: EntityDiagram
    /// The number of objects of each entity, subentities behind their superentities.
    let counts: [Bar]
    /// The size of each table with its indexes, the largest first; empty if unknown.
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
        self.findings = report.warnings + findings.filter { !report.warnings.contains($0) }
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
