import CoreData
import TestSupport
import Testing

/// Required relationships that objects would lack after a migration.
struct RequiredRelationshipMigrationTests {
    // MARK: - Moves

    /// Photos are in albums; in a later version all media are.
    private func media(albumOfAll: Bool) -> NSManagedObjectModel {
        let media = entity("Media", text("title")), photo = entity("Photo"), video = entity("Video"),
            album = entity("Album", text("name"))
        media.subentities = [photo, video]
        relate(albumOfAll ? media : photo, "album", optional: false, album, inverse: "items", inverseToMany: true)
        return model(media, photo, video, album)
    }

    @Test(arguments: StoreKind.persistent) func aRequiredRelationshipThatMovesUpIsNewToTheOthers(kind: StoreKind) throws
    {
        let store = try MigratedStore(kind)
        try store.open(media(albumOfAll: false)) { context in
            context.insert("Photo", ["title": "p", "album": context.insert("Album", ["name": "a"])])
            context.insert("Video", ["title": "v"])
        }
        let error = try store.refusal(media(albumOfAll: true))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("Video.album"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("1 object)"), "\(error.localizedDescription)")
        try store.open(media(albumOfAll: false)) { context in try context.objects("Video").forEach(context.delete) }
        try store.migrate(to: media(albumOfAll: true))
        let albums = try store.open(media(albumOfAll: true)) { context in
            try context.objects("Media").map {
                ($0.value(forKey: "album") as? NSManagedObject)?.value(forKey: "name") as? String
            }
        }
        #expect(albums == ["a"])
    }

    // MARK: - Destinations

    /// Orders of members and guests.
    private func orders(guests: Bool) -> NSManagedObjectModel {
        let person = entity("Person", text("name")), member = entity("Member"), guest = entity("Guest")
        let order = entity("Order", text("code"))
        person.subentities = guests ? [member, guest] : [member]
        relate(order, "customer", optional: false, person, inverse: "orders", inverseToMany: true)
        return guests ? model(person, member, guest, order) : model(person, member, order)
    }

    @Test(arguments: StoreKind.persistent) func aRequiredRelationshipToObjectsOfARemovedEntityIsRefused(kind: StoreKind)
        throws
    {
        let store = try MigratedStore(kind)
        try store.open(orders(guests: true)) { context in
            for name in ["Member", "Guest"] {
                context.insert("Order", ["code": name, "customer": context.insert(name, ["name": name])])
            }
        }
        let error = try store.refusal(orders(guests: false))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("Order.customer"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("1 object)"), "\(error.localizedDescription)")
        try store.open(orders(guests: true)) { context in
            for order in try context.objects("Order") where order.value(forKey: "code") as? String == "Guest" {
                context.delete(order)
            }
        }
        try store.migrate(to: orders(guests: false))
        let customers = try store.open(orders(guests: false)) { context in
            try context.objects("Order").map {
                ($0.value(forKey: "customer") as? NSManagedObject)?.value(forKey: "name") as? String
            }
        }
        #expect(customers == ["Member"])
    }

    // MARK: - Counts

    private func shelves(minimum: Int, toMany: Bool) -> NSManagedObjectModel {
        let shelf = entity("Shelf", text("name")), book = entity("Book", text("title"))
        relate(shelf, "books", toMany: true, optional: false, book, inverse: "shelf", inverseToMany: toMany)
        shelf.relationshipsByName["books"]?.minCount = minimum
        return model(shelf, book)
    }

    @Test(arguments: StoreKind.persistent, [false, true])
    func anEmptyToManyRelationshipIsRefusedWhereItAsksForOneNow(kind: StoreKind, toMany: Bool) throws {
        let store = try MigratedStore(kind)
        try store.open(shelves(minimum: 0, toMany: toMany)) { $0.insert("Shelf", ["name": "empty"]) }
        let error = try store.refusal(shelves(minimum: 1, toMany: toMany))
        #expect(error.code == NSMigrationError, "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("Shelf.books"), "\(error.localizedDescription)")
        try store.open(shelves(minimum: 0, toMany: toMany)) { context in
            let shelf = try context.objects("Shelf")[0]
            shelf.setValue(NSSet(object: context.insert("Book", ["title": "b"])), forKey: "books")
        }
        try store.migrate(to: shelves(minimum: 1, toMany: toMany))
        // How many there must be more is not asked.
        try store.migrate(to: shelves(minimum: 2, toMany: toMany))
    }

    /// A relationship that was required and empty before the migration does not prevent it.
    @Test func whatLackedARequiredRelationshipBeforeIsMigrated() throws {
        func version(_ attributes: NSAttributeDescription...) -> NSManagedObjectModel {
            let shelf = entity("Shelf", text("name")), book = entity("Book", text("title"))
            book.properties += attributes
            relate(book, "shelf", optional: false, shelf, inverse: "books", inverseToMany: true)
            return model(shelf, book)
        }
        let store = try MigratedStore()
        try store.open(version()) { context in
            context.insert("Book", ["title": "b", "shelf": context.insert("Shelf", ["name": "s"])])
        }
        #expect(store.file.execute("UPDATE ZBOOK SET ZSHELF = NULL"))
        try store.migrate(to: version(text("note")))
        #expect(store.file.column("SELECT ZTITLE FROM ZBOOK") == ["b"])
    }
}
