import CoreData
import TestSupport
import Testing

/// To-many relationships without an inverse: the owner's key stands in the destination's row.
struct HiddenKeyTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    /// Numbers: Box 1, Crate 2 (a box), Item 3, Tool 4 (an item).
    private func boxes(ordered: Bool = false, _ rule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        let item = entity("Item", text("name"))
        let tool = entity("Tool", number("weight"))
        item.subentities = [tool]
        let items = NSRelationshipDescription("items", to: item, toMany: true, deleteRule: rule)
        items.isOrdered = ordered
        let box = entity("Box", text("name"), items, NSRelationshipDescription("tools", to: tool, toMany: true))
        let crate = entity("Crate")
        box.subentities = [crate]
        return model(box, crate, item, tool)
    }

    private func names(_ object: NSManagedObject?, _ key: String) -> [String] {
        switch object?.value(forKey: key) {
        case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        case let set as Set<NSManagedObject>: set.compactMap { $0.value(forKey: "name") as? String }.sorted()
        default: []
        }
    }

    /// Items A, B, C in a box, and a tool T in a crate and in its tools.
    private func fill(_ context: NSManagedObjectContext, ordered: Bool = false) {
        let items = ["C", "A", "B"].map { context.insert("Item", ["name": $0]) }
        let tool = context.insert("Tool", ["name": "T"])
        func set(_ objects: [NSManagedObject]) -> Any { ordered ? NSOrderedSet(array: objects) : Set(objects) }
        context.insert("Box", ["name": "box", "items": set(items)])
        context.insert("Crate", ["name": "crate", "items": set([tool]), "tools": Set([tool])])
    }

    private func contents(_ model: NSManagedObjectModel) throws -> [[String]] {
        try store.open(model) { context in
            try context.objects("Box", by: "name").map { names($0, "items") + ["|"] + names($0, "tools") }
        }
    }

    /// The owner of each item by name, as the database has it.
    private func owners(_ column: String) -> [[String?]] {
        store.file.rows("SELECT i.ZNAME, b.ZNAME FROM ZITEM i LEFT JOIN ZBOX b ON b.Z_PK = i.\(column) ORDER BY 1")
    }

    @Test func membershipIsAKeyInTheRowsOfTheDestination() throws {
        try store.open(boxes()) { fill($0) }
        #expect(owners("Z1ITEMS") == [["A", "box"], ["B", "box"], ["C", "box"], ["T", "crate"]])
        #expect(owners("Z1TOOLS") == [["A", nil], ["B", nil], ["C", nil], ["T", "crate"]])
        #expect(try contents(boxes()) == [["A", "B", "C", "|"], ["T", "|", "T"]])
    }

    @Test func destinationsAreAddedAndTakenAway() throws {
        try store.open(boxes()) { fill($0) }
        try store.open(boxes()) { context in
            let box = try context.objects("Box", by: "name")[0]
            let items = box.mutableSetValue(forKey: "items")
            let a = try #require(items.first { ($0 as? NSManagedObject)?.value(forKey: "name") as? String == "A" })
            items.remove(a)
            items.add(context.insert("Item", ["name": "D"]))
        }
        #expect(owners("Z1ITEMS") == [["A", nil], ["B", "box"], ["C", "box"], ["D", "box"], ["T", "crate"]])
        #expect(try contents(boxes())[0] == ["B", "C", "D", "|"])
    }

    @Test(arguments: [false, true]) func aDestinationMovesToTheOwnerThatGetsItLast(ordered: Bool) throws {
        try store.open(boxes(ordered: ordered)) { fill($0, ordered: ordered) }
        try store.open(boxes(ordered: ordered)) { context in
            let both = try context.objects("Box", by: "name")
            let item = try #require(context.objects("Item", by: "name").first)
            func members(_ box: NSManagedObject) -> Any {
                ordered ? box.mutableOrderedSetValue(forKey: "items") : box.mutableSetValue(forKey: "items")
            }
            // Both changes are in one save.
            if let set = members(both[1]) as? NSMutableOrderedSet {
                set.add(item)
            } else {
                (members(both[1]) as? NSMutableSet)?.add(item)
            }
            if let set = members(both[0]) as? NSMutableOrderedSet {
                set.remove(item)
            } else {
                (members(both[0]) as? NSMutableSet)?.remove(item)
            }
        }
        #expect(owners("Z1ITEMS") == [["A", "crate"], ["B", "box"], ["C", "box"], ["T", "crate"]])
        #expect(
            try contents(boxes(ordered: ordered)) == [
                ordered ? ["C", "B", "|"] : ["B", "C", "|"], ordered ? ["T", "A", "|", "T"] : ["A", "T", "|", "T"],
            ])
    }

    @Test func anOrderedRelationshipKeepsItsOrder() throws {
        let model = boxes(ordered: true)
        try store.open(model) { fill($0, ordered: true) }
        #expect(try contents(boxes(ordered: true))[0] == ["C", "A", "B", "|"])
        try store.open(boxes(ordered: true)) { context in
            let box = try context.objects("Box", by: "name")[0]
            box.mutableOrderedSetValue(forKey: "items").moveObjects(at: IndexSet(integer: 2), to: 0)
        }
        #expect(try contents(boxes(ordered: true))[0] == ["B", "C", "A", "|"])
        #expect(
            store.file.column("SELECT ZNAME FROM ZITEM WHERE Z1ITEMS = 1 ORDER BY Z_FOK_1ITEMS").count
                == store.file.column("SELECT DISTINCT Z_FOK_1ITEMS FROM ZITEM WHERE Z1ITEMS = 1").count)
    }

    @Test func deletingTheOwnerFreesItsDestinations() throws {
        try store.open(boxes()) { fill($0) }
        try store.open(boxes()) { context in
            for box in try context.objects("Box", by: "name") { context.delete(box) }
        }
        #expect(owners("Z1ITEMS") == [["A", nil], ["B", nil], ["C", nil], ["T", nil]])
        #expect(owners("Z1TOOLS").allSatisfy { $0[1] == nil })
        #expect(store.file.value("SELECT count(*) FROM ZITEM WHERE Z1ITEMS NOT NULL OR Z1TOOLS NOT NULL") == "0")
    }

    @Test func deleteRulesAreApplied() throws {
        try store.open(boxes(.cascadeDeleteRule)) { fill($0) }
        try store.open(boxes(.cascadeDeleteRule)) { context in context.delete(try context.objects("Box", by: "name")[0])
        }
        #expect(owners("Z1ITEMS") == [["T", "crate"]])

        try store.open(boxes(.denyDeleteRule)) { context in
            context.delete(try context.objects("Crate")[0])
            #expect(errorThrown { try context.save() } != nil)
            context.rollback()
        }
        #expect(owners("Z1ITEMS") == [["T", "crate"]])
    }

    @Test func deletingADestinationTakesItOutOfTheRelationship() throws {
        try store.open(boxes()) { fill($0) }
        try store.open(boxes()) { context in context.delete(try context.objects("Item", by: "name")[1]) }
        #expect(try contents(boxes())[0] == ["A", "C", "|"])
    }

    @Test(arguments: [
        ("ANY items.name == 'A'", ["box"]), ("items.@count == 3", ["box"]), ("items.@count == 1", ["crate"]),
        ("SUBQUERY(items, $i, $i.name > 'A').@count == 2", ["box"]), ("ANY tools.weight == nil", ["crate"]),
        ("NONE items.name == 'T'", ["box"]), ("tools.@count == 0", ["box"]),
    ])
    func predicatesLeadThroughIt(format: String, expected: [String]) throws {
        try store.open(boxes()) { fill($0) }
        let found = try store.open(boxes()) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
            request.predicate = NSPredicate(format: format)
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(found == expected)
    }

    @Test(arguments: [false, true]) func itIsPrefetched(ordered: Bool) throws {
        try store.open(boxes(ordered: ordered)) { fill($0, ordered: ordered) }
        try store.open(boxes(ordered: ordered)) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
            request.relationshipKeyPathsForPrefetching = ["items", "tools"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let boxes = try context.fetch(request)
            #expect(boxes.map { names($0, "items") } == [ordered ? ["C", "A", "B"] : ["A", "B", "C"], ["T"]])
            #expect(boxes.map { names($0, "tools") } == [[], ["T"]])
        }
    }

    @Test func addingADestinationLeavesItsOwnVersionAndTakesTheOwnersOneUp() throws {
        try store.open(boxes()) { fill($0) }
        try store.open(boxes()) { context in
            let tool = try context.objects("Tool")[0]
            try context.objects("Box", by: "name")[0].mutableSetValue(forKey: "tools").add(tool)
        }
        #expect(store.file.rows("SELECT ZNAME, Z_OPT FROM ZBOX ORDER BY 1") == [["box", "2"], ["crate", "1"]])
        #expect(store.file.value("SELECT Z_OPT FROM ZITEM WHERE ZNAME = 'T'") == "1")
    }

    @Test func twoContextsMergeWhatTheyAdd() throws {
        try store.open(boxes()) { fill($0) }
        try store.open(boxes()) { context in
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            for context in [context, other] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
            let mine = try context.objects("Box", by: "name")[0]
            let theirs = try other.objects("Box", by: "name")[0]
            mine.mutableSetValue(forKey: "items").add(context.insert("Item", ["name": "M"]))
            theirs.mutableSetValue(forKey: "items").add(other.insert("Item", ["name": "O"]))
            try context.save()
            try other.save()
        }
        #expect(try contents(boxes())[0] == ["A", "B", "C", "M", "O", "|"])
    }

    @Test func rowsOfAnAppleStoreWithAnEntityColumnBesideTheKeyGetTheOwnersEntity() throws {
        try store.open(boxes()) { _ in }
        #expect(store.file.execute("ALTER TABLE ZITEM ADD COLUMN Z1_1ITEMS INTEGER"))
        try store.open(boxes()) { fill($0) }
        #expect(
            store.file.rows("SELECT ZNAME, Z1_1ITEMS FROM ZITEM ORDER BY 1")
                == [["A", "1"], ["B", "1"], ["C", "1"], ["T", "2"]])
    }

    @Test func aCountOfItIsDerived() throws {
        func counted() -> NSManagedObjectModel {
            let item = entity("Item", text("name"))
            let box = entity("Box", text("name"), NSRelationshipDescription("items", to: item, toMany: true))
            let count = NSDerivedAttributeDescription()
            count.name = "itemCount"
            count.attributeType = .integer64AttributeType
            count.derivationExpression = NSExpression(format: "items.@count")
            box.properties += [count]
            return model(box, item)
        }
        try store.open(counted()) { context in
            let items = ["A", "B"].map { context.insert("Item", ["name": $0]) }
            context.insert("Box", ["name": "one", "items": Set(items)])
            context.insert("Box", ["name": "two"])
        }
        #expect(store.file.rows("SELECT ZNAME, ZITEMCOUNT FROM ZBOX ORDER BY 1") == [["one", "2"], ["two", "0"]])
        try store.open(counted()) { context in
            let both = try context.objects("Box", by: "name")
            both[1].mutableSetValue(forKey: "items").add(try context.objects("Item", by: "name")[0])
        }
        #expect(store.file.rows("SELECT ZNAME, ZITEMCOUNT FROM ZBOX ORDER BY 1") == [["one", "1"], ["two", "1"]])
    }
}
