import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Tables that others have made: makers and tags as Rails makes them, products as somebody has
/// written them by hand. A store has them as a role that may read and write their rows, and nothing
/// else.
final class ExternalShop {
    let schema: String
    let url: URL
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    private let server: PostgreSQLServer
    private var kept: [AnyObject] = []

    static let sql = """
        CREATE TABLE makers (id bigserial PRIMARY KEY, name varchar NOT NULL, country char(4), updated_at \
        timestamp(6), \
        lock_version integer NOT NULL DEFAULT 0);
        CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := '2001-01-01 00:00:07'; \
        RETURN NEW; END $$;
        CREATE TRIGGER touch BEFORE UPDATE ON makers FOR EACH ROW EXECUTE FUNCTION touch();
        CREATE TABLE tags (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, label varchar(20) NOT NULL UNIQUE);
        CREATE TABLE products (product_id serial PRIMARY KEY, title varchar(40) NOT NULL COLLATE "und-x-icu", sku \
        varchar(12) UNIQUE, \
        price numeric(10,2) NOT NULL DEFAULT 0, stock integer, sold boolean NOT NULL DEFAULT false, made_at \
        timestamptz, \
        maker bigint REFERENCES makers, uid uuid, picture bytea, weight float8, remarks text DEFAULT 'none');
        CREATE TABLE products_tags (product_id integer NOT NULL REFERENCES products, tag_id bigint NOT NULL \
        REFERENCES tags);
        """

