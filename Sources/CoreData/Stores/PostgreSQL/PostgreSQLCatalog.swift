import Foundation

/// What the server says of the tables in a store's schema.
struct PostgreSQLCatalog: Sendable {
    /// By table, then by column: the type's object identifier.
    private(set) var types: [String: [String: UInt32]] = [:]
    /// The entity numbers of the store, by the entities' names.
    private(set) var entityNumbers: [String: Int] = [:]
    /// Whether the schema has the functions that fold texts.
    private(set) var folds = false
    /// What indexes of parts of texts are made with; nil where the database has not got it.
    private(set) var trigrams: String?

    /// Reads tables, views and foreign tables; and the numbers, where the store has a table of them.
    static func read(_ connection: PostgreSQLConnection, schema: String) throws -> PostgreSQLCatalog {
        var catalog = PostgreSQLCatalog()
        var arguments = WireArguments()
        arguments.append(text: schema)
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text, a.attname::text, a.atttypid::int8 FROM pg_catalog.pg_class c \
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'f') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum
                """, arguments)
        ) { row in
            let row = PostgreSQLRow(row: row)
            guard let table = row.string(0), let column = row.string(1) else { return }
            catalog.types[table, default: [:]][column] = UInt32(truncatingIfNeeded: row.int64(2))
        }
        try connection.execute(
            WireStatement(
                """
                SELECT (SELECT count(*) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
                WHERE n.nspname = $1 AND p.proname = '\(PostgreSQLFunctions.folding)'), (\(PostgreSQLDialect.trigramQuery))
                """, arguments)
        ) { row in
            let row = PostgreSQLRow(row: row)
            catalog.folds = row.int64(0) > 0
            catalog.trigrams = row.string(1)
        }
        if catalog.types[PostgreSQLHousekeeping.entityTable] != nil {
            try connection.execute(
                WireStatement("SELECT name, number FROM \(PostgreSQLHousekeeping.entityTable)")
            ) { row in
                let row = PostgreSQLRow(row: row)
                if let name = row.string(0) { catalog.entityNumbers[name] = Int(row.int64(1)) }
            }
        }
        return catalog
    }

    /// The columns of each table.
    var columns: [String: [String]] { types.mapValues { Array($0.keys) } }

    func type(_ column: String, of table: String) -> UInt32? { types[table]?[column] }

    /// What can be said to the server in the schema.
    var dialect: PostgreSQLDialect { PostgreSQLDialect(hasICU: folds, trigrams: trigrams) }
}

extension PostgreSQLDialect {
    /// What can be said to a server in a schema that is to be made.
    init(for connection: PostgreSQLConnection) throws {
        let collations = "SELECT count(*) FROM pg_catalog.pg_collation WHERE collname = 'und-x-icu'"
        try connection.execute(WireStatement("SELECT (\(collations)), (\(Self.trigramQuery))")) { row in
            let row = PostgreSQLRow(row: row)
            hasICU = row.int64(0) > 0
            trigrams = row.string(1)
        }
    }

    /// Asks for the operator class of pg_trgm, in whatever schema it was installed, if the role may use it there.
    fileprivate static let trigramQuery = """
        SELECT quote_ident(n.nspname) || '.gin_trgm_ops' FROM pg_catalog.pg_opclass o \
        JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod \
        WHERE o.opcname = 'gin_trgm_ops' AND m.amname = 'gin' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') LIMIT 1
        """
}

/// The tables that every store has beside those of its entities.
enum PostgreSQLHousekeeping {
    /// The store's UUID, metadata, the number of its last transaction, and the version of these tables: one row.
    static let storeTable = "ocd_store"
    /// The model, as the SQLite store keeps it too.
    static let modelTable = "ocd_model"
    /// Each entity's number, and the last key that was taken of its table.
    static let entityTable = "ocd_entity"
    /// The transactions: their numbers are in the order of their commits.
    static let transactionTable = "ocd_transaction"

    /// The version of these tables.
    static let format = 1

    /// Each table with its columns.
    static let columns = [
        (storeTable, ["id", "format", "uuid", "metadata", "last_transaction"]), (modelTable, ["id", "content"]),
        (entityTable, ["number", "name", "parent", "last_key"]), (transactionTable, ["number", "save", "at", "author", "context_name"]),
    ]

    static let all = [storeTable, modelTable, entityTable, transactionTable]

    static let statements = [
        """
        CREATE TABLE \(storeTable) (id int2 PRIMARY KEY CHECK (id = 1), format int4 NOT NULL, uuid text NOT NULL, \
        metadata bytea NOT NULL, last_transaction int8 NOT NULL)
        """,
        "CREATE TABLE \(modelTable) (id int2 PRIMARY KEY CHECK (id = 1), content bytea NOT NULL)",
        "CREATE TABLE \(entityTable) (number int2 PRIMARY KEY, name text NOT NULL UNIQUE, parent int2 NOT NULL, last_key int8 NOT NULL)",
        """
        CREATE TABLE \(transactionTable) (number int8 PRIMARY KEY, save uuid NOT NULL UNIQUE, at timestamptz NOT NULL, \
        author text, context_name text)
        """,
    ]
}
