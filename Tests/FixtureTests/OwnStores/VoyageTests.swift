import CoreData
import TestSupport
import Testing

/// A store of framework 1526, as a program of SwiftData has it: composite attributes and a
/// relationship to many without an inverse.
struct VoyageTests {
    let store: OpenedStore

    init() throws { store = try OpenedStore(.voyage, isTracked: true) }

    private func elements(_ object: NSManagedObject, _ name: String) -> [String: Any]? {
        object.value(forKey: name) as? [String: Any]
    }

    @Test func aCompositeAttributeIsADictionaryOfItsColumns() throws {
        let harbour = try store.object("Port", 1)
        #expect(elements(harbour, "address") as? [String: String] == ["city": "Hamburg", "code": "20457"])
        #expect(elements(harbour, "position") as? [String: Double] == ["latitude": 53.541, "longitude": 9.984])
        #expect(harbour.text("code") == "DEHAM")
        let anchorage = try store.object("Port", 2)
        #expect(elements(anchorage, "address")?["code"] as? String == "9000")
        #expect(elements(anchorage, "address")?["city"] as? String == nil)
        #expect(elements(anchorage, "position") == nil)
        #expect(anchorage.value(forKey: "code") == nil)
        #expect(anchorage.text("name") == "Anchorage")
    }

    @Test func elementsAreFoundByTheirPaths() throws {
        #expect(try store.keys("Port", where: "address.code == '9000'") == [2])
        #expect(try store.keys("Port", where: "code == 'DEHAM' AND position.latitude > 53") == [1])
        #expect(try store.keys("Port", where: "position.latitude == nil") == [2])
        #expect(try store.keys("Ship", where: "home.address.city == 'Hamburg'") == [1])
    }

    @Test func aCompositeAttributeIsWrittenToItsColumnsOnly() throws {
        let anchorage = try store.object("Port", 2)
        anchorage.setValue(["latitude": -33.5, "longitude": 151.25], forKey: "position")
        try store.object("Port", 1).setValue(nil, forKey: "address")
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_OPT, ZLATITUDE, ZLONGITUDE, ZCITY, ZCODE, ZCODE1, ZNAME FROM ZPORT ORDER BY Z_PK")
                == [
                    ["2", "53.541", "9.984", nil, nil, "DEHAM", "Harbour"],
                    ["4", "-33.5", "151.25", nil, "9000", nil, "Anchorage"],
                ])
    }

    @Test func aRelationshipWithoutAnInverseIsKeptInTheOtherTable() throws {
        let ship = try store.object("Ship", 1)
        #expect(ship.many("logs") == [1, 2])
        #expect(try store.object("Ship", 2).many("logs") == [])
        ship.mutableSetValue(forKey: "logs").remove(try store.object("LogEntry", 1))
        ship.mutableSetValue(forKey: "logs").add(try store.object("LogEntry", 3))
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_PK, Z3LOGS FROM ZLOGENTRY ORDER BY Z_PK") == [
                ["1", nil], ["2", "1"], ["3", "1"],
            ])
        #expect(store.file.value("SELECT Z_OPT FROM ZSHIP WHERE Z_PK = 1") == "3")
    }

    @Test func theOtherValuesAreThoseOfTheRows() throws {
        let ship = try store.object("Ship", 1)
        #expect(ship.text("name") == "Rickmer")
        #expect(ship.one("home") == "Port/p1")
        #expect(ship.value(forKey: "tags") as? [String] == ["steel"])
        #expect(try store.object("Ship", 2).value(forKey: "tags") == nil)
        #expect(try store.object("Ship", 2).one("home") == nil)
        #expect(try store.object("Port", 1).many("ships") == [1])
        #expect(try store.object("LogEntry", 2).text("text") == "fog")
        #expect(try store.object("LogEntry", 2).date("at") == 778_000_060.5)
        #expect(try store.object("LogEntry", 3).value(forKey: "at") == nil)
    }

    @Test func theStoreIsOpenedWithTheConfigurationOfSwiftData() throws {
        try store.stack.close()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: OwnStore.voyage.model())
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "default", at: store.url)
        #expect(opened.configurationName == "default")
        #expect(opened.metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["1.0.0"])
        #expect((opened.metadata["NSPersistenceMaximumFrameworkVersion"] as? NSNumber)?.intValue == 1526)
        try coordinator.remove(opened)
    }

    @Test func aNewRowContinuesKeysAndHistory() throws {
        let port = try store.insert("Port", ["name": "New", "code": "AUSYD", "address": ["city": "Sydney"]])
        try store.context.save()
        #expect(port.place == "Port/p3")
        #expect(
            store.file.rows("SELECT Z_ENT, Z_OPT, ZLATITUDE, ZCITY, ZCODE, ZCODE1 FROM ZPORT WHERE Z_PK = 3") == [
                ["2", "1", nil, "Sydney", nil, "AUSYD"]
            ])
        let changes = store.file.rows(
            "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = 2")
        #expect(changes == [["2", "0", "2", "3"]])
    }
}
