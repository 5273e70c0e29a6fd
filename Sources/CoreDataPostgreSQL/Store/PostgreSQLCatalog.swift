import CoreData
import Foundation

/// The tables, columns and functions in a store's schema, as the server's catalog describes them.
struct PostgreSQLCatalog: Sendable {
    /// A column, as the server's catalog describes it.
    struct Column: Sendable {
        /// The type that values are sent as, where it differs from the column's own.
        let type: UInt32
        /// The server's name for the column's type.
        let typeName: String
        /// Whether the column holds texts of a fixed length, padded with blanks.
        var isPadded = false
        /// Whether texts are ordered by their code points.
        var ordersByCodePoints = true
        /// Whether the column is NOT NULL.
        var isRequired = false
    }

    /// The columns, by table and then by column name.
    private var types: [String: [String: Column]] = [:]
    /// The kind of each table: `r` and `p` for tables, `v` for a view, `f` for a foreign table.
    private(set) var kinds: [String: String] = [:]
    /// The tables and views that `COPY` does not write for the connection's role.
    private(set) var uncopied: Set<String> = []
    /// A reason why the server may leave out rows that the connection's role writes to a table or
    /// view.
    ///
    /// The server reports only the number of rows that it has written.
    struct Omission: Sendable {
        let table: String
        /// The name of a trigger that is called before each row. Nil for row security policies,
        /// rules, and tables whose rows are stored in other tables.
        let trigger: String?
        /// Whether the catalog does not show if rows are left out: true for a view, a foreign
        /// table, or a table made of other tables.
        let isElsewhere: Bool
    }

    private(set) var omissions: [Omission] = []
    /// The entity numbers of the store, by the entities' names.
    private(set) var entityNumbers: [String: Int] = [:]
    /// Whether the schema has the functions that fold texts.
    private(set) var folds = false
    /// Whether the schema has the functions that predicates need beyond PostgreSQL's own.
    private(set) var calculates = false
    /// The operator class of trigram indexes, qualified; nil where the database does not have it.
    private(set) var trigrams: String?
    /// The kind of server.
    private(set) var profile = PostgreSQLProfile.postgreSQL

