import CoreData
import Synchronization
import TestSupport
import Testing

/// Properties of every kind, and any choice of the entities whose objects a policy moves: the
/// others' rows are copied by the database. The result is that of the same mapping done by hand.
struct MappingMatrixTests {
    private static let names = ["Shelf", "Book", "Novel", "Owner", "Tag"]

    /// Shelves with an owner, ordered books and shared tags; books that are novels, with readers in
    /// an order on both sides; tags in a tree.
    private static func library(isNew: Bool) -> NSManagedObjectModel {
        let cover = NSAttributeDescription("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let shelf = entity(
            "Shelf", text("name"), number("size", isNew ? .integer64AttributeType : .integer16AttributeType), cover,
            NSAttributeDescription("made", .dateAttributeType),
            NSAttributeDescription("list", .transformableAttributeType))
        let book = entity("Book", text(isNew ? "title" : "name"))
        let novel = entity("Novel", number("pages"))
        book.subentities = [novel]
        let (owner, tag) = (entity("Owner", text("name")), entity("Tag", text("name")))
        relate(shelf, "owner", owner, inverse: "shelf")
        relate(shelf, "books", toMany: true, ordered: true, book, inverse: "shelf")
        relate(shelf, "tags", toMany: true, tag, inverse: "shelves", inverseToMany: true)
        relate(book, "readers", toMany: true, owner, inverse: "books", inverseToMany: true)
        relate(tag, "parent", tag, inverse: "children", inverseToMany: true)
        if isNew { for entity in [shelf, book, owner, tag] { entity.properties += [text("kind", default: "none")] } }
        return model(shelf, book, novel, owner, tag)
    }

