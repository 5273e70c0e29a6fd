import CoreData
import TestSupport
import Testing

/// Collections of objects that need not be kept, which Foundation on Linux lacks.
struct WeakTableTests {
    private final class Listener: NSObject {
        let name: String
        init(_ name: String) { self.name = name }
        override var hash: Int { name.hashValue }
        override func isEqual(_ object: Any?) -> Bool { (object as? Listener)?.name == name }
    }

    private final class Plain {}

    @Test func aWeakTableForgetsWhatIsGone() {
        let table = NSHashTable<Listener>.weakObjects()
        let kept = Listener("kept")
        table.add(kept)
        do {
            let lost = Listener("lost")
            table.add(lost)
            #expect(table.count == 2)
            #expect(table.contains(lost))
            withExtendedLifetime(lost) {}
        }
        #expect(table.allObjects == [kept])
        #expect(table.anyObject === kept)
        #expect(!table.contains(Listener("lost")))
        table.remove(kept)
        #expect(table.count == 0)
    }

    @Test func equalObjectsAreOneUnlessIdentityCounts() {
        let (first, second) = (Listener("same"), Listener("same"))
        let byEquality = NSHashTable<Listener>.weakObjects()
        let byIdentity = NSHashTable<Listener>(options: [.weakMemory, .objectPointerPersonality])
        for table in [byEquality, byIdentity] {
            table.add(first)
            table.add(second)
        }
        #expect(byEquality.count == 1)
        #expect(byEquality.member(second) === first)
        #expect(byIdentity.count == 2)
        #expect(byIdentity.member(second) === second)
    }

    @Test func aTableKeepsObjectsThatAreNoNSObjects() {
        let table = NSHashTable<AnyObject>(options: .strongMemory)
        weak var weakly: Plain?
        do {
            let plain = Plain()
            weakly = plain
            table.add(plain)
            table.add(plain)
        }
        #expect(table.count == 1)
        #expect(weakly != nil)
        #expect(table.contains(weakly))
        table.removeAllObjects()
        #expect(weakly == nil)
    }

    @Test func tablesAreCombined() {
        let listeners = (0..<6).map { Listener("\($0)") }
        func table(_ range: Range<Int>) -> NSHashTable<Listener> {
            let table = NSHashTable<Listener>.weakObjects()
            for listener in listeners[range] { table.add(listener) }
            return table
        }
        let all = table(0..<3)
        all.union(table(2..<6))
        #expect(Set(all.allObjects) == Set(listeners))
        all.minus(table(4..<6))
        all.intersect(table(1..<6))
        #expect(Set(all.allObjects) == Set(listeners[1..<4]))
        #expect(all.isSubset(of: table(0..<4)))
        #expect(!all.isSubset(of: table(0..<3)))
        #expect(all.intersects(table(3..<5)))
        #expect(!all.intersects(table(4..<6)))
    }

    @Test func manyObjectsThatComeAndGoLeaveNothing() {
        let table = NSHashTable<Listener>.weakObjects()
        let kept = (0..<50).map { Listener("kept \($0)") }
        for number in 0..<5_000 { table.add(number % 100 == 0 ? kept[number / 100] : Listener("gone \(number)")) }
        #expect(Set(table.allObjects) == Set(kept))
    }

    @Test func entriesOfAMapGoWithTheirKeysAndValues() {
        let weakKeys = NSMapTable<Listener, NSString>.weakToStrongObjects()
        let weakValues = NSMapTable<NSString, Listener>.strongToWeakObjects()
        let kept = Listener("kept")
        do {
            let lost = Listener("lost")
            for listener in [kept, lost] {
                weakKeys.setObject(NSString(string: listener.name), forKey: listener)
                weakValues.setObject(listener, forKey: NSString(string: listener.name))
            }
            #expect(weakKeys.count == 2)
            #expect(weakValues.count == 2)
        }
        #expect(weakKeys.count == 1)
        #expect(weakValues.count == 1)
        #expect(weakKeys.object(forKey: kept) == "kept")
        #expect(weakValues.object(forKey: "kept") === kept)
        #expect(weakValues.object(forKey: "lost") == nil)
        #expect(weakValues.keyEnumerator().allObjects as? [NSString] == ["kept"])
        #expect(weakValues.objectEnumerator()?.allObjects as? [Listener] == [kept])
        #expect(weakValues.dictionaryRepresentation() == ["kept" as NSString: kept])
        weakValues.setObject(nil, forKey: "kept")
        weakKeys.removeObject(forKey: kept)
        #expect(weakKeys.count == 0)
        #expect(weakValues.count == 0)
    }

    @Test func aMapHasOneValueForEachKey() {
        let map = NSMapTable<NSString, NSNumber>.strongToStrongObjects()
        for number in 0..<200 { map.setObject(NSNumber(value: number), forKey: NSString(string: "\(number % 20)")) }
        #expect(map.count == 20)
        #expect(map.object(forKey: "7") == 187)
        map.removeAllObjects()
        #expect(map.count == 0)
    }

    @Test func managedObjectsAreForgottenWhenTheyGo() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Gallery.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        let table = NSHashTable<NSManagedObject>.weakObjects()
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        table.add(note)
        do {
            let other = NSManagedObject(entity: note.entity, insertInto: nil)
            table.add(other)
            #expect(table.count == 2)
        }
        #expect(table.allObjects == [note])
    }

    @Test func modelsAndEntitiesAreEnumerated() throws {
        let model = Gallery.model()
        let entities = NSFastEnumerationIterator(model).compactMap { ($0 as? NSEntityDescription)?.name }
        #expect(Set(entities) == ["Person", "Album", "Note"])
        let note = try #require(model.entitiesByName["Note"])
        var names: Set<String> = []
        for case let property as NSPropertyDescription in NSFastEnumerationIterator(note) {
            names.insert(property.name)
        }
        #expect(names == ["text", "scan", "person"])
        // Swift's own way.
        var found: [String: [String]] = [:]
        for entity in model {
            for property in entity { found[entity.name ?? "", default: []].append(property.name) }
        }
        #expect(found.keys.sorted() == model.entities.compactMap(\.name).sorted())
        for (name, properties) in found { #expect(properties == model.entitiesByName[name]?.properties.map(\.name)) }
        #expect(model.contains { $0.name == "Note" })
        #expect(note.first { $0.name == "scan" } is NSAttributeDescription)
    }
}
