/// Reads the rows of a table around damaged pages.
///
/// It reads forward from the first row up to the damage, then backward from the last one. Then it
/// looks up each key that is not yet read: SQLite finds a row if the pages on its path are sound,
/// and its neighbours with it.
struct TableReading {
    /// Takes a row with its row number, and whether it stands for one that was given before.
    typealias Body = (_ key: Int64, _ row: [SQLiteReader.Value], _ replaces: Bool) throws -> Void

    private let reader: SQLiteReader
    private let source: String
    /// The name under which the table's row number can be read; nil for a table without.
    private let rowNumber: String?
    /// The greatest key that the table may have; nil if it is not known.
    private let greatest: Int64?
    /// The indexes of the table that have an entry for each row.
    private let indexes: [String]

    /// SQLite's failure at the first damage; nil if there was none.
    private(set) var failure: SQLiteReader.Failure?
    /// The number of keys that were given, or that an index has, and that cannot be read.
    private(set) var unreadKeys: Int64 = 0
    /// The keys of the rows that were read.
    private var keys: Set<Int64> = []
    /// The keys under which damaged pages have shown several rows.
    private var doubtful: Set<Int64> = []

    /// The number of keys that are looked up one by one. In a larger gap steps grow.
    private static let soughtKeys: Int64 = 200_000
    /// The number of keys that are looked up where nothing tells of a greatest one: Core Data's own
    /// tables number their rows up to some 16,000.
    private static let unknownKeys: Int64 = 20_000

    /// - Parameters:
    ///   - greatest: the greatest key that was ever given; nil if unknown.
    init(
        _ table: String, rowNumber: String?, indexes: [String], greatest: Int64?,
        reader: SQLiteReader
    ) {
        self.reader = reader
        self.rowNumber = rowNumber
        self.greatest = greatest
        self.indexes = indexes
        source = SQLiteReader.identifier(table)
    }

    /// Passes each row that can be read to a function.
    mutating func forEachRow(_ body: Body) throws {
        guard rowNumber != nil else {
            failure = try scan("", isKeyed: false, body).failure
            return
        }
        let start = try scan("ORDER BY # ASC", body)
        failure = start.failure
        if failure != nil {
            let end = try scan("ORDER BY # DESC", body)
            if let indexed = indexedKeys() {
                for key in indexed where try !find(key, body) { unreadKeys += 1 }
            } else {
                try seek(after: start.last, before: end.last, body)
            }
        }
        for key in doubtful { _ = try scan("WHERE # = \(key)", replaces: true, body) }
    }

    // MARK: Reading

    private struct Part {
        var last: Int64?
        var failure: SQLiteReader.Failure?
    }

    private struct Known: Error {}

    /// Reads rows until the damage; of rows that are known, only the first one.
    ///
    /// - Parameter clause: the end of the statement, with `#` for the row number.
    private mutating func scan(
        _ clause: String, isKeyed: Bool = true, replaces: Bool = false, _ body: Body
    ) throws -> Part {
        var part = Part()
        let isFirst = keys.isEmpty
        let number = isKeyed ? rowNumber ?? "0" : "0"
        do {
            try reader.forEachRow(
                "SELECT \(number), * FROM \(source) NOT INDEXED "
                    + clause.replacingOccurrences(of: "#", with: number)
            ) { row in
                let key = row[0].integer ?? 0
                if isKeyed, !replaces, !keys.insert(key).inserted {
                    // Rows of damaged pages may have the keys of others.
                    doubtful.insert(key)
                    if !isFirst { throw Known() }
                    return
                }
                if let last = part.last, key < last, isFirst { doubtful.formUnion([key, last]) }
                try body(key, Array(row.dropFirst()), replaces)
                part.last = key
            }
        } catch is Known {
            return part
        } catch let failure as SQLiteReader.Failure
            where failure.isOfPages || failure.isEndless || failure.isOfReading
        {
            part.failure = failure
        }
        return part
    }

    /// Looks up a key, and reads the rows around it. Returns whether the row is read.
    private mutating func find(_ key: Int64, _ body: Body) throws -> Bool {
        if keys.contains(key) { return true }
        guard try scan("WHERE # = \(key)", body).last != nil else { return false }
        if key < .max { _ = try scan("WHERE # >= \(key + 1) ORDER BY # ASC", body) }
        if key > .min { _ = try scan("WHERE # <= \(key - 1) ORDER BY # DESC", body) }
        return true
    }

    /// Looks up the keys between two keys: each one, and in larger steps where very many cannot be
    /// read.
    private mutating func seek(after start: Int64?, before end: Int64?, _ body: Body) throws {
        var (low, high) = (start ?? 0, end ?? .max)
        // Keys out of order tell nothing of where the damage is.
        if high <= low || low > greatest ?? low { (low, high) = (0, .max) }
        let known = [greatest, indexedBound("max"), keys.max()].compactMap { $0 }.max()
        high = min(high, known ?? Self.unknownKeys)
        var (key, step) = (low, Int64(1))
        while true {
            let next = key.addingReportingOverflow(step)
            if next.overflow || next.partialValue > high { return }
            key = next.partialValue
            if try find(key, body) {
                step = 1
            } else {
                unreadKeys = unreadKeys.addingReportingOverflow(step).partialValue
                if unreadKeys > Self.soughtKeys, step < 1 << 40 { step *= 2 }
            }
        }
    }

    // MARK: Indexes

    private func indexedBound(_ function: String) -> Int64? {
        for index in indexes {
            let row = try? reader.rows("SELECT \(function)(\(rowNumber ?? "")) FROM \(indexed(index))").first
            if let bound = row?[0].integer { return bound }
        }
        return nil
    }

    /// Returns all keys that a sound index has; nil if there is none.
    private func indexedKeys() -> [Int64]? {
        guard let rowNumber else { return nil }
        for index in indexes {
            if let rows = try? reader.rows("SELECT \(rowNumber) FROM \(indexed(index))") {
                return rows.compactMap(\.[0].integer).sorted()
            }
        }
        return nil
    }

    private func indexed(_ index: String) -> String { "\(source) INDEXED BY \(SQLiteReader.identifier(index))" }

    /// Returns the number of rows that a sound index has; nil if there is none.
    func indexedCount() -> Int64? {
        for index in indexes {
            if let row = try? reader.rows("SELECT count(*) FROM \(indexed(index))").first { return row[0].integer }
        }
        return nil
    }

    /// Returns the number of rows of each entity number that a sound index has.
    func indexedCounts(by column: String, index: String) -> [Int64: Int64]? {
        let name = SQLiteReader.identifier(column)
        guard let rows = try? reader.rows("SELECT \(name), count(*) FROM \(indexed(index)) GROUP BY \(name)") else {
            return nil
        }
        let counts = rows.compactMap { row in row[0].integer.map { ($0, row[1].integer ?? 0) } }
        return Dictionary(counts, uniquingKeysWith: +)
    }
}
