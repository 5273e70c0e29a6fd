import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Objects that are saved into tables that others have made and write too.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExternalSavingTests {
    private let shop: ExternalShop
    private let context: NSManagedObjectContext

    init() throws {
        shop = try ExternalShop()
        context = shop.context
        try shop.fill()
    }

    // MARK: New rows

    /// Keys come from the sequences that the others take theirs from.
    @Test(arguments: [1, 3, 70]) func newRowsHaveKeysBesideThoseOfOthers(count: Int) throws {
        try context.performAndWait {
            for round in 0..<3 {
                let maker = context.insert("Maker", ["name": "m\(round)", "country": "F"])
                let tag = context.insert("Tag", ["label": "t\(round)"])
                for number in 0..<count {
                    let price = NSDecimalNumber(value: number)
                    let product = context.insert(
                        "Product", ["name": "p\(round).\(number)", "price": price, "maker": maker])
                    product.setValue(NSSet(object: tag), forKey: "tags")
                }
                try context.save()
                try shop.run(
                    """
                    INSERT INTO products (title) VALUES ('other'); INSERT INTO makers (name) VALUES ('other');
                    INSERT INTO tags (label) VALUES ('o\(round)')
                    """)
            }
        }
        let total = 3 + 3 * count + 3
        #expect(try shop.texts("SELECT count(*) || ' ' || max(product_id) FROM products") == ["\(total) \(total)"])
        for table in ["makers m ON m.id = p.maker AND m.country = 'F'", "products_tags t USING (product_id)"] {
            #expect(
                try shop.texts("SELECT count(*) FROM products p JOIN \(table) WHERE title LIKE 'p%'") == [
                    "\(3 * count)"
                ])
        }
        // What the model does not know has its default.
        #expect(try shop.texts("SELECT DISTINCT remarks FROM products") == ["none"])
    }

    @Test func manyNewRowsOfSeveralSavesMeetNone() throws {
        let other = try shop.otherProgram()
        let sides = [context, other].map { context in
            OtherThread {
                try context.performAndWait {
                    for _ in 0..<20 {
                        for number in 0..<5 { _ = context.insert("Product", ["name": "\(number)"]) }
                        try context.save()
                    }
                }
            }
        }
        for side in sides { _ = try side.value() }
        #expect(try shop.texts("SELECT count(DISTINCT product_id) FROM products") == ["203"])
    }

    /// Objects have the values that the tables' triggers, types and defaults make of theirs, and no
    /// later save takes that for a change of another program.
    @Test func objectsHaveWhatTheTablesMakeOfTheirValues() throws {
        try context.performAndWait {
            let maker = context.insert("Maker", ["name": "New", "country": "F"])
            let product = context.insert(
                "Product", ["name": "x", "price": NSDecimalNumber(string: "1.239"), "maker": maker])
            try context.save()
            #expect(product.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "1.24"))
            for round in 1...3 {
                maker.setValue("New \(round)", forKey: "name")
                product.setValue(NSDecimalNumber(string: "\(round).006"), forKey: "price")
                try context.save()
                #expect(maker.value(forKey: "updatedAt") as? Date == Date(timeIntervalSince1970: 978_307_207))
                #expect(product.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "\(round).01"))
            }
        }
        #expect(try shop.texts("SELECT name || ' ' || lock_version FROM makers WHERE name LIKE 'New%'") == ["New 3 4"])
    }

    /// A column that the database computes is a derived attribute, whatever its expression.
    @Test func aDerivedAttributeIsReadAndNeverWritten() throws {
        let shop = try ExternalShop { model in
            let remarks = NSDerivedAttributeDescription("remarks", .stringAttributeType, from: "name")
            model.entitiesByName["Product"]?.properties += [remarks]
        }
        try shop.context.performAndWait {
            let product = shop.context.insert("Product", ["name": "new"])
            try shop.context.save()
            #expect(product.text("remarks") == "none")
            try shop.run("UPDATE products SET remarks = 'theirs'")
            product.setValue("changed", forKey: "name")
            shop.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try shop.context.save()
            #expect(product.text("remarks") == "theirs")
        }
        #expect(try shop.texts("SELECT title || ' ' || remarks FROM products") == ["changed theirs"])
    }

    // MARK: Changes

    @Test func changedRowsKeepWhatTheModelDoesNotKnow() throws {
        try shop.run("UPDATE products SET remarks = 'kept'")
        try context.performAndWait {
            let anvil = try context.all("Product", "sku == 'A1'")[0]
            anvil.setValue("hammer", forKey: "name")
            anvil.setValue(nil, forKey: "weight")
            anvil.setValue(try context.all("Maker", "name == 'Bolt'")[0], forKey: "maker")
            anvil.setValue(NSSet(array: try context.all("Tag", "label == 'old'")), forKey: "tags")
            try context.save()
        }
        #expect(
            try shop.texts(
                "SELECT concat_ws(' ', title, weight, maker, remarks, price) FROM products WHERE product_id = 1")
                == ["hammer 2 kept 9.99"])
        #expect(try shop.texts("SELECT tag_id FROM products_tags WHERE product_id = 1") == ["2"])
    }

    /// Foreign keys of others are looked at with each statement.
    @Test func rowsAreWrittenInAnOrderThatForeignKeysAllow() throws {
        try context.performAndWait {
            let acme = try context.all("Maker", "name == 'Acme'")[0]
            let products = try context.all("Product", "maker != nil")
            let new = context.insert("Maker", ["name": "New"])
            for product in products { product.setValue(new, forKey: "maker") }
            context.delete(acme)
            try context.save()
            // Rows that lead to each other go together, and rows that others lead to after them.
            for product in products { context.delete(product) }
            context.delete(new)
            for tag in try context.all("Tag") { context.delete(tag) }
            try context.save()
        }
        #expect(try shop.texts("SELECT name FROM makers UNION ALL SELECT title FROM products") == ["Bolt", "Cog*"])
        #expect(try shop.texts("SELECT product_id FROM products_tags UNION ALL SELECT id FROM tags") == [])
    }

    @Test func aUniqueValueMovesToANewRow() throws {
        try context.performAndWait {
            context.delete(try context.all("Product", "sku == 'A1'")[0])
            _ = context.insert("Product", ["name": "new", "sku": "A1"])
            try context.save()
        }
        #expect(try shop.texts("SELECT title FROM products WHERE sku = 'A1'") == ["new"])
    }

    // MARK: Conflicts

    private static func changes() -> [(entity: String, key: String, sql: String)] {
        [
            ("Maker", "name", "UPDATE makers SET country = 'X', lock_version = lock_version + 1 WHERE id = 1"),
            // Rows without a version tell every change.
            ("Product", "name", "UPDATE products SET stock = stock + 1 WHERE product_id = 1"),
            ("Product", "name", "UPDATE products SET maker = NULL WHERE product_id = 1"),
        ]
    }

    @Test(arguments: 0..<3) func aChangeOfAnotherProgramIsAConflict(number: Int) throws {
        let (entity, key, sql) = Self.changes()[number]
        try context.performAndWait {
            let object = try context.all(entity)[0]
            object.setValue("mine", forKey: key)
            try shop.run(sql)
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
            let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            #expect(conflicts.map { $0.sourceObject } == [object])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(object.text("name") == "mine")
            object.setValue("mine again", forKey: key)
            context.mergePolicy = NSMergePolicy.error
            try context.save()
        }
        #expect(
            try shop.texts("SELECT country FROM makers WHERE name = 'mine again'") == (entity == "Maker" ? ["X"] : []))
    }

    /// A row whose values are those that a change is based on may have been written meanwhile.
    @Test func aChangeOfWhatTheModelDoesNotKnowIsNone() throws {
        try context.performAndWait {
            let products = try context.all("Product")
            products[0].setValue("mine", forKey: "name")
            context.delete(products[1])
            try shop.run("UPDATE products SET remarks = 'theirs'")
            try context.save()
            try shop.run("UPDATE products SET remarks = 'again'")
            products[0].setValue("mine again", forKey: "name")
            try context.save()
        }
        #expect(
            try shop.texts("SELECT title || ' ' || remarks FROM products ORDER BY product_id") == [
                "mine again again", "Cog* again",
            ])
    }

    @Test func aRowThatAnotherProgramHasDeletedIsAConflict() throws {
        try context.performAndWait {
            let tag = try context.all("Product", "sku == nil")[0]
            tag.setValue("mine", forKey: "name")
            try shop.run("DELETE FROM products WHERE sku IS NULL")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
        }
    }

    /// The number of the transaction that has written a row last need not be the highest one.
    @Test func aRowThatAnEarlierTransactionHasWrittenLaterIsTheNewerOne() throws {
        let connection = try WireConnection.open(try WireConnection.server().connectionString())
        defer { connection.close() }
        try connection.run("BEGIN; SET search_path TO \(shop.schema); UPDATE makers SET country = 'X'")
        try context.performAndWait {
            let anvil = try context.all("Product", "sku == 'A1'")[0]
            anvil.setValue("later", forKey: "name")
            try context.save()
            // Somebody uses the row of the earlier version.
            let others = (0..<2).map { _ in
                let context = shop.coordinator.newContext()
                return context
            }
            let held = try others[0].performAndWait { try others[0].all("Product", "sku == 'A1'") }
            #expect(others[0].performAndWait { held[0].text("name") } == "later")
            try connection.run("UPDATE products SET title = 'last' WHERE sku = 'A1'; COMMIT")
            context.refresh(anvil, mergeChanges: false)
            context.stalenessInterval = 0
            #expect(try context.all("Product", "sku == 'A1'").map { $0.text("name") } == ["last"])
            #expect(others[1].performAndWait { others[1].object(with: anvil.objectID).text("name") } == "last")
            anvil.setValue("mine", forKey: "name")
            try context.save()
        }
        #expect(try shop.texts("SELECT title FROM products WHERE sku = 'A1'") == ["mine"])
    }

    // MARK: Constraints

    @Test func aUniqueValueOfTheModelIsAConflict() throws {
        try context.performAndWait {
            _ = context.insert("Product", ["name": "new", "sku": "A1"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectConstraintMerge.rawValue)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(try shop.texts("SELECT title || ' ' || product_id FROM products WHERE sku = 'A1'") == ["new 1"])
    }

    @Test func aUniqueValueThatOnlyTheOthersKnowIsNamed() throws {
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "new"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.userInfo["constraint"] as? String == "tags_label_key")
            #expect(error.localizedDescription.contains("tags_label_key"))
        }
    }

    @Test func aRequiredColumnThatTheModelDoesNotHaveIsNamed() throws {
        try shop.run(
            "ALTER TABLE tags ADD COLUMN colour text NOT NULL DEFAULT 'red'; ALTER TABLE tags ALTER COLUMN colour "
                + "DROP DEFAULT"
        )
        try context.performAndWait {
            _ = context.insert("Tag", ["label": "blue"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("'tags'"), "\(error)")
            #expect(error.localizedDescription.contains("'colour'"), "\(error)")
            // Rows that are there are read and changed all the same.
            context.rollback()
            try context.all("Tag")[0].setValue("fresh", forKey: "label")
            try context.save()
        }
    }

    @Test func aValueThatAColumnCannotHoldIsRefused() throws {
        try context.performAndWait {
            let anvil = try context.all("Product", "sku == 'A1'")[0]
            anvil.setValue(Int64(1) << 40, forKey: "stock")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("stock"), "\(error)")
            context.rollback()
            anvil.setValue("a sku that is too long", forKey: "sku")
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try shop.texts("SELECT sku FROM products WHERE stock = 3") == ["A1"])
    }

    // MARK: Batches

    @Test func batchesWorkOnTheTables() throws {
        try context.performAndWait {
            let rows = (0..<60).map {
                ["name": "b\($0)", "sku": $0 == 0 ? "A1" : "N\($0)", "stock": $0] as [String: Any]
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let insertion = NSBatchInsertRequest(entityName: "Product", objects: rows)
            insertion.resultType = .count
            #expect((try context.execute(insertion) as? NSBatchInsertResult)?.result as? Int == 60)
            let update = NSBatchUpdateRequest(entityName: "Product")
            update.predicate = NSPredicate(format: "maker.name == 'Acme'")
            update.propertiesToUpdate = ["isSold": true]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            let makers = NSBatchUpdateRequest(entityName: "Maker")
            makers.propertiesToUpdate = ["country": "GB"]
            try context.execute(makers)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Product")
            fetch.predicate = NSPredicate(format: "stock >= 30")
            let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
            deletion.resultType = .resultTypeCount
            #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 31)
            try context.execute(
                NSBatchDeleteRequest(objectIDs: try context.all("Maker", "name == 'Acme'").map(\.objectID)))
        }
        #expect(try shop.texts("SELECT title || ' ' || product_id FROM products WHERE sku = 'A1'") == ["b0 1"])
        #expect(try shop.texts("SELECT count(*) || ' ' || count(maker) FROM products") == ["31 0"])
        #expect(try shop.texts("SELECT concat_ws(' ', name, country, lock_version) FROM makers") == ["Bolt GB   1"])
    }

    // MARK: What stays

    @Test func nothingIsMadeInTheSchema() throws {
        let shop = try ExternalShop()
        let before = try shop.content()
        try shop.fill()
        let other = try shop.otherProgram()
        try other.performAndWait {
            for number in 0..<60 { _ = other.insert("Product", ["name": "\(number)"]) }
            try other.save()
            other.delete(try other.all("Product")[0])
            try other.save()
        }
        #expect(before.count > 10)
        #expect(try shop.content() == before)
    }

    @Test func aCommitThatNeverSucceedsSavesNothing() throws {
        try shop.run(
            """
            CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM \
            pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON tags DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE \
            FUNCTION leave()
            """)
        context.performAndWait {
            _ = context.insert("Tag", ["label": "lost"])
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try shop.texts("SELECT label FROM tags WHERE label = 'lost'") == [])
    }

    /// The connection ends after any byte: a save that was reported as done is there, once, and one
    /// that was reported as failed is not.
    @Test(arguments: 0..<(LongTests.areEnabled ? 3 : 1)) func aSaveThatIsCutIsDoneOnceOrNotAtAll(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let shop = try ExternalShop(through: proxy)
        var saved: [String] = []
        shop.context.performAndWait {
            for number in 0..<40 {
                proxy.conduct.bytesUntilCut = Int.random(in: 0...2_500, using: &generator)
                _ = shop.context.insert("Tag", ["label": "\(number)"])
                do {
                    try shop.context.save()
                    saved.append("\(number)")
                } catch { shop.context.reset() }
            }
            proxy.conduct.bytesUntilCut = nil
        }
        #expect(proxy.cuts > 10)
        #expect(saved.count > 20)
        #expect(try shop.texts("SELECT label FROM tags ORDER BY label") == saved.sorted())
    }
}
