import CoreData
import TestSupport
import Testing

/// The history of a change. The bits are written out from the rules of the file format.
struct HistoryColumnTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private static var tracking: [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
    }

    private func columns() -> [String?] {
        store.file.column("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 ORDER BY Z_PK")
    }

    /// Bits of a recipe: book 0, its entity 1, maker 2, amount 3, count 4, title 5, parts 6, tags
    /// 7, users 8.
    private func recipes() -> NSManagedObjectModel {
        let book = entity("Book")
        book.subentities = [entity("Atlas")]
        let ghost = text("ghost")
        ghost.isTransient = true
        let recipe = entity(
            "Recipe", text("title"), number("amount"), number("count"), ghost,
            NSRelationshipDescription("tags", to: book, toMany: true))
        relate(recipe, "book", book, inverse: "recipes", inverseToMany: true)
        let maker = entity("Maker")
        relate(recipe, "maker", maker, inverse: "recipe")
        relate(recipe, "parts", toMany: true, ordered: true, maker, inverse: "part")
        relate(recipe, "users", toMany: true, maker, inverse: "used", inverseToMany: true)
        return NSManagedObjectModel([book] + book.subentities + [recipe, maker])
    }

    private func change(_ body: (_ recipe: NSManagedObject, NSManagedObjectContext) -> Void) throws -> [String?] {
        try store.open(recipes(), Self.tracking) { context in
            context.insert("Recipe", ["title": "one"])
            try context.save()
            body(try context.objects("Recipe")[0], context)
        }
        return store.file.column(
            "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 "
                + "AND ZENTITY = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Recipe') ORDER BY Z_PK")
    }

    @Test(arguments: [("amount", "1000"), ("count", "0800"), ("title", "0400")])
    func anAttributeHasItsBitAfterTheToOneRelationships(name: String, bits: String) throws {
        #expect(try change { recipe, _ in recipe.setValue(name == "title" ? "two" as Any : 2, forKey: name) } == [bits])
    }

    @Test func aToOneRelationshipHasABitForTheDestinationsEntityToo() throws {
        #expect(try change { recipe, context in recipe.setValue(context.insert("Atlas"), forKey: "book") } == ["C000"])
    }

    @Test func aToOneRelationshipToOneEntityHasOneBit() throws {
        #expect(try change { recipe, context in recipe.setValue(context.insert("Maker"), forKey: "maker") } == ["2000"])
    }

    @Test func toManyRelationshipsHaveTheLastBits() throws {
        let bits = try change { recipe, context in
            recipe.mutableOrderedSetValue(forKey: "parts").add(context.insert("Maker"))
            recipe.mutableSetValue(forKey: "tags").add(context.insert("Book"))
            recipe.mutableSetValue(forKey: "users").add(context.insert("Maker"))
        }
        #expect(bits == ["0380"])
    }

    @Test func everythingThatChangesHasABit() throws {
        let bits = try change { recipe, context in
            recipe.setValue("two", forKey: "title")
            recipe.setValue(context.insert("Maker"), forKey: "maker")
            recipe.mutableSetValue(forKey: "users").add(context.insert("Maker"))
        }
        #expect(bits == ["2480"])
    }

    @Test func insertionsAndDeletionsHaveNoBits() throws {
        try store.open(recipes(), Self.tracking) { context in
            let recipe = context.insert("Recipe", ["title": "one"])
            try context.save()
            context.delete(recipe)
        }
        #expect(store.file.rows("SELECT ZCHANGETYPE, ZCOLUMNS FROM ACHANGE") == [["0", nil], ["2", nil]])
    }

    @Test func anEntityThatInheritsCountsThePropertiesOfItsSuperentityFirst() throws {
        // Bits of a leaf: link 0, its entity 1, name 2, area 3, weight 4.
        func trees() -> NSManagedObjectModel {
            let node = entity("Node", text("name"))
            let leaf = entity("Leaf", number("area"), number("weight"))
            node.subentities = [leaf]
            node.properties += [NSRelationshipDescription("link", to: node)]
            return model(node, leaf)
        }
        try store.open(trees(), Self.tracking) { context in
            let leaf = context.insert("Leaf", ["name": "l"])
            let node = context.insert("Node", ["name": "n"])
            try context.save()
            leaf.setValue("m", forKey: "name")
            node.setValue("o", forKey: "name")
            try context.save()
            leaf.setValue(1, forKey: "weight")
        }
        #expect(columns() == ["20", "20", "08"])
    }

    @Test func positionsHaveBitsAfterTheKeysInTheOrderOfTheTable() throws {
        // Columns of an item: ZABOVE, ZBELOW, ZOWNER, Z_FOK_BELOW (of Box.zitems), Z_FOK_ABOVE (of
        // Box.aitems). Bits: above 0, below 1, owner 2, position of below 3, position of above 4,
        // name 5.
        func boxes() -> NSManagedObjectModel {
            let box = entity("Box")
            let item = entity("Item", text("name"))
            relate(box, "aitems", toMany: true, ordered: true, item, inverse: "above")
            relate(box, "zitems", toMany: true, ordered: true, item, inverse: "below")
            relate(box, "items", toMany: true, item, inverse: "owner")
            return model(box, item)
        }
        try store.open(boxes(), Self.tracking) { context in
            let item = context.insert("Item", ["name": "i"])
            let box = context.insert("Box")
            try context.save()
            for key in ["above", "below", "owner"] {
                item.setValue(box, forKey: key)
                try context.save()
            }
            item.setValue("j", forKey: "name")
        }
        let bits = store.file.column(
            "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = 2 ORDER BY Z_PK")
        #expect(bits == ["88", "50", "20", "04"])
    }

    @Test func aChangedElementHasTheBitOfItsCompositeAttribute() throws {
        // Bits of a place: address 0, name 1.
        let place = entity(
            "Place", text("name"), NSCompositeAttributeDescription("address", text("city"), text("zip")))
        try store.open(model(place), Self.tracking) { context in
            let place = context.insert("Place", ["name": "p", "address": ["city": "Oslo", "zip": "1"]])
            try context.save()
            place.setValue("Bergen", forKeyPath: "address.city")
            try context.save()
            place.setValue("q", forKey: "name")
        }
        #expect(columns() == ["80", "40"])
    }

    // MARK: Deleted rows

    private func people(extra: Bool = false, born: Bool = true) -> NSManagedObjectModel {
        func kept(_ attribute: NSAttributeDescription) -> NSAttributeDescription {
            attribute.preservesValueInHistoryOnDeletion = true
            return attribute
        }
        let person = entity(
            "Person", text("note"), kept(text("name")), kept(NSAttributeDescription("id", .UUIDAttributeType)))
        if born { person.properties += [kept(NSAttributeDescription("born", .dateAttributeType))] }
        if extra { person.properties += [kept(number("height"))] }
        let member = entity("Member", kept(number("level")))
        person.subentities = [member]
        return model(person, member, entity("Thing", text("name")))
    }

    private let id = UUID(
        uuid: (0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF))

    private func deletePeople() throws {
        try store.open(people(), Self.tracking) { context in
            let born = Date(timeIntervalSinceReferenceDate: 12.5)
            context.insert("Person", ["name": "p", "note": "secret", "born": born, "id": id])
            context.insert("Member", ["name": "m", "level": 3])
            context.insert("Thing", ["name": "t"])
        }
        try store.open(people(), Self.tracking) { context in
            for entity in ["Person", "Thing"] {
                for object in try context.objects(entity) { context.delete(object) }
            }
        }
    }

    private func tombstones(_ count: Int) -> [[String?]] {
        let columns = (0..<count).map { "quote(ZTOMBSTONE\($0))" }.joined(separator: ", ")
        return store.file.rows("SELECT \(columns) FROM ACHANGE WHERE ZCHANGETYPE = 2 ORDER BY ZENTITY")
    }

    @Test func aDeletionLeavesThePreservedValuesByName() throws {
        try deletePeople()
        // Of a person: born, id, name. Of a member: born, id, level, name.
        #expect(
            tombstones(4) == [
                ["12.5", "X'00112233445566778899AABBCCDDEEFF'", "'p'", "NULL"], ["NULL", "NULL", "3", "'m'"],
                ["NULL", "NULL", "NULL", "NULL"],
            ])
        #expect(
            store.file.value("SELECT sql FROM sqlite_master WHERE name = 'ACHANGE'")?.hasSuffix(
                "ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB, ZTOMBSTONE3 BLOB )") == true)
        #expect(store.file.value("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 0 AND ZTOMBSTONE2 NOT NULL") == "0")
    }

    @Test func aDeletionLeavesTheValuesThatTheObjectHadWhenItWasDeleted() throws {
        func prices() -> NSManagedObjectModel {
            let attributes = [
                text("name"), NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("day", .dateAttributeType),
                NSAttributeDescription("web", .URIAttributeType), text("note"),
            ]
            for attribute in attributes { attribute.preservesValueInHistoryOnDeletion = true }
            return model(NSEntityDescription("Thing", class: "NSManagedObject", attributes))
        }
        try store.open(prices(), Self.tracking) { context in
            let thing = context.insert("Thing", ["name": "former", "note": "kept", "price": NSDecimalNumber(value: 1)])
            try context.save()
            thing.setValue("last", forKey: "name")
            thing.setValue(NSDecimalNumber(string: "2.5"), forKey: "price")
            thing.setValue(Date(timeIntervalSinceReferenceDate: 12.5), forKey: "day")
            thing.setValue(URL(string: "https://a.example"), forKey: "web")
            context.delete(thing)
        }
        #expect(tombstones(5) == [["12.5", "'last'", "'kept'", "2.5", "'https://a.example'"]])
    }

    @Test func aDeletionLeavesNoValueOfAnAttributeWithFiles() throws {
        let (name, photo) = (text("name"), NSAttributeDescription("photo", .binaryDataAttributeType))
        photo.allowsExternalBinaryDataStorage = true
        for attribute in [name, photo] { attribute.preservesValueInHistoryOnDeletion = true }
        try store.open(model(entity("Person", name, photo)), Self.tracking) { context in
            let person = context.insert("Person", ["name": "p", "photo": Data([1, 2])])
            try context.save()
            context.delete(person)
        }
        #expect(tombstones(1) == [["'p'"]])
        #expect(store.file.integer("SELECT count(*) FROM pragma_table_info('ACHANGE') WHERE name = 'ZTOMBSTONE1'") == 0)
    }

    @Test func valuesOfDeletedRowsFollowTheirAttributesThroughAMigration() throws {
        try deletePeople()
        try store.open(people(extra: true, born: false), Self.tracking) { _ in }
        // Of a person: height, id, name. Of a member: height, id, level, name.
        #expect(
            tombstones(4) == [
                ["NULL", "X'00112233445566778899AABBCCDDEEFF'", "'p'", "NULL"], ["NULL", "NULL", "3", "'m'"],
                ["NULL", "NULL", "NULL", "NULL"],
            ])
    }

    @Test func aStoreThatPreservesMoreThanBeforeGetsTheColumns() throws {
        try store.open(model(entity("Person", text("note"), text("name"))), Self.tracking) { $0.insert("Person") }
        try store.open(people(), Self.tracking) { context in context.delete(try context.objects("Person")[0]) }
        #expect(tombstones(4) == [["NULL", "NULL", "NULL", "NULL"]])
    }

    /// Another program goes on from the highest key that `Z_PRIMARYKEY` says was handed out.
    @Test func theKeysOfHistoryRowsEndWithTheLastOneHandedOut() throws {
        try store.open(recipes(), Self.tracking) { context in
            for count in 1...3 {
                for _ in 0..<count { context.insert("Recipe") }
                try context.save()
            }
        }
        #expect(store.file.column("SELECT Z_PK FROM ACHANGE ORDER BY 1") == ["1", "2", "3", "4", "5", "6"])
        #expect(store.file.column("SELECT Z_PK FROM ATRANSACTION ORDER BY 1") == ["1", "2", "3"])
        let highest = "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME IN ('CHANGE', 'TRANSACTION') ORDER BY 1"
        #expect(store.file.rows(highest) == [["CHANGE", "6"], ["TRANSACTION", "3"]])
    }
}
