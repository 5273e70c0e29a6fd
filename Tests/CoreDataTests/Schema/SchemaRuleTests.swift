import CoreData
import TestSupport
import Testing

/// The statements that make a new store. What is expected is written out from the rules of the file
/// format.
struct SchemaRuleTests {
    /// The statements of a new store of some entities, in their order, without those that every
    /// store has.
    static func statements(_ entities: NSEntityDescription..., indexes: Bool = false) throws -> [String] {
        let store = try MigratedStore()
        try store.open(NSManagedObjectModel(entities)) { _ in }
        let sql =
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT IN ('Z_PRIMARYKEY', 'Z_METADATA', "
            + "'Z_MODELCACHE') "
        return store.file.column(sql + (indexes ? "" : "AND type = 'table' ") + "ORDER BY rowid").compactMap { $0 }
    }

    /// The columns of a table after `Z_PK`, `Z_ENT` and `Z_OPT`.
    static func columns(_ table: String, _ entities: NSEntityDescription...) throws -> [String] {
        let store = try MigratedStore()
        try store.open(NSManagedObjectModel(entities)) { _ in }
        let names = store.file.column("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").compactMap { $0 }
        #expect(names.prefix(3) == ["Z_PK", "Z_ENT", "Z_OPT"])
        return Array(names.dropFirst(3))
    }

    // MARK: Join tables

    @Test func theEntityWithTheSmallerNumberNamesTheJoinTable() throws {
        let author = entity("Author")
        let book = entity("Book")
        relate(book, "writers", toMany: true, author, inverse: "titles", inverseToMany: true)
        #expect(
            try Self.statements(author, book, indexes: true) == [
                "CREATE TABLE ZAUTHOR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE TABLE Z_1TITLES ( Z_1WRITERS INTEGER, Z_2TITLES INTEGER, PRIMARY KEY (Z_1WRITERS, Z_2TITLES) )",
                "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE INDEX Z_1TITLES_Z_2TITLES_INDEX ON Z_1TITLES (Z_2TITLES, Z_1WRITERS)",
            ])
    }

