import CoreData
import TestSupport
import Testing

/// Stores that move from one kind to another with all that they hold.
struct MovedStoreTests {
    /// Moves what `fill` makes, and compares it by the IDs that the coordinator tells.
    private func move(
        _ model: NSManagedObjectModel, from: StoreKind, to: StoreKind, _ label: String = "",
        _ fill: (NSManagedObjectContext) throws -> Void
    ) throws -> MigratedStore {
        let (source, target) = (try MigratedStore(from), try MigratedStore(to))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: from.type, configurationName: nil, at: source.url, options: nil)
        func context() -> NSManagedObjectContext {
            let context = coordinator.newContext()
            return context
        }
        let first = context()
        try fill(first)
        try first.save()
        coordinator.setMetadata((coordinator.metadata(for: store)).merging(["mine": "kept"]) { $1 }, for: store)
        let before = try ObjectGraph(context(), model)
        let (moved, names) = try ObjectGraph.move(store, of: coordinator, to: target.url, type: to.type)
        #expect(names.count == before.objects.count)
        if to == .sqlite { #expect(names.filter { key(of: $0.key) != key(of: $0.value) }.isEmpty, "\(label)") }
        #expect(try ObjectGraph(context(), model) == before.renamed(names), "\(label)")
        #expect(coordinator.metadata(for: moved)["mine"] as? String == "kept")
        withExtendedLifetime(first) {}
        try coordinator.remove(moved)
        return target
    }

    /// The key of an object's row.
    private func key(of name: String) -> Substring? { name.split(separator: "/").last?.dropFirst() }

    @Test(arguments: StoreKind.persistent, StoreKind.persistent)
    func randomGraphsAreTheSameElsewhere(from: StoreKind, to: StoreKind) throws {
        for seed in 0..<(LongTests.areEnabled ? 60 : 8) {
            var random = RandomVersions(seed: UInt64(5000 + seed))
            let version = random.first()
            _ = try move(version.model(), from: from, to: to, "seed \(seed)") { random.fill($0, version) }
        }
    }

    /// Everything that is kept in a way of its own.
    private var gallery: NSManagedObjectModel {
        let picture = entity("Picture", text("name"), NSAttributeDescription("price", .decimalAttributeType))
        let data = NSAttributeDescription("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        picture.properties += [
            data, NSAttributeDescription("day", .dateAttributeType), NSAttributeDescription("mark", .UUIDAttributeType),
            NSCompositeAttributeDescription("size", number("width"), text("unit")),
        ]
        let room = entity("Room", text("name"))
        relate(room, "pictures", toMany: true, ordered: true, picture, inverse: "room")
        let count = NSDerivedAttributeDescription()
        count.name = "pictureCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "pictures.@count")
        room.properties += [count, NSRelationshipDescription("favourites", to: picture, toMany: true)]
        return model(picture, room)
    }