    /// Reads tables, views and foreign tables; and the entity numbers, where the store has a table
    /// of them.
    static func read(_ connection: PostgreSQLConnection, schema: String) throws -> PostgreSQLCatalog {
        var catalog = PostgreSQLCatalog()
        let arguments = WireArguments(text: schema)
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text, a.attname::text, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid \
                END::int8, \
                format_type(a.atttypid, a.atttypmod), c.relkind::text, CASE WHEN a.attcollation = 0 THEN TRUE \
                WHEN o.collprovider = 'd' THEN NOT 'a'::text < 'B'::text ELSE o.collcollate IN ('C', 'POSIX') IS TRUE \
                END, a.attnotnull FROM pg_catalog.pg_class c \
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid \
                = c.oid \
                JOIN pg_catalog.pg_type t ON t.oid = a.atttypid LEFT JOIN pg_catalog.pg_collation o ON o.oid = \
                a.attcollation \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'f') AND a.attnum > 0 AND NOT a.attisdropped \
                ORDER BY 1, a.attnum
                """, arguments)
        ) { row in
            guard let table = row.string(0), let column = row.string(1) else { return }
            catalog.kinds[table] = row.string(4)
            catalog.types[table, default: [:]][column] = Column(
                declared: UInt32(truncatingIfNeeded: row.int64(2)), named: row.string(3) ?? "",
                ordersByCodePoints: row.int64(5) != 0,
                isRequired: row.int64(6) != 0)
        }
        let marks = (PostgreSQLFunctions.foldingMarks.union(PostgreSQLFunctions.calculationMarks)).sorted().map {
            "'\($0)'"
        }
        let functions = Set(
            try connection.texts(
                WireStatement(
                    """
                    SELECT DISTINCT p.proname::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid \
                    = p.pronamespace \
                    WHERE n.nspname = $1 AND p.proname IN (\(marks.joined(separator: ", ")))
                    """, arguments)
            ))
        catalog.folds = functions.isSuperset(of: PostgreSQLFunctions.foldingMarks)
        catalog.calculates = functions.isSuperset(of: PostgreSQLFunctions.calculationMarks)
        try connection.execute(WireStatement("SELECT (\(PostgreSQLDialect.trigramQuery)), version()")) { row in
            catalog.trigrams = row.string(0)
            catalog.profile = PostgreSQLProfile.ofServer(version: row.string(1) ?? "")
        }
        try catalog.readOmissions(connection, arguments)
        if catalog.types[PostgreSQLHousekeeping.entityTable] != nil {
            catalog.entityNumbers = try entityNumbers(connection)
        }
        return catalog
    }

    /// Reads the tables that `COPY` does not write, and the reasons why rows may be left out.
    private mutating func readOmissions(_ connection: PostgreSQLConnection, _ arguments: WireArguments) throws {
        let policies = "c.relrowsecurity AND row_security_active(c.oid)"
        // In `tgtype`, 68 is INSTEAD OF INSERT.
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = \
                c.relnamespace \
                WHERE n.nspname = $1 AND CASE c.relkind WHEN 'v' THEN NOT EXISTS \
                (SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 68 = 68) \
                ELSE \(policies) END
                """, arguments)
        ) { if let table = $0.string(0) { uncopied.insert(table) } }
        // In `tgtype`, 3 is BEFORE each row.
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text, NULL::text, NOT (\(policies) \
                OR c.relhasrules AND c.relkind <> 'v') FROM pg_catalog.pg_class c \
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 \
                AND (c.relkind IN ('p', 'v', 'f') OR c.relkind = 'r' \
                AND (c.relhassubclass OR \(policies) OR c.relhasrules)) \
                UNION ALL SELECT c.relname::text, t.tgname::text, FALSE FROM pg_catalog.pg_trigger t \
                JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = \
                c.relnamespace \
                WHERE n.nspname = $1 AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 3 = 3
                """, arguments)
        ) { row in
            guard let table = row.string(0) else { return }
            omissions.append(Omission(table: table, trigger: row.string(1), isElsewhere: row.int64(2) != 0))
        }
    }

    /// Reads the store's entity numbers, by entity name, from the schema that statements work in.
    static func entityNumbers(_ connection: PostgreSQLConnection) throws -> [String: Int] {
        var numbers: [String: Int] = [:]
        try connection.execute(WireStatement("SELECT name, number FROM \(PostgreSQLHousekeeping.entityTable)")) { row in
            if let name = row.string(0) { numbers[name] = Int(row.int64(1)) }
        }
        return numbers
    }

    var columns: [String: [String]] { types.mapValues { Array($0.keys) } }

    /// Whether a name is that of a table, and not of a view or a foreign table.
    func isTable(_ name: String) -> Bool { kinds[name].map { $0 == "r" || $0 == "p" } ?? false }

    func column(_ column: String, of table: String) -> Column? { types[table]?[column] }

    /// The type that values of a column are sent as.
    func type(_ column: String, of table: String) -> UInt32? { types[table]?[column]?.type }

    /// The SQL dialect that the schema supports.
    var dialect: PostgreSQLDialect {
        PostgreSQLDialect(hasICU: folds, hasFunctions: calculates, trigrams: trigrams)
    }

    /// The SQL dialect for external tables in the schema.
    var externalDialect: PostgreSQLDialect {
        let isInOrder = types.values.allSatisfy {
            $0.values.allSatisfy { $0.type != WireType.text || $0.ordersByCodePoints }
        }
        return PostgreSQLDialect(hasICU: folds, hasFunctions: calculates, ordersColumnsByLanguage: !isInOrder)
    }
}

extension SQLMapping {
    /// Makes byte columns JSON where the table's column is `jsonb`, and plain bytes everywhere
    /// else. Earlier versions made all of them `bytea`, and a model that is kept with the store
    /// does not say what its bytes are.
    func takeJSON(from catalog: PostgreSQLCatalog) {
        for table in tables {
            for column in table.columns where column.kind == .data || column.kind == .json {
                guard let type = catalog.type(column.name, of: table.name) else { continue }
                column.kind = type == WireType.jsonb ? .json : .data
            }
        }
    }
}

extension PostgreSQLCatalog.Column {
    /// - Parameters:
    /// - type: the column's type, or the base type of its domain.
    ///   - name: the server's name for the type.
    init(declared type: UInt32, named name: String, ordersByCodePoints: Bool, isRequired: Bool) {
        typeName = name
        self.isRequired = isRequired
        // A type of an extension has another number in each database.
        let isCaseInsensitive = name == "citext" || name.hasSuffix(".citext")
        switch type {
        case WireType.varchar, WireType.bpchar: self.type = WireType.text
        case WireType.timestamp: self.type = WireType.timestamptz
        default: self.type = isCaseInsensitive ? WireType.text : type
        }
        isPadded = type == WireType.bpchar
        self.ordersByCodePoints = ordersByCodePoints && !isCaseInsensitive
    }
}

extension PostgreSQLDialect {
    /// Creates the dialect for a schema that does not exist yet, from what the server supports.
    init(for connection: PostgreSQLConnection) throws {
        let collations = "SELECT count(*) FROM pg_catalog.pg_collation WHERE collname = 'und-x-icu'"
        try connection.execute(WireStatement("SELECT (\(collations)), (\(Self.trigramQuery))")) { row in
            hasICU = row.int64(0) > 0
            trigrams = row.string(1)
        }
    }

    /// Asks for the operator class of pg_trgm, in whatever schema the extension is installed, if
    /// the role may use it there.
    fileprivate static let trigramQuery = """
        SELECT quote_ident(n.nspname) || '.gin_trgm_ops' FROM pg_catalog.pg_opclass o \
        JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod \
        WHERE o.opcname = 'gin_trgm_ops' AND m.amname = 'gin' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
        LIMIT 1
        """
}

/// The tables that every store has besides those of its entities.
enum PostgreSQLHousekeeping {
    /// The table of the store's UUID, its metadata, the number of its last transaction, and the
    /// version of these tables. It has one row.
    static let storeTable = "ocd_store"
    /// The table of the model, in the form that the SQLite store uses too.
    static let modelTable = "ocd_model"
    /// The table of each entity's number, and of the last key that was taken from its table.
    static let entityTable = "ocd_entity"
    /// The table of the transactions. Their numbers are in the order of their commits.
    static let transactionTable = "ocd_transaction"

    /// The tables of the persistent history: its transactions, and their changes. They are made
    /// when the store is first opened with `NSPersistentHistoryTrackingKey`.
    static let historyTable = "ocd_history"
    static let changeTable = "ocd_change"

    /// The version of the tables of a new store.
    static let format = 1
    /// The version of the tables with a history. Programs that know none refuse the store, because
    /// their saves would leave gaps in it.
    static let formatWithHistory = 2

    /// Each table with its columns.
    static let columns = [
        (storeTable, ["id", "format", "uuid", "metadata", "last_transaction"]), (modelTable, ["id", "content"]),
        (entityTable, ["number", "name", "parent", "last_key"]),
        (transactionTable, ["number", "save", "at", "author", "context_name"]),
    ]

    static let historyColumns = [
        (
            historyTable,
            [
                "number", "save", "first_change", "last_change", "at", "author", "context_name", "bundle_id",
                "process_id",
            ]
        ), (changeTable, ["save", "place", "kind", "entity", "key", "properties", "tombstone"]),
    ]

    static let all = (columns + historyColumns).map(\.0)

    /// The unique indexes besides those of the primary keys.
    static let uniqueIndexes = [
        "\(entityTable)_name_key", "\(transactionTable)_save_key", "\(historyTable)_save_key",
    ]

    static let statements = [
        """
        CREATE TABLE \(storeTable) (id int2 PRIMARY KEY CHECK (id = 1), format int4 NOT NULL, uuid text NOT NULL, \
        metadata bytea NOT NULL, last_transaction int8 NOT NULL)
        """,
        "CREATE TABLE \(modelTable) (id int2 PRIMARY KEY CHECK (id = 1), content bytea NOT NULL)",
        "CREATE TABLE \(entityTable) (number int2 PRIMARY KEY, name text NOT NULL UNIQUE, parent int2 NOT NULL, "
            + "last_key int8 NOT NULL)",
        """
        CREATE TABLE \(transactionTable) (number int8 PRIMARY KEY, save uuid NOT NULL UNIQUE, at timestamptz NOT NULL, \
        author text, context_name text)
        """,
    ]

    /// A change belongs to the transaction of the same save. `properties` is the list of the
    /// properties that an update changed, `tombstone` has the values that a deletion preserves, by
    /// the names of the attributes. A transaction without a time was deleted: the last one leaves
    /// its row, by which the next one is numbered.
    static let historyStatements = [
        """
        CREATE TABLE \(historyTable) (number int8 PRIMARY KEY, save uuid NOT NULL UNIQUE, first_change int8 NOT NULL, \
        last_change int8 NOT NULL, at timestamptz, author text COLLATE "C", context_name text COLLATE "C", \
        bundle_id text COLLATE "C", process_id text COLLATE "C")
        """,
        """
        CREATE TABLE \(changeTable) (save uuid NOT NULL, place int4 NOT NULL, kind int2 NOT NULL, \
        entity int2 NOT NULL, key int8 NOT NULL, properties jsonb, tombstone jsonb, PRIMARY KEY (save, place))
        """,
    ]
}
