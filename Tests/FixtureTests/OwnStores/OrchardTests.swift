import CoreData
import TestSupport
import Testing

/// A store of framework 519: a hierarchy of entities in one table, no copy of the model.
struct OrchardTests {
    let store: OpenedStore

    init() throws { store = try OpenedStore(.orchard) }

    @Test func theValuesAreThoseOfTheRows() throws {
        let rose = try store.object("Bush", 1)
        #expect(rose.text("label") == "Rose")
        #expect(rose.text("note") == "by the gate")
        #expect(rose.value(forKey: "isHealthy") as? Bool == true)
        #expect(rose.value(forKey: "thorns") as? Bool == true)
        #expect(rose.number("height") == 1.25)
        // The first of January 2014.
        #expect(rose.value(forKey: "planted") as? Date == Date(timeIntervalSince1970: 1_388_534_400))
        #expect(rose.value(forKey: "image") == nil)

        let oak = try store.object("Tree", 2)
        #expect(oak.value(forKey: "isHealthy") as? Bool == false)
        #expect(oak.number("rings") == 140)
        #expect(oak.number("girth") == 2.5)
        #expect(oak.number("height") == 21.5)
        // The second of January 1900.
        #expect(oak.value(forKey: "planted") as? Date == Date(timeIntervalSince1970: -2_208_902_400))
        #expect(oak.value(forKey: "image") as? Data == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x00, 0xFF]))

        let unnamed = try store.object("Tree", 3)
        #expect(unnamed.text("label") == "")
        #expect(unnamed.value(forKey: "image") as? Data == Data())
        #expect(["rings", "girth", "height", "planted"].allSatisfy { unnamed.value(forKey: $0) == nil })

        let apple = try store.object("FruitTree", 4)
        #expect(apple.value(forKey: "yield") as? NSDecimalNumber == NSDecimalNumber(string: "12.75"))
        #expect(apple.text("note") == "sour")
        #expect(apple.date("planted") == 504_921_600.5)

        #expect(try store.object("Gardener", 1).text("name") == "Ada")
        #expect(try store.object("Gardener", 1).number("badge") == 7)
        #expect(try store.object("Gardener", 2).text("name") == "Élodie")
        #expect(try store.object("Gardener", 2).value(forKey: "badge") == nil)
    }

    @Test func relationshipsLeadToObjectsOfTheRowsEntities() throws {
        let ada = try store.object("Gardener", 1)
        #expect(ada.one("favorite") == "FruitTree/p4")
        #expect(ada.many("plants") == [1, 2, 4])
        #expect(try store.object("FruitTree", 4).many("admirers") == [1])
        #expect(try store.object("Bush", 1).one("gardener") == "Gardener/p1")
        #expect(try store.object("Tree", 3).one("gardener") == nil)
        #expect(try store.object("Gardener", 2).many("plants") == [])
    }

    @Test func aFetchGivesTheEntityAndItsSubentities() throws {
        #expect(try store.keys("Plant") == [1, 2, 3, 4])
        #expect(try store.keys("Tree") == [2, 3, 4])
        #expect(try store.keys("FruitTree") == [4])
        #expect(try store.keys("FruitTree", where: "note == 'sour'") == [4])
        #expect(try store.keys("Bush", where: "note == 'sour'") == [])
        #expect(try store.keys("Plant", where: "gardener.name == 'Ada' AND height > 2") == [2, 4])
        #expect(try store.keys("Gardener", where: "favorite.label == 'Apple'") == [1])
    }

    @Test func aChangedKeyHasTheNumberOfTheEntityThatItLeadsTo() throws {
        try store.object("Gardener", 1).setValue(try store.object("Bush", 1), forKey: "favorite")
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_OPT, ZBADGE, ZFAVORITE, Z2_FAVORITE, ZNAME FROM ZGARDENER ORDER BY Z_PK") == [
                ["4", "7", "1", "3", "Ada"], ["1", nil, nil, nil, "Élodie"],
            ])
    }

    @Test func aNewRowHasTheKeyAfterTheHighestThatWasEverGiven() throws {
        let pear = try store.insert(
            "FruitTree",
            [
                "label": "Pear", "note": "ripe", "yield": NSDecimalNumber(string: "3.5"),
                "planted": Date(timeIntervalSinceReferenceDate: 0),
            ])
        try store.context.save()
        #expect(pear.place == "FruitTree/p6")
        #expect(
            store.file.rows(
                "SELECT Z_ENT, Z_OPT, ZISHEALTHY, ZPLANTED, ZYIELD, ZLABEL, ZNOTE, ZNOTE1 FROM ZPLANT WHERE Z_PK = 6")
                == [
                    ["5", "1", "1", "0", "3.5", "Pear", nil, "ripe"]
                ])
        #expect(store.file.column("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == ["2", "6", "0", "0", "0"])
    }

    @Test func deletingAGardenerNullifiesTheKeysOfThePlants() throws {
        store.context.delete(try store.object("Gardener", 1))
        try store.context.save()
        #expect(
            store.file.rows("SELECT Z_PK, Z_OPT, ZGARDENER FROM ZPLANT ORDER BY Z_PK") == [
                ["1", "2", nil], ["2", "3", nil], ["3", "1", nil], ["4", "5", nil],
            ])
        #expect(store.file.value("SELECT count(*) FROM ZGARDENER") == "1")
    }

    @Test func aStoreWithoutAModelIsNotMigratedAndStaysAsItIs() throws {
        try store.stack.close()
        let model = OwnStore.orchard.model()
        model.entitiesByName["Gardener"]?.properties += [NSAttributeDescription("age", .integer16AttributeType)]
        let before = try store.file.table("ZPLANT")
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let error = errorThrown { _ = try Stack(model, store.url, options: options) }
        #expect(error?.code == NSMigrationMissingSourceModelError)
        #expect(try store.file.table("ZPLANT") == before)
        #expect(try !store.file.columns(of: "ZGARDENER").contains("ZAGE"))
    }
}
