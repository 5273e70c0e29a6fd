import CoreData
import Foundation

/// The tables, functions and collations of a store in its schema, which may hold objects of other
/// programs too.
struct PostgreSQLContent {
    let schema: String
    /// The tables of the entities; nil where the store's model cannot be read.
    let mapping: SQLMapping?
    /// The names of the store's tables that exist in the schema.
    private(set) var tables: [String]
    /// The store's functions with their argument types, qualified and quoted.
    private(set) var functions: [String] = []
    private(set) var collations: [String] = []

    /// Reads the content of the store in a schema; nil where the schema has no store.
    ///
    /// - Parameter isForced: whether to accept a store whose model cannot be read. Its tables are
    ///   then found by the names of its entities.
    static func read(_ connection: PostgreSQLConnection, _ address: PostgreSQLAddress, isForced: Bool = false) throws
        -> PostgreSQLContent?
    {
        let schema = address.schema
        guard try PostgreSQLMetadata.exists(PostgreSQLHousekeeping.storeTable, connection, schema: schema) else {
            return nil
        }
        let mapping: SQLMapping?
        do {
            mapping = try self.mapping(connection, schema)
        } catch {
            // An error of the server says nothing about the model.
            guard isForced, !(error is WireError) else { throw unreadable(address, error) }
            mapping = nil
        }
        guard mapping != nil || isForced else { throw unreadable(address, nil) }
        var content = PostgreSQLContent(schema: schema, mapping: mapping, tables: [])
        var names = PostgreSQLHousekeeping.all
        if let mapping {
            names += mapping.tables.map(\.name) + mapping.joinTables.map(\.name)
        } else {
            names += try tablesOfEntities(connection, schema)
        }
        content.tables = try present(names, connection, schema)
        let triggers =
            mapping.map { SQLSchema(mapping: $0).derivations().flatMap(PostgreSQLDialect.triggerNames) } ?? []
        content.functions = try functions(triggers, connection, schema)
        content.collations = try collations(connection, schema)
        return content
    }

    /// Returns the mapping of the model in the store; nil where there is none.
    ///
    /// - Parameter dialect: the dialect of the server that is to hold the tables; by default that
    ///   of this server.
    static func mapping(
        _ connection: PostgreSQLConnection, _ schema: String, _ dialect: PostgreSQLDialect? = nil
    ) throws -> SQLMapping? {
        guard let metadata = try PostgreSQLMetadata.read(connection, schema: schema),
            let model = try PostgreSQLMetadata.model(connection, schema: schema)
        else { return nil }
        // No objects are made here, and the classes may be those of another program.
        for entity in model.entities { entity.managedObjectClassName = nil }
        let names =
            StoreMetadataHashes.hashes(in: metadata).map { Set($0.keys) } ?? Set(model.entities.compactMap(\.name))
        let catalog = try PostgreSQLCatalog.read(connection, schema: schema)
        let mapping = try SQLMapping(
            layouts: model.layout(), dialect ?? catalog.dialect, SnakeCaseNaming(), numbers: catalog.entityNumbers
        ) { names.contains($0.name) }
        mapping.takeJSON(from: catalog)
        return mapping
    }

