import Foundation
import SafeCoreData
import TestSupport
import Testing

enum JSONDelivery: Codable, Hashable {
    case pickup
    case parcel(weight: Double, to: String)
}

struct JSONAddress: Codable, Hashable {
    var street: String
    var city: String
    var zip: Int64?
}

struct JSONSize: Codable, Hashable {
    var width: Double
    var ratio: Float
    var price: Decimal
    var count: UInt64
}

/// A composite attribute with an element of another type.
struct JSONPlace: CompositeValue, Hashable {
    var name: String
    var address: JSONAddress

    static let compositeElements: [CompositeElement] = [
        CompositeElement("name", String.self), CompositeElement("address", JSONAddress.self),
    ]

    init(name: String, address: JSONAddress) {
        self.name = name
        self.address = address
    }

    init(_ elements: CompositeElements) throws {
        name = try elements.required("name")
        address = try elements.required("address")
    }

    func write(to elements: inout CompositeElements) {
        elements.set("name", name)
        elements.set("address", address)
    }
}

@Entity final class JSONVisit: NSManagedObject {
    var place: JSONPlace?
}

@Entity("JSONPerson") final class JSONPerson: NSManagedObject {
    @Attribute(.unique) var name: String
    var address: JSONAddress?
    var tags: [String] = []
    var codes: Set<Int> = []
    var notes: [String: String] = [:]
    var delivery: JSONDelivery?
    var size: JSONSize?
    var factor: Fraction?

    struct Fraction: Codable, Hashable {
        var values: [Double]
    }
}

/// The next version.
@Entity("JSONCustomer", renamingIdentifier: "JSONPerson") final class JSONCustomer: NSManagedObject {
    @Attribute(.unique) var name: String
    @Attribute(originalName: "address") var home: JSONAddress?
    var tags: [String] = []
    @Attribute var delivery: JSONDelivery = .pickup
    var labels: [String] = ["new"]
}

