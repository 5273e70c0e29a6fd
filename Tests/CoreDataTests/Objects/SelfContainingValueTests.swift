import CoreData
import TestSupport
import Testing

/// Transformable values that hold themselves, or hardly end: refused with a message, whatever the
/// transformer and the store.
struct SelfContainingValueTests {
    private static let attributes: [(name: String, transformer: String?)] = [
        ("plain", nil), ("secure", "NSSecureUnarchiveFromData"), ("old", "NSUnarchiveFromData"),
    ]

    private func context(_ kind: StoreKind, _ folder: TemporaryFolder) throws -> NSManagedObjectContext {
        let attributes = Self.attributes.map { name, transformer in
            let attribute = NSAttributeDescription(name, .transformableAttributeType)
            attribute.valueTransformerName = transformer
            return attribute
        }
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel([
                NSEntityDescription(
                    "Box", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)] + attributes
                )
            ]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        return coordinator.newContext()
    }

    /// Expects that a value is refused in a new object and in a changed one, and that the context
    /// goes on without it.
    private func expectRefusal(_ value: NSObject, _ kind: StoreKind, _ words: String) throws {
        let folder = try TemporaryFolder()
        let context = try context(kind, folder)
        for (name, _) in Self.attributes {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            for isNew in [true, false] {
                box.setValue(value, forKey: name)
                let error = try #require(errorThrown { try context.save() })
                #expect(error.code == CocoaError.managedObjectValidation.rawValue)
                #expect(error.localizedDescription.contains("Box.\(name)"), "\(error.localizedDescription)")
                #expect(error.localizedDescription.contains(words), "\(error.localizedDescription)")
                #expect(box.hasChanges)
                #expect(box.changedValues()[name] as? NSObject === value)
                box.setValue(isNew ? ["fine"] : nil, forKey: name)
                try context.save()
            }
        }
        let fresh = try #require(context.persistentStoreCoordinator).newContext()
        #expect(try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Box")) == Self.attributes.count)
    }

    @Test(arguments: StoreKind.allCases) func anArrayThatHoldsItselfIsRefused(kind: StoreKind) throws {
        let array = NSMutableArray(array: ["a"])
        array.add(array)
        defer { array.removeAllObjects() }
        try expectRefusal(array, kind, "holds itself")
    }

    @Test(arguments: StoreKind.allCases) func aDictionaryThatHoldsItselfIsRefused(kind: StoreKind) throws {
        let dictionary = NSMutableDictionary(dictionary: ["a": 1])
        let array = NSMutableArray(array: [dictionary, dictionary])
        dictionary["own"] = array
        defer { dictionary.removeAllObjects() }
        try expectRefusal(dictionary, kind, "holds itself")
        try expectRefusal(array, kind, "holds itself")
    }

    @Test(arguments: StoreKind.allCases) func anOrderedSetOfArraysThatHoldItIsRefused(kind: StoreKind) throws {
        let array = NSMutableArray()
        let set = NSMutableOrderedSet(object: array)
        array.add(set)
        defer { array.removeAllObjects() }
        try expectRefusal(set, kind, "holds itself")
    }

    @Test(arguments: StoreKind.allCases) func aValueOfAHundredThousandLevelsIsRefused(kind: StoreKind) throws {
        var levels: [NSMutableArray] = [NSMutableArray(array: ["x"])]
        for _ in 0..<100_000 { levels.append(NSMutableArray(object: levels[levels.count - 1] as AnyObject)) }
        // Foundation frees nested collections by recursion.
        defer { for level in levels.reversed() { level.removeAllObjects() } }
        try expectRefusal(levels[levels.count - 1], kind, "nested more than")
    }

    @Test(arguments: StoreKind.allCases) func aValueThatUnfoldsToBillionsIsRefused(kind: StoreKind) throws {
        var value = NSMutableArray(array: ["x"])
        for _ in 0..<28 {
            let next = NSMutableArray()
            next.add(value)
            next.add(value)
            value = next
        }
        try expectRefusal(value, kind, "again and again")
    }

    @Test func whatCannotBeArchivedIsNamed() throws {
        let folder = try TemporaryFolder()
        let context = try context(.sqlite, folder)
        let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
        box.setValue(NSArray(array: [["key": NSObject()]]), forKey: "plain")
        let error = try #require(errorThrown { try context.save() })
        #expect(error.localizedDescription.contains("Box.plain"))
        #expect(error.localizedDescription.contains("NSObject"))
    }

    @Test func collectionsThatAreSharedOrAsDeepAsAllowedAreKept() throws {
        let folder = try TemporaryFolder()
        let context = try context(.sqlite, folder)
        let shared = NSMutableArray(array: ["s", 1])
        var deep: NSArray = NSArray(array: ["x"])
        for _ in 0..<28 { deep = NSArray(object: deep) }
        let values: [NSArray] = [NSArray(array: [shared, shared, ["k": shared]]), deep]
        for (number, value) in values.enumerated() {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            box.setValue("\(number)", forKey: "name")
            box.setValue(value, forKey: "plain")
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let fresh = try #require(context.persistentStoreCoordinator).newContext()
        let found = try fresh.fetch(request).map { array($0.value(forKey: "plain")) }
        #expect(found.count == 2)
        #expect(found.first == values.first)
        // Compared level by level: equality of Foundation's arrays takes twice as long for each
        // level.
        var (level, left) = (0, found.last ?? nil)
        while let array = left, array.count == 1, let inner = self.array(array.object(at: 0)) {
            (level, left) = (level + 1, inner)
        }
        #expect(level == 28)
        let innermost = left?.object(at: 0) as? String
        #expect(innermost == "x")
    }

    /// Foundation hands out what is in its arrays as Swift's.
    private func array(_ value: Any?) -> NSArray? {
        value as? NSArray ?? (value as? [Any]).map { $0 as NSArray }
    }
}
