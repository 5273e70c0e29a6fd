import CoreData
import TestSupport
import Testing

/// What each type of entity mapping makes of attributes and relationships of each kind.
struct EntityMappingTypeTests {
    let stores: MappedStores

    init() throws { stores = try MappedStores() }

    /// Shelves with one owner, ordered books, and tags that they share.
    private static func library(_ shelf: String = "Shelf", _ extra: NSAttributeDescription...) -> NSManagedObjectModel {
        let cover = NSAttributeDescription("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let shelf = entity(
            shelf, text("name"), number("size"), cover, NSAttributeDescription("made", .dateAttributeType),
            NSAttributeDescription("list", .transformableAttributeType))
        shelf.properties += extra
        let (owner, book, tag) = (
            entity("Owner", text("name")), entity("Book", text("name")), entity("Tag", text("name"))
        )
        relate(shelf, "owner", owner, inverse: "shelf")
        relate(shelf, "books", toMany: true, ordered: true, book, inverse: "shelf")
        relate(shelf, "tags", toMany: true, tag, inverse: "shelves", inverseToMany: true)
        return model(shelf, owner, book, tag)
    }

    private static let cover = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })

    private func fill(_ model: NSManagedObjectModel) throws {
        try stores.source.open(model) { context in
            let tags = ["red", "blue"].map { context.insert("Tag", ["name": $0]) }
            for number in 1...2 {
                let books = ["z", "a", "m"].map { context.insert("Book", ["name": "\($0)\(number)"]) }
                context.insert(
                    "Shelf",
                    [
                        "name": "s\(number)", "size": number, "cover": Self.cover,
                        "made": Date(timeIntervalSinceReferenceDate: Double(number)), "list": ["x", "y"] as NSArray,
                        "owner": context.insert("Owner", ["name": "o\(number)"]), "books": NSOrderedSet(array: books),
                        "tags": NSSet(array: number == 1 ? tags : [tags[1]]),
                    ])
            }
        }
    }

    private func copy(_ entity: String) -> NSEntityMapping {
        let copy = NSEntityMapping()
        copy.name = "\(entity)To\(entity)"
        copy.mappingType = .copyEntityMappingType
        copy.sourceEntityName = entity
        copy.destinationEntityName = entity
        return copy
    }

    private func expectLibrary(_ model: NSManagedObjectModel, _ entity: String = "Shelf") throws {
        try stores.destination.open(model) { context in
            let shelves = try context.objects(entity, by: "name")
            #expect(shelves.map { $0.value(forKey: "name") as? String } == ["s1", "s2"])
            #expect(shelves.map { $0.value(forKey: "size") as? Int } == [1, 2])
            #expect(shelves.allSatisfy { $0.value(forKey: "cover") as? Data == Self.cover })
            #expect(shelves.map { $0.value(forKey: "list") as? [String] } == [["x", "y"], ["x", "y"]])
            #expect(shelves.map { ($0.value(forKey: "made") as? Date)?.timeIntervalSinceReferenceDate } == [1, 2])
            #expect(shelves.map { $0.value(forKeyPath: "owner.name") as? String } == ["o1", "o2"])
            let books = shelves.map { ($0.value(forKey: "books") as? NSOrderedSet)?.array as? [NSManagedObject] }
            #expect(
                books.map { $0?.map { $0.value(forKey: "name") as? String } } == [
                    ["z1", "a1", "m1"], ["z2", "a2", "m2"],
                ])
            let tags = shelves.map { $0.value(forKeyPath: "tags.name") as? Set<String> }
            #expect(tags == [["red", "blue"], ["blue"]])
        }
        #expect(stores.destination.file.value("PRAGMA integrity_check") == "ok")
    }

    @Test func copyingKeepsAttributesAndRelationshipsOfEveryKind() throws {
        try fill(Self.library())
        let mappings = ["Book", "Shelf", "Owner", "Tag"].map(copy)
        try stores.migrate(from: Self.library(), to: Self.library(), by: mappings)
        try expectLibrary(Self.library())
    }

    @Test func transformingFollowsTheExpressionsOfPropertiesOfEveryKind() throws {
        try fill(Self.library())
        let names = ["name", "size", "cover", "made", "list"]
        var attributes = Dictionary(uniqueKeysWithValues: names.map { ($0, "$source.\($0)") })
        attributes["label"] = "$source.owner.name"
        attributes["doubled"] = "$source.size * 2"
        attributes["count"] = "$source.books.@count"
        let shelf = mapping(
            "ShelfToRack", from: "Shelf", to: "Rack", attributes: attributes,
            relationships: [
                "owner": instances("OwnerToOwner", "owner"), "books": instances("BookToBook", "books"),
                "tags": instances("TagToTag", "tags"),
            ])
        let others = ["Book", "Owner", "Tag"].map { (name: String) in
            mapping("\(name)To\(name)", from: name, to: name, attributes: ["name": "$source.name"])
        }
        let new = Self.library("Rack", text("label"), number("doubled"), number("count"))
        try stores.migrate(from: Self.library(), to: new, by: [shelf] + others)
        try expectLibrary(new, "Rack")
        let added = "SELECT ZLABEL, ZDOUBLED, ZCOUNT FROM ZRACK ORDER BY ZNAME"
        #expect(stores.destination.file.rows(added) == [["o1", "2", "3"], ["o2", "4", "3"]])
    }

    @Test func aPropertyWithoutAnExpressionKeepsItsDefault() throws {
        let former = model(entity("Item", text("name")))
        let new = model(entity("Item", text("name", default: "none"), text("unit", default: "kg")))
        try stores.source.open(former) { $0.insert("Item", ["name": "bolt"]) }
        let item = mapping("ItemToItem", from: "Item", to: "Item")
        let name = NSPropertyMapping()
        name.name = "name"
        item.attributeMappings = [name]
        try stores.migrate(from: former, to: new, by: [item])
        #expect(stores.destination.file.rows("SELECT ZNAME, ZUNIT FROM ZITEM") == [["none", "kg"]])
    }

    @Test func anExpressionThatGivesNilReplacesTheDefault() throws {
        let former = model(entity("Item", text("name")))
        let new = model(entity("Item", text("name", default: "none")))
        try stores.source.open(former) { $0.insert("Item") }
        let item = mapping("ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"])
        try stores.migrate(from: former, to: new, by: [item])
        #expect(stores.destination.file.rows("SELECT ZNAME FROM ZITEM") == [[nil]])
    }

    @Test func removingAndAddingMakeNoObjects() throws {
        let former = model(entity("Item", text("name")))
        let new = model(entity("Thing", text("name")))
        try stores.source.open(former) { $0.insert("Item", ["name": "bolt"]) }
        try stores.migrate(
            from: former, to: new,
            by: [
                mapping("Remove", from: "Item", to: nil, .removeEntityMappingType),
                mapping("Add", from: nil, to: "Thing", .addEntityMappingType),
            ])
        #expect(stores.destination.file.integer("SELECT count(*) FROM ZTHING") == 0)
        #expect(stores.source.file.integer("SELECT count(*) FROM ZITEM") == 1)
    }

    @Test func aMappingAppliesToItsEntityWithoutSubentities() throws {
        func version() -> NSManagedObjectModel {
            let (base, sub) = (entity("Base", text("name")), entity("Sub", number("count")))
            base.subentities = [sub]
            return model(base, sub)
        }
        try stores.source.open(version()) { context in
            context.insert("Base", ["name": "b"])
            context.insert("Sub", ["name": "s", "count": 3])
        }
        try stores.migrate(from: version(), to: version(), by: ["Base", "Sub"].map(copy))
        let rows = "SELECT ZNAME, ZCOUNT FROM ZBASE ORDER BY ZNAME"
        #expect(stores.destination.file.rows(rows) == [["b", nil], ["s", "3"]])
    }

    @Test func aSourceExpressionIsReadFromItsText() throws {
        let former = model(entity("Item", text("name")))
        try stores.source.open(former) { context in
            for name in ["a", "b"] { context.insert("Item", ["name": name]) }
        }
        let item = mapping("ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"])
        item.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Item\", "
                + "\"name = 'b'\"), $manager.sourceContext, NO)")
        try stores.migrate(from: former, to: former, by: [item])
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZITEM") == ["b"])
    }

    @Test func oneEntityBecomesTwoByTheirSourceExpressions() throws {
        let former = model(entity("Item", text("name"), number("size")))
        let new = model(entity("Small", text("name")), entity("Large", text("name")))
        try stores.source.open(former) { context in
            for size in 1...4 { context.insert("Item", ["name": "i\(size)", "size": size]) }
        }
        let mappings = [("Small", "size < 3"), ("Large", "size >= 3")].map { name, condition in
            let mapping = mapping("ItemTo\(name)", from: "Item", to: name, attributes: ["name": "$source.name"])
            mapping.sourceExpression = NSFetchRequestExpression.expression(
                forFetch: NSExpression(
                    format: "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Item\", %@)",
                    condition),
                context: NSExpression(format: "$manager.sourceContext"), countOnly: false)
            return mapping
        }
        try stores.migrate(from: former, to: new, by: mappings)
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZSMALL ORDER BY 1") == ["i1", "i2"])
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZLARGE ORDER BY 1") == ["i3", "i4"])
    }
}
