import CoreData

/// A table that every Core Data store has, read as far as it exists.
struct StoreTable {
    let name: String
    let columns: [String]
    let order: String

    /// The statement that makes the table as Core Data makes it.
    let definition: String

    static let metadata = StoreTable(
        name: "Z_METADATA", columns: ["Z_VERSION", "Z_UUID", "Z_PLIST"], order: "Z_VERSION",
        definition: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
    static let entities = StoreTable(
        name: "Z_PRIMARYKEY", columns: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], order: "Z_ENT",
        definition: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, "
            + "Z_MAX INTEGER)")

    /// Whether the table exists with all its columns, as the engine needs it.
    func isComplete(in tables: [String: [StoreCatalog.Column]]) -> Bool {
        Set(columns).isSubset(of: (tables[name] ?? []).map(\.name))
    }

    /// Returns the rows with these columns; null for a missing column.
    func rows(
        in tables: [String: [StoreCatalog.Column]], _ views: [String: [StoreCatalog.Column]], _ reader: SQLiteReader,
        _ problems: inout [String]
    ) throws -> [[SQLiteReader.Value]] {
        guard let present = (tables[name] ?? views[name])?.map(\.name) else {
            problems.append("The table \(name) is missing.")
            return []
        }
        let missing = columns.filter { !present.contains($0) }
        if !missing.isEmpty { problems.append("The table \(name) has no column \(missing.joined(separator: ", ")).") }
        let list = columns.map { missing.contains($0) ? "NULL" : $0 }.joined(separator: ", ")
        // A view may never end: the number of its rows is limited before they are sorted. No store
        // has as many entities.
        let most = 100_000
        let source = tables[name] == nil ? "(SELECT * FROM \(name) LIMIT \(most + 1))" : name
        do {
            let (rows, failure) = try reader.readableRows(
                "SELECT \(list) FROM \(source)" + (missing.contains(order) ? "" : " ORDER BY \(order)"))
            if let failure { problems.append("The table \(name) is damaged (\(failure.message)).") }
            if tables[name] == nil, rows.count > most { throw SQLiteReader.Failure.endless }
            return rows
        } catch let failure as SQLiteReader.Failure where tables[name] == nil || failure.isEndless {
            problems.append(
                "The table \(name) cannot be read: \(failure.isEndless ? "its rows do not end" : failure.message).")
            return []
        }
    }
}
