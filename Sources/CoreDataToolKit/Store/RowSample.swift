/// The rows of a table that a command looks at: all, or the first and the last of a large table.
struct RowSample {
    /// The number of rows at each end of a large table.
    static let size = 1000

    /// SQL conditions on the table's alias `t` that together choose the rows, each row once.
    let conditions: [String]
    let isWhole: Bool

    static let all = RowSample(conditions: ["1"], isWhole: true)

    private init(conditions: [String], isWhole: Bool) {
        self.conditions = conditions
        self.isWhole = isWhole
    }

    /// Chooses the first and the last rows by key; all where there are few, or no order by key.
    ///
    /// Cost: O(`size`).
    ///
    /// - Parameter key: the column of the primary key that is the table's row number.
    init(of table: String, key: String, reader: SQLiteReader) {
        let (name, column) = (SQLiteReader.identifier(table), SQLiteReader.identifier(key))
        func end(_ order: String) -> Int64? {
            let row = try? reader.rows(
                "SELECT \(column) FROM \(name) NOT INDEXED ORDER BY \(column) \(order) LIMIT 1 OFFSET \(Self.size - 1)"
            ).first
            return row?.first?.integer
        }
        // A damaged page hides an end: the statement over all rows meets it again and reports it.
        guard let low = end("ASC"), let high = end("DESC"), low < high else {
            self = .all
            return
        }
        self.init(conditions: ["t.\(column) <= \(low)", "t.\(column) >= \(high)"], isWhole: false)
    }
}

extension StoreCatalog {
    /// Returns the rows of a table at which commands look that must not read all of it.
    func sample(of table: String, reader: SQLiteReader) -> RowSample {
        let keys = columns(of: table).filter(\.isKey)
        guard tables[table] != nil, keys.count == 1, keys[0].type == "INTEGER" else { return .all }
        return RowSample(of: table, key: keys[0].name, reader: reader)
    }
}
