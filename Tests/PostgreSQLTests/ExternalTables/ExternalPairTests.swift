import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Features of contexts and coordinators, over external tables.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExternalPairTests {
    private let shop: ExternalShop
    private let context: NSManagedObjectContext

    init() throws {
        shop = try ExternalShop()
        context = shop.context
        try shop.fill()
    }

    /// The products with everything that the model knows of them, in the order of their titles.
    private func products() throws -> [String?] {
        try shop.texts(
            """
            SELECT concat_ws(' ', p.product_id, title, sku, price, stock, sold, weight, m.name, \
            (SELECT string_agg(label, '+' ORDER BY label) FROM products_tags pt JOIN tags t ON t.id = pt.tag_id WHERE \
            pt.product_id = p.product_id)) \
            FROM products p LEFT JOIN makers m ON m.id = p.maker ORDER BY title
            """)
    }

    private func one(_ entity: String, _ format: String) throws -> NSManagedObject {
        try #require(try context.all(entity, format).first)
    }

    // MARK: Undo

    /// A saved event is taken back, saved, done again and saved: rows that were deleted come back
    /// under their keys.
    @Test(arguments: [true, false]) func savedEventsAreTakenBack(inOneEvent: Bool) throws {
        let before = try products()
        let tags = try shop.texts("SELECT id || label FROM tags ORDER BY 1")
        let undoManager = UndoManager()
        undoManager.groupsByEvent = false
        try context.performAndWait {
            let anvil = try one("Product", "name == 'anvil'")
            let (old, new) = (try one("Tag", "label == 'old'"), try one("Tag", "label == 'new'"))
            let bolt = try one("Maker", "name == 'Bolt'")
            let cog = try one("Product", "name BEGINSWITH 'Cog'")
            context.undoManager = undoManager
            var events = 0
            func endEvent() {
                context.processPendingChanges()
                undoManager.endUndoGrouping()
                events += 1
                undoManager.beginUndoGrouping()
            }
            undoManager.beginUndoGrouping()
            context.delete(anvil)
            if !inOneEvent { endEvent() }
            context.delete(old)
            cog.setValue(bolt, forKey: "maker")
            if !inOneEvent { endEvent() }
            cog.setValue(NSSet(object: new), forKey: "tags")
            cog.setValue("Dowel", forKey: "name")
            _ = context.insert("Product", ["name": "Eye", "sku": "E1", "maker": bolt])
            context.processPendingChanges()
            undoManager.endUndoGrouping()
            events += 1
            try context.save()
            let after = try products()
            #expect(after == ["2 Bolt B1 10.00 1000 f Acme new", "3 Dowel 0.50 f Bolt new", "4 Eye E1 0.00 f Bolt"])
            for _ in 0..<2 {
                for _ in 0..<events { context.undo() }
                try context.save()
                let now = try products()
                #expect(now == before)
                #expect(try shop.texts("SELECT id || label FROM tags ORDER BY 1") == tags)
                for _ in 0..<events { context.redo() }
                try context.save()
                #expect(try products() == after)
                #expect(try shop.texts("SELECT label FROM tags") == ["new"])
            }
        }
    }

    /// Others have written meanwhile what is taken back: that is a conflict, not their loss.
    @Test func takingBackMeetsWhatOthersHaveWritten() throws {
        try context.performAndWait {
            context.undoManager = UndoManager()
            let (cog, maker) = (try one("Product", "name BEGINSWITH 'Cog'"), try one("Maker", "name == 'Acme'"))
            cog.setValue(7, forKey: "stock")
            maker.setValue("Ajax", forKey: "name")
            context.processPendingChanges()
            try context.save()
            try shop.run(
                "UPDATE products SET stock = 8 WHERE product_id = 3; UPDATE makers SET country = 'NL', lock_version "
                    + "= 7 WHERE id = 1"
            )
            context.undo()
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(Set(conflicts?.map(\.sourceObject) ?? []) == [cog, maker])
            #expect(try shop.texts("SELECT stock FROM products WHERE product_id = 3") == ["8"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(
                try shop.texts("SELECT coalesce(stock::text, 'none') FROM products WHERE product_id = 3") == ["none"])
            #expect(try shop.texts("SELECT name || trim(country) FROM makers WHERE id = 1") == ["AcmeNL"])
        }
    }

    // MARK: Parents

    /// A child's save is no conflict, its parent's is.
    @Test(arguments: [true, false]) func aParentMeetsTheConflictsOfItsChild(childWins: Bool) throws {
        let child = context.newChild()
        try child.performAndWait {
            let anvil = try #require(try child.all("Product", "name == 'anvil'").first)
            let maker = try #require(anvil.value(forKey: "maker") as? NSManagedObject)
            #expect(maker.text("name") == "Acme")
            try shop.run(
                "UPDATE products SET price = 1.25, title = 'theirs' WHERE product_id = 1; UPDATE makers SET name = "
                    + "'theirs', lock_version = 3"
            )
            anvil.setValue("mine", forKey: "name")
            anvil.setValue(nil, forKey: "tags")
            maker.setValue("mine", forKey: "name")
            let new = child.insert("Product", ["name": "new", "maker": maker, "sku": "N1"])
            try child.save()
            #expect(new.objectID.isTemporaryID)
            let saved = try shop.texts("SELECT title FROM products ORDER BY product_id")
            #expect(saved == ["theirs", "Bolt", "Cog*"])
            try context.performAndWait {
                let error = try #require(throws: NSError.self) { try context.save() }
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                #expect(Set(conflicts?.compactMap { $0.sourceObject.entity.name } ?? []) == ["Product", "Maker"])
                context.mergePolicy =
                    childWins ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
                try context.save()
            }
            #expect(!new.objectID.isTemporaryID)
            child.refreshAllObjects()
            #expect(anvil.text("name") == (childWins ? "mine" : "theirs"))
            #expect(anvil.value(forKey: "price") as? NSDecimalNumber == 1.25)
            #expect((new.value(forKey: "maker") as? NSManagedObject)?.text("name") == (childWins ? "mine" : "theirs"))
        }
        let name = childWins ? "mine" : "theirs"
        #expect(try products().first == "2 Bolt B1 10.00 1000 f \(name) new")
        #expect(try shop.texts("SELECT title || price FROM products WHERE product_id = 1") == ["\(name)1.25"])
        #expect(try shop.texts("SELECT count(*) FROM products_tags WHERE product_id = 1") == ["0"])
        #expect(
            try shop.texts("SELECT m.name FROM products p JOIN makers m ON m.id = maker WHERE sku = 'N1'") == [name])
    }

    // MARK: Several stores

    /// A file of the same entities beside the tables: one save reaches both or none.
    @Test(arguments: [true, false]) func aFileAndTheTablesAreSavedTogether(conflictIsInTheFile: Bool) throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("beside.sqlite")
        let file = try shop.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let other = NSPersistentStoreCoordinator(managedObjectModel: shop.model)
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let elsewhere = other.newContext()
        func inFile() throws -> [String] {
            try elsewhere.performAndWait {
                elsewhere.reset()
                return try elsewhere.all("Product", nil, by: "name").map {
                    "\($0.text("name") ?? "") \($0.text("maker.name") ?? "")"
                }
            }
        }
        try context.performAndWait {
            let maker = context.insert("Maker", ["name": "Home"])
            let product = context.insert("Product", ["name": "home made", "maker": maker, "sku": "H1"])
            for object in [maker, product] { context.assign(object, to: file) }
            let cog = try one("Product", "name BEGINSWITH 'Cog'")
            cog.setValue("C1", forKey: "sku")
            try context.save()
            #expect(try inFile() == ["home made Home"])
            #expect(try shop.texts("SELECT sku FROM products ORDER BY sku") == ["A1", "B1", "C1"])
            #expect(try context.all("Product").count == 4)

            if conflictIsInTheFile {
                try elsewhere.performAndWait {
                    let theirs = try #require(try elsewhere.all("Product").first)
                    theirs.setValue(5, forKey: "stock")
                    try elsewhere.save()
                }
            } else {
                try shop.run("INSERT INTO products (title, sku) VALUES ('theirs', 'C2')")
            }
            product.setValue("mine", forKey: "name")
            cog.setValue("C2", forKey: "sku")
            let error = try #require(throws: NSError.self) { try context.save() }
            let codes: Set<Int> = [
                CocoaError.Code.managedObjectMerge.rawValue, CocoaError.Code.managedObjectConstraintMerge.rawValue,
            ]
            #expect(codes.contains(error.code))
            #expect(try inFile() == ["home made Home"])
            #expect(try shop.texts("SELECT sku FROM products WHERE product_id = 3") == ["C1"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try inFile() == ["mine Home"])
            #expect(try shop.texts("SELECT title FROM products WHERE sku = 'C2'") == ["Cog*"])
            if conflictIsInTheFile { #expect(product.value(forKey: "stock") as? Int == 5) }
        }
    }

    /// A relationship from one store to the other is refused before anything is written.
    @Test func noRelationshipLeadsFromTheTablesToAFile() throws {
        let before = try products()
        let file = try shop.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        try context.performAndWait {
            let maker = context.insert("Maker", ["name": "Home"])
            context.assign(maker, to: file)
            let anvil = try one("Product", "name == 'anvil'")
            anvil.setValue(maker, forKey: "maker")
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
            #expect(anvil.text("maker.name") == "Acme")
        }
        #expect(try products() == before)
    }
}