    /// - Parameters:
    ///   - sql: what makes the tables.
    ///   - model: unless it is that of makers, products and tags.
    ///   - changing: what to change of the model.
    init(
        sql: String = ExternalShop.sql, model: NSManagedObjectModel = ExternalShop.model(),
        through proxy: PostgreSQLProxy? = nil,
        options: [AnyHashable: Any] = [:], changing: (NSManagedObjectModel) -> Void = { _ in }
    ) throws {
        server = try WireConnection.server()
        schema = server.newSchemaName()
        let role = "clerk_of_\(schema)"
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        // A server may know no other order of texts than that of code points.
        let hasICU = try !connection.texts("SELECT 'ICU' FROM pg_collation WHERE collname = 'und-x-icu'").isEmpty
        let sql = hasICU ? sql : sql.replacingOccurrences(of: "COLLATE \"und-x-icu\"", with: "")
        try connection.run(
            """
            CREATE SCHEMA \(schema); SET search_path TO \(schema); \(sql); CREATE ROLE \(role) LOGIN; GRANT USAGE ON \
            SCHEMA \(schema) TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)
            """)
        let address = proxy?.url(schema: schema) ?? server.url(schema: schema)
        url = try #require(
            URL(string: address.absoluteString.replacingOccurrences(of: "user=\(server.user)", with: "user=\(role)")))
        self.model = model
        changing(model)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
            options: Self.options.merging(options) { $1 })
        context = coordinator.newContext()
    }

    static var options: [AnyHashable: Any] { [NSPostgreSQLGivenTablesOption: true] }

    /// The error of opening a store over tables that do not fit.
    static func refusal(
        sql: String = ExternalShop.sql, options: [AnyHashable: Any] = [:],
        changing: (NSManagedObjectModel) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> NSError {
        try #require(throws: NSError.self, sourceLocation: sourceLocation) {
            _ = try ExternalShop(sql: sql, options: options, changing: changing)
        }
    }

    /// A context of another coordinator, as another program with this library has it.
    func otherProgram() throws -> NSManagedObjectContext {
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try other.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: Self.options)
        let context = other.newContext()
        kept.append(context)
        return context
    }

    /// The first column of each row, as the server writes it.
    func texts(_ sql: String) throws -> [String?] {
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("SET search_path TO \(schema); SET TimeZone TO 'UTC'")
        return try connection.texts("SELECT v::text FROM (\(sql)) q(v)")
    }

    /// Runs SQL as the program that owns the tables.
    func run(_ sql: String) throws {
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("SET search_path TO \(schema); \(sql)")
    }

    /// Everything that the schema has, and everything elsewhere that a store might have made.
    func content() throws -> [String?] {
        try texts(
            """
            SELECT 'class ' || relname || ' ' || relkind::text || ' ' || relnatts || ' ' || relchecks || ' ' || \
            relhastriggers FROM pg_class \
            WHERE relnamespace = '\(schema)'::regnamespace OR relname LIKE 'ocd%' AND relnamespace = \
            'public'::regnamespace \
            UNION ALL SELECT 'function ' || oid FROM pg_proc WHERE pronamespace = '\(schema)'::regnamespace \
            UNION ALL SELECT 'trigger ' || t.oid FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE \
            relnamespace = '\(schema)'::regnamespace \
            UNION ALL SELECT 'constraint ' || oid FROM pg_constraint WHERE connamespace = '\(schema)'::regnamespace \
            UNION ALL SELECT 'collation ' || oid FROM pg_collation WHERE collnamespace = '\(schema)'::regnamespace \
            ORDER BY 1
            """)
    }

    static func model() -> NSManagedObjectModel {
        let maker = NSEntityDescription(
            "Maker", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false, default: ""),
                NSAttributeDescription("country", .stringAttributeType),
                NSAttributeDescription("updatedAt", .dateAttributeType),
            ])
        maker.userInfo = ["ocd.table": "makers", "ocd.version": "lock_version"]
        let tag = NSEntityDescription(
            "Tag", class: "NSManagedObject", [NSAttributeDescription("label", .stringAttributeType)])
        tag.userInfo = ["ocd.table": "tags"]
        let product = NSEntityDescription(
            "Product", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: false, default: ""),
                NSAttributeDescription("sku", .stringAttributeType),
                NSAttributeDescription("price", .decimalAttributeType, optional: false, default: NSDecimalNumber.zero),
                NSAttributeDescription("stock", .integer64AttributeType),
                NSAttributeDescription("isSold", .booleanAttributeType, optional: false, default: false),
                NSAttributeDescription("madeAt", .dateAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType),
                NSAttributeDescription("picture", .binaryDataAttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
            ])
        product.uniquenessConstraints = [["sku"]]
        product.userInfo = ["ocd.table": "products", "ocd.key": "product_id"]
        for (attribute, column) in ["name": "title", "isSold": "sold", "code": "uid"] {
            product.attributesByName[attribute]?.userInfo = ["ocd.column": column]
        }
        relate(maker, "products", toMany: true, product, inverse: "maker")
        relate(product, "tags", toMany: true, tag, inverse: "products", inverseToMany: true)
        product.relationshipsByName["maker"]?.userInfo = ["ocd.column": "maker"]
        product.relationshipsByName["tags"]?.userInfo = ["ocd.joinTable": "products_tags"]
        return NSManagedObjectModel([maker, product, tag])
    }

    /// Rows of the program that owns the tables.
    func fill() throws {
        try run(
            """
            INSERT INTO makers (name, country, updated_at) VALUES ('Acme', 'DE', '2020-02-03 04:05:06.789'), ('Bolt', \
            NULL, NULL);
            INSERT INTO tags (label) VALUES ('new'), ('old');
            INSERT INTO products (title, sku, price, stock, sold, made_at, maker, uid, picture, weight) VALUES
            ('anvil', 'A1', 9.99, 3, true, '2020-01-01 12:00+01', 1, '00000000-0000-0000-0000-00000000000a', \
            '\\x0102', 2.5),
            ('Bolt', 'B1', 10, 1000, false, NULL, 1, NULL, NULL, NULL), ('Cog*', NULL, 0.5, NULL, false, NULL, NULL, \
            NULL, NULL, NULL);
            INSERT INTO products_tags VALUES (1, 1), (1, 2), (2, 1)
            """)
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKeyPath: key) as? String }
}
