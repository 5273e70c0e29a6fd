import CoreData
import TestSupport
import Testing

/// Stores whose join tables have other names than a new store's: data must come out on the right
/// side.
struct FormerNamesTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    /// The names that a relationship leads to, by the owner's name.
    private func links(_ model: NSManagedObjectModel, _ entity: String, _ key: String) throws -> [String: [String]] {
        try store.open(model) { context in
            var result: [String: [String]] = [:]
            for object in try context.objects(entity, by: "name") {
                let value = object.value(forKey: key)
                let members =
                    (value as? NSOrderedSet)?.compactMap { $0 as? NSManagedObject }
                    ?? Array(value as? Set<NSManagedObject> ?? [])
                let names = members.compactMap { $0.value(forKey: "name") as? String }
                let owner = object.value(forKey: "name") as? String ?? ""
                if !names.isEmpty { result[owner] = value is NSOrderedSet ? names : names.sorted() }
            }
            return result
        }
    }

    /// Gives a table of pairs other names, as if it had been made with them.
    private func rename(_ table: String, to name: String, _ columns: [(String, String)], order: [String]? = nil) {
        let made = order ?? columns.map(\.1)
        let source = Dictionary(uniqueKeysWithValues: columns.map { ($0.1, $0.0) })
        let keys = made.filter { !$0.hasPrefix("Z_FOK_") }.joined(separator: ", ")
        let sql = """
            CREATE TABLE "FORMER" ( \(made.map { "\($0) INTEGER" }.joined(separator: ", ")), PRIMARY KEY (\(keys)) );
            INSERT INTO "FORMER" SELECT \(made.map { source[$0] ?? $0 }.joined(separator: ", ")) FROM \(table);
            DROP TABLE \(table);
            ALTER TABLE "FORMER" RENAME TO "\(name)";
            """
        #expect(store.file.execute(sql))
    }

    // MARK: Many-to-many

    /// Numbers: Book 1, Tag 2. A new store has Z_1TAGS (Z_1ZBOOKS, Z_2TAGS).
    private func library(extra: Bool = false) -> NSManagedObjectModel {
        let book = entity("Book", text("name"))
        let tag = entity("Tag", text("name"))
        relate(book, "tags", toMany: true, ordered: true, tag, inverse: "zbooks", inverseToMany: true)
        return extra ? model(book, tag, entity("Author", text("name"))) : model(book, tag)
    }

    private func fillLibrary() throws {
        try store.open(library()) { context in
            let tags = ["t1", "t2", "t3"].map { context.insert("Tag", ["name": $0]) }
            context.insert("Book", ["name": "b1", "tags": NSOrderedSet(array: [tags[2], tags[0]])])
            context.insert("Book", ["name": "b2", "tags": NSOrderedSet(array: [tags[0], tags[1]])])
        }
    }

    private let tags = ["b1": ["t3", "t1"], "b2": ["t1", "t2"]]
    private let books = ["t1": ["b1", "b2"], "t2": ["b2"], "t3": ["b1"]]

    private func expectLibrary(_ model: () -> NSManagedObjectModel) throws {
        #expect(try links(model(), "Book", "tags") == tags)
        #expect(try links(model(), "Tag", "zbooks") == books)
    }

    @Test func aTableThatTheOtherSideNamesIsFound() throws {
        try fillLibrary()
        rename(
            "Z_1TAGS", to: "Z_2ZBOOKS",
            [("Z_2TAGS", "Z_2TAGS"), ("Z_1ZBOOKS", "Z_1ZBOOKS"), ("Z_FOK_2TAGS", "Z_FOK_2TAGS")])
        try expectLibrary { library() }
    }

    @Test func aTableWithTheNumbersOfAFormerModelIsFound() throws {
        try fillLibrary()
        rename(
            "Z_1TAGS", to: "Z_7TAGS",
            [("Z_1ZBOOKS", "Z_7ZBOOKS"), ("Z_2TAGS", "Z_9TAGS1"), ("Z_FOK_2TAGS", "Z_FOK_9TAGS1")])
        try expectLibrary { library() }
        try store.open(library()) { context in
            let book = try context.objects("Book", by: "name")[0]
            book.mutableOrderedSetValue(forKey: "tags").removeObject(at: 0)
        }
        #expect(try links(library(), "Tag", "zbooks") == ["t1": ["b1", "b2"], "t2": ["b2"]])
    }

    @Test func aMigrationGivesTheNamesOfANewStore() throws {
        try fillLibrary()
        rename(
            "Z_1TAGS", to: "Z_2ZBOOKS",
            [("Z_2TAGS", "Z_2TAGS"), ("Z_1ZBOOKS", "Z_1ZBOOKS"), ("Z_FOK_2TAGS", "Z_FOK_2TAGS")])
        try store.migrate(to: library(extra: true))
        #expect(
            store.file.column("SELECT name FROM sqlite_master WHERE name LIKE 'Z\\_2%' ESCAPE '\\' AND type = 'table'")
                == ["Z_2TAGS"])
        try expectLibrary { library(extra: true) }
    }

    // MARK: Within one entity

    /// A new store has Z_1FOLLOWS (Z_1FOLLOWEDBY, Z_1FOLLOWS), since `follows` comes after
    /// `followedBy`.
    private func people(extra: Bool = false) -> NSManagedObjectModel {
        let person = entity("Person", text("name"))
        relate(person, "follows", toMany: true, person, inverse: "followedBy", inverseToMany: true)
        return extra ? model(person, entity("Animal", text("name"))) : model(person)
    }

    private func fillPeople() throws {
        try store.open(people()) { context in
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(Set(people[1...]), forKey: "follows")
            people[1].setValue(Set([people[2]]), forKey: "follows")
        }
    }

    private func expectPeople(_ model: () -> NSManagedObjectModel) throws {
        #expect(try links(model(), "Person", "follows") == ["a": ["b", "c"], "b": ["c"]])
        #expect(try links(model(), "Person", "followedBy") == ["b": ["a"], "c": ["a", "b"]])
    }

    @Test(arguments: [
        ("Z_1FOLLOWEDBY", ["Z_1FOLLOWS", "Z_1FOLLOWEDBY"], ["Z_1FOLLOWS", "Z_1FOLLOWEDBY"]),
        ("Z_1FOLLOWEDBY", ["Z_1FOLLOWS", "Z_1FOLLOWEDBY"], ["Z_1FOLLOWEDBY", "Z_1FOLLOWS"]),
        ("Z_1FOLLOWS", ["Z_1FOLLOWS", "Z_1FOLLOWEDBY"], ["Z_1FOLLOWS", "Z_1FOLLOWEDBY"]),
        ("Z_4FOLLOWS", ["Z_4FOLLOWS", "Z_4FOLLOWEDBY"], ["Z_4FOLLOWS", "Z_4FOLLOWEDBY"]),
        ("Z_4FOLLOWEDBY", ["Z_4FOLLOWS1", "Z_4FOLLOWEDBY"], ["Z_4FOLLOWEDBY", "Z_4FOLLOWS1"]),
    ])
    func bothDirectionsOfAnEntityWithItselfStayWhateverTheNames(table: String, names: [String], order: [String]) throws
    {
        try fillPeople()
        rename("Z_1FOLLOWS", to: table, [("Z_1FOLLOWS", names[0]), ("Z_1FOLLOWEDBY", names[1])], order: order)
        try expectPeople { people() }
        try store.migrate(to: people(extra: true))
        try expectPeople { people(extra: true) }
    }

    /// Both relationships have one name but for case: only the order of columns says which is
    /// which.
    private func pairs(extra: Bool = false) -> NSManagedObjectModel {
        let node = entity("Node", text("name"))
        relate(node, "links", toMany: true, node, inverse: "LINKS", inverseToMany: true)
        return extra ? model(node, entity("Edge", text("name"))) : model(node)
    }

    @Test(arguments: [false, true]) func namesThatDifferInCaseOnlyKeepTheirDirections(former: Bool) throws {
        try store.open(pairs()) { context in
            let nodes = ["a", "b", "c"].map { context.insert("Node", ["name": $0]) }
            nodes[0].setValue(Set(nodes[1...]), forKey: "links")
        }
        // `LINKS` comes before `links`, whose column therefore has the number.
        #expect(store.file.rows("SELECT Z_1LINKS1, Z_1LINKS FROM Z_1LINKS ORDER BY 2").map { $0[0] } == ["1", "1"])
        if former {
            rename("Z_1LINKS", to: "Z_1LINKS", [("Z_1LINKS1", "Z_1LINKS"), ("Z_1LINKS", "Z_1LINKS1")])
        }
        #expect(try links(pairs(), "Node", "links") == ["a": ["b", "c"]])
        #expect(try links(pairs(), "Node", "LINKS") == ["b": ["a"], "c": ["a"]])
        try store.migrate(to: pairs(extra: true))
        #expect(try links(pairs(extra: true), "Node", "links") == ["a": ["b", "c"]])
        #expect(try links(pairs(extra: true), "Node", "LINKS") == ["b": ["a"], "c": ["a"]])
    }

    /// Relationships whose names are each other's with a digit: a column's digit may be of the name
    /// or keep it from repeating.
    @Test func aDigitThatBelongsToANameIsNoSuffix() throws {
        func nodes() -> NSManagedObjectModel {
            let node = entity("Node", text("name"))
            relate(node, "user", toMany: true, node, inverse: "user1", inverseToMany: true)
            relate(node, "user2", toMany: true, node, inverse: "user3", inverseToMany: true)
            return model(node)
        }
        try store.open(nodes()) { context in
            let nodes = ["a", "b", "c"].map { context.insert("Node", ["name": $0]) }
            nodes[0].setValue(Set([nodes[1]]), forKey: "user")
            nodes[1].setValue(Set([nodes[2]]), forKey: "user2")
        }
        // user1 names (Z_1USER, Z_1USER1), user3 names (Z_1USER2, Z_1USER3).
        rename("Z_1USER1", to: "Z_8USER1", [("Z_1USER", "Z_8USER"), ("Z_1USER1", "Z_8USER1")])
        rename("Z_1USER3", to: "Z_8USER3", [("Z_1USER2", "Z_8USER2"), ("Z_1USER3", "Z_8USER3")])
        #expect(try links(nodes(), "Node", "user") == ["a": ["b"]])
        #expect(try links(nodes(), "Node", "user1") == ["b": ["a"]])
        #expect(try links(nodes(), "Node", "user2") == ["b": ["c"]])
        #expect(try links(nodes(), "Node", "user3") == ["c": ["b"]])
    }

    // MARK: Several tables of one pair of names

    /// Numbers: Alpha 1, Beta 2, Delta 3, Gamma 4.
    private func twins() -> NSManagedObjectModel {
        let alpha = entity("Alpha", text("name"))
        let beta = entity("Beta", text("name"))
        let delta = entity("Delta", text("name"))
        let gamma = entity("Gamma", text("name"))
        relate(alpha, "tags", toMany: true, delta, inverse: "items", inverseToMany: true)
        relate(beta, "tags", toMany: true, gamma, inverse: "items", inverseToMany: true)
        return model(alpha, beta, delta, gamma)
    }

    private func fillTwins() throws {
        try store.open(twins()) { context in
            let delta = context.insert("Delta", ["name": "d"])
            let gamma = context.insert("Gamma", ["name": "g"])
            context.insert("Alpha", ["name": "a", "tags": Set([delta])])
            context.insert("Beta", ["name": "b", "tags": Set([gamma])])
            context.insert("Beta", ["name": "c", "tags": Set([gamma])])
        }
    }

    @Test func tablesOfTheSameNamesKeepTheOrderOfTheirEntities() throws {
        try fillTwins()
        rename("Z_1TAGS", to: "Z_5TAGS", [("Z_1ITEMS", "Z_5ITEMS"), ("Z_3TAGS", "Z_7TAGS")])
        rename("Z_2TAGS", to: "Z_6TAGS", [("Z_2ITEMS", "Z_6ITEMS"), ("Z_4TAGS", "Z_8TAGS")])
        #expect(try links(twins(), "Alpha", "tags") == ["a": ["d"]])
        #expect(try links(twins(), "Beta", "tags") == ["b": ["g"], "c": ["g"]])
    }

    @Test func aTableThatCannotBeToldFromAnotherIsNotGuessed() throws {
        try fillTwins()
        rename("Z_1TAGS", to: "Z_5TAGS", [("Z_1ITEMS", "Z_5ITEMS"), ("Z_3TAGS", "Z_7TAGS")])
        #expect(store.file.execute("DROP TABLE Z_2TAGS"))
        let error = try #require(errorThrown { try store.open(twins()) { _ in } })
        #expect(error.code == 134020)
        #expect(error.localizedDescription.contains("Z_2TAGS"))
    }

    // MARK: Without an inverse

    private func boxes(ordered: Bool = false, extra: Bool = false) -> NSManagedObjectModel {
        let item = entity("Item", text("name"))
        let items = NSRelationshipDescription("items", to: item, toMany: true)
        items.isOrdered = ordered
        let box = entity("Box", text("name"), items)
        let crate = entity("Crate")
        box.subentities = [crate]
        return extra ? model(box, crate, item, entity("Attic", text("name"))) : model(box, crate, item)
    }

    /// A store that keeps the pairs in a table: Box 1, Crate 2, Item 3.
    private func makeFormerBoxes(ordered: Bool, sharing: Bool = false) throws {
        try store.open(boxes(ordered: ordered)) { context in
            for name in ["i1", "i2", "i3", "i4"] { context.insert("Item", ["name": name]) }
            context.insert("Box", ["name": "box"])
            context.insert("Crate", ["name": "crate"])
        }
        let key = { (table: String, name: String) in "(SELECT Z_PK FROM \(table) WHERE ZNAME = '\(name)')" }
        let pairs =
            [("box", "i3", 2048), ("box", "i1", 3072), ("crate", "i2", 2048)] + (sharing ? [("crate", "i3", 3072)] : [])
        let position = ordered ? ", Z_FOK_3ITEMS INTEGER" : ""
        var sql =
            "CREATE TABLE Z_1ITEMS ( Z_1BOX INTEGER, Z_3ITEMS INTEGER\(position), PRIMARY KEY (Z_1BOX, Z_3ITEMS) );"
        for (box, item, place) in pairs {
            sql +=
                "INSERT INTO Z_1ITEMS VALUES (\(key("ZBOX", box)), "
                + "\(key("ZITEM", item))\(ordered ? ", \(place)" : ""));"
        }
        sql += "DROP INDEX ZITEM_Z1ITEMS_INDEX; ALTER TABLE ZITEM DROP COLUMN Z1ITEMS;"
        if ordered { sql += "ALTER TABLE ZITEM DROP COLUMN Z_FOK_1ITEMS;" }
        #expect(store.file.execute(sql))
    }

    @Test(arguments: [false, true]) func aRelationshipWithoutAnInverseInATableOfItsOwnIsReadAndWritten(ordered: Bool)
        throws
    {
        try makeFormerBoxes(ordered: ordered)
        let expected = ["box": ordered ? ["i3", "i1"] : ["i1", "i3"], "crate": ["i2"]]
        #expect(try links(boxes(ordered: ordered), "Box", "items") == expected)
        try store.open(boxes(ordered: ordered)) { context in
            let box = try context.objects("Box", by: "name")[0]
            let item = try context.objects("Item", by: "name")[3]
            if ordered {
                box.mutableOrderedSetValue(forKey: "items").add(item)
            } else {
                box.mutableSetValue(forKey: "items").add(item)
            }
        }
        #expect(store.file.value("SELECT count(*) FROM Z_1ITEMS") == "4")
        #expect(try links(boxes(ordered: ordered), "Box", "items")["box"]?.count == 3)
    }

    @Test(arguments: [false, true]) func aMigrationPutsItsPairsIntoTheDestinationsRows(ordered: Bool) throws {
        try makeFormerBoxes(ordered: ordered, sharing: true)
        try store.migrate(to: boxes(ordered: ordered, extra: true))
        #expect(store.file.value("SELECT count(*) FROM sqlite_master WHERE name LIKE 'Z\\_1ITEMS%' ESCAPE '\\'") == "0")
        // Attic is 1 now, Box 2. What two boxes had stays with the first.
        #expect(
            store.file.rows("SELECT ZNAME, Z2ITEMS FROM ZITEM ORDER BY 1") == [
                ["i1", "1"], ["i2", "2"], ["i3", "1"], ["i4", nil],
            ])
        let expected = ["box": ordered ? ["i3", "i1"] : ["i1", "i3"], "crate": ["i2"]]
        #expect(try links(boxes(ordered: ordered, extra: true), "Box", "items") == expected)
    }

    @Test func aKeyWithTheNumberOfAFormerModelIsFound() throws {
        try store.open(boxes()) { context in
            context.insert("Box", ["name": "box", "items": Set([context.insert("Item", ["name": "i"])])])
        }
        #expect(store.file.execute("ALTER TABLE ZITEM RENAME COLUMN Z1ITEMS TO Z17ITEMS"))
        #expect(try links(boxes(), "Box", "items") == ["box": ["i"]])
        try store.migrate(to: boxes(extra: true))
        #expect(try links(boxes(extra: true), "Box", "items") == ["box": ["i"]])
    }

    // MARK: Entity columns

    @Test func anEntityColumnWithTheNumberOfTheRootIsFoundAndRenamed() throws {
        func deliveries(extra: Bool = false) -> NSManagedObjectModel {
            let object = entity("Object", text("name"))
            let syncable = entity("Syncable")
            let file = entity("File")
            object.subentities = [syncable]
            syncable.subentities = [file]
            let delivery = entity("Delivery", text("name"), NSRelationshipDescription("object", to: syncable))
            return extra
                ? model(object, syncable, file, delivery, entity("Attic")) : model(object, syncable, file, delivery)
        }
        try store.open(deliveries()) { context in
            context.insert("Delivery", ["name": "d", "object": context.insert("File", ["name": "f"])])
        }
        #expect(store.file.execute("ALTER TABLE ZDELIVERY RENAME COLUMN Z3_OBJECT TO Z2_OBJECT"))
        func destination(_ model: NSManagedObjectModel) throws -> String? {
            try store.open(model) { context in
                (try context.objects("Delivery")[0].value(forKey: "object") as? NSManagedObject)?.entity.name
            }
        }
        #expect(try destination(deliveries()) == "File")
        try store.migrate(to: deliveries(extra: true))
        #expect(store.file.rows("SELECT ZOBJECT, Z4_OBJECT FROM ZDELIVERY") == [["1", "5"]])
        #expect(try destination(deliveries(extra: true)) == "File")
    }

    // MARK: Its own inverse

    /// A new store has Z_1FRIENDS (Z_1FRIENDS, REFLEXIVE, Z_FOK_REFLEXIVE).
    private func friends(extra: Bool = false) -> NSManagedObjectModel {
        let person = entity("Person", text("name"))
        let friends = NSRelationshipDescription("friends", to: person, toMany: true)
        friends.isOrdered = true
        friends.inverseRelationship = friends
        person.properties += [friends]
        return extra ? model(person, entity("Animal", text("name"))) : model(person)
    }

    @Test func aTableWhoseColumnReflexiveHoldsTheOwnerKeepsTheOrder() throws {
        try store.open(friends()) { context in
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(NSOrderedSet(array: [people[2], people[1]]), forKey: "friends")
        }
        let expected = ["a": ["c", "b"], "b": ["a"], "c": ["a"]]
        #expect(try links(friends(), "Person", "friends") == expected)
        rename(
            "Z_1FRIENDS", to: "Z_1FRIENDS",
            [("Z_1FRIENDS", "REFLEXIVE"), ("REFLEXIVE", "Z_1FRIENDS"), ("Z_FOK_REFLEXIVE", "Z_FOK_1FRIENDS")])
        #expect(try links(friends(), "Person", "friends") == expected)
        try store.migrate(to: friends(extra: true))
        #expect(
            store.file.column("SELECT name FROM pragma_table_info('Z_2FRIENDS') ORDER BY cid") == [
                "Z_2FRIENDS", "REFLEXIVE", "Z_FOK_REFLEXIVE",
            ])
        #expect(try links(friends(extra: true), "Person", "friends") == expected)
    }
}