    private static func unreadable(_ address: PostgreSQLAddress, _ error: (any Error)?) -> any Error {
        if let error, error is WireError { return error }
        var userInfo = StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: address.publicURL)
        userInfo[NSUnderlyingErrorKey] = error.map { $0 as NSError }
        return CoreDataErrors.make(
            .persistentStoreOperation,
            "Which tables belong to the store \(StoreName.path(address.publicURL)) is not known, because its model "
                + "cannot be read"
                + (error.map { ": \($0.localizedDescription)" } ?? " from \(PostgreSQLHousekeeping.modelTable)."),
            recovery:
                "NSPersistentStoreForceDestroyOption drops the tables that bear the names of its entities, and those "
                + "that join them.",
            userInfo: userInfo)
    }

    /// Returns the tables of a store without a model: those with the names of its root entities,
    /// and their join tables.
    private static func tablesOfEntities(_ connection: PostgreSQLConnection, _ schema: String) throws -> [String] {
        guard try PostgreSQLMetadata.exists(PostgreSQLHousekeeping.entityTable, connection, schema: schema) else {
            return []
        }
        let roots = WireStatement("SELECT name FROM \(PostgreSQLHousekeeping.entityTable) WHERE parent = 0")
        let names = try connection.texts(roots).map(SnakeCaseNaming.table(named:))
        var arguments = WireArguments(text: schema)
        try arguments.append(list: names.map(StoredValue.string), of: WireType.text)
        return try names
            + connection.texts(
                WireStatement(
                    """
                    SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = \
                    c.relnamespace \
                    JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid JOIN pg_catalog.pg_class d ON d.oid = \
                    k.confrelid \
                    WHERE n.nspname = $1 AND d.relnamespace = n.oid AND d.relname::text = ANY($2) AND k.contype = 'f' \
                    AND k.confdeltype = 'c' \
                    AND k.condeferred AND NOT c.relname::text = ANY($2) GROUP BY c.oid, c.relname HAVING count(*) = 2
                    """, arguments)
            )
    }

    static func present(_ names: [String], _ connection: PostgreSQLConnection, _ schema: String) throws -> [String] {
        var arguments = WireArguments(text: schema)
        try arguments.append(list: names.map(StoredValue.string), of: WireType.text)
        return try connection.texts(
            WireStatement(
                """
                SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = \
                c.relnamespace \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname::text = ANY($2) ORDER BY 1
                """, arguments)
        )
    }

    /// Returns the store's functions in the schema: those with the prefix `ocd_`, and those of its
    /// triggers.
    private static func functions(
        _ triggers: [String], _ connection: PostgreSQLConnection, _ schema: String
    ) throws -> [String] {
        var arguments = WireArguments(text: schema)
        try arguments.append(list: triggers.map(StoredValue.string), of: WireType.text)
        return try connection.texts(
            WireStatement(
                """
                SELECT format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) FROM \
                pg_catalog.pg_proc p \
                JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.prokind = 'f' \
                AND (left(p.proname::text, 4) = 'ocd_' OR p.pronargs = 0 AND p.prorettype = 'trigger'::regtype AND \
                p.proname::text = ANY($2)) \
                ORDER BY p.oid DESC
                """, arguments)
        )
    }

    /// Returns the store's collations that exist in the schema.
    private static func collations(_ connection: PostgreSQLConnection, _ schema: String) throws -> [String] {
        var arguments = WireArguments(text: schema)
        try arguments.append(list: PostgreSQLFunctions.collationNames.map(StoredValue.string), of: WireType.text)
        return try connection.texts(
            WireStatement(
                "SELECT o.collname::text FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = "
                    + "o.collnamespace "
                    + "WHERE n.nspname = $1 AND o.collname::text = ANY($2)", arguments)
        )
    }

    /// A statement that gives a role a right to a table or function, and the name of that.
    typealias Grant = (object: String, statement: String)

    /// Returns the statements that give roles the rights that they have.
    func grants(_ connection: PostgreSQLConnection) throws -> [Grant] {
        var arguments = WireArguments(text: schema)
        try arguments.append(list: tables.map(StoredValue.string), of: WireType.text)
        var grants: [Grant] = []
        try connection.execute(
            WireStatement(
                """
                SELECT o.name, format('GRANT %s ON %s %s TO %s%s', a.privilege_type, o.kind, o.name, \
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END, \
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) FROM pg_catalog.pg_namespace n, \
                LATERAL (SELECT 'TABLE' AS kind, quote_ident(relname) AS name, relacl AS acl, relowner AS owner \
                FROM pg_catalog.pg_class WHERE relnamespace = n.oid AND relname::text = ANY($2) \
                UNION ALL SELECT 'FUNCTION', oid::regprocedure::text, proacl, proowner FROM pg_catalog.pg_proc \
                WHERE pronamespace = n.oid AND left(proname::text, 4) = 'ocd_') o, pg_catalog.aclexplode(o.acl) a \
                WHERE n.nspname = $1 AND a.grantee <> o.owner ORDER BY 2
                """, arguments)
        ) { row in
            grants.append((row.string(0) ?? "", row.string(1) ?? ""))
        }
        return grants
    }

    /// Runs those of the statements whose table or function exists.
    static func restore(_ grants: [Grant], _ connection: PostgreSQLConnection) throws {
        var arguments = WireArguments()
        try arguments.append(list: grants.map { .string($0.object) }, of: WireType.text)
        let present = try connection.texts(
            WireStatement(
                "SELECT n FROM unnest($1) AS n WHERE CASE WHEN right(n, 1) = ')' THEN to_regprocedure(n)::oid "
                    + "ELSE to_regclass(n)::oid END IS NOT NULL", arguments)
        )
        for grant in grants where present.contains(grant.object) { try connection.wire.run(grant.statement) }
    }

    // MARK: Dropping

    /// Drops everything that belongs to the store, in the open transaction. It fails where objects
    /// of another program depend on it.
    func drop(_ connection: PostgreSQLConnection) throws {
        if !tables.isEmpty {
            // In one statement, because the tables refer to each other.
            let list = tables.map { PostgreSQLMetadata.table($0, in: schema) }.joined(separator: ", ")
            try connection.wire.run("DROP TABLE \(list)")
        }
        if !functions.isEmpty { try connection.wire.run("DROP FUNCTION \(functions.joined(separator: ", "))") }
        for collation in collations {
            try connection.wire.run("DROP COLLATION \(PostgreSQLMetadata.table(collation, in: schema))")
        }
    }

    /// Drops the schema if it is empty, unless it is `public`.
    static func dropEmptySchema(_ schema: String, _ connection: PostgreSQLConnection) throws {
        guard schema != "public" else { return }
        try connection.wire.run("SAVEPOINT before_schema")
        do {
            try connection.wire.run("DROP SCHEMA IF EXISTS \(PostgreSQLDialect().identifier(schema))")
        } catch let error as WireError where ["2BP01", "42501"].contains(error.sqlState) {
            // Another program has objects in the schema, or another role owns it.
            try connection.wire.run("ROLLBACK TO SAVEPOINT before_schema")
        }
    }
}
