import CoreData
import TestSupport
import Testing

/// Results of batch requests, merged by their object IDs into contexts that hold the changed
/// objects.
struct BatchMergingTests {
    typealias Tree = BatchInTreeTests.Tree

    private static func all(_ entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    /// Has a context hold everything, relationships included.
    private static func hold(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let objects = try ["Item", "Category", "Label", "Certificate"].flatMap { try all($0, in: context) }
        for object in objects {
            for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
            for name in object.entity.relationshipsByName.keys { _ = (object.value(forKey: name) as? NSSet)?.count }
        }
        return objects
    }

    /// The values of the given objects.
    private static func shown(_ objects: [NSManagedObject]) -> [String] {
        objects.filter { $0.managedObjectContext != nil && !$0.isDeleted }.map { object in
            let values = object.entity.propertiesByName.keys.sorted().map { name -> String in
                switch object.value(forKey: name) {
                case let set as NSSet:
                    let members = set.allObjects.compactMap {
                        ($0 as? NSManagedObject)?.objectID.uriRepresentation().absoluteString
                    }
                    return "\(name): \(members.sorted())"
                case let destination as NSManagedObject: return "\(name): \(destination.objectID.uriRepresentation())"
                case let value: return "\(name): \(value.map { "\($0)" } ?? "nil")"
                }
            }
            return "\(object.objectID.uriRepresentation()) \(values)"
        }.sorted()
    }

    private static func delete(_ entity: String, _ predicate: NSPredicate, in context: NSManagedObjectContext) throws
        -> [NSManagedObjectID]
    {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = predicate
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        return try #require((context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
    }

    @Test("235: Relationships that were read lose what a merged batch has deleted", arguments: StoreKind.allCases)
    func relationshipsLoseWhatWasDeleted(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let held = try tree.levels.map(Self.hold)
        let tools = try tree.levels.map {
            try #require(Self.all("Category", in: $0).first { $0.value(forKey: "title") as? String == "Tools" })
        }
        let deleted = try Self.delete("Item", NSPredicate(format: "sku == 'a'"), in: tree.root)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: tree.levels)
        let expected = Self.shown(try Self.hold(tree.stack.newContext()))
        for (context, objects) in zip(tree.levels, held) {
            #expect(!context.hasChanges)
            #expect(Self.shown(objects) == expected)
        }
        for category in tools {
            #expect((category.value(forKey: "items") as? NSSet)?.count == 1)
            #expect(category.value(forKey: "itemCount") as? Int == 1)
        }
        withExtendedLifetime((tree, held)) {}
    }

