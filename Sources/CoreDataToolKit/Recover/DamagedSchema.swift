/// The readable part of a damaged file's schema.
struct DamagedSchema {
    struct Item {
        let type: String
        let name: String
        let table: String
        /// Nil for an index that SQLite makes by itself.
        let sql: String?

        var isVirtual: Bool { sql?.uppercased().hasPrefix("CREATE VIRTUAL TABLE") == true }

        /// Whether the statement makes nothing but what it names. A table that is made of a query
        /// is not in a sound schema.
        var isPlain: Bool {
            guard let sql, sql.uppercased().hasPrefix("CREATE ") else { return false }
            return type != "table" || isVirtual
                || sql.prefix { $0 != "(" }.count < sql.count
                    && !sql.prefix { $0 != "(" }.uppercased().contains(" AS ")
        }
    }

    let items: [Item]
    private let reader: SQLiteReader

    init(_ reader: SQLiteReader) throws {
        self.reader = reader
        let (rows, _) = try reader.readableRows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid")
        items = rows.compactMap { row in
            guard let type = row[0].text, let name = row[1].text, let table = row[2].text else { return nil }
            return Item(type: type, name: name, table: table, sql: row[3].text)
        }
    }

    /// The tables that hold rows of their own, and virtual ones.
    var tables: [Item] {
        let virtual = items.filter(\.isVirtual).map(\.name)
        return items.filter { item in
            item.type == "table" && !item.name.lowercased().hasPrefix("sqlite_") && item.isPlain
                && !virtual.contains { item.name != $0 && item.name.hasPrefix($0 + "_") }
        }
    }

    /// Indexes, views and triggers, in the order in which they can be made.
    var others: [Item] {
        ["index", "view", "trigger"].flatMap { type in items.filter { $0.type == type && $0.isPlain } }
    }

    func columns(of table: String) -> [(name: String, isKey: Bool)] {
        // Those of `SELECT *`.
        let rows = try? reader.rows(
            "SELECT name, pk, upper(type) FROM pragma_table_info(\(SQLiteReader.text(table))) ORDER BY cid")
        let columns = rows ?? []
        let keys = columns.count { $0[1].integer ?? 0 > 0 }
        return columns.compactMap { row in
            row[0].text.map { ($0, keys == 1 && row[1].integer == 1 && row[2].text == "INTEGER") }
        }
    }

    /// Returns the indexes with an entry for each row of a table, each with its first column.
    func indexes(of table: String) -> [(name: String, column: String)] {
        let rows = try? reader.rows(
            "SELECT l.name, i.name FROM pragma_index_list(\(SQLiteReader.text(table))) l, pragma_index_info(l.name) i "
                + "WHERE l.partial = 0 AND i.seqno = 0")
        return (rows ?? []).compactMap { row in row[0].text.map { ($0, row[1].text ?? "") } }
    }

    /// Returns the name under which the number of a table's rows can be read; nil for a table
    /// without.
    func rowNumber(of item: Item) -> String? {
        if item.isVirtual || item.sql?.uppercased().contains("WITHOUT ROWID") != false { return nil }
        let columns = columns(of: item.name)
        if let key = columns.first(where: \.isKey) { return SQLiteReader.identifier(key.name) }
        let names = Set(columns.map { $0.name.lowercased() })
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    }

    /// Returns a reading of a table.
    func reading(of item: Item, greatest: Int64?) -> TableReading {
        TableReading(
            item.name, rowNumber: rowNumber(of: item),
            indexes: indexes(of: item.name).map(\.name), greatest: greatest, reader: reader)
    }
}
