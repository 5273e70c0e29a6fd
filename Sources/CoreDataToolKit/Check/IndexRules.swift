import CoreData

/// The rules that the indexes exist that Core Data makes for a model.
///
/// Frameworks of different age name some of them differently: an index under another name counts
/// too, if it begins with the same columns.
struct IndexRules {
    let store: CheckedStore
    /// The columns of each existing index, by table.
    private let present: [String: [[String]]]

    private struct Wanted {
        let name: String
        let table: String
        let columns: [String]
        var isUnique = false
        let purpose: String
    }

    init(_ store: CheckedStore) throws {
        self.store = store
        let rows = try store.reader.rows(
            "SELECT m.name, l.name, i.name FROM sqlite_master m, pragma_index_list(m.name) l, "
                + "pragma_index_info(l.name) i WHERE m.type = 'table' AND l.partial = 0 ORDER BY m.name, l.seq, i.seqno"
        )
        var present: [String: [[String]]] = [:]
        var last = ""
        for row in rows {
            guard let table = row[0].text, let index = row[1].text else { continue }
            if index != last { present[table, default: []].append([]) }
            last = index
            let place = (present[table]?.count ?? 1) - 1
            present[table]?[place].append(row[2].text ?? "")
        }
        self.present = present
    }

    func findings() throws -> [StoreFinding] {
        let wanted = store.tables.flatMap(wanted) + store.survey.joins.compactMap(wanted)
        return try wanted.filter(isMissing).map(finding)
    }

    private func isMissing(_ index: Wanted) -> Bool {
        let table = store.contents.present(index.table) ?? index.table
        guard store.contents.tables[table] != nil, index.columns.allSatisfy({ store.hasColumn($0, in: table) })
        else { return false }
        return !(present[table] ?? []).contains { columns in
            index.isUnique
                ? Set(columns) == Set(index.columns) : Array(columns.prefix(index.columns.count)) == index.columns
        }
    }

    // MARK: Wanted indexes

    private func wanted(_ table: StoreInspection.EntityTable) -> [Wanted] {
        var wanted: [Wanted] = []
        for cell in store.cells(of: table) {
            guard case .key = cell.content else { continue }
            wanted.append(
                Wanted(
                    name: "\(table.name)_\(cell.column)_INDEX", table: table.name, columns: [cell.column],
                    purpose: "the relationship \(cell.entity).\(cell.property)"))
        }
        if table.entities.count > 1 {
            wanted.append(
                Wanted(
                    name: "\(table.name)_Z_ENT_INDEX", table: table.name, columns: ["Z_ENT"],
                    purpose: "the entities of the table"))
        }
        wanted += UniqueColumns.all(of: table, in: store).map { unique in
            Wanted(
                name: "Z_\(unique.entity)_UNIQUE_\(unique.names.joined(separator: "_"))", table: table.name,
                columns: unique.columns, isUnique: true, purpose: "a uniqueness constraint of \(unique.entity)")
        }
        return wanted + table.entities.flatMap { fetchIndexes(of: $0.name, table) }
    }

    private func wanted(_ join: StoreInspection.JoinTable) -> Wanted? {
        guard join.columns.count > 1 else { return nil }
        return Wanted(
            name: "\(join.name)_\(join.columns[1])_INDEX", table: join.name,
            columns: [join.columns[1], join.columns[0]],
            purpose: "the relationship \(join.entity).\(join.relationship)")
    }

    /// Returns the fetch indexes that hold nothing but the values of attributes.
    private func fetchIndexes(of name: String, _ table: StoreInspection.EntityTable) -> [Wanted] {
        guard let entity = store.entities[name] else { return [] }
        let owners = entity.lineage
        let cells = store.cells(of: table).filter { owners.contains($0.entity) }
        return entity.indexes.filter { $0.partialIndexPredicate == nil }.compactMap { index in
            let columns = index.elements.compactMap { element in
                element.collationType == .binary ? cells.first { $0.property == element.propertyName }?.column : nil
            }
            guard !columns.isEmpty, columns.count == index.elements.count else { return nil }
            return Wanted(
                name: "Z_\(name)_\(index.name)", table: table.name, columns: columns,
                purpose: "the fetch index \(index.name) of \(name)")
        }
    }

    // MARK: Findings

    private func finding(_ index: Wanted) throws -> StoreFinding {
        StoreFinding(
            kind: .missingIndex, table: index.table, count: 1, examples: [index.name],
            sentence: "The index \(index.name) for \(index.purpose) is missing.", mend: try mend(index))
    }

    /// Returns nil where equal values forbid the index.
    private func mend(_ index: Wanted) throws -> Mend? {
        let columns = index.columns.map(SQLiteReader.identifier).joined(separator: ", ")
        let table = SQLiteReader.identifier(index.table)
        if index.isUnique {
            let isWhole = index.columns.map { "\(SQLiteReader.identifier($0)) IS NOT NULL" }.joined(separator: " AND ")
            let equal = try? store.reader.rows(
                "SELECT 1 FROM \(table) WHERE \(isWhole) GROUP BY \(columns) HAVING count(*) > 1 LIMIT 1")
            if equal?.isEmpty != true { return nil }
        }
        let name = SQLiteReader.identifier(index.name)
        // Another index may have taken the name.
        return Mend(
            "makes the index",
            sql: "DROP INDEX IF EXISTS \(name)",
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(columns))")
    }
}
