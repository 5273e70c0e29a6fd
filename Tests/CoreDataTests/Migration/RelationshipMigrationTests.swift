import CoreData
import TestSupport
import Testing

/// Changes of relationships and hierarchies, done in place.
struct RelationshipMigrationTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    /// Shelves with books.
    private func library(
        toMany: Bool = false, ordered: Bool = false, inverseOrdered: Bool = false, extra: Bool = false
    ) -> NSManagedObjectModel {
        let shelf = entity("Shelf", text("name"))
        let book = entity("Book", text("title"))
        relate(
            shelf, "books", toMany: true, ordered: ordered, book, inverse: "shelf", inverseToMany: toMany,
            inverseOrdered: inverseOrdered)
        return extra ? model(shelf, book, entity("Author", text("name"))) : model(shelf, book)
    }

    private func fill(_ context: NSManagedObjectContext, _ toMany: Bool = false) {
        for name in ["A", "B"] {
            let shelf = context.insert("Shelf", ["name": name])
            for number in 1...3 {
                context.insert("Book", ["title": "\(name)\(number)", "shelf": toMany ? NSSet(object: shelf) : shelf])
            }
        }
        context.insert("Book", ["title": "Z"])
    }

    private func titles(_ shelf: NSManagedObject) -> [String] {
        switch shelf.value(forKey: "books") {
        case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
        case let set as Set<NSManagedObject>: set.compactMap { $0.value(forKey: "title") as? String }.sorted()
        default: []
        }
    }

    private func expectBooks(_ store: MigratedStore, _ model: NSManagedObjectModel) throws {
        let found = try store.open(model) { context in
            try context.objects("Shelf", by: "name").map { titles($0) }
        }
        #expect(found == [["A1", "A2", "A3"], ["B1", "B2", "B3"]])
    }

    @Test(arguments: StoreKind.persistent) func linksStayWhenEntitiesAreRenumbered(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        try store.open(library()) { fill($0) }
        try store.migrate(to: library(extra: true))
        try expectBooks(store, library(extra: true))
    }

    /// A many-to-many relationship gives way to a new to-one one: of several objects the one with
    /// the lowest key stays.
    @Test(arguments: StoreKind.persistent) func aNewToOneRelationshipTakesOneOfTheObjectsOfItsInverse(kind: StoreKind)
        throws
    {
        func library(_ name: String, toMany: Bool) -> NSManagedObjectModel {
            let shelf = entity("Shelf", text("name"))
            shelf.subentities = [entity("Case")]
            let book = entity("Book", text("title"))
            relate(shelf, "books", toMany: true, book, inverse: name, inverseToMany: toMany)
            return NSManagedObjectModel([shelf] + shelf.subentities + [book])
        }
        let store = try MigratedStore(kind)
        try store.open(library("shelves", toMany: true)) { context in
            let first = context.insert("Case", ["name": "first"])
            try context.save()
            let second = context.insert("Shelf", ["name": "second"])
            context.insert("Book", ["title": "both", "shelves": NSSet(array: [first, second])])
            context.insert("Book", ["title": "none"])
            context.insert("Book", ["title": "one", "shelves": NSSet(object: second)])
        }
        try store.migrate(to: library("shelf", toMany: false))
        let found = try store.open(library("shelf", toMany: false)) { context in
            let names = try context.objects("Book", by: "title").map {
                ($0.value(forKey: "shelf") as? NSManagedObject)?.value(forKey: "name") as? String
            }
            #expect(try context.objects("Shelf", by: "name").map { titles($0) } == [["both"], ["one"]])
            return names
        }
        #expect(found == ["first", nil, "second"])
    }

    /// The new relationship is one-to-one with a to-one relationship that stays.
    @Test(arguments: StoreKind.persistent) func aNewToOneRelationshipIsFilledFromTheInverseThatStays(kind: StoreKind)
        throws
    {
        func library(_ name: String, toMany: Bool) -> NSManagedObjectModel {
            let user = entity("User", text("name"))
            let account = entity("Account", text("name"))
            relate(user, name, toMany: toMany, account, inverse: "user")
            return model(user, account)
        }
        let store = try MigratedStore(kind)
        try store.open(library("accounts", toMany: true)) { context in
            for name in ["a", "b"] {
                let user = context.insert("User", ["name": name])
                if name == "a" { context.insert("Account", ["name": "of a", "user": user]) }
            }
        }
        try store.migrate(to: library("account", toMany: false))
        let found = try store.open(library("account", toMany: false)) { context in
            #expect(
                try (context.objects("Account")[0].value(forKey: "user") as? NSManagedObject)?.value(forKey: "name")
                    as? String == "a")
            return try context.objects("User", by: "name").map {
                ($0.value(forKey: "account") as? NSManagedObject)?.value(forKey: "name") as? String
            }
        }
        #expect(found == ["of a", nil])
    }

    @Test(arguments: StoreKind.persistent) func aToOneRelationshipBecomesToMany(kind: StoreKind) throws {  // 281
        let store = try MigratedStore(kind)
        try store.open(library()) { fill($0) }
        try store.migrate(to: library(toMany: true, extra: true))
        #expect(kind != .sqlite || store.file.integer("SELECT count(*) FROM Z_2SHELF") == 6)
        try expectBooks(store, library(toMany: true, extra: true))
    }

    @Test(arguments: StoreKind.persistent, [false, true]) func relationshipsBecomeOrderedAndUnordered(
        kind: StoreKind, toMany: Bool
    ) throws {  // 281
        let store = try MigratedStore(kind)
        try store.open(library(toMany: toMany)) { fill($0, toMany) }
        try store.migrate(to: library(toMany: toMany, ordered: true))
        try expectBooks(store, library(toMany: toMany, ordered: true))
        try store.open(library(toMany: toMany, ordered: true)) { context in
            let shelf = try context.objects("Shelf", by: "name")[0]
            let books = shelf.mutableOrderedSetValue(forKey: "books")
            books.moveObjects(at: IndexSet(integer: 2), to: 0)
        }
        try store.migrate(to: library(toMany: toMany, ordered: true, extra: true))
        let kept = try store.open(library(toMany: toMany, ordered: true, extra: true)) {
            titles(try $0.objects("Shelf", by: "name")[0])
        }
        #expect(kept == ["A3", "A1", "A2"])
        try store.migrate(to: library(toMany: toMany))
        try expectBooks(store, library(toMany: toMany))
    }

    @Test(arguments: StoreKind.persistent)
    func anOrderedToOneSideKeepsItsOrderInAJoinTable(kind: StoreKind) throws {  // 281
        let store = try MigratedStore(kind)
        try store.open(library(ordered: true)) { context in
            fill(context)
            try context.save()
            let books = try context.objects("Shelf", by: "name")[1].mutableOrderedSetValue(forKey: "books")
            books.moveObjects(at: IndexSet(integer: 2), to: 0)
        }
        try store.migrate(to: library(toMany: true, ordered: true))
        let kept = try store.open(library(toMany: true, ordered: true)) {
            titles(try $0.objects("Shelf", by: "name")[1])
        }
        #expect(kept == ["B3", "B1", "B2"])
    }

    @Test(arguments: StoreKind.persistent)
    func relationshipsAreRenamedAddedAndRemoved(kind: StoreKind) throws {  // 278, 280
        let store = try MigratedStore(kind)
        try store.open(library()) { fill($0) }
        let shelf = entity("Shelf", text("name"))
        let book = entity("Book", text("title"))
        let person = entity("Person", text("name"))
        relate(shelf, "volumes", toMany: true, book, inverse: "place")
        shelf.relationshipsByName["volumes"]?.renamingIdentifier = "books"
        book.relationshipsByName["place"]?.renamingIdentifier = "shelf"
        relate(person, "books", toMany: true, book, inverse: "readers", inverseToMany: true)
        let new = model(shelf, book, person)
        try store.migrate(to: new)
        let counts = try store.open(new) { context in
            try context.objects("Shelf", by: "name").map {
                ($0.value(forKey: "volumes") as? Set<NSManagedObject>)?.count
            }
        }
        #expect(counts == [3, 3])
        try store.migrate(to: model(entity("Shelf", text("name")), entity("Book", text("title"))))
        #expect(kind != .sqlite || store.file.integer("SELECT count(*) FROM ZBOOK") == 7)
    }

    @Test(arguments: StoreKind.persistent) func linksToObjectsOfARemovedEntityGo(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        let media = entity("Media", text("title")), film = entity("Film"), tape = entity("Tape")
        media.subentities = [film, tape]
        let shelf = entity("Shelf", text("name"))
        relate(shelf, "first", media, inverse: "firstOf")
        relate(shelf, "all", toMany: true, media, inverse: "allOf", inverseToMany: true)
        try store.open(model(media, film, tape, shelf)) { context in
            for name in ["Film", "Tape", "Media"] {
                let medium = context.insert(name, ["title": name])
                context.insert("Shelf", ["name": name, "first": medium, "all": NSSet(object: medium)])
            }
        }
        let media2 = entity("Media", text("title")), film2 = entity("Film"), shelf2 = entity("Shelf", text("name"))
        media2.subentities = [film2]
        relate(shelf2, "first", media2, inverse: "firstOf")
        relate(shelf2, "all", toMany: true, media2, inverse: "allOf", inverseToMany: true)
        let new = model(media2, film2, shelf2)
        try store.migrate(to: new)
        let rows = try store.open(new) { context in
            try context.objects("Shelf", by: "name").map { shelf in
                let first = (shelf.value(forKey: "first") as? NSManagedObject)?.value(forKey: "title") as? String
                return "\(first ?? "none") \((shelf.value(forKey: "all") as? Set<NSManagedObject>)?.count ?? -1)"
            }
        }
        #expect(rows == ["Film 1", "Media 1", "none 0"])
        #expect(kind != .sqlite || store.file.integer("SELECT count(*) FROM ZMEDIA") == 2)
    }

    @Test(arguments: StoreKind.persistent) func entitiesGetNewParentsAndChildren(kind: StoreKind) throws {  // 282
        let store = try MigratedStore(kind)
        let shelf = entity("Shelf", text("name"))
        let book = entity("Book", text("title"))
        relate(shelf, "books", toMany: true, book, inverse: "shelf")
        try store.open(model(shelf, book)) { fill($0) }
        let thing = entity("Thing", text("title")), newBook = entity("Book"), comic = entity("Comic", text("artist"))
        thing.isAbstract = true
        thing.subentities = [newBook]
        newBook.subentities = [comic]
        let newShelf = entity("Shelf", text("name"))
        relate(newShelf, "books", toMany: true, newBook, inverse: "shelf")
        let new = model(thing, newBook, comic, newShelf)
        try store.migrate(to: new)
        try expectBooks(store, new)
        #expect(kind != .sqlite || store.file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'") == 7)
        #expect(kind != .sqlite || store.file.column("SELECT DISTINCT Z_ENT FROM ZTHING") == ["3"])
    }

    @Test(arguments: StoreKind.persistent) func propertiesMoveWithinAHierarchyAndEntitiesOutOfIt(kind: StoreKind) throws
    {  // 282
        let store = try MigratedStore(kind)
        let animal = entity("Animal", text("name")), cat = entity("Cat", text("fur")),
            fish = entity("Fish", text("fin"))
        animal.subentities = [cat, fish]
        let owner = entity("Owner", text("name"))
        relate(owner, "pets", toMany: true, animal, inverse: "owner")
        try store.open(model(animal, cat, fish, owner)) { context in
            let owner = context.insert("Owner", ["name": "O"])
            context.insert("Animal", ["name": "a", "owner": owner])
            context.insert("Cat", ["name": "c", "fur": "grey", "owner": owner])
            context.insert("Fish", ["name": "f", "fin": "red", "owner": owner])
        }
        // Fish leaves, and keeps what it had but for its owner; fur moves up, the name moves down.
        let animal2 = entity("Animal", text("fur")), cat2 = entity("Cat", text("name"))
        animal2.subentities = [cat2]
        let fish2 = entity("Fish", text("name"), text("fin")), owner2 = entity("Owner", text("name"))
        relate(owner2, "pets", toMany: true, animal2, inverse: "owner")
        let new = model(animal2, cat2, fish2, owner2)
        try store.migrate(to: new)
        let keys = store.file.rows("SELECT Z_PK, ZNAME, ZFUR, ZOWNER FROM ZANIMAL ORDER BY Z_ENT")
        #expect(kind != .sqlite || keys.map { Array($0.dropFirst()) } == [[nil, nil, "1"], ["c", "grey", "1"]])
        #expect(kind != .sqlite || store.file.rows("SELECT ZNAME, ZFIN FROM ZFISH") == [["f", "red"]])
        #expect(
            kind != .sqlite
                || store.file.column("SELECT Z_PK FROM ZANIMAL UNION SELECT Z_PK FROM ZFISH ORDER BY 1") == [
                    "1", "2", "3",
                ])
        #expect(kind != .sqlite || store.file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Fish'") == 3)
        let pets = try store.open(new) { context in
            (try context.objects("Owner")[0].value(forKey: "pets") as? Set<NSManagedObject>)?.count
        }
        #expect(pets == 2)
    }

    @Test(arguments: StoreKind.persistent) func siblingsKeepColumnsOfOneNameApartAndMayShareThemLater(kind: StoreKind)
        throws
    {  // 282
        let store = try MigratedStore(kind)
        let medium = entity("Medium"), book = entity("Book", text("title"), text("code")),
            film = entity("Film", text("title"), number("code"))
        medium.subentities = [book, film]
        try store.open(model(medium, book, film)) { context in
            context.insert("Book", ["title": "b", "code": "x"])
            context.insert("Film", ["title": "f", "code": 7])
        }
        let medium2 = entity("Medium", text("title")), book2 = entity("Book", text("code")),
            film2 = entity("Film", number("code"), text("note"))
        medium2.subentities = [book2, film2]
        let new = model(entity("Aaa"), medium2, book2, film2)
        try store.migrate(to: new)
        let rows = try store.open(new) { context in
            try context.objects("Medium", by: "title").map {
                "\($0.value(forKey: "title") ?? "") \($0.value(forKey: "code") ?? "")"
            }
        }
        #expect(rows == ["b x", "f 7"])
        #expect(kind != .sqlite || store.file.column("SELECT ZTITLE FROM ZMEDIUM ORDER BY Z_PK") == ["b", "f"])
    }

    @Test(arguments: StoreKind.persistent)
    func aRelationshipMayGainAToManyInverseAndLoseIt(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        func version(inverse: Bool, toMany: Bool) -> NSManagedObjectModel {
            let shelf = entity("Shelf", text("name")), book = entity("Book", text("title"))
            if inverse {
                relate(book, "shelf", toMany: toMany, shelf, inverse: "books", inverseToMany: true)
            } else {
                book.properties += [NSRelationshipDescription("shelf", to: shelf, toMany: toMany)]
            }
            return model(shelf, book)
        }
        try store.open(version(inverse: false, toMany: false)) { fill($0) }
        for (inverse, toMany) in [(true, false), (false, false), (true, true)] {
            let new = version(inverse: inverse, toMany: toMany)
            try store.migrate(to: new)
            if inverse { try expectBooks(store, new) }
        }
        // Without the inverse a shelf could be in the relationship of one book only.
        let error = try store.refusal(version(inverse: false, toMany: true))
        #expect(error.code == NSMigrationError, "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("Book.shelf"), "\(error.localizedDescription)")
        try expectBooks(store, version(inverse: true, toMany: true))
    }

    @Test func aStoreWithARollbackJournalIsMigratedToo() throws {
        let options = MigratedStore.automatic.merging([NSSQLitePragmasOption: ["journal_mode": "DELETE"]]) { $1 }
        try store.open(library(), options) { fill($0) }
        try store.migrate(to: library(extra: true), options)
        try expectBooks(store, library(extra: true))
    }

    @Test func viewsOfTheProgramsOwnStay() throws {
        try store.open(library()) { fill($0) }
        store.file.execute(
            "CREATE VIEW titles AS SELECT ZTITLE FROM ZBOOK; CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
        try store.open(library(extra: true)) { _ in }
        #expect(store.file.integer("SELECT count(*) FROM titles") == 7)
        #expect(store.file.integer("SELECT x FROM mine") == 1)
    }

    @Test(arguments: StoreKind.persistent) func aNewRequiredRelationshipNeedsObjectsThatHaveIt(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(library()) { fill($0) }
        let shelf = entity("Shelf", text("name")), book = entity("Book", text("title"))
        relate(shelf, "books", toMany: true, book, inverse: "shelf")
        book.relationshipsByName["shelf"]?.isOptional = false
        let error = try store.refusal(model(shelf, book))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("Book.shelf"))
        #expect(error.localizedDescription.contains("1 object)"))
        try store.open(library()) { context in try context.objects("Book", by: "title").last.map(context.delete) }
        try store.migrate(
            to: model(
                entity("Empty"), shelf.copyForTesting(), book.copyForTesting()
            ).connecting("Shelf", "books", "Book", "shelf"))
    }

    @Test(arguments: StoreKind.persistent) func anEntityWithObjectsCannotBecomeAbstract(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item") }
        let item = entity("Item", text("name"))
        item.isAbstract = true
        let error = try store.refusal(model(item))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("Item"))
    }

    @Test(arguments: StoreKind.persistent) func sharedValuesOfANewConstraintFail(kind: StoreKind) throws {  // 297
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name"), text("unit")))) { context in
            for name in ["a", "b", "a"] { context.insert("Item", ["name": name, "unit": "kg"]) }
            context.insert("Item")
            context.insert("Item")
        }
        let item = entity("Item", text("name"), text("unit"))
        item.uniquenessConstraints = [["name", "unit"]]
        let error = try store.refusal(model(item))
        #expect(error.code == NSMigrationConstraintViolationError)
        #expect(error.localizedDescription.contains("'Item'"))
        #expect(error.localizedDescription.contains("'a', 'kg' (2 objects)"))
        try store.open(model(entity("Item", text("name"), text("unit")))) { context in
            let shared = try context.objects("Item").first { $0.value(forKey: "name") as? String == "a" }
            context.delete(try #require(shared))
        }
        let other = entity("Item", text("name"), text("unit"))
        other.uniquenessConstraints = [["name", "unit"]]
        try store.migrate(to: model(other))
    }

    @Test func historyFollowsTheEntities() throws {
        let options = MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
        try store.open(model(entity("B", text("name"), text("note")), entity("D", text("name"))), options) { context in
            let b = context.insert("B", ["name": "b"])
            context.insert("D", ["name": "d"])
            try context.save()
            b.setValue("changed", forKey: "note")
        }
        #expect(
            store.file.rows("SELECT ZENTITY, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK") == [
                ["1", ""], ["2", ""], ["1", "40"],
            ])
        try store.migrate(
            to: model(entity("A"), entity("B", text("kind"), text("name"), text("note")), entity("C")), options)
        #expect(
            store.file.rows("SELECT ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK") == [
                ["2", "1", ""], ["2", "1", "20"],
            ])
        #expect(store.file.integer("SELECT count(*) FROM ATRANSACTION") == 2)
        #expect(store.file.integer("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == 3)
    }

    /// A shelf with a to-many relationship that is required, to books or to books and back.
    private func strictLibrary(minimum: Int, inverse: Bool, toMany: Bool = false) -> NSManagedObjectModel {
        let shelf = entity("Shelf", text("name"))
        let book = entity("Book", text("title"))
        if inverse {
            relate(shelf, "books", toMany: true, optional: false, book, inverse: "shelf", inverseToMany: toMany)
        } else {
            shelf.properties += [NSRelationshipDescription("books", to: book, toMany: true)]
        }
        let books = shelf.relationshipsByName["books"]
        books?.isOptional = false
        books?.minCount = minimum
        return model(shelf, book)
    }

    @Test(arguments: [(true, false), (true, true), (false, false)])
    func aNewRequiredToManyRelationshipMayBeEmptyWhereItAsksForNone(inverse: Bool, toMany: Bool) throws {
        try store.open(model(entity("Shelf", text("name")), entity("Book", text("title")))) { context in
            context.insert("Shelf", ["name": "A"])
            context.insert("Book", ["title": "A1"])
        }
        try store.migrate(to: strictLibrary(minimum: 0, inverse: inverse, toMany: toMany))
        try store.open(strictLibrary(minimum: 0, inverse: inverse, toMany: toMany)) { context in
            let shelf = try context.objects("Shelf")[0]
            #expect((shelf.value(forKey: "books") as? NSSet)?.count == 0)
            shelf.setValue("B", forKey: "name")
        }
        #expect(store.file.value("SELECT ZNAME FROM ZSHELF") == "B")
    }

    @Test(arguments: StoreKind.persistent) func aNewRequiredToManyRelationshipThatAsksForOneIsRefused(kind: StoreKind)
        throws
    {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Shelf", text("name")), entity("Book", text("title")))) {
            $0.insert("Shelf", ["name": "A"])
        }
        let error = try store.refusal(strictLibrary(minimum: 1, inverse: true))
        #expect(error.localizedDescription.contains("Shelf.books"))
    }

    @Test(arguments: StoreKind.persistent) func anOptionalToManyRelationshipThatIsEmptyMayBecomeRequired(
        kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        try store.open(library()) { context in context.insert("Shelf", ["name": "A"]) }
        try store.migrate(to: strictLibrary(minimum: 0, inverse: true))
    }

    // MARK: Without an inverse

    /// Shelves with books that do not know them, or as `library` has them.
    private func oneWayLibrary(ordered: Bool = false, extra: Bool = false) -> NSManagedObjectModel {
        let shelf = entity("Shelf", text("name"))
        let book = entity("Book", text("title"))
        let paperback = entity("Paperback")
        book.subentities = [paperback]
        let books = NSRelationshipDescription("books", to: book, toMany: true)
        books.isOrdered = ordered
        shelf.properties += [books]
        return extra ? model(shelf, book, paperback, entity("Author", text("name"))) : model(shelf, book, paperback)
    }

    @Test(arguments: StoreKind.persistent, [false, true]) func aRelationshipLosesItsInverse(
        kind: StoreKind, toMany: Bool
    ) throws {
        let store = try MigratedStore(kind)
        try store.open(library(toMany: toMany)) { fill($0, toMany) }
        try store.migrate(to: oneWayLibrary(extra: true))
        try expectBooks(store, oneWayLibrary(extra: true))
        #expect(kind != .sqlite || store.file.value("SELECT count(*) FROM ZBOOK WHERE Z4BOOKS NOT NULL") == "6")
    }

    @Test(arguments: StoreKind.persistent, [false, true]) func aRelationshipWithoutAnInverseGetsOneToMany(
        kind: StoreKind, ordered: Bool
    )
        throws
    {
        let store = try MigratedStore(kind)
        try store.open(oneWayLibrary(ordered: ordered)) { context in
            for name in ["A", "B"] {
                let books = (1...3).map { context.insert("Book", ["title": "\(name)\($0)"]) }
                context.insert(
                    "Shelf", ["name": name, "books": ordered ? NSOrderedSet(array: books) : Set(books) as Any])
            }
        }
        try store.migrate(to: oneWayLibrary(ordered: ordered, extra: true))
        try expectBooks(store, oneWayLibrary(ordered: ordered, extra: true))
        try store.migrate(to: library(toMany: true, ordered: ordered))
        try expectBooks(store, library(toMany: true, ordered: ordered))
    }

    @Test(arguments: StoreKind.persistent, [false, true]) func aRelationshipWithoutAnInverseBecomesOrderedAndUnordered(
        kind: StoreKind, toOrdered: Bool
    ) throws {
        let store = try MigratedStore(kind)
        try store.open(oneWayLibrary(ordered: !toOrdered)) { context in
            for name in ["A", "B"] {
                let books = (1...3).map { context.insert($0 == 2 ? "Paperback" : "Book", ["title": "\(name)\($0)"]) }
                context.insert(
                    "Shelf", ["name": name, "books": toOrdered ? Set(books) as Any : NSOrderedSet(array: books)])
            }
        }
        try store.migrate(to: oneWayLibrary(ordered: toOrdered))
        let found = try store.open(oneWayLibrary(ordered: toOrdered)) { context in
            try context.objects("Shelf", by: "name").map { titles($0).sorted() }
        }
        #expect(found == [["A1", "A2", "A3"], ["B1", "B2", "B3"]])
        if toOrdered {
            #expect(kind != .sqlite || store.file.value("SELECT count(DISTINCT Z_FOK_3BOOKS) FROM ZBOOK") == "3")
        }
    }

    @Test(arguments: StoreKind.persistent) func keysOfAllSubentitiesMoveWithTheNumbers(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        func version(_ isNew: Bool) -> NSManagedObjectModel {
            let book = entity("Book", text("title"))
            let paperback = entity("Paperback")
            book.subentities = [paperback]
            let shelf = entity("Shelf", text("name"), NSRelationshipDescription("books", to: book, toMany: true))
            return isNew ? model(shelf, book, paperback, entity("Author")) : model(shelf, book, paperback)
        }
        try store.open(version(false)) { context in
            let books = [context.insert("Book", ["title": "b"]), context.insert("Paperback", ["title": "p"])]
            context.insert("Shelf", ["name": "s", "books": Set(books)])
        }
        try store.migrate(to: version(true))
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT ZTITLE, Z_ENT, Z4BOOKS FROM ZBOOK ORDER BY 1") == [
                    ["b", "2", "1"], ["p", "3", "1"],
                ])
    }

    @Test(arguments: StoreKind.persistent) func aSelfReferenceKeepsItsLinks(kind: StoreKind) throws {  // 281
        let store = try MigratedStore(kind)
        func version(extra: Bool, toMany: Bool) -> NSManagedObjectModel {
            let node = entity("Node", text("name"))
            relate(node, "children", toMany: true, ordered: true, node, inverse: "parent", inverseToMany: toMany)
            let friend = NSRelationshipDescription("friends", to: node, toMany: true)
            friend.inverseRelationship = friend
            node.properties += [friend]
            return extra ? model(entity("Aaa"), node) : model(node)
        }
        try store.open(version(extra: false, toMany: false)) { context in
            let root = context.insert("Node", ["name": "r"])
            for number in 1...3 {
                let child = context.insert("Node", ["name": "c\(number)", "parent": root])
                child.setValue(NSSet(object: root), forKey: "friends")
            }
        }
        for toMany in [false, true] {
            let new = version(extra: true, toMany: toMany)
            try store.migrate(to: new)
            let found = try store.open(new) { context in
                let root = try context.objects("Node", by: "name").last
                let names = (root?.value(forKey: "children") as? NSOrderedSet)?.compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                }
                return
                    "\(names?.sorted() ?? []) \((root?.value(forKey: "friends") as? Set<NSManagedObject>)?.count ?? -1)"
            }
            #expect(found == "[\"c1\", \"c2\", \"c3\"] 3")
        }
    }
}

extension NSEntityDescription {
    /// The entity with its attributes alone.
    fileprivate func copyForTesting() -> NSEntityDescription {
        NSEntityDescription(
            name ?? "", class: "NSManagedObject",
            attributesByName.values.compactMap { $0.copy() as? NSAttributeDescription })
    }
}

extension NSManagedObjectModel {
    /// Adds a one-to-many relationship whose to-one side is required.
    fileprivate func connecting(_ one: String, _ name: String, _ many: String, _ inverse: String)
        -> NSManagedObjectModel
    {
        guard let source = entitiesByName[one], let destination = entitiesByName[many] else { return self }
        relate(source, name, toMany: true, destination, inverse: inverse)
        destination.relationshipsByName[inverse]?.isOptional = false
        return self
    }
}