    @Test(arguments: [("favorites", "favoriteFolders"), ("ignoredClients", "ignoredByClients")])
    func withinOneEntityTheLaterNameNamesTheJoinTable(later: String, earlier: String) throws {
        let node = entity("Node")
        relate(node, earlier, toMany: true, node, inverse: later, inverseToMany: true, inverseOrdered: true)
        let (later, earlier) = (later.uppercased(), earlier.uppercased())
        #expect(
            try Self.statements(node, indexes: true) == [
                "CREATE TABLE ZNODE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE TABLE Z_1\(later) ( Z_1\(earlier) INTEGER, Z_1\(later) INTEGER, Z_FOK_1\(later) INTEGER, "
                    + "PRIMARY KEY (Z_1\(earlier), Z_1\(later)) )",
                "CREATE INDEX Z_1\(later)_Z_1\(later)_INDEX ON Z_1\(later) (Z_1\(later), Z_1\(earlier))",
            ])
    }

    @Test func positionsOfBothSidesFollowInTheOrderOfTheColumns() throws {
        let list = entity("List")
        let song = entity("Song")
        relate(
            list, "songs", toMany: true, ordered: true, song, inverse: "lists", inverseToMany: true,
            inverseOrdered: true)
        #expect(
            try Self.statements(list, song)[1]
                == "CREATE TABLE Z_1SONGS ( Z_1LISTS INTEGER, Z_2SONGS INTEGER, Z_FOK_1LISTS INTEGER, Z_FOK_2SONGS "
                + "INTEGER, "
                + "PRIMARY KEY (Z_1LISTS, Z_2SONGS) )")
    }

    @Test func aColumnWhoseNameRepeatsInAnEntityGetsANumber() throws {
        let reaction = entity("Reaction")
        let message = entity("SystemMessage")
        let user = entity("User")
        relate(message, "users", toMany: true, ordered: true, user, inverse: "systemMessages", inverseToMany: true)
        relate(reaction, "users", toMany: true, user, inverse: "reactions", inverseToMany: true)
        let tables = try Self.statements(reaction, message, user, indexes: true).filter {
            $0.hasPrefix("CREATE TABLE Z_") || $0.hasPrefix("CREATE INDEX Z_")
        }
        #expect(
            tables == [
                "CREATE TABLE Z_1USERS ( Z_1REACTIONS INTEGER, Z_3USERS INTEGER, PRIMARY KEY (Z_1REACTIONS, "
                    + "Z_3USERS) )",
                "CREATE TABLE Z_2USERS ( Z_2SYSTEMMESSAGES INTEGER, Z_3USERS1 INTEGER, Z_FOK_3USERS1 INTEGER, "
                    + "PRIMARY KEY (Z_2SYSTEMMESSAGES, Z_3USERS1) )",
                "CREATE INDEX Z_1USERS_Z_3USERS_INDEX ON Z_1USERS (Z_3USERS, Z_1REACTIONS)",
                "CREATE INDEX Z_2USERS_Z_3USERS1_INDEX ON Z_2USERS (Z_3USERS1, Z_2SYSTEMMESSAGES)",
            ])
    }

    @Test func joinTablesOfSubentitiesHaveTheirNumbersAndFollowTheRootsTable() throws {
        // Numbers: Animal 1, Cat 2, Dog 3, Owner 4, Vet 5.
        let animal = entity("Animal")
        animal.isAbstract = true
        let cat = entity("Cat")
        let dog = entity("Dog")
        animal.subentities = [cat, dog]
        let owner = entity("Owner")
        let vet = entity("Vet")
        relate(owner, "dogs", toMany: true, dog, inverse: "owners", inverseToMany: true)
        relate(vet, "animals", toMany: true, animal, inverse: "vets", inverseToMany: true)
        relate(cat, "enemies", toMany: true, dog, inverse: "chases", inverseToMany: true)
        #expect(
            try Self.statements(animal, cat, dog, owner, vet, indexes: true) == [
                "CREATE TABLE ZANIMAL ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE TABLE Z_1VETS ( Z_1ANIMALS INTEGER, Z_5VETS INTEGER, PRIMARY KEY (Z_1ANIMALS, Z_5VETS) )",
                "CREATE TABLE Z_2ENEMIES ( Z_2CHASES INTEGER, Z_3ENEMIES INTEGER, PRIMARY KEY (Z_2CHASES, "
                    + "Z_3ENEMIES) )",
                "CREATE TABLE Z_3OWNERS ( Z_3DOGS INTEGER, Z_4OWNERS INTEGER, PRIMARY KEY (Z_3DOGS, Z_4OWNERS) )",
                "CREATE TABLE ZOWNER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE TABLE ZVET ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE INDEX ZANIMAL_Z_ENT_INDEX ON ZANIMAL (Z_ENT)",
                "CREATE INDEX Z_1VETS_Z_5VETS_INDEX ON Z_1VETS (Z_5VETS, Z_1ANIMALS)",
                "CREATE INDEX Z_2ENEMIES_Z_3ENEMIES_INDEX ON Z_2ENEMIES (Z_3ENEMIES, Z_2CHASES)",
                "CREATE INDEX Z_3OWNERS_Z_4OWNERS_INDEX ON Z_3OWNERS (Z_4OWNERS, Z_3DOGS)",
            ])
    }

    // MARK: Keys

    @Test func anEntityColumnHasTheNumberOfTheDestinationNotOfItsRoot() throws {
        // Numbers: Delivery 1, Object 2, Syncable 3, File 4.
        let object = entity("Object")
        let syncable = entity("Syncable")
        let file = entity("File")
        object.subentities = [syncable]
        syncable.subentities = [file]
        let delivery = entity("Delivery")
        delivery.properties = [
            NSRelationshipDescription("anything", to: object), NSRelationshipDescription("file", to: file),
            NSRelationshipDescription("object", to: syncable),
        ]
        #expect(
            try Self.statements(object, syncable, file, delivery)[0]
                == "CREATE TABLE ZDELIVERY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZANYTHING "
                + "INTEGER, "
                + "Z2_ANYTHING INTEGER, ZFILE INTEGER, ZOBJECT INTEGER, Z3_OBJECT INTEGER )")
    }

    @Test func aToManyRelationshipWithoutAnInverseIsAKeyInTheDestinationsTable() throws {
        // Numbers: Box 1, Cart 2, Item 3.
        let box = entity("Box")
        let cart = entity("Cart")
        let item = entity("Item", number("amount"), text("name"))
        box.properties = [NSRelationshipDescription("items", to: item, toMany: true)]
        cart.properties = [NSRelationshipDescription("items", to: item, toMany: true)]
        relate(cart, "gift", item, inverse: "giftOf")
        #expect(
            try Self.statements(box, cart, item, indexes: true) == [
                "CREATE TABLE ZBOX ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE TABLE ZCART ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZGIFT INTEGER )",
                "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAMOUNT INTEGER, "
                    + "ZGIFTOF INTEGER, "
                    + "Z1ITEMS INTEGER, Z2ITEMS INTEGER, ZNAME VARCHAR )",
                "CREATE INDEX ZCART_ZGIFT_INDEX ON ZCART (ZGIFT)",
                "CREATE INDEX ZITEM_ZGIFTOF_INDEX ON ZITEM (ZGIFTOF)",
                "CREATE INDEX ZITEM_Z1ITEMS_INDEX ON ZITEM (Z1ITEMS)",
                "CREATE INDEX ZITEM_Z2ITEMS_INDEX ON ZITEM (Z2ITEMS)",
            ])
    }

    @Test func anOrderedToManyRelationshipWithoutAnInverseHasAPositionBesideItsKey() throws {
        // Numbers: File 1, Link 2, Page 3.
        let file = entity("File", text("name"))
        let link = entity("Link")
        let page = entity("Page")
        for owner in [link, page] {
            let files = NSRelationshipDescription("files", to: file, toMany: true)
            files.isOrdered = owner === page
            owner.properties = [files]
        }
        relate(link, "attached", toMany: true, ordered: true, file, inverse: "link")
        #expect(
            try Self.columns("ZFILE", file, link, page) == [
                "ZLINK", "Z2FILES", "Z3FILES", "Z_FOK_3FILES", "Z_FOK_LINK", "ZNAME",
            ])
    }

    @Test func theTableOfARelationshipThatIsItsOwnInverseHasTheColumnReflexive() throws {
        let person = entity("Person")
        let candidates = NSRelationshipDescription("mergeCandidates", to: person, toMany: true)
        candidates.inverseRelationship = candidates
        person.properties = [candidates]
        #expect(
            try Self.statements(person, indexes: true).dropFirst() == [
                "CREATE TABLE Z_1MERGECANDIDATES ( Z_1MERGECANDIDATES INTEGER, REFLEXIVE INTEGER, "
                    + "PRIMARY KEY (Z_1MERGECANDIDATES, REFLEXIVE) )",
                "CREATE INDEX Z_1MERGECANDIDATES_REFLEXIVE_INDEX ON Z_1MERGECANDIDATES (REFLEXIVE, Z_1MERGECANDIDATES)",
            ])
    }

    @Test func theTriggersOfAValueOfAnotherRowTellInsertionsFromUpdates() throws {
        let label = entity("Label", text("code"))
        let graph = entity("Graph")
        let code = NSDerivedAttributeDescription()
        code.name = "code"
        code.attributeType = .stringAttributeType
        code.derivationExpression = NSExpression(forKeyPath: "label.code")
        graph.properties = [code]
        relate(graph, "label", label, inverse: "graph")
        let functions = try Self.statements(label, graph, indexes: true).filter { $0.hasPrefix("CREATE TRIGGER ") }.map
        { trigger in
            let name = trigger.split(separator: " ")[2]
            return "\(name): \(trigger.contains("InsertUpdatedAffectedObjectValue(") ? "insert" : "update")"
        }
        #expect(
            Set(functions) == [
                "Z_DA_ZGRAPH_Graph_code_SOURCE_INSERT: insert", "Z_DA_ZGRAPH_Graph_code_SOURCE_UPDATE: update",
                "Z_DA_ZLABEL_Graph_code_PARAMETER_INSERT: insert", "Z_DA_ZLABEL_Graph_code_PARAMETER_UPDATE: update",
            ])
    }

    @Test func aHiddenKeyStandsWhereTheDestinationEntityStandsAndIsInheritedByTheOwnersSubentities() throws {
        // Numbers: Media 1, Photo 2, Owner 3, Member 4.
        let media = entity("Media", number("size"))
        let photo = entity("Photo", number("width"))
        media.subentities = [photo]
        let owner = entity("Owner", NSRelationshipDescription("photos", to: photo, toMany: true))
        let member = entity("Member")
        owner.subentities = [member]
        relate(media, "next", media, inverse: "previous")
        #expect(
            try Self.columns("ZMEDIA", media, photo, owner, member) == [
                "ZSIZE", "ZNEXT", "Z1_NEXT", "ZPREVIOUS", "Z1_PREVIOUS", "ZWIDTH", "Z3PHOTOS",
            ])
    }

    // MARK: Columns

    @Test func positionsGoByTheEntityThatHasTheOrderedRelationshipAndByItsNameBackwards() throws {
        // Numbers: Album 1, Folder 2, Photo 3.
        let album = entity("Album")
        let folder = entity("Folder")
        let photo = entity("Photo", number("width"))
        relate(folder, "photos", toMany: true, ordered: true, photo, inverse: "a")
        relate(album, "covers", toMany: true, ordered: true, photo, inverse: "b")
        relate(album, "photos", toMany: true, ordered: true, photo, inverse: "c")
        #expect(
            try Self.columns("ZPHOTO", album, folder, photo) == [
                "ZWIDTH", "ZA", "ZB", "ZC", "Z_FOK_C", "Z_FOK_B", "Z_FOK_A",
            ])
    }

    @Test func columnsGoByKindOfValueThenByEntityThenByName() throws {
        func attributes(_ prefix: String) -> [NSAttributeDescription] {
            let kinds: [(String, NSAttributeType)] = [
                ("Binary", .binaryDataAttributeType), ("Boolean", .booleanAttributeType), ("Date", .dateAttributeType),
                ("Decimal", .decimalAttributeType), ("Double", .doubleAttributeType), ("Float", .floatAttributeType),
                ("Int", .integer16AttributeType), ("Long", .integer64AttributeType), ("String", .stringAttributeType),
                ("Transformable", .transformableAttributeType), ("URI", .URIAttributeType),
                ("UUID", .UUIDAttributeType),
            ]
            return kinds.flatMap { kind, type in
                ["z", "a"].map { NSAttributeDescription("\($0)\(prefix)\(kind)", type) }
            }
        }
        // Numbers: Root 1, Leaf 2, Twig 3.
        let root = NSEntityDescription("Root", class: "NSManagedObject", attributes("R"))
        let leaf = NSEntityDescription("Leaf", class: "NSManagedObject", attributes("L"))
        let twig = entity("Twig", number("count"))
        root.subentities = [leaf, twig]
        let transient = text("ghost")
        transient.isTransient = true
        leaf.properties += [transient]
        relate(root, "down", toMany: true, ordered: true, leaf, inverse: "up")
        func two(_ names: String...) -> [String] { names.flatMap { ["ZA" + $0, "ZZ" + $0] } }
        func mixed(_ prefix: String) -> [String] {
            ["ZA", "ZZ"].flatMap { start in ["DATE", "DOUBLE", "FLOAT"].map { start + prefix + $0 } }
        }
        func whole(_ prefix: String) -> [String] {
            ["ZA", "ZZ"].flatMap { start in ["BOOLEAN", "INT", "LONG"].map { start + prefix + $0 } }
        }
        #expect(
            try Self.columns("ZROOT", root, leaf, twig)
                == whole("R") + whole("L") + ["ZUP", "Z1_UP", "ZCOUNT", "Z_FOK_UP"] + mixed("R") + mixed("L")
                + two("RDECIMAL", "LDECIMAL", "RSTRING", "LSTRING", "RURI", "LURI", "RUUID", "LUUID")
                + two("RTRANSFORMABLE", "LTRANSFORMABLE", "RBINARY", "LBINARY"))
    }

    @Test func siblingsThatUseOneNameGetNumbersWhateverTheTypes() throws {
        // Numbers: Item 1, Event 2, Note 3, Task 4.
        let item = entity("Item")
        let event = entity("Event", NSAttributeDescription("text", .integer16AttributeType))
        let note = entity("Note", text("text"))
        let task = entity("Task", NSRelationshipDescription("text", to: item))
        item.subentities = [event, note, task]
        #expect(try Self.columns("ZITEM", item, event, note, task) == ["ZTEXT", "ZTEXT2", "Z1_TEXT2", "ZTEXT1"])
    }

    // MARK: Names

    @Test func namesAreWrittenInUpperCaseWithoutQuotes() throws {
        let cheese = entity("Käse_2", text("größe"), text("_rind"))
        let maker = entity("maker")
        relate(maker, "käse", toMany: true, cheese, inverse: "erzeuger", inverseToMany: true)
        #expect(
            try Self.statements(cheese, maker, indexes: true) == [
                "CREATE TABLE ZKÄSE_2 ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z_RIND VARCHAR, "
                    + "ZGRÖSSE VARCHAR )",
                "CREATE TABLE Z_1ERZEUGER ( Z_1KÄSE INTEGER, Z_2ERZEUGER INTEGER, PRIMARY KEY (Z_1KÄSE, Z_2ERZEUGER) )",
                "CREATE TABLE ZMAKER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
                "CREATE INDEX Z_1ERZEUGER_Z_2ERZEUGER_INDEX ON Z_1ERZEUGER (Z_2ERZEUGER, Z_1KÄSE)",
            ])
    }

    @Test func entitiesAreNumberedFromTheRootDownByName() throws {
        let zoo = entity("Zoo")
        let animal = entity("Animal")
        let dog = entity("Dog")
        let cat = entity("Cat")
        let puppy = entity("Puppy")
        animal.subentities = [dog, cat]
        dog.subentities = [puppy]
        let store = try MigratedStore()
        try store.open(model(zoo, animal, dog, cat, puppy), [NSPersistentHistoryTrackingKey: true]) { _ in }
        #expect(
            store.file.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY rowid") == [
                ["1", "Animal", "0", "0"], ["2", "Cat", "1", "0"], ["3", "Dog", "1", "0"], ["4", "Puppy", "3", "0"],
                ["5", "Zoo", "0", "0"],
            ])
    }
}
