import CoreData
import TestSupport
import Testing

/// Fetch indexes of the kind R-tree, and attributes whose user info names the components of a
/// place.
struct SpatialIndexTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private func places(extra: Bool = false, indexed: Bool = true) -> NSManagedObjectModel {
        let place = entity(
            "Place", NSAttributeDescription("latitude", .doubleAttributeType),
            NSAttributeDescription("longitude", .doubleAttributeType))
        if extra { place.properties += [text("name")] }
        if indexed {
            let elements = ["latitude", "longitude"].map {
                NSFetchIndexElementDescription(property: place.propertiesByName[$0]!, collationType: .rTree)
            }
            place.indexes = [NSFetchIndexDescription(name: "area", elements: elements)]
        }
        return model(place)
    }

    private func boxes() -> [[String?]] {
        store.file.rows(
            "SELECT Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX FROM Z_RT_Place_area ORDER BY 1")
    }

    @Test func theIndexHasItsTableAndTriggers() throws {
        try store.open(places()) { _ in }
        let made = store.file.column(
            "SELECT sql FROM sqlite_master WHERE name LIKE 'Z\\_RT\\_%' ESCAPE '\\' AND name NOT LIKE '%area\\_n%' "
                + "ESCAPE '\\'"
        )
        #expect(
            made.contains(
                "CREATE VIRTUAL TABLE Z_RT_Place_area USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
                    + "ZLATITUDE_MAX FLOAT, "
                    + "ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)"))
        let triggers = store.file.column("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        #expect(triggers == ["Z_RT_Place_area_DELETE", "Z_RT_Place_area_INSERT", "Z_RT_Place_area_UPDATE"])
    }

    @Test func savesKeepTheIndex() throws {
        try store.open(places()) { context in
            let first = context.insert("Place", ["latitude": 1.5, "longitude": 2.5])
            try context.save()
            context.insert("Place", ["latitude": 10, "longitude": 20])
            first.setValue(-3.5, forKey: "latitude")
            try context.save()
        }
        #expect(boxes() == [["1", "-3.5", "-3.5", "2.5", "2.5"], ["2", "10.0", "10.0", "20.0", "20.0"]])
        try store.open(places()) { context in context.delete(try context.objects("Place", by: "latitude")[0]) }
        #expect(boxes() == [["2", "10.0", "10.0", "20.0", "20.0"]])
    }

    @Test func aMigrationMakesTheIndexAnew() throws {
        try store.open(places(indexed: false)) { $0.insert("Place", ["latitude": 1, "longitude": 2]) }
        try store.migrate(to: places(extra: true))
        #expect(boxes() == [["1", "1.0", "1.0", "2.0", "2.0"]])
        try store.open(places(extra: true)) { $0.insert("Place", ["latitude": 3, "longitude": 4]) }
        #expect(boxes().count == 2)
    }

    @Test func anAttributeOfComponentsHasAnIndexOfItsName() throws {
        func assets() -> NSManagedObjectModel {
            let asset = entity(
                "Asset", NSAttributeDescription("latitude", .doubleAttributeType),
                NSAttributeDescription("longitude", .doubleAttributeType)
            )
            let bounds = NSAttributeDescription("boundedByRect", .undefinedAttributeType)
            bounds.isTransient = true
            bounds.userInfo = ["_NSLocationAttributeDerivedComponents": "latitude, longitude"]
            asset.properties += [bounds]
            return model(asset)
        }
        try store.open(assets()) { $0.insert("Asset", ["latitude": 1, "longitude": 2]) }
        #expect(store.file.rows("SELECT Z_PK, ZLONGITUDE_MAX FROM Z_RT_Asset_boundedByRect") == [["1", "2.0"]])
    }

    /// A virtual table of another kind keeps the schema from being trusted.
    @Test func triggersOfOthersWriteNoVirtualTables() throws {
        try store.open(places()) { _ in }
        #expect(
            store.file.execute(
                "CREATE VIRTUAL TABLE other USING fts4(t); "
                    + "CREATE TRIGGER t AFTER INSERT ON ZPLACE BEGIN INSERT INTO other VALUES ('x'); END"))
        let error = errorThrown {
            try store.open(places()) { _ = $0.insert("Place", ["latitude": 1, "longitude": 2]) }
        }
        #expect(error != nil)
        #expect(store.file.integer("SELECT count(*) FROM ZPLACE") == 0)
    }

    @Test func triggersMayTellOfChangedRowsAsUserInfoAsksFor() throws {
        try store.open(places(indexed: false)) { _ in }
        #expect(
            store.file.execute(
                "CREATE TRIGGER ZT_ZPLACE_ZLATITUDE_INSERT AFTER INSERT ON ZPLACE BEGIN UPDATE ZPLACE SET ZLATITUDE "
                    + "= 7 WHERE Z_PK = NEW.Z_PK; "
                    + "SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZPLACE', Z_ENT, Z_PK, 'ZLATITUDE', "
                    + "ZLATITUDE) FROM ZPLACE "
                    + "WHERE Z_PK = NEW.Z_PK; END"))
        let latitude = try store.open(places(indexed: false)) { context in
            let place = context.insert("Place", ["latitude": 1, "longitude": 2])
            try context.save()
            return place.value(forKey: "latitude") as? Double
        }
        #expect(latitude == 7)
    }
}
