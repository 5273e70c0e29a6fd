import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store's tables as other programs see them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct StoreTableTests {
    @Test func columnsAreOfNaturalTypes() throws {
        let warehouse = try Warehouse()
        let columns = try warehouse.texts(
            """
            SELECT column_name || ' ' || data_type || CASE is_nullable WHEN 'NO' THEN ' required' ELSE '' END \
            FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'item' ORDER BY 1
            """)
        #expect(
            columns == [
                "code uuid", "data bytea", "discount double precision", "entity smallint required",
                "id bigint required",
                "is_sold boolean", "large bigint", "made_at timestamp with time zone", "maker_id bigint",
                "name text required",
                "picture_url text", "ratio real", "small smallint", "stock_count integer required",
                "unit_price numeric",
                "version integer required", "weight double precision",
            ])
        #expect(
            try warehouse.texts(
                """
                SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() \
                AND table_name = 'item_tags' ORDER BY 1
                """) == ["item_id", "tag_id", "tag_pos"])
    }

    @Test func valuesAreReadableByOthers() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            let maker = warehouse.context.insert("Maker", ["title": "ACME"])
            _ = warehouse.context.insert(
                "Item",
                [
                    "name": "Bolt ÄÖ 🪛", "stockCount": -7, "small": 12, "large": Int64.max, "isSold": true,
                    "weight": 0.1,
                    "ratio": Float(0.5),
                    "unitPrice": NSDecimalNumber(string: "12345678901234567890.00123"),
                    "pictureURL": URL(string: "https://a.b/c?d#e") as Any,
                    "data": Data([0, 255]), "madeAt": Date(timeIntervalSinceReferenceDate: 0.25),
                    "code": UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") as Any, "maker": maker,
                ])
            try warehouse.context.save()
        }
        func value(_ column: String) throws -> String? { try warehouse.texts("SELECT (\(column))::text FROM item")[0] }
        #expect(try value("name") == "Bolt ÄÖ 🪛")
        #expect(try value("stock_count") == "-7")
        #expect(try value("large") == "9223372036854775807")
        #expect(try value("is_sold") == "true")
        #expect(try value("weight") == "0.1")
        #expect(try value("unit_price") == "12345678901234567890.00123")
        #expect(try value("picture_url") == "https://a.b/c?d#e")
        #expect(try value("data") == "\\x00ff")
        #expect(try value("(extract(epoch from made_at) - 978307200)") == "0.250000")
        #expect(try value("code") == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(try warehouse.texts("SELECT m.title FROM item i JOIN maker m ON m.id = i.maker_id") == ["ACME"])
    }

    @Test func rowsOfOthersBecomeObjects() throws {
        let warehouse = try Warehouse()
        try warehouse.run(
            """
            INSERT INTO maker (id, version, title) VALUES (70, 1, 'Own'); \
            INSERT INTO item (id, entity, version, name, stock_count, unit_price, made_at, maker_id, discount) \
            SELECT n, (SELECT number FROM ocd_entity WHERE name = 'Kit'), 1, 'Kit ' || n, n, n / 4.0, '2001-01-01 \
            00:00:00.5+00', 70, 0.25 \
            FROM generate_series(1000, 1004) n
            """)
        try warehouse.context.performAndWait {
            let kits = try warehouse.context.all("Kit", "stockCount > 1002", by: "name")
            #expect(kits.map { $0.value(forKey: "name") as? String } == ["Kit 1003", "Kit 1004"])
            #expect(kits[0].value(forKey: "unitPrice") as? NSDecimalNumber == NSDecimalNumber(string: "250.75"))
            #expect(kits[0].value(forKey: "madeAt") as? Date == Date(timeIntervalSinceReferenceDate: 0.5))
            #expect((kits[0].value(forKey: "maker") as? NSManagedObject)?.value(forKey: "title") as? String == "Own")
            // New objects get keys that nobody has.
            let item = warehouse.context.insert("Item", ["name": "new"])
            try warehouse.context.save()
            #expect(item.objectID.uriRepresentation().lastPathComponent == "p1005")
        }
    }

    @Test func datesAreRoundedToMicrosecondsInTheObjectToo() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_789)
            let item = warehouse.context.insert("Item", ["madeAt": date])
            try warehouse.context.save()
            let saved = try #require(item.value(forKey: "madeAt") as? Date)
            #expect(abs(saved.timeIntervalSince(date)) < 0.000_001)
            warehouse.context.refresh(item, mergeChanges: false)
            #expect(item.value(forKey: "madeAt") as? Date == saved)
            for extreme in [Date.distantPast, .distantFuture] {
                item.setValue(extreme, forKey: "madeAt")
                try warehouse.context.save()
                warehouse.context.refresh(item, mergeChanges: false)
                #expect(item.value(forKey: "madeAt") as? Date == extreme)
            }
        }
    }

    @Test(arguments: ["name", "madeAt"]) func whatNoColumnCanHoldIsRefusedWithASentence(_ attribute: String) throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            let value: Any = attribute == "name" ? "a\u{0}b" : Date(timeIntervalSinceReferenceDate: 1e14)
            let other = warehouse.context.insert("Item", ["name": "other"])
            let item = warehouse.context.insert("Item", [attribute: value])
            let error = try #require(throws: NSError.self) { try warehouse.context.save() }
            #expect(error.localizedDescription.contains("'\(attribute)' of 'Item'"))
            #expect(error.localizedDescription.contains(attribute == "name" ? "U+0000" : "4713 BC"))
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["0"])
            item.setValue(nil, forKey: "madeAt")
            item.setValue("fine", forKey: "name")
            try warehouse.context.save()
            #expect(other.objectID.isTemporaryID == false)
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["2"])
        }
    }

    @Test func unusualNamesAreKept() throws {
        let long = String(repeating: "veryLongName", count: 12)
        let names = [
            "select", "version", "id", "entity", "größe", "a\"b", "x'y", long + "1", long + "2", "imageURL",
            "image_url",
        ]
        let thing = NSEntityDescription(
            "Ordnung" + long, class: "NSManagedObject", names.map { NSAttributeDescription($0, .stringAttributeType) })
        let warehouse = try Warehouse(NSManagedObjectModel([thing]))
        try warehouse.context.performAndWait {
            let object = warehouse.context.insert(
                "Ordnung" + long, Dictionary(uniqueKeysWithValues: names.map { ($0, "value of " + $0) }))
            try warehouse.context.save()
            warehouse.context.refresh(object, mergeChanges: false)
            for name in names { #expect(object.value(forKey: name) as? String == "value of " + name) }
        }
        #expect(
            try warehouse.texts(
                "SELECT count(DISTINCT column_name) FROM information_schema.columns WHERE table_schema = "
                    + "current_schema() AND table_name LIKE 'ordnung%'"
            )
                == ["13"])
    }

    @Test func aDestinationThatOthersHaveDeletedIsNamed() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            let maker = warehouse.context.insert("Maker", ["title": "gone"])
            try warehouse.context.save()
            try warehouse.run("DELETE FROM maker")
            _ = warehouse.context.insert("Item", ["maker": maker])
            let error = try #require(throws: NSError.self) { try warehouse.context.save() }
            #expect([133_000, 133_020].contains(error.code), "\(error)")
            #expect(try warehouse.texts("SELECT count(*) FROM item") == ["0"])
        }
    }

    @Test func passwordsAreNowhereToBeSeen() throws {
        let server = try WireConnection.server()
        let secret = "s3cret%20word"
        let url = try #require(
            URL(
                string:
                    "postgresql://\(server.scramUser):\(secret)@/\(server.database)"
                    + "?host=\(server.socketFolder)&ocd.schema=secrets"
            ))
        let description = NSPersistentStoreDescription(url: url)
        #expect(description.type == NSPostgreSQLStoreType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        }
        #expect(!"\(error) \(error.userInfo) \(error.localizedDescription)".contains("s3cret"))
        #expect(error.localizedDescription.contains("28P01"))
        #expect(error.code == CocoaError.Code.persistentStoreOpen.rawValue)
    }

    /// Columns that every table has without being asked are no names for others.
    @Test func attributesMayHaveTheNamesOfSystemColumns() throws {
        let names = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid", "id", "version", "entity"]
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject", names.map { NSAttributeDescription($0, .integer64AttributeType) })
        let warehouse = try Warehouse(NSManagedObjectModel([box]))
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Box", Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) }))
            try context.save()
        }
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            let found = try other.all("Box", "xmin == 1 AND id == 7")
            #expect(found.count == 1)
            #expect(names.map { found.first?.value(forKey: $0) as? Int } == Array(0..<names.count))
        }
        #expect(try warehouse.texts("SELECT xmin1 + ctid1 FROM box") == ["6"])
    }
}
