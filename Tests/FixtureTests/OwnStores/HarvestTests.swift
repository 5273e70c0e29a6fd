import CoreData
import TestSupport
import Testing

/// A store of framework 1345: an attribute that triggers keep, and a history with what deleted
/// objects leave.
struct HarvestTests {
    let store: OpenedStore

    init() throws { store = try OpenedStore(.harvest, isTracked: true) }

    /// The bits of a crop: field, the field's entity, kind, weight; of a field: area, cropCount,
    /// name, crops.
    private func lastChanges() -> [[String?]] {
        store.file.rows(
            "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS, ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE WHERE "
                + "ZTRANSACTIONID = 3 "
                + "ORDER BY ZENTITY, ZENTITYPK")
    }

    @Test func theValuesAreThoseOfTheRows() throws {
        #expect(try store.object("Crop", 1).text("kind") == "barley")
        #expect(try store.object("Crop", 1).value(forKey: "weight") as? NSDecimalNumber == 120)
        #expect(
            try store.object("Crop", 2).value(forKey: "weight") as? NSDecimalNumber == NSDecimalNumber(string: "80.5"))
        #expect(try store.object("Crop", 3).value(forKey: "weight") == nil)
        let (north, glass) = (try store.object("Field", 1), try store.object("Greenhouse", 2))
        #expect(north.text("name") == "North")
        #expect(north.number("area") == 12.5)
        #expect(north.number("cropCount") == 2)
        #expect(glass.text("name") == "Glass")
        #expect(glass.value(forKey: "isHeated") as? Bool == true)
        #expect(glass.number("cropCount") == 1)
        #expect(north.many("crops") == [1, 2])
        #expect(glass.many("crops") == [3])
        #expect(try store.object("Crop", 3).one("field") == "Greenhouse/p2")
        #expect(try store.keys("Field", where: "cropCount > 1") == [1])
    }

    @Test func theCountFollowsACropThatIsInserted() throws {
        let crop = try store.insert("Crop", ["kind": "cress", "field": try store.object("Greenhouse", 2)])
        try store.context.save()
        #expect(crop.place == "Crop/p5")
        #expect(store.file.rows("SELECT ZFIELD, Z2_FIELD, ZKIND FROM ZCROP WHERE Z_PK = 5") == [["2", "3", "cress"]])
        #expect(store.file.column("SELECT ZCROPCOUNT FROM ZFIELD ORDER BY Z_PK") == ["2", "2"])
        #expect(try store.object("Greenhouse", 2).number("cropCount") == 2)
    }

    @Test func theCountFollowsACropThatMoves() throws {
        try store.object("Crop", 1).setValue(try store.object("Greenhouse", 2), forKey: "field")
        try store.context.save()
        #expect(store.file.column("SELECT ZCROPCOUNT FROM ZFIELD ORDER BY Z_PK") == ["1", "2"])
        #expect(store.file.rows("SELECT ZFIELD, Z2_FIELD FROM ZCROP WHERE Z_PK = 1") == [["2", "3"]])
        #expect(try store.object("Field", 1).number("cropCount") == 1)
        #expect(try store.object("Greenhouse", 2).number("cropCount") == 2)
        #expect(lastChanges().first == ["1", "1", "1", "C0", nil, nil])
    }

    @Test func theCountOfANewFieldIsNone() throws {
        _ = try store.insert("Field", ["name": "West"])
        try store.context.save()
        #expect(store.file.rows("SELECT Z_ENT, Z_OPT, ZCROPCOUNT FROM ZFIELD WHERE Z_PK = 3") == [["2", "1", "0"]])
    }

    @Test func whatADeletedObjectPreservesStandsInTheHistory() throws {
        store.context.delete(try store.object("Crop", 2))
        try store.context.save()
        #expect(lastChanges().first == ["2", "1", "2", nil, "oats", "80.5"])
        #expect(store.file.column("SELECT ZCROPCOUNT FROM ZFIELD ORDER BY Z_PK") == ["1", "1"])
    }

    @Test func aChangeHasTheBitOfItsAttribute() throws {
        try store.object("Crop", 1).setValue(NSDecimalNumber(string: "7.25"), forKey: "weight")
        try store.object("Crop", 3).setValue("pepper", forKey: "kind")
        try store.object("Field", 1).setValue("Far North", forKey: "name")
        try store.context.save()
        #expect(
            lastChanges() == [
                ["1", "1", "1", "10", nil, nil], ["1", "1", "3", "20", nil, nil], ["1", "2", "1", "20", nil, nil],
            ])
        #expect(store.file.rows("SELECT Z_OPT, ZWEIGHT FROM ZCROP WHERE Z_PK = 1") == [["2", "7.25"]])
    }

    @Test func aTransactionNamesTextsThatAreThereByTheirKeys() throws {
        store.context.transactionAuthor = "farmer"
        try store.object("Crop", 1).setValue("rye", forKey: "kind")
        try store.context.save()
        #expect(
            store.file.rows("SELECT ZAUTHORTS, ZAUTHOR, Z_ENT FROM ATRANSACTION WHERE Z_PK = 3") == [
                ["3", nil, "16002"]
            ])
        #expect(store.file.value("SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME = 'farmer'") == "1")
        #expect(
            store.file.rows(
                "SELECT t.Z_MAX, (SELECT max(Z_PK) FROM ATRANSACTIONSTRING) FROM Z_PRIMARYKEY t WHERE Z_ENT = 16003"
            )
            .allSatisfy { $0[0] == $0[1] })
    }
}
