import Testing

// What the programs of a server were built with, which not all have.
extension PostgreSQLServer {
    /// Whether the server orders and folds texts by ICU.
    public static let hasICU = hasAny("pg_collation WHERE collname = 'und-x-icu'")

    /// Whether it can speak TLS.
    public static let hasTLS = hasAny("pg_settings WHERE name = 'ssl_library' AND setting <> ''")

    private static func hasAny(_ source: String) -> Bool {
        guard let shared else { return false }
        return PostgreSQLTables(shared.url(schema: "public")).value("SELECT count(*) > 0 FROM \(source)") == "t"
    }
}

extension Trait where Self == ConditionTrait {
    /// For what a server without ICU refuses.
    public static var needsICU: Self { .enabled(if: PostgreSQLServer.hasICU, "needs a PostgreSQL server with ICU") }

    /// For what folds texts, or orders them as people do, on every kind of store of the run.
    public static var foldsTexts: Self {
        .enabled(if: StoreKind.foldTexts, "stores of PostgreSQL fold and order texts by ICU, which the server lacks")
    }
}
