import CoreData
import Testing

/// Trees of contexts over stores of the program's own.
@Suite("Children of contexts on custom stores")
struct CustomStoreParentTests {
    enum Kind: CaseIterable { case atomic, incremental }

    /// A root, a child and a grandchild on a custom store.
    final class Tree {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let store: any RecordKeeping
        let levels: [NSManagedObjectContext]

        var root: NSManagedObjectContext { levels[0] }
        var child: NSManagedObjectContext { levels[1] }
        var grandchild: NSManagedObjectContext { levels[2] }

        init(_ kind: Kind) throws {
            NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, type: RecordStore.storeType)
            NSPersistentStoreCoordinator.registerStoreClass(NodeStore.self, type: NodeStore.storeType)
            let added = try coordinator.addPersistentStore(
                type: kind == .atomic ? NodeStore.storeType : RecordStore.storeType,
                at: URL(fileURLWithPath: "/custom/\(UUID().uuidString)"))
            store = try #require(added as? any RecordKeeping)
            var levels = [SampleStacks.context(coordinator)]
            for _ in 0..<2 {
                let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                child.parent = levels.last
                levels.append(child)
            }
            self.levels = levels
        }

        /// Sales with Ann, who has the tags a and b and three tasks, and Ben, a manager.
        func fill(_ context: NSManagedObjectContext) throws {
            let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: context)
            let ann = try SampleStacks.insert("Employee", ["name": "Ann", "department": sales], into: context)
            try SampleStacks.insert("Manager", ["name": "Ben", "level": 2], into: context).setValue(
                sales, forKey: "department")
            for tag in ["a", "b"] {
                ann.mutableSetValue(forKey: "tags").add(try SampleStacks.insert("Tag", ["name": tag], into: context))
            }
            let tasks = ann.mutableOrderedSetValue(forKey: "tasks")
            for title in ["t2", "t1", "t3"] {
                tasks.add(try SampleStacks.insert("Task", ["title": title], into: context))
            }
        }

        /// Saves from the lowest level to the store.
        func saveUp() throws { for context in levels.reversed() { try context.save() } }

        func find(_ name: String, _ entity: String = "Employee", in context: NSManagedObjectContext) throws
            -> NSManagedObject
        {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "name == %@", name)
            let found = try context.fetch(request)
            #expect(found.count == 1)
            return try #require(found.first)
        }

        static func names(_ value: Any?, _ key: String = "name") -> [String] {
            switch value {
            case let set as NSOrderedSet:
                set.array.map { ($0 as? NSManagedObject)?.value(forKey: key) as? String ?? "?" }
            case let set as NSSet:
                set.allObjects.map { ($0 as? NSManagedObject)?.value(forKey: key) as? String ?? "?" }.sorted()
            default: []
            }
        }
    }

    private static let filled = [
        "Department Sales employees Ann,Ben", "Employee Ann department Sales tags a,b tasks t2,t1,t3",
        "Manager Ben department Sales",
        "Tag a employees Ann", "Tag b employees Ann", "Task t1 assignee Ann", "Task t2 assignee Ann",
        "Task t3 assignee Ann",
    ]

    @Test(arguments: Kind.allCases) func aGrandchildReadsThroughItsParents(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.root)
        try tree.root.save()
        #expect(tree.store.lines == Self.filled)
        tree.root.reset()
        let grandchild = tree.grandchild
        #expect(try SampleStacks.names(grandchild, "Employee") == ["Ann", "Ben"])
        #expect(
            try SampleStacks.names(grandchild, "Employee", "department.name == 'Sales' AND name > 'Anz'") == ["Ben"])
        #expect(try SampleStacks.names(grandchild, "Manager") == ["Ben"])
        #expect(try grandchild.count(for: NSFetchRequest<NSManagedObject>(entityName: "Task")) == 3)
        let ann = try tree.find("Ann", in: grandchild)
        #expect(Tree.names(ann.value(forKey: "tags")) == ["a", "b"])
        #expect(Tree.names(ann.value(forKey: "tasks"), "title") == ["t2", "t1", "t3"])
        let sales = try #require(ann.value(forKey: "department") as? NSManagedObject)
        grandchild.refresh(sales, mergeChanges: false)
        #expect(sales.isFault)
        #expect(Tree.names(sales.value(forKey: "employees")) == ["Ann", "Ben"])
        #expect(!grandchild.hasChanges)
        let same = try grandchild.existingObject(with: ann.objectID)
        #expect(same === ann)
        withExtendedLifetime(tree) {}
    }

    @Test(arguments: Kind.allCases) func aGrandchildSeesWhatIsUnsavedAbove(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.root)
        try tree.root.save()
        try tree.find("Ann", in: tree.root).setValue("Anna", forKey: "name")
        let cid = try SampleStacks.insert("Employee", ["name": "Cid"], into: tree.child)
        cid.setValue(try tree.find("Sales", "Department", in: tree.child), forKey: "department")
        tree.child.delete(try tree.find("Ben", in: tree.child))
        #expect(try SampleStacks.names(tree.grandchild, "Employee") == ["Anna", "Cid"])
        let sales = try tree.find("Sales", "Department", in: tree.grandchild)
        #expect(Tree.names(sales.value(forKey: "employees")) == ["Anna", "Cid"])
        #expect(tree.store.lines == Self.filled)
        withExtendedLifetime(tree) {}
    }

    @Test("154, 313: What a grandchild saves reaches the store when the root saves", arguments: Kind.allCases)
    func whatAGrandchildSavesReachesTheStore(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.grandchild)
        let ann = try tree.find("Ann", in: tree.grandchild)
        let temporary = ann.objectID
        #expect(temporary.isTemporaryID)
        try tree.grandchild.save()
        try tree.child.save()
        #expect(tree.store.saves == 0)
        #expect(tree.store.lines.isEmpty)
        #expect(try tree.find("Ann", in: tree.root).objectID == temporary)
        try tree.root.save()
        #expect(tree.store.saves == 1)
        #expect(tree.store.lines == Self.filled)
        // One object in each level, by the ID that the store gave.
        tree.grandchild.performAndWait {}
        #expect(!ann.objectID.isTemporaryID)
        for context in tree.levels {
            #expect(try tree.find("Ann", in: context).objectID == ann.objectID)
            #expect(!context.hasChanges)
        }
        #expect(try tree.find("Ann", in: tree.grandchild) === ann)
        #expect(tree.grandchild.registeredObject(for: ann.objectID) === ann)
        // And once more: nothing is written twice.
        try tree.saveUp()
        #expect(tree.store.lines == Self.filled)
        withExtendedLifetime(tree) {}
    }

    @Test(arguments: Kind.allCases) func changesAreSavedUpTwice(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.grandchild)
        try tree.saveUp()
        let (ann, ben) = (try tree.find("Ann", in: tree.grandchild), try tree.find("Ben", in: tree.grandchild))
        let lab = try SampleStacks.insert("Department", ["name": "Lab"], into: tree.grandchild)
        ann.setValue(lab, forKey: "department")
        ann.mutableSetValue(forKey: "tags").removeAllObjects()
        ben.setValue(NSSet(object: try tree.find("b", "Tag", in: tree.grandchild)), forKey: "tags")
        ann.mutableOrderedSetValue(forKey: "tasks").moveObjects(at: IndexSet(integer: 2), to: 0)
        try tree.saveUp()
        #expect(
            tree.store.lines == [
                "Department Lab employees Ann", "Department Sales employees Ben",
                "Employee Ann department Lab tasks t3,t2,t1",
                "Manager Ben department Sales tags b", "Tag a", "Tag b employees Ben", "Task t1 assignee Ann",
                "Task t2 assignee Ann",
                "Task t3 assignee Ann",
            ])
        ann.setValue(nil, forKey: "department")
        ann.setValue("Anna", forKey: "name")
        try tree.saveUp()
        #expect(tree.store.lines.contains("Employee Anna tasks t3,t2,t1"))
        #expect(tree.store.lines.contains("Department Lab"))
        for context in tree.levels {
            let same = try tree.find("Anna", in: context)
            #expect(Tree.names(same.value(forKey: "tasks"), "title") == ["t3", "t2", "t1"])
            #expect(same.value(forKey: "department") == nil)
        }
        withExtendedLifetime(tree) {}
    }

    @Test(arguments: Kind.allCases) func deletionsReachTheStore(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.root)
        try tree.root.save()
        let ann = try tree.find("Ann", in: tree.grandchild)
        tree.grandchild.delete(ann)
        // What was never saved is deleted without the store hearing of it.
        let cid = try SampleStacks.insert("Employee", ["name": "Cid"], into: tree.grandchild)
        try tree.grandchild.save()
        tree.grandchild.delete(cid)
        try tree.grandchild.save()
        #expect(try SampleStacks.names(tree.child, "Employee") == ["Ben"])
        #expect(tree.store.lines == Self.filled)
        try tree.saveUp()
        #expect(
            tree.store.lines == [
                "Department Sales employees Ben", "Manager Ben department Sales", "Tag a", "Tag b", "Task t1",
                "Task t2", "Task t3",
            ])
        for context in tree.levels { #expect(try SampleStacks.names(context, "Employee") == ["Ben"]) }
        withExtendedLifetime(tree) {}
    }

    @Test("122: A grandchild obtains the store's IDs before anything is saved", arguments: Kind.allCases)
    func aGrandchildObtainsTheStoresIDs(kind: Kind) throws {
        let tree = try Tree(kind)
        let sales = try SampleStacks.insert("Department", ["name": "Sales"], into: tree.grandchild)
        let ann = try SampleStacks.insert("Employee", ["name": "Ann", "department": sales], into: tree.grandchild)
        try tree.grandchild.obtainPermanentIDs(for: [ann])
        let objectID = ann.objectID
        #expect(!objectID.isTemporaryID)
        #expect(objectID.persistentStore === tree.store)
        #expect(sales.objectID.isTemporaryID)
        #expect(ann.isInserted)
        try tree.grandchild.save()
        #expect(tree.child.registeredObject(for: objectID)?.isInserted == true)
        try tree.child.obtainPermanentIDs(for: [try tree.find("Sales", "Department", in: tree.child)])
        try tree.saveUp()
        #expect(tree.store.lines == ["Department Sales employees Ann", "Employee Ann department Sales"])
        tree.grandchild.performAndWait {}
        for context in tree.levels {
            #expect(try tree.find("Ann", in: context).objectID == objectID)
            #expect(try tree.find("Sales", "Department", in: context).objectID == sales.objectID)
        }
        #expect(!sales.objectID.isTemporaryID)
        withExtendedLifetime(tree) {}
    }

    @Test("132, 133: A refresh reads what the parent has", arguments: Kind.allCases)
    func aRefreshReadsWhatTheParentHas(kind: Kind) throws {
        let tree = try Tree(kind)
        try tree.fill(tree.root)
        try tree.root.save()
        let ann = try tree.find("Ann", in: tree.grandchild)
        #expect(ann.value(forKey: "salary") == nil)
        ann.setValue(3.5, forKey: "rating")
        let above = try tree.find("Ann", in: tree.child)
        above.setValue(100, forKey: "salary")
        let lab = try SampleStacks.insert("Department", ["name": "Lab"], into: tree.child)
        above.setValue(lab, forKey: "department")
        tree.grandchild.refresh(ann, mergeChanges: true)
        #expect(ann.value(forKey: "salary") as? Int == 100)
        #expect(ann.value(forKey: "rating") as? Double == 3.5)
        #expect((ann.value(forKey: "department") as? NSManagedObject)?.value(forKey: "name") as? String == "Lab")
        #expect(ann.changedValues().keys.sorted() == ["rating"])
        tree.grandchild.refresh(ann, mergeChanges: false)
        #expect(ann.value(forKey: "rating") == nil)
        #expect(!tree.grandchild.hasChanges)
        tree.child.rollback()
        tree.grandchild.refreshAllObjects()
        #expect(ann.value(forKey: "salary") == nil)
        #expect((ann.value(forKey: "department") as? NSManagedObject)?.value(forKey: "name") as? String == "Sales")
        withExtendedLifetime(tree) {}
    }

    @Test func twoCustomStoresLieBelowOneTree() throws {
        NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, type: RecordStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(NodeStore.self, type: NodeStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let people = try coordinator.addPersistentStore(
            type: NodeStore.storeType, configuration: "People", at: URL(fileURLWithPath: "/custom/\(UUID().uuidString)")
        )
        let work = try coordinator.addPersistentStore(
            type: RecordStore.storeType, configuration: "Work", at: URL(fileURLWithPath: "/custom/\(UUID().uuidString)")
        )
        let root = SampleStacks.context(coordinator)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = root
        let ann = try SampleStacks.insert("Employee", ["name": "Ann"], into: child)
        let tag = try SampleStacks.insert("Tag", ["name": "a"], into: child)
        try child.save()
        try root.save()
        #expect((people as? any RecordKeeping)?.lines == ["Employee Ann"])
        #expect((work as? any RecordKeeping)?.lines == ["Tag a"])
        child.performAndWait {}
        #expect(ann.objectID.persistentStore === people)
        #expect(tag.objectID.persistentStore === work)
        tag.setValue("b", forKey: "name")
        child.delete(ann)
        try child.save()
        try root.save()
        #expect((people as? any RecordKeeping)?.lines == [])
        #expect((work as? any RecordKeeping)?.lines == ["Tag b"])
        withExtendedLifetime((root, child)) {}
    }
}
