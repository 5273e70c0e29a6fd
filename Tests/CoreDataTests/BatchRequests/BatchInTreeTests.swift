import CoreData
import TestSupport
import Testing

/// Batch requests that a child context executes.
struct BatchInTreeTests {
    /// A warehouse, and a tree of contexts over it.
    final class Tree {
        let stack: BatchStack
        let levels: [NSManagedObjectContext]

        var root: NSManagedObjectContext { levels[0] }
        var child: NSManagedObjectContext { levels[1] }
        var grandchild: NSManagedObjectContext { levels[2] }

        init(_ kind: StoreKind, _ rules: Warehouse.Rules = Warehouse.Rules()) throws {
            stack = try Warehouse.stack(kind, rules)
            var levels = [stack.newContext()]
            for _ in 0..<2 { levels.append(levels[levels.count - 1].newChild()) }
            self.levels = levels
        }

        static func item(_ sku: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "sku == %@", sku)
            let found = try context.fetch(request)
            #expect(found.count == 1)
            return try #require(found.first)
        }

        static func values(_ key: String, in context: NSManagedObjectContext) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "sku", ascending: true)]
            return try context.fetch(request).map { $0.value(forKeyPath: key).map { "\($0)" } ?? "nil" }
        }

        func saveUp() throws { for context in levels.reversed() { try context.save() } }
    }

    @Test("233: It goes to the stores, and unsaved changes of all levels stay", arguments: StoreKind.allCases)
    func anUpdateGoesToTheStores(kind: StoreKind) throws {
        let tree = try Tree(kind)
        try Tree.item("a", in: tree.root).setValue(70, forKey: "stock")
        try Tree.item("b", in: tree.child).setValue("Axe", forKey: "name")
        try Tree.item("c", in: tree.grandchild).setValue("Cord", forKey: "name")
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.predicate = NSPredicate(format: "stock == 5 AND sku < 'd'")
        update.propertiesToUpdate = ["stock": 9]
        update.resultType = .updatedObjectIDsResultType
        let result = try tree.grandchild.execute(update) as? NSBatchUpdateResult
        let objectIDs = try #require(result?.result as? [NSManagedObjectID])
        // The unsaved 70 is nothing that the store knows.
        #expect(objectIDs.count == 3)
        #expect(try tree.stack.values("stock", of: "Item", by: "sku") == ["9", "9", "9", "5", "5"])
        #expect(try Tree.item("a", in: tree.root).value(forKey: "stock") as? Int == 70)
        for context in tree.levels { #expect(context.updatedObjects.count == 1) }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: objectIDs], into: tree.levels)
        #expect(try Tree.values("stock", in: tree.root) == ["70", "9", "9", "5", "5"])
        #expect(try Tree.values("stock", in: tree.grandchild) == ["70", "9", "9", "5", "5"])
        #expect(try Tree.values("name", in: tree.grandchild) == ["Hammer", "Axe", "Cord", "Vase", "Bulb"])
        for context in tree.levels {
            for objectID in objectIDs { #expect(try !context.existingObject(with: objectID).isFault) }
        }
        try tree.saveUp()
        #expect(try tree.stack.values("stock", of: "Item", by: "sku") == ["70", "9", "9", "5", "5"])
        #expect(try tree.stack.values("name", of: "Item", by: "sku") == ["Hammer", "Axe", "Cord", "Vase", "Bulb"])
        if kind == .sqlite {
            #expect(tree.stack.file.column("SELECT Z_OPT FROM ZITEM ORDER BY ZSKU") == ["3", "3", "3", "1", "1"])
        }
        withExtendedLifetime(tree) {}
    }

    @Test("177: What a batch inserts is fetched through the parents", arguments: StoreKind.allCases)
    func whatABatchInsertsIsFetchedThroughTheParents(kind: StoreKind) throws {
        let tree = try Tree(kind)
        try Tree.item("a", in: tree.root).setValue("Mallet", forKey: "name")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: tree.child)
        new.setValuesForKeys(["sku": "m", "name": "Mug"])
        let insert = NSBatchInsertRequest(
            entityName: "Item",
            objects: [["sku": "x", "name": "Xylophone"], ["sku": "y", "name": "Yoke", "stock": 0]])
        insert.resultType = .objectIDs
        let result = try tree.grandchild.execute(insert) as? NSBatchInsertResult
        let objectIDs = try #require(result?.result as? [NSManagedObjectID])
        #expect(objectIDs.count == 2)
        #expect(tree.root.insertedObjects.isEmpty)
        #expect(
            try Tree.values("name", in: tree.grandchild) == [
                "Mallet", "Saw", "Rope", "Vase", "Bulb", "Mug", "Xylophone", "Yoke",
            ])
        #expect(try Tree.values("stock", in: tree.root) == ["5", "5", "5", "5", "5", "5", "0"])
        for context in tree.levels {
            #expect(try context.existingObject(with: objectIDs[0]).value(forKey: "name") as? String == "Xylophone")
            #expect(context.object(with: objectIDs[1]).value(forKey: "stock") as? Int == 0)
        }
        tree.grandchild.object(with: objectIDs[1]).setValue(3, forKey: "stock")
        try tree.saveUp()
        #expect(try tree.stack.values("stock", of: "Item", by: "sku") == ["5", "5", "5", "5", "5", "5", "5", "3"])
        #expect(try tree.stack.values("name", of: "Item", by: "sku").count == 8)
        withExtendedLifetime(tree) {}
    }

    @Test(
        "238: The policy of the context that executes an insertion settles constraints", arguments: StoreKind.allCases)
    func thePolicyOfTheExecutingContextSettlesConstraints(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let held = try Tree.item("a", in: tree.root)
        #expect(held.value(forKey: "stock") as? Int == 5)
        let insert = NSBatchInsertRequest(entityName: "Item", objects: [["sku": "a", "name": "Sledge", "stock": 1]])
        #expect(throws: (any Error).self) { try tree.grandchild.execute(insert) }
        #expect(try tree.stack.values("name", of: "Item", by: "sku").first == "Hammer")
        tree.grandchild.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        insert.resultType = .objectIDs
        let result = try tree.grandchild.execute(insert) as? NSBatchInsertResult
        #expect(result?.result as? [NSManagedObjectID] == [held.objectID])
        #expect(try tree.stack.values("name", of: "Item", by: "sku") == ["Sledge", "Saw", "Rope", "Vase", "Bulb"])
        #expect(held.value(forKey: "name") as? String == "Hammer")
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [held.objectID]], into: tree.levels)
        for context in tree.levels {
            #expect(try Tree.item("a", in: context).value(forKey: "name") as? String == "Sledge")
        }
        withExtendedLifetime(tree) {}
    }

    /// A root alone and a tree do the same: the conflict is met by the first level above which
    /// nobody has the object, and its policy settles it.
    @Test(
        "216: Changes of what a batch has deleted are a conflict of the save", arguments: StoreKind.allCases,
        [
            NSMergePolicyType.errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .mergeByPropertyStoreTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType,
        ])
    func changesOfWhatABatchHasDeletedAreAConflict(kind: StoreKind, policy: NSMergePolicyType) throws {
        func outcome(_ level: Int, isHeldAbove: Bool) throws -> (error: NSError?, names: [String]) {
            let tree = try Tree(kind)
            let context = tree.levels[level]
            for context in tree.levels { context.mergePolicy = NSMergePolicy(merge: policy) }
            let held = isHeldAbove ? try Tree.item("a", in: tree.root) : nil
            #expect(held?.value(forKey: "name") as? String == (isHeldAbove ? "Hammer" : nil))
            let item = try Tree.item("a", in: context)
            item.setValue("Mallet", forKey: "name")
            try Tree.item("b", in: context).setValue("Axe", forKey: "name")
            let delete = NSBatchDeleteRequest(objectIDs: [item.objectID])
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 1)
            #expect(item.hasChanges)
            #expect(item.value(forKey: "name") as? String == "Mallet")
            let error = errorThrown { try tree.saveUp() }
            #expect(tree.levels.contains { $0.hasChanges } == (error != nil))
            withExtendedLifetime((tree, held)) {}
            return (error, try tree.stack.values("name", of: "Item", by: "sku"))
        }
        let alone = try outcome(0, isHeldAbove: false)
        for isHeldAbove in [false, true] {
            let (error, names) = try outcome(2, isHeldAbove: isHeldAbove)
            #expect(error?.code == alone.error?.code)
            #expect(names == alone.names)
            if policy != .errorMergePolicyType { continue }
            #expect(error?.code == NSManagedObjectMergeError)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map(\.newVersionNumber) == [0])
            #expect(names == ["Saw", "Rope", "Vase", "Bulb"])
        }
    }

    @Test(
        "235: Merged into all levels, a batch deletion ends the unsaved changes of its objects",
        arguments: StoreKind.allCases)
    func aMergedDeletionEndsUnsavedChanges(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let item = try Tree.item("a", in: tree.grandchild)
        item.setValue("Mallet", forKey: "name")
        try Tree.item("b", in: tree.grandchild).setValue("Axe", forKey: "name")
        let tools = try #require(item.value(forKey: "category") as? NSManagedObject)
        #expect((tools.value(forKey: "items") as? NSSet)?.count == 2)
        let delete = NSBatchDeleteRequest(objectIDs: [item.objectID])
        delete.resultType = .resultTypeObjectIDs
        let result = try tree.child.execute(delete) as? NSBatchDeleteResult
        let deleted = try #require(result?.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: tree.levels)
        for context in tree.levels { #expect(try Tree.values("sku", in: context) == ["b", "c", "d", "e"]) }
        try tree.saveUp()
        #expect(try tree.stack.values("name", of: "Item", by: "sku") == ["Axe", "Rope", "Vase", "Bulb"])
        for context in tree.levels {
            #expect(!context.hasChanges)
            context.refreshAllObjects()
        }
        #expect((tools.value(forKey: "items") as? NSSet)?.count == 1)
        withExtendedLifetime(tree) {}
    }

    @Test("241: The delete rules of a batch reach what children read next", arguments: StoreKind.allCases)
    func theDeleteRulesOfABatchReachChildren(kind: StoreKind) throws {
        var rules = Warehouse.Rules()
        rules.itemsOfCategory = .cascadeDeleteRule
        let tree = try Tree(kind, rules)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Category")
        fetch.predicate = NSPredicate(format: "title == 'Tools'")
        try tree.grandchild.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(try Tree.values("sku", in: tree.grandchild) == ["c", "d", "e"])
        #expect(try tree.grandchild.count(for: NSFetchRequest<NSManagedObject>(entityName: "Category")) == 1)
        withExtendedLifetime(tree) {}
    }

    @Test(arguments: StoreKind.allCases) func anObjectThatOnlyAParentHasIsNoBusinessOfABatch(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: tree.grandchild)
        new.setValuesForKeys(["sku": "m", "name": "Mug"])
        try tree.grandchild.save()
        #expect(throws: (any Error).self) {
            try tree.grandchild.execute(NSBatchDeleteRequest(objectIDs: [new.objectID]))
        }
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": 1]
        update.resultType = .updatedObjectsCountResultType
        #expect((try tree.grandchild.execute(update) as? NSBatchUpdateResult)?.result as? Int == 5)
        #expect(new.value(forKey: "stock") as? Int == 5)
        try tree.saveUp()
        #expect(try tree.stack.values("stock", of: "Item", by: "sku") == ["1", "1", "1", "1", "1", "5"])
        withExtendedLifetime(tree) {}
    }
}
