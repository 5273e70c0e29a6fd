/// What an attempt to make a store has made, which a server does not undo with the transaction that does not undo changes of tables.
struct PostgreSQLLeftover {
    private let schema: String
    private(set) var tables: [String] = []
    /// The server's number of the first of them, by which it is told from one of the same name that another program has made since.
    private var firstNumber: Int64?
    /// The names of the functions that triggers call.
    private let functions: [String]
    /// Those that were there before.
    private var formerFunctions: Set<String> = []

    /// Of an attempt that has made nothing.
    init(schema: String) {
        self.schema = schema
        functions = []
    }

    init(_ connection: PostgreSQLConnection, _ mapping: SQLMapping, schema: String) throws {
        self.schema = schema
        functions = SQLSchema(mapping: mapping).derivations().flatMap(PostgreSQLDialect.triggerNames)
        formerFunctions = try present(connection)
    }

    var isEmpty: Bool { tables.isEmpty }

    /// Notes a table that was made.
    mutating func add(_ table: String, _ connection: PostgreSQLConnection) throws {
        if isEmpty { firstNumber = try Self.number(of: table, connection, schema) }
        tables.append(table)
    }

    /// Drops what the server has not undone.
    func drop(_ connection: PostgreSQLConnection) throws {
        guard let first = tables.first, let firstNumber, connection.wire.isUsable,
            try Self.number(of: first, connection, schema) == firstNumber
        else { return }
        let left = try PostgreSQLContent.present(tables, connection, schema).map { PostgreSQLMetadata.table($0, in: schema) }
        try connection.wire.run("DROP TABLE \(left.joined(separator: ", "))")
        for function in try present(connection).subtracting(formerFunctions).sorted() {
            try connection.wire.run("DROP FUNCTION \(PostgreSQLMetadata.table(function, in: schema))()")
        }
    }

    private static func number(of table: String, _ connection: PostgreSQLConnection, _ schema: String) throws -> Int64? {
        var arguments = WireArguments()
        arguments.append(text: PostgreSQLMetadata.table(table, in: schema))
        return try connection.integer(WireStatement("SELECT to_regclass($1)::oid::int8", arguments))
    }

    /// The functions that are there.
    private func present(_ connection: PostgreSQLConnection) throws -> Set<String> {
        if functions.isEmpty { return [] }
        var arguments = WireArguments()
        arguments.append(text: schema)
        try arguments.append(list: functions.map(StoredValue.string), of: WireType.text)
        return Set(
            try connection.texts(
                WireStatement(
                    "SELECT p.proname::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
                        + "WHERE n.nspname = $1 AND p.proname::text = ANY($2)", arguments)
            ))
    }
}