    @Test(
        "241: What delete rules have reached follows, although nobody names it", arguments: StoreKind.allCases,
        [true, false])
    func whatDeleteRulesHaveReachedFollows(kind: StoreKind, cascades: Bool) throws {
        var rules = Warehouse.Rules()
        if cascades { (rules.itemsOfCategory, rules.certificateOfItem) = (.cascadeDeleteRule, .cascadeDeleteRule) }
        let tree = try Tree(kind, rules)
        // The root holds rows, the child faults of items and nothing else.
        let held = try Self.hold(tree.root)
        let faults = NSFetchRequest<NSManagedObject>(entityName: "Item")
        faults.includesPropertyValues = false
        let items = try tree.child.fetch(faults)
        try Tree.item("b", in: tree.root).setValue("Axe", forKey: "name")
        let vase = try Tree.item("d", in: tree.root)
        vase.setValue("Jar", forKey: "name")
        let deleted = try Self.delete("Category", NSPredicate(format: "title == 'Tools'"), in: tree.root)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: deleted], into: [tree.root, tree.child])
        #expect(deleted.count == 1)
        #expect(held.filter { $0.managedObjectContext != nil }.count == (cascades ? 9 : 13))
        #expect(items.filter { $0.managedObjectContext != nil }.count == (cascades ? 3 : 5))
        #expect(vase.value(forKey: "name") as? String == "Jar")
        if !cascades {
            let saw = try Tree.item("b", in: tree.root)
            #expect(saw.value(forKey: "name") as? String == "Axe")
            #expect(saw.value(forKey: "category") == nil)
            #expect(try Tree.values("category", in: tree.child).filter { $0 == "nil" }.count == 3)
        }
        #expect(tree.root.updatedObjects.count == (cascades ? 1 : 2))
        try tree.root.save()
        #expect(try tree.stack.values("name", of: "Item", by: "sku").contains("Jar"))
        withExtendedLifetime((tree, held)) {}
    }

    @Test(arguments: StoreKind.allCases) func changedRowsAreMergedAsInsertedOnes(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let items = try tree.levels.map { try Tree.item("a", in: $0) }
        #expect(items.allSatisfy { $0.value(forKey: "name") as? String == "Hammer" })
        let pending = try Tree.item("b", in: tree.root)
        pending.setValue(70, forKey: "stock")
        let unread = try tree.child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        tree.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let insert = NSBatchInsertRequest(
            entityName: "Item",
            objects: [
                ["sku": "a", "name": "Mallet"], ["sku": "b", "name": "Axe"], ["sku": "c", "name": "Cord"],
                ["sku": "x", "name": "Xyl"],
            ])
        insert.resultType = .objectIDs
        let ids = try #require((tree.root.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
        #expect(ids.count == 4)
        tree.root.mergePolicy = NSMergePolicy.error
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectIDsKey: ids], into: tree.levels)
        for item in items { #expect(item.value(forKey: "name") as? String == "Mallet") }
        #expect(pending.value(forKey: "name") as? String == "Axe")
        #expect(pending.value(forKey: "stock") as? Int == 70)
        #expect(
            unread.compactMap { $0.value(forKey: "name") as? String }.sorted() == [
                "Axe", "Bulb", "Cord", "Mallet", "Vase",
            ])
        items[0].setValue(1, forKey: "stock")
        try tree.root.save()
        #expect(try tree.stack.values("stock", of: "Item", by: "sku") == ["1", "70", "5", "5", "5", "5"])
        #expect(
            try tree.stack.values("name", of: "Item", by: "sku") == ["Mallet", "Axe", "Cord", "Vase", "Bulb", "Xyl"])
        withExtendedLifetime(tree) {}
    }

    /// A child has its rows of its parent, which has to have them first.
    @Test(arguments: StoreKind.allCases, [[2, 1, 0], [2], [1, 2]]) func levelsMayBeGivenInAnyOrder(
        kind: StoreKind, order: [Int]
    ) throws {
        let tree = try Tree(kind)
        let items = try tree.levels.map { try Tree.item("a", in: $0) }
        #expect(items.allSatisfy { $0.value(forKey: "stock") as? Int == 5 })
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": 9]
        update.resultType = .updatedObjectIDsResultType
        let ids = try #require((tree.root.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
        // A set of Swift, and URIs.
        let changes = [NSUpdatedObjectIDsKey: Set(ids.map { $0.uriRepresentation() })]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: order.map { tree.levels[$0] })
        for item in items { #expect(item.value(forKey: "stock") as? Int == 9) }
        withExtendedLifetime(tree) {}
    }

    @Test func whatCannotBeMergedIsSaid() throws {
        let tree = try Tree(.inMemory)
        let item = try Tree.item("a", in: tree.root)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: item.objectID], into: [tree.root])
        #expect(Warnings.all.contains { $0.contains("type NSManagedObjectID is ignored") })
        withExtendedLifetime(tree) {}
    }

    /// Ordered relationships keep their order, also an unsaved one; those without an inverse lose
    /// what is gone; external values stay. In two stores, and in a child.
    @Test(arguments: [[StoreKind.sqlite, .sqlite], [.sqlite, .inMemory]]) func relationshipsOfAllSortsFollow(
        kinds: [StoreKind]
    ) throws {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType), photo])
        let mark = NSEntityDescription(
            "Mark", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let shelf = NSEntityDescription(
            "Shelf", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(shelf, "boxes", toMany: true, ordered: true, box, inverse: "shelf")
        let marks = NSRelationshipDescription("marks", to: mark, toMany: true)
        shelf.properties.append(marks)
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([box, mark, shelf]))
        let root = coordinator.newContext()
        for (number, kind) in kinds.enumerated() {
            let store = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("shelf\(number).sqlite")),
                options: [NSPersistentHistoryTrackingKey: true])
            func new(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: root)
                object.setValuesForKeys(values)
                root.assign(object, to: store)
                return object
            }
            let boxes = ["A", "B", "C"].map { new("Box", ["name": $0, "photo": Data(repeating: 7, count: 300_000)]) }
            let marks = ["x", "y"].map { new("Mark", ["text": $0]) }
            _ = new("Shelf", ["name": "\(number)", "boxes": NSOrderedSet(array: boxes), "marks": NSSet(array: marks)])
        }
        try root.save()
        let child = root.newChild()
        func shown(_ context: NSManagedObjectContext) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { shelf in
                let boxes = (shelf.value(forKey: "boxes") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                let marks = (shelf.value(forKey: "marks") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
                let photos = boxes.filter { ($0.value(forKey: "photo") as? Data)?.count == 300_000 }.count
                return
                    "\(boxes.map { $0.value(forKey: "name") as? String ?? "" }) "
                    + "\(marks.map { $0.value(forKey: "text") as? String ?? "" }.sorted()) \(photos)"
            }
        }
        let shelves = try Self.all("Shelf", in: root).sorted {
            ($0.value(forKey: "name") as? String ?? "") < ($1.value(forKey: "name") as? String ?? "")
        }
        shelves[0].mutableOrderedSetValue(forKey: "boxes").moveObjects(at: [2], to: 0)
        let held = try (Self.all("Box", in: root) + Self.all("Mark", in: root), Self.all("Shelf", in: child))
        #expect(try shown(root) == [#"["C", "A", "B"] ["x", "y"] 3"#, #"["A", "B", "C"] ["x", "y"] 3"#])
        #expect(try shown(child) == shown(root))
        let deleted =
            try Self.delete("Box", NSPredicate(format: "name == 'B'"), in: root)
            + Self.delete("Mark", NSPredicate(format: "text == 'x'"), in: root)
        #expect(deleted.count == 4)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [root, child])
        #expect(try shown(root) == [#"["C", "A"] ["y"] 2"#, #"["A", "C"] ["y"] 2"#])
        #expect(try shown(child) == shown(root))
        #expect(!child.hasChanges)
        #expect(root.updatedObjects == [shelves[0]])
        try root.save()
        let other = coordinator.newContext()
        #expect(try shown(other) == shown(root))
        withExtendedLifetime((held, other)) {}
    }

    @Test(arguments: StoreKind.allCases) func resultsLoseWhatAMergedDeletionReaches(kind: StoreKind) throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.relationshipsByName["books"]?.deleteRule = .cascadeDeleteRule
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("library.sqlite")))
        let context = coordinator.newContext()
        let (ada, zoe) = (context.author("Ada"), context.author("Zoe"))
        for (title, author) in [("Ash", ada), ("Bay", zoe), ("Cedar", ada)] { context.book(title, by: author) }
        try context.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        let deleted = try Self.delete("Author", NSPredicate(format: "name == 'Ada'"), in: context)
        #expect(controller.fetchedObjects?.count == 3)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [context])
        #expect(controller.fetchedObjects?.map(\.title) == ["Bay"])
        #expect(listener.objectCalls.map(\.type) == [.delete, .delete])
        #expect(!context.hasChanges)
    }

    /// Contexts that hold everything show what a new one finds, whatever batches have deleted and
    /// changed.
    @Test(arguments: StoreKind.allCases, 0..<(LongTests.areEnabled ? 200 : 4)) func contextsFollowBatches(
        kind: StoreKind, seed: Int
    )
        throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        let rules: [NSDeleteRule] = [.nullifyDeleteRule, .cascadeDeleteRule]
        let tree = try Tree(
            kind,
            Warehouse.Rules(
                itemsOfCategory: rules.randomElement(using: &random)!,
                categoryOfItem: rules.randomElement(using: &random)!,
                labelsOfItem: rules.randomElement(using: &random)!,
                certificateOfItem: rules.randomElement(using: &random)!))
        var held = try tree.levels.map(Self.hold)
        for step in 0..<4 {
            var changes: [AnyHashable: Any] = [:]
            let entity = ["Item", "Category", "Label", "Certificate"].randomElement(using: &random)!
            let skus = ["a", "b", "c", "d", "e", "f\(step)"].filter { _ in Bool.random(using: &random) }
            if Int.random(in: 0..<3, using: &random) > 0 {
                let named = try Self.all(entity, in: tree.stack.newContext()).filter { _ in
                    Int.random(in: 0..<3, using: &random) == 0
                }
                changes[NSDeletedObjectsKey] = try Self.delete(
                    entity, NSPredicate(format: "SELF IN %@", named.map(\.objectID)), in: tree.root)
            } else {
                tree.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                // The rows of fragile items are none of items.
                let plain = skus.filter { $0 != "d" && $0 != "e" }
                let insert = NSBatchInsertRequest(
                    entityName: "Item", objects: plain.map { ["sku": $0, "name": "\($0) \(step)"] })
                insert.resultType = .objectIDs
                changes[NSInsertedObjectsKey] = (try tree.root.execute(insert) as? NSBatchInsertResult)?.result
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: changes, into: tree.levels.shuffled(using: &random))
            let context = tree.stack.newContext()
            let expected = Self.shown(try Self.hold(context))
            for (level, context) in tree.levels.enumerated() {
                #expect(!context.hasChanges)
                // New rows are not held yet.
                let objects = Set(held[level]).union(try Self.hold(context))
                #expect(Self.shown(Array(objects)) == expected, "step \(step), level \(level)")
                held[level] = Array(objects)
            }
        }
        withExtendedLifetime((tree, held)) {}
    }
}
