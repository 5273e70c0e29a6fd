import CoreData

/// The room that a table and its indexes take in a store's file.
struct TableSize {
    let table: String
    /// In bytes.
    let rows: Int64
    /// All indexes of the table together, in bytes.
    let indexes: Int64
    let indexCount: Int
    /// Whether the sizes are computed from the values of some rows, and not counted in pages.
    let isEstimate: Bool
}

/// Determines the sizes of tables.
struct TableSizes {
    private let contents: StoreCatalog
    private let reader: SQLiteReader
    /// The size of each table and index in pages, by name; nil if pages are not counted.
    private let counted: [String: Int64]?
    /// The indexes of each table, each with its columns.
    private var indexes: [String: [(name: String, columns: [String])]] = [:]
    private let pageSize: Int64

    /// The size of a file up to which its pages are counted: that reads each of them.
    private static let countedSize: Int64 = 8_000_000

    init(_ contents: StoreCatalog, reader: SQLiteReader, fileSize: Int64) throws {
        self.contents = contents
        self.reader = reader
        pageSize = try reader.rows("PRAGMA page_size").first?[0].integer ?? 4096
        // Not every SQLite library has the table dbstat, and damaged pages cannot be counted.
        let pages =
            fileSize > Self.countedSize
            ? nil : try? reader.rows("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
        counted = pages.map { rows in
            Dictionary(
                rows.compactMap { row in row[0].text.map { ($0, row[1].integer ?? 0) } }, uniquingKeysWith: { $0 + $1 })
        }
        let rows = try? reader.rows(
            "SELECT m.tbl_name, m.name, i.name FROM sqlite_master m JOIN pragma_index_info(m.name) i "
                + "WHERE m.type = 'index' ORDER BY m.name, i.seqno")
        for row in rows ?? [] {
            guard let table = row[0].text, let index = row[1].text else { continue }
            if indexes[table]?.last?.name != index { indexes[table, default: []].append((index, [])) }
            let last = (indexes[table]?.count ?? 1) - 1
            indexes[table]?[last].columns.append(row[2].text ?? "")
        }
    }

    /// - Parameter rowCount: the number of the table's rows.
    func size(of table: String, rowCount: Int64) -> TableSize? {
        guard contents.tables[table] != nil else { return nil }
        let indexes = indexes[table] ?? []
        if let counted {
            return TableSize(
                table: table, rows: counted[table] ?? 0, indexes: indexes.reduce(0) { $0 + (counted[$1.name] ?? 0) },
                indexCount: indexes.count, isEstimate: false)
        }
        guard let widths = widths(of: table) else { return nil }
        let row = widths.values.reduce(0, +)
        return TableSize(
            table: table, rows: pages(rowCount, of: row + Self.rowOverhead, fill: Self.tableFill),
            indexes: indexes.reduce(0) { sum, index in
                let width = index.columns.reduce(0) { $0 + (widths[$1] ?? Self.keyWidth) }
                return sum + pages(rowCount, of: width + Self.indexOverhead, fill: Self.indexFill)
            }, indexCount: indexes.count, isEstimate: true)
    }

    // MARK: Estimates

    // The bytes of a record beside its values, and the part of a page that is in use: rows are
    // appended in the order of their keys, index entries come in any order.
    private static let rowOverhead = 8.0
    private static let indexOverhead = 8.0
    private static let keyWidth = 4.0
    private static let tableFill = 0.97
    private static let indexFill = 0.85

    private func pages(_ rows: Int64, of width: Double, fill: Double) -> Int64 {
        let bytes = Double(rows) * width / fill
        guard bytes < 1e18 else { return 0 }
        return max(1, Int64(bytes) / pageSize) * pageSize
    }

    /// Returns the mean number of bytes in each column of the sampled rows.
    private func widths(of table: String) -> [String: Double]? {
        let names = contents.columns(of: table).map(\.name)
        let list = names.map { "sum(\(Self.width("t." + SQLiteReader.identifier($0))))" }
        var count: Int64 = 0
        var sums = Array(repeating: Int64(0), count: names.count)
        for condition in contents.sample(of: table, reader: reader).conditions {
            let row = try? reader.rows(
                "SELECT count(*), \(list.joined(separator: ", ")) FROM "
                    + "(SELECT * FROM \(SQLiteReader.identifier(table)) t WHERE \(condition) LIMIT \(RowSample.size)) t"
            ).first
            guard let row else { return nil }
            count += row[0].integer ?? 0
            for (index, value) in row.dropFirst().enumerated() { sums[index] &+= value.integer ?? 0 }
        }
        let means = sums.map { count == 0 ? 0 : Double($0) / Double(count) }
        return Dictionary(zip(names, means), uniquingKeysWith: { first, _ in first })
    }

    /// Returns SQL for the bytes of a value in SQLite's record format:
    /// <https://www.sqlite.org/fileformat2.html#record_format>.
    private static func width(_ column: String) -> String {
        "1 + CASE typeof(\(column)) WHEN 'null' THEN 0 WHEN 'integer' THEN CASE WHEN \(column) IN (0, 1) THEN 0 "
            + "WHEN \(column) BETWEEN -128 AND 127 THEN 1 WHEN \(column) BETWEEN -32768 AND 32767 THEN 2 "
            + "WHEN \(column) BETWEEN -8388608 AND 8388607 THEN 3 "
            + "WHEN \(column) BETWEEN -2147483648 AND 2147483647 THEN 4 ELSE 8 END "
            + "WHEN 'real' THEN 8 WHEN 'text' THEN length(CAST(\(column) AS BLOB)) ELSE length(\(column)) END"
    }
}