/// `Codable` values in columns that SQL can read and write.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct StackServerJSONTests {
    private let url: URL
    private let tables: PostgreSQLTables
    private let stack: DataStack

    init() throws {
        let server = try #require(PostgreSQLServer.shared)
        url = server.url(schema: server.newSchemaName())
        tables = PostgreSQLTables(url)
        stack = DataStack(entities: JSONPerson.self, store: .postgreSQL(url))
    }

    private func types(of table: String) -> [String: String] {
        let rows = tables.rows(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = '\(tables.schema)' "
                + "AND table_name = '\(table)'"
        )
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1] ?? "") })
    }

    @Test func columnsOfCodableValuesAreJSON() async throws {
        try await stack.opened()
        let types = types(of: "json_person")
        for column in ["address", "tags", "codes", "notes", "delivery", "size", "factor"] {
            #expect(types[column] == "jsonb", "\(column)")
        }
        #expect(types["name"] == "text")
    }

    @Test func valuesAreReadWithSQL() async throws {
        try await stack.write { context in
            let ada = JSONPerson(context: context, name: "Ada", tags: ["a", "b"])
            ada.address = JSONAddress(street: "Höhe 1/2", city: "\"K\u{f6}ln\"\n😀", zip: 50_667)
            ada.delivery = .parcel(weight: 1.5, to: "home")
            _ = JSONPerson(context: context, name: "Bob")
        }
        #expect(
            tables.rows(
                "SELECT address->>'city', address->>'street', (address->>'zip')::int, tags->>1 FROM json_person "
                    + "ORDER BY id"
            ) == [
                ["\"K\u{f6}ln\"\n😀", "Höhe 1/2", "50667", "b"], [nil, nil, nil, nil],
            ])
        #expect(
            tables.column(
                "SELECT name FROM json_person WHERE tags ? 'a' AND delivery @> '{\"parcel\": {\"to\": \"home\"}}'") == [
                    "Ada"
                ])
        #expect(
            tables.integer("SELECT count(*) FROM json_person WHERE address IS NULL AND tags = '[]' AND notes = '{}'")
                == 1)
    }

    @Test func handWrittenRowsAreRead() async throws {
        try await stack.opened()
        _ = try tables.result(
            """
            INSERT INTO json_person (name, address, tags, codes, notes, delivery, size) VALUES ('Eve', \
            '{ "zip" : 1.0, "street": "\\u00e9", "city": "x", "unknown": [1] }', '["z"]', '[3, 1]', '{"longer": "1", \
            "b": "2"}', '{"pickup": {}}', \
            '{"width": 1.50, "ratio": 0.1, "price": 12345678901234567890.12, "count": 18446744073709551615}')
            """)
        try await stack.read { context in
            let eve = try #require(try context.first(JSONPerson.self))
            #expect(eve.address == JSONAddress(street: "é", city: "x", zip: 1))
            #expect(eve.tags == ["z"])
            #expect(eve.codes == [1, 3])
            #expect(eve.notes == ["longer": "1", "b": "2"])
            #expect(eve.delivery == .pickup)
            let price = try #require(Decimal(string: "12345678901234567890.12"))
            #expect(eve.size == JSONSize(width: 1.5, ratio: 0.1, price: price, count: .max))
        }
    }

    private static func fill(_ person: JSONPerson) {
        person.address = JSONAddress(street: "\u{1}\\ e\u{301}", city: "", zip: .max)
        person.tags = ["b", "a"]
        person.codes = [10, 9, 1]
        person.notes = ["long key": "1", "k": "2", "é": "3", "K": "4"]
        person.delivery = .parcel(weight: 0.1, to: "x")
        person.size = JSONSize(width: 1e22, ratio: 16_777_216, price: 1_000_000, count: .max)
        person.factor = .init(values: [.infinity, -.infinity, 1e16, -0.0, 1e-7, 1e300, 0.1, .leastNonzeroMagnitude])
    }

    @MainActor @Test func anEqualValueIsNoChange() async throws {
        try await stack.write { Self.fill(JSONPerson(context: $0, name: "Ada")) }
        for _ in 0..<2 {
            // The second time of a context that has read the row.
            let other = DataStack(entities: JSONPerson.self, store: .postgreSQL(url))
            try await other.write { context in
                let ada = try #require(try context.fetch(JSONPerson.self).first)
                Self.fill(ada)
                #expect(!ada.hasPersistentChangedValues)
            }
            try await stack.write { context in
                let ada = try #require(try context.fetch(JSONPerson.self).first)
                Self.fill(ada)
                #expect(!ada.hasPersistentChangedValues)
            }
            try await other.close()
        }
        #expect(tables.integer("SELECT version FROM json_person") == 1)
        try await stack.write { context in
            let ada = try #require(try context.fetch(JSONPerson.self).first)
            ada.tags.append("c")
        }
        #expect(tables.rows("SELECT version, tags::text FROM json_person") == [["2", #"["b", "a", "c"]"#]])
    }

    @Test func valuesComeBackAsTheyWere() async throws {
        try await stack.write { Self.fill(JSONPerson(context: $0, name: "Ada")) }
        let other = DataStack(entities: JSONPerson.self, store: .postgreSQL(url))
        try await other.write { context in
            let ada = try #require(try context.fetch(JSONPerson.self).first)
            let wanted = JSONPerson(context: context, name: "Wanted")
            Self.fill(wanted)
            #expect(ada.address == wanted.address)
            #expect(ada.tags == wanted.tags)
            #expect(ada.codes == wanted.codes)
            #expect(ada.notes == wanted.notes)
            #expect(ada.delivery == wanted.delivery)
            #expect(ada.size == wanted.size)
            #expect(ada.factor == wanted.factor)
            ada.factor = .init(values: [.nan])
            ada.size = nil
        }
        #expect(
            tables.rows("SELECT factor::text, size::text FROM json_person WHERE name = 'Ada'") == [
                [#"{"values": ["nan"]}"#, nil]
            ])
        try await other.close()
    }

    @Test func batchesWriteJSON() async throws {
        let count = try await stack.write { context in
            try context.insertAll(JSONPerson.self, 0..<1_500) { number, draft in
                JSONPerson(
                    context: draft, name: "\(number)", address: JSONAddress(street: "s", city: "\(number)"), tags: ["t"]
                )
            }
        }
        #expect(count == 1_500)
        #expect(tables.integer("SELECT sum((address->>'city')::int) FROM json_person") == 1_124_250)
        let merged = try await stack.write { context in
            try context.upsert(JSONPerson.self, by: \.name, [1, 5_000]) { number, draft in
                JSONPerson(context: draft, name: "\(number)", tags: ["upsert"])
            }
        }
        #expect(merged.inserted == 1)
        #expect(merged.updated == 1)
        #expect(tables.column("SELECT name FROM json_person WHERE tags = '[\"upsert\"]' ORDER BY 1") == ["1", "5000"])
        let updated = try await stack.write { context in
            try context.update(
                JSONPerson.self, set: .set(\.tags, to: ["all"]), .set(\.address, to: JSONAddress(street: "", city: "é"))
            )
        }
        #expect(updated == 1_501)
        #expect(tables.rows("SELECT DISTINCT tags->>0, address->>'city' FROM json_person") == [["all", "é"]])
        let tags = try await stack.read { try $0.fetch(JSONPerson.self).map(\.tags) }
        #expect(Set(tags) == [["all"]])
    }

    @Test func aMigrationTakesJSONAlong() async throws {
        try await stack.write { Self.fill(JSONPerson(context: $0, name: "Ada")) }
        try await stack.write { _ = JSONPerson(context: $0, name: "Bob") }
        try await stack.close()
        let later = DataStack(entities: JSONCustomer.self, store: .postgreSQL(url))
        let found = try await later.read { context in
            try context.fetch(JSONCustomer.self, sortBy: [.ascending(\.name)]).map {
                "\($0.home?.street ?? "none") \($0.delivery) \($0.labels)"
            }
        }
        #expect(
            found == [
                "\u{1}\\ e\u{301} \(JSONDelivery.parcel(weight: 0.1, to: "x")) [\"new\"]",
                "none \(JSONDelivery.pickup) [\"new\"]",
            ])
        try await later.close()
        let types = types(of: "json_customer")
        #expect(["home", "tags", "delivery", "labels"].allSatisfy { types[$0] == "jsonb" }, "\(types)")
        #expect(tables.column("SELECT labels::text FROM json_customer") == [#"["new"]"#, #"["new"]"#])
        #expect(tables.integer("SELECT (home->>'zip')::int8 FROM json_customer WHERE name = 'Ada'") == .max)
    }

    @Test func aStoreWithColumnsOfBytesGoesOnWithThem() async throws {
        try await stack.write { Self.fill(JSONPerson(context: $0, name: "Ada")) }
        try await stack.close()
        // As an earlier version of this library has made it.
        for column in ["address", "tags", "codes", "notes", "delivery", "size", "factor"] {
            _ = try tables.result(
                "ALTER TABLE json_person ALTER COLUMN \(column) TYPE bytea USING convert_to(\(column)::text, 'UTF8')")
        }
        let again = DataStack(entities: JSONPerson.self, store: .postgreSQL(url))
        try await again.write { context in
            let ada = try #require(try context.fetch(JSONPerson.self).first)
            #expect(ada.tags == ["b", "a"])
            #expect(ada.address?.zip == .max)
            ada.tags = ["c"]
            _ = JSONPerson(context: context, name: "Bob", address: JSONAddress(street: "s", city: "\0"))
        }
        try await again.write { context in
            _ = try context.insertAll(JSONPerson.self, ["Eve"]) { JSONPerson(context: $1, name: $0, tags: ["e"]) }
            _ = try context.update(JSONPerson.self, where: #Predicate { $0.name == "Eve" }, set: .set(\.codes, to: [1]))
        }
        #expect(
            tables.column("SELECT convert_from(tags, 'UTF8') FROM json_person ORDER BY name") == [
                #"["c"]"#, "[]", #"["e"]"#,
            ])
        try await again.close()
        // New columns are JSON, those that were there stay.
        let later = DataStack(entities: JSONCustomer.self, store: .postgreSQL(url))
        #expect(
            try await later.read { try $0.fetch(JSONCustomer.self, sortBy: [.ascending(\.name)]).map(\.tags) } == [
                ["c"], [], ["e"],
            ])
        #expect(try await later.read { try $0.fetch(JSONCustomer.self).map { "\($0.delivery)" } }.contains("pickup"))
        try await later.close()
        let types = types(of: "json_customer")
        #expect(types["tags"] == "bytea", "\(types)")
        #expect(types["home"] == "bytea", "\(types)")
        #expect(types["delivery"] == "bytea", "\(types)")
        #expect(types["labels"] == "jsonb", "\(types)")
        // Who converts a column by hand has it read as JSON from then on.
        _ = try tables.result(
            "ALTER TABLE json_customer ALTER COLUMN tags TYPE jsonb USING convert_from(tags, 'UTF8')::jsonb")
        let converted = DataStack(entities: JSONCustomer.self, store: .postgreSQL(url))
        #expect(
            try await converted.read { try $0.fetch(JSONCustomer.self, sortBy: [.ascending(\.name)]).map(\.tags) } == [
                ["c"], [], ["e"],
            ])
        try await converted.close()
    }

    @Test func elementsOfCompositeValuesAreJSON() async throws {
        let place = JSONPlace(name: "home", address: JSONAddress(street: "s", city: "c", zip: 1))
        let server = try #require(PostgreSQLServer.shared)
        let url = server.url(schema: server.newSchemaName())
        let stack = DataStack(entities: JSONVisit.self, store: .postgreSQL(url))
        try await stack.write { _ = JSONVisit(context: $0, place: place) }
        try await stack.close()
        #expect(PostgreSQLTables(url).value("SELECT place_address->>'city' FROM json_visit") == "c")
        let again = DataStack(entities: JSONVisit.self, store: .postgreSQL(url))
        try await again.write { context in
            let visit = try #require(try context.fetch(JSONVisit.self).first)
            #expect(visit.place == place)
            visit.place = place
            #expect(!visit.hasPersistentChangedValues)
        }
        try await again.close()
    }

    @Test func aTextWithZeroIsRefused() async throws {
        let error = await #expect(throws: CocoaError.self) {
            try await stack.write { _ = JSONPerson(context: $0, name: "Ada", tags: ["a\0b"]) }
        }
        #expect(error?.localizedDescription.contains("'tags' of 'JSONPerson'") == true)
        #expect(error?.localizedDescription.contains("U+0000") == true)
        #expect(tables.integer("SELECT count(*) FROM json_person") == 0)
    }
}
