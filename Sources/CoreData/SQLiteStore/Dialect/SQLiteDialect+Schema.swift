// Statements for schemas as Core Data writes them.
extension SQLiteDialect {
    func createTable(_ table: SQLTable) -> [String] {
        let columns = table.declarations.map { ", \(identifier($0.name)) \($0.type.declaration)" }.joined()
        return [
            "CREATE TABLE \(identifier(table.name)) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT "
                + "INTEGER\(columns) )"
        ]
    }

    func columnForms(of table: SQLTable) -> [String] { [] }

    func createTable(_ join: SQLJoinTable) -> [String] {
        let list = join.columnNames.map { "\(identifier($0)) INTEGER, " }.joined()
        return [
            "CREATE TABLE \(identifier(join.name)) ( \(list)PRIMARY KEY (\(identifier(join.firstColumn)), "
                + "\(identifier(join.secondColumn))) )"
        ]
    }

    func createIndex(_ index: SQLIndex) -> String {
        let elements = index.elements.map { element in
            identifier(element.column)
                + (element.isAscending.map { $0 ? " COLLATE BINARY ASC" : " COLLATE BINARY DESC" } ?? "")
        }
        return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(identifier(index.name)) ON \(identifier(index.table)) "
            + "(\(elements.joined(separator: ", ")))" + (index.condition.map { " WHERE " + $0 } ?? "")
    }

    func createSpatialIndex(_ index: SQLSpatialIndex) -> [String] { SpatialIndexTable(index)?.statements() ?? [] }

    // Normalizing texts needs functions of the connection, which other programs lack.
    func refusal(of index: SQLIndex) -> String? {
        index.isOfOtherForms ? "texts are indexed as they are" : nil
    }

    func triggers(_ derivation: SQLDerivation) throws -> [String] {
        try CoreDataTriggers(derivation)?.statements() ?? []
    }

    // Without the cast, a table with a single column would look like the same one.
    func number(_ value: SQLText, of kind: ValueKind, as wider: ValueKind) -> SQLText? {
        guard let type = SQLColumnType(wider), type != SQLColumnType(kind) else { return nil }
        return "CAST(" + value + " AS \(type.declaration))"
    }

    /// The current time in seconds since 2001.
    var now: String { "(julianday('now') - 2451910.5) * 86400.0" }

    var housekeeping: [String] { [Self.primaryKeyTable, Self.metadataTable, Self.modelTable()] }

    static let primaryKeyTable =
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
    static let metadataTable =
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"

    static func modelTable(unlessExists: Bool = false) -> String {
        "CREATE TABLE \(unlessExists ? "IF NOT EXISTS " : "")Z_MODELCACHE (Z_CONTENT BLOB)"
    }
}

extension SQLColumnType {
    /// The declared type of a column.
    var declaration: String {
        switch self {
        case .integer: "INTEGER"
        case .float: "FLOAT"
        case .timestamp: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .text: "VARCHAR"
        case .bytes: "BLOB"
        }
    }
}