    @Test(arguments: StoreKind.persistent, StoreKind.persistent)
    func everyFormOfValueIsTheSameElsewhere(from: StoreKind, to: StoreKind) throws {
        let target = try move(gallery, from: from, to: to) { context in
            for number in 0..<3 {
                let room = context.insert("Room", ["name": "\(number)"])
                var pictures: [NSManagedObject] = []
                for size in [0, 10, 200_000] {
                    let picture = context.insert(
                        "Picture",
                        [
                            "name": "\(size)", "data": Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }),
                            "mark": UUID(),
                            "price": NSDecimalNumber(string: "-12345.000123"),
                            "day": Date(timeIntervalSinceReferenceDate: -1e9 + 0.25),
                            "size": ["width": size, "unit": "cm"],
                        ])
                    pictures.insert(picture, at: 0)
                }
                pictures.append(context.insert("Picture"))
                room.setValue(NSOrderedSet(array: pictures), forKey: "pictures")
                room.setValue(Set(pictures.prefix(2)), forKey: "favourites")
            }
        }
        let counts = try target.open(gallery) { context in
            let rooms = try context.objects("Room", by: "name")
            context.insert("Picture", ["name": "new", "room": rooms[0]])
            try context.save()
            context.refreshAllObjects()
            return rooms.map { $0.value(forKey: "pictureCount") as? Int }
        }
        #expect(counts == [5, 4, 4])
    }

    @Test(arguments: StoreKind.persistent, StoreKind.persistent)
    func rowsOfManyBlocksAndTheirOrderMove(from: StoreKind, to: StoreKind) throws {
        let item = entity("Item", number("place")), group = entity("Group", text("name"))
        relate(group, "items", toMany: true, ordered: true, item, inverse: "groups", inverseToMany: true)
        relate(group, "parts", toMany: true, ordered: true, item, inverse: "whole")
        let target = try move(model(item, group), from: from, to: to) { context in
            let items = (0..<10_500).map { context.insert("Item", ["place": $0]) }
            for number in 0..<2 {
                let group = context.insert("Group", ["name": "\(number)"])
                group.setValue(
                    NSOrderedSet(array: items.enumerated().filter { $0.offset % 50 < 3 }.map(\.element).reversed()),
                    forKey: "items")
                group.setValue(
                    NSOrderedSet(
                        array: items.filter { ($0.value(forKey: "place") as? Int ?? 0) % 2 == number }.reversed()),
                    forKey: "parts"
                )
            }
        }
        withExtendedLifetime(target) {}
    }

    /// An animal of a hierarchy, with keepers in order on both sides.
    private var zoo: NSManagedObjectModel {
        let animal = entity("Animal", text("name")), dog = entity("Dog", text("breed")),
            keeper = entity("Keeper", text("name"))
        animal.subentities = [dog]
        relate(keeper, "animals", toMany: true, ordered: true, animal, inverse: "keepers", inverseToMany: true)
        animal.relationshipsByName["keepers"]?.isOrdered = true
        return model(animal, dog, keeper)
    }

    @Test(arguments: StoreKind.persistent, StoreKind.persistent)
    func rowsWithGapsBetweenTheirKeysMove(from: StoreKind, to: StoreKind) throws {
        let target = try move(zoo, from: from, to: to) { context in
            var animals: [NSManagedObject] = []
            for number in 0..<9 {
                animals.append(context.insert(number % 2 == 0 ? "Dog" : "Animal", ["name": "\(number)"]))
                try context.save()
            }
            for animal in [animals.removeFirst(), animals.remove(at: 3)] { context.delete(animal) }
            for number in 0..<3 {
                context.insert("Keeper", ["name": "\(number)"]).setValue(
                    NSOrderedSet(array: animals.reversed()), forKey: "animals")
            }
        }
        let all = try target.open(zoo) { context in
            let new = context.insert("Dog", ["name": "new"])
            let keeper = try context.objects("Keeper", by: "name")[0]
            keeper.mutableOrderedSetValue(forKey: "animals").insert(new, at: 0)
            try context.save()
            context.reset()
            return try context.objects("Keeper", by: "name").map { keeper in
                (keeper.value(forKey: "animals") as? NSOrderedSet)?.compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                } ?? []
            }
        }
        let moved = ["8", "7", "6", "5", "3", "2", "1"]
        #expect(all == [["new"] + moved, moved, moved])
    }

    /// A file whose keys are nearly used up, by hand.
    @Test func highKeysLeaveRoomForNewRows() throws {
        let (source, target) = (try MigratedStore(), try MigratedStore())
        let items = model(entity("Item", text("name")))
        try source.open(items) { context in
            context.insert("Item", ["name": "a"])
            try context.save()
        }
        #expect(source.file.execute("UPDATE ZITEM SET Z_PK = \(Int64.max - 1)"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: items)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: source.url)
        try coordinator.migratePersistentStore(store, to: target.url, type: .sqlite)
        let context = coordinator.newContext()
        context.insert("Item", ["name": "b"])
        try context.save()
        #expect(try context.objects("Item", by: "name").map { $0.value(forKey: "name") as? String } == ["a", "b"])
    }

    @Test(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) func aMoveThatFailsLeavesNoRows()
        throws
    {
        let strict = model(entity("Item", text("name")))
        let (source, target) = (try MigratedStore(.sqlite), try MigratedStore(.postgreSQL))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: strict)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: source.url, options: nil)
        let context = coordinator.newContext()
        context.insert("Item", ["name": "a"])
        context.insert("Item", ["name": "zero \0 inside"])
        try context.save()
        let error = try #require(
            errorThrown {
                _ = try coordinator.migratePersistentStore(
                    store, to: target.url, options: nil, withType: StoreKind.postgreSQL.type)
            })
        #expect(error.localizedDescription.contains("U+0000"), "\(error)")
        #expect(PostgreSQLTables(target.url).integer("SELECT count(*) FROM item") == 0)
        #expect(coordinator.persistentStores == [store])
        // What should have moved is where it was.
        #expect(SQLiteFile(source.url).integer("SELECT COUNT(*) FROM ZITEM") == 2)
        context.insert("Item", ["name": "later"])
        try context.save()
        #expect(SQLiteFile(source.url).integer("SELECT COUNT(*) FROM ZITEM") == 3)
    }
}