    private static let cover = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })

    private func fill(_ stores: MappedStores, _ generator: inout SeededGenerator) throws {
        try stores.source.open(Self.library(isNew: false)) { context in
            func objects(_ entity: String, _ key: String, _ count: Int) -> [NSManagedObject] {
                (1...count).map { context.insert(entity, [key: "\(entity)\($0)"]) }
            }
            let owners = objects("Owner", "name", 4)
            let tags = objects("Tag", "name", 5)
            let books = objects("Book", "name", 6) + objects("Novel", "name", 4)
            let shelves = objects("Shelf", "name", 4)
            for tag in tags { tag.setValue(tags.randomElement(using: &generator), forKey: "parent") }
            for (number, shelf) in shelves.enumerated() {
                shelf.setValue(number * 7, forKey: "size")
                shelf.setValue(number == 1 ? Self.cover : Data([UInt8(number)]), forKey: "cover")
                shelf.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "made")
                shelf.setValue(["x", "\(number)"] as NSArray, forKey: "list")
                if number > 0 { shelf.setValue(owners[number], forKey: "owner") }
                let some = tags.filter { _ in Bool.random(using: &generator) }
                shelf.setValue(NSSet(array: some), forKey: "tags")
            }
            for book in books.shuffled(using: &generator) {
                shelves.randomElement(using: &generator)?.mutableOrderedSetValue(forKey: "books").add(book)
                let some = owners.filter { _ in Bool.random(using: &generator) }
                book.setValue(NSSet(array: some), forKey: "readers")
            }
        }
    }

    /// A line for each object: its values, and the names of its related objects.
    private func lines(_ store: MigratedStore, isNew: Bool) throws -> [String] {
        try store.open(Self.library(isNew: isNew)) { context in
            func name(_ object: NSManagedObject) -> String {
                let key = isNew && object.entity.attributesByName["title"] != nil ? "title" : "name"
                return object.value(forKey: key) as? String ?? "none"
            }
            func text(_ value: Any?) -> String {
                switch value {
                case let object as NSManagedObject: name(object)
                case let objects as NSOrderedSet: objects.compactMap { ($0 as? NSManagedObject).map(name) }.description
                case let objects as NSSet:
                    objects.compactMap { ($0 as? NSManagedObject).map(name) }.sorted().description
                case let data as Data: "\(data.count) bytes \(data.last ?? 0)"
                default: value.map { "\($0)" } ?? "nil"
                }
            }
            return try Self.names.flatMap { try context.objects($0) }.map { object in
                let properties = object.entity.propertiesByName.keys.sorted().filter {
                    !["kind", "title", "name"].contains($0)
                }
                return "\(object.entity.name ?? "") \(name(object)) "
                    + properties.map { "\($0)=\(text(object.value(forKey: $0)))" }.joined(separator: " ")
            }.sorted()
        }
    }

    private func mappings(movedBy policies: Set<String>, byRelationship: Bool) -> [NSEntityMapping] {
        let properties: [String: (attributes: [String: String], relationships: [String: String])] = [
            "Shelf": (
                ["name": "name", "size": "size", "cover": "cover", "made": "made", "list": "list"],
                ["owner": "Owner", "books": "Book", "tags": "Tag"]
            ),
            "Book": (["title": "name"], ["shelf": "Shelf", "readers": "Owner"]),
            "Novel": (["title": "name", "pages": "pages"], ["shelf": "Shelf", "readers": "Owner"]),
            "Owner": (["name": "name"], ["shelf": "Shelf", "books": "Book"]),
            "Tag": (["name": "name"], ["parent": "Tag", "children": "Tag", "shelves": "Shelf"]),
        ]
        return Self.names.map { name in
            let (attributes, relationships) = properties[name] ?? ([:], [:])
            return mapping(
                "\(name)To\(name)", from: name, to: name,
                policies.contains(name) ? .customEntityMappingType : .transformEntityMappingType,
                attributes: attributes.mapValues { "$source.\($0)" },
                relationships: Dictionary(
                    uniqueKeysWithValues: relationships.map { key, other in
                        // Books have subentities, whose mappings have other names.
                        (key, byRelationship || other == "Book" ? related(key) : instances("\(other)To\(other)", key))
                    }),
                policy: policies.contains(name) ? PlainPolicy.self : nil)
        }
    }

    private func related(_ name: String) -> String {
        "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"\(name)\", "
            + "$source.\(name))"
    }

    @Test(arguments: LongTests.some(8, of: Array(0..<32))) func everyChoiceOfExecutorsGivesTheSame(choice: Int) throws {
        let policies = Set(Self.names.enumerated().filter { choice & 1 << $0.offset != 0 }.map(\.element))
        var generator = SeededGenerator(seed: UInt64(choice) + 1)
        let stores = try MappedStores()
        try fill(stores, &generator)
        let before = try lines(stores.source, isNew: false)
        try stores.migrate(
            from: Self.library(isNew: false), to: Self.library(isNew: true),
            by: mappings(movedBy: policies, byRelationship: choice % 3 == 0))
        #expect(try lines(stores.destination, isNew: true) == before)
        for (table, former, now) in [("SHELF", "NAME", "NAME"), ("BOOK", "NAME", "TITLE"), ("OWNER", "NAME", "NAME")] {
            let keys = stores.source.file.rows("SELECT Z_PK, Z\(former) FROM Z\(table) ORDER BY 1")
            #expect(stores.destination.file.rows("SELECT Z_PK, Z\(now) FROM Z\(table) ORDER BY 1") == keys)
        }
        #expect(stores.destination.file.column("SELECT DISTINCT ZKIND FROM ZSHELF") == ["none"])
        try stores.destination.expectSoundness(Self.library(isNew: true), #_sourceLocation)
    }

    @Test(.enabled(if: StoreKind.allCases.contains(.postgreSQL)), arguments: [0, 9, 31])
    func mappingsIntoAServerGiveTheSame(choice: Int) throws {
        let policies = Set(Self.names.enumerated().filter { choice & 1 << $0.offset != 0 }.map(\.element))
        var generator = SeededGenerator(seed: UInt64(choice) + 1)
        let stores = try MappedStores(from: .sqlite, to: .postgreSQL)
        try fill(stores, &generator)
        let before = try lines(stores.source, isNew: false)
        try stores.migrate(
            from: Self.library(isNew: false), to: Self.library(isNew: true),
            by: mappings(movedBy: policies, byRelationship: true))
        #expect(try lines(stores.destination, isNew: true) == before)
    }

    @Test(.enabled(if: StoreKind.allCases.contains(.postgreSQL)), arguments: [0, 5, 9, 18, 31])
    func aStoreOnAServerIsReplacedByTheSame(choice: Int) throws {
        let policies = Set(Self.names.enumerated().filter { choice & 1 << $0.offset != 0 }.map(\.element))
        var generator = SeededGenerator(seed: UInt64(choice) + 1)
        let stores = try MappedStores(from: .postgreSQL)
        try fill(stores, &generator)
        let before = try lines(stores.source, isNew: false)
        let (former, new) = (Self.library(isNew: false), Self.library(isNew: true))
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings(movedBy: policies, byRelationship: choice % 3 == 0)
        for entity in mapping.entityMappings {
            let name = entity.sourceEntityName ?? ""
            entity.sourceEntityVersionHash = former.entitiesByName[name]?.versionHash
            entity.destinationEntityVersionHash = new.entitiesByName[name]?.versionHash
        }
        let keys = PostgreSQLTables(stores.source.url).rows("SELECT id, name FROM shelf ORDER BY 1")
        try stores.source.migrate(
            to: new, [NSMigratePersistentStoresAutomaticallyOption: true, "OpenCoreDataMappingModels": [mapping]])
        #expect(try lines(stores.source, isNew: true) == before)
        #expect(PostgreSQLTables(stores.source.url).rows("SELECT id, name FROM shelf ORDER BY 1") == keys)
    }

    /// The objects that go through a policy are those of its entity, and none of the others' awake.
    @Test func thePolicyOfOneEntityMovesNoObjectsOfOthers() throws {
        var generator = SeededGenerator(seed: 7)
        let stores = try MappedStores()
        try fill(stores, &generator)
        let new = Self.library(isNew: true)
        let counts = CountedObject.Counts()
        for entity in new.entities { entity.managedObjectClassName = NSStringFromClass(CountedObject.self) }
        try CountedObject.$counts.withValue(counts) {
            try stores.migrate(
                from: Self.library(isNew: false), to: new, by: mappings(movedBy: ["Tag"], byRelationship: true))
        }
        #expect(counts.all == ["Tag": 5])
    }
}

/// Moves objects one by one, as their mapping says.
final class PlainPolicy: NSEntityMigrationPolicy {}

/// Counts the objects that are made.
final class CountedObject: NSManagedObject {
    @TaskLocal static var counts: Counts?

    final class Counts: Sendable {
        private let byEntity = Mutex<[String: Int]>([:])
        var all: [String: Int] { byEntity.withLock { $0 } }
        func add(_ name: String) { byEntity.withLock { $0[name, default: 0] += 1 } }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        Self.counts?.add(entity.name ?? "")
    }
}
