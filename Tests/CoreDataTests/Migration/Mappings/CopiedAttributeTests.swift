import CoreData
import TestSupport
import Testing

/// Copies of attributes go the way that the class of the new object asks for.
struct CopiedAttributeTests {
    let stores: MappedStores
    let former = model(entity("Item", text("name"), number("count")))

    init() throws {
        stores = try MappedStores()
        try stores.source.open(former) { context in
            for number in 1...40 { context.insert("Item", ["name": "i\(number)", "count": number]) }
            context.insert("Item", [:])
        }
    }

    @Test func aClassThatOverridesSetValueIsAskedForEachValue() throws {
        let item = entity("Item", text("name"), number("count"))
        item.managedObjectClassName = NSStringFromClass(ShoutingItem.self)
        try stores.migrate(
            from: former, to: model(item),
            by: [
                mapping(
                    "ItemToItem", from: "Item", to: "Item",
                    attributes: ["name": "$source.name", "count": "$source.count"], policy: FindingPolicy.self)
            ])
        let rows = stores.destination.file.rows("SELECT ZNAME, ZCOUNT FROM ZITEM ORDER BY Z_PK")
        #expect(rows.count == 41)
        #expect(rows.prefix(2) == [["i1!", "1"], ["i2!", "2"]])
        #expect(stores.destination.file.column("SELECT count(*) FROM ZITEM WHERE ZNAME = 'nil!'") == ["1"])
    }

    @Test func numbersBeyondTheTypeAreSetAsAnyOthers() throws {
        func version(_ extra: NSAttributeDescription...) -> NSManagedObjectModel {
            let small = NSAttributeDescription("small", .integer16AttributeType)
            let flag = NSAttributeDescription("flag", .booleanAttributeType)
            let entry = entity("Entry", small, flag, NSAttributeDescription("part", .floatAttributeType))
            entry.properties += extra
            return model(entry)
        }
        let stores = try MappedStores()
        try stores.source.open(version()) { $0.insert("Entry", ["small": 1, "flag": true, "part": 1]) }
        try stores.source.file.run("UPDATE ZENTRY SET ZSMALL = 70000, ZFLAG = 2, ZPART = 0.1")
        try stores.migrate(
            from: version(), to: version(text("more")),
            by: [
                mapping(
                    "EntryToEntry", from: "Entry", to: "Entry", .customEntityMappingType,
                    attributes: ["small": "$source.small", "flag": "$source.flag", "part": "$source.part"])
            ])
        let rows = stores.destination.file.rows("SELECT ZSMALL, ZFLAG, ZPART = 0.1 FROM ZENTRY")
        #expect(rows == [["4464", "1", "0"]])
    }

    @Test func pairsAreFoundBeforeAndAfterTheyAreWritten() throws {
        let log = NSMutableArray()
        try stores.migrate(
            from: former, to: model(entity("Item", text("name"), number("count"))),
            by: [
                mapping(
                    "ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"],
                    policy: FindingPolicy.self)
            ]
        ) { $0.userInfo = ["log": log] }
        #expect(log as? [String] == Array(repeating: "2 new, 1 after a deletion", count: 41) + ["41 in the end"])
        #expect(stores.destination.file.column("SELECT count(*) FROM ZITEM") == ["41"])
    }
}

/// Objects that a policy deletes after they were written, and IDs that it asks for.
struct WrittenPairTests {
    let stores: MappedStores
    let former = model(entity("Item", text("name"), number("count")))

    init() throws {
        stores = try MappedStores()
        try stores.source.open(former) { context in
            for number in 1...30 { context.insert("Item", ["name": "i\(number % 10)", "count": number]) }
        }
    }

    private func migrate(_ policy: AnyClass, _ log: NSMutableArray) throws {
        try stores.migrate(
            from: former, to: model(entity("Item", text("name"), text("origin"))),
            by: [
                mapping(
                    "ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"], policy: policy)
            ]
        ) { $0.userInfo = ["log": log] }
    }

    @Test func deletedDuplicatesAreInNoPair() throws {
        let log = NSMutableArray()
        try migrate(UniquingPolicy.self, log)
        #expect(log as? [String] == ["10 left"])
        #expect(stores.destination.file.column("SELECT count(*) FROM ZITEM") == ["10"])
        #expect(stores.destination.file.column("SELECT count(*) FROM ZITEM WHERE ZORIGIN = 'related'") == ["10"])
    }

    @Test func anIDThatIsAskedForHasTheKeyOfTheSource() throws {
        let log = NSMutableArray()
        try migrate(NamingPolicy.self, log)
        let ids = stores.destination.file.column("SELECT ZORIGIN FROM ZITEM ORDER BY Z_PK")
        let keys = stores.destination.file.column("SELECT Z_PK FROM ZITEM ORDER BY Z_PK")
        #expect(keys == stores.source.file.column("SELECT Z_PK FROM ZITEM ORDER BY Z_PK"))
        #expect(ids == keys.map { "p\($0 ?? "")" })
    }
}

/// Leaves one object of each name.
final class UniquingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        var names: Set<String> = []
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        for object in made where !names.insert(object.value(forKey: "name") as? String ?? "").inserted {
            manager.destinationContext.delete(object)
        }
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        dInstance.setValue("related", forKey: "origin")
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let sources = try manager.sourceContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        let left = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: sources)
        (manager.userInfo?["log"] as? NSMutableArray)?.add("\(left.count) left")
    }
}

/// Writes the ID of each object into it.
final class NamingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        try manager.destinationContext.obtainPermanentIDs(for: made)
        made.first?.setValue(made.first?.objectID.uriRepresentation().lastPathComponent, forKey: "origin")
    }
}

/// Says that it was asked.
final class ShoutingItem: NSManagedObject {
    override func setValue(_ value: Any?, forKey key: String) {
        super.setValue(key == "name" ? "\(value ?? "nil")!" : value, forKey: key)
    }
}

/// Adds a second object to what the mapping makes, and deletes it again; looks for both.
final class FindingPolicy: NSEntityMigrationPolicy {
    private func note(_ text: String, _ manager: NSMigrationManager) {
        (manager.userInfo?["log"] as? NSMutableArray)?.add(text)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        func found() -> [NSManagedObject] {
            manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance, sInstance])
        }
        let first = found().first
        let second = NSEntityDescription.insertNewObject(forEntityName: "Item", into: manager.destinationContext)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: second, for: mapping)
        let both = found()
        #expect(both.first === first)
        #expect(both.last === second)
        manager.destinationContext.delete(second)
        note("\(both.count) new, \(found().count) after a deletion", manager)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let sources = try manager.sourceContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        let found = sources.flatMap {
            manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [$0])
        }
        note("\(Set(found.map(\.objectID)).count) in the end", manager)
    }
}
