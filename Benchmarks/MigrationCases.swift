import CSQLite
import CoreData
import Foundation
import TestSupport

// Migrations: against the same statements by hand, and a policy in Swift against the same loop.

/// Computes one value of each object.
final class SumPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        made.first?.setValue(Self.sum(source), forKey: "sum")
    }

    private static func sum(_ source: NSManagedObject) -> Int64 {
        let a = source.value(forKey: "a") as? Int64 ?? 0
        let b = source.value(forKey: "b") as? Int64 ?? 0
        return a &+ b
    }
}

extension Harness {
    func migrations() throws {
        try addAttribute()
        try renameAndRelate()
        try moveByPolicy()
        try openBinary()
    }

    // MARK: Models

    /// The entity `Wide` with more properties.
    private static func version(
        _ added: [NSPropertyDescription] = [], renaming name: (former: String, now: String)? = nil,
        besides others: [NSEntityDescription] = []
    ) -> NSManagedObjectModel {
        let names = "abcdefghij".map(String.init)
        let attributes = names.map { letter in
            let attribute = BenchmarkModel.attribute(
                letter == name?.former ? name?.now ?? letter : letter, .integer64AttributeType)
            if letter == name?.former { attribute.renamingIdentifier = letter }
            return attribute
        }
        let model = NSManagedObjectModel()
        let wide = NSEntityDescription()
        wide.name = "Wide"
        wide.properties = attributes + added
        model.entities = [wide] + others
        return model
    }

    private static func owner(_ place: NSEntityDescription) -> NSRelationshipDescription {
        let owner = NSRelationshipDescription()
        (owner.name, owner.destinationEntity, owner.maxCount, owner.isOptional) = ("place", place, 1, true)
        return owner
    }

    private static func place() -> NSEntityDescription {
        let place = NSEntityDescription()
        place.name = "Place"
        place.properties = [BenchmarkModel.attribute("name", .stringAttributeType)]
        return place
    }

    /// Makes a store of the first version with a number of rows.
    private func store(_ model: NSManagedObjectModel, _ count: Int) throws -> URL {
        let url = newURL()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
        let raw = try RawDatabase(url.path)
        let number = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Wide')"
        let values = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31].map { "n * \($0)" }.joined(separator: ", ")
        try raw.execute(
            "WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count)) "
                + "INSERT INTO ZWIDE (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC, ZD, ZE, ZF, ZG, ZH, ZI, ZJ) "
                + "SELECT n, \(number), 1, \(values) FROM numbers; "
                + "UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Wide'; PRAGMA wal_checkpoint(TRUNCATE)")
        return url
    }

    private static func migrate(_ url: URL, to model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        try coordinator.remove(store)
    }

    /// Compares a migration with statements, each on a copy of the same store.
    private func compare(
        _ name: String, bound: Double, _ url: URL, to model: NSManagedObjectModel, _ statements: String
    ) throws {
        func onCopy(_ body: (URL) throws -> Void) throws -> Double {
            let copy = newURL()
            try FileManager.default.copyItem(at: url, to: copy)
            defer { remove(copy) }
            return try Self.time { try body(copy) }
        }
        try compare(name, bound: bound) {
            try onCopy { try Self.migrate($0, to: model) }
        } raw: {
            try onCopy { try RawDatabase($0.path).execute("BEGIN IMMEDIATE; \(statements); COMMIT") }
        }
        remove(url)
    }

    private func addAttribute() throws {
        let name = "V1 add an attribute with a default to 1,000,000 rows"
        guard wants(name) else { return }
        let count = BenchmarkModel.attribute("k", .integer64AttributeType)
        (count.isOptional, count.defaultValue) = (false, Int64(7))
        try compare(
            name, bound: 1.2, try store(Self.version(), 1_000_000), to: Self.version([count]),
            "ALTER TABLE ZWIDE ADD COLUMN ZK INTEGER; UPDATE ZWIDE SET ZK = 7")
    }

    private func renameAndRelate() throws {
        let name = "V2 rename, add a relationship, 1,000,000 rows"
        guard wants(name) else { return }
        let former = Self.version(besides: [Self.place()])
        let place = Self.place()
        try compare(
            name, bound: 1.5, try store(former, 1_000_000),
            to: Self.version([Self.owner(place)], renaming: ("j", "z"), besides: [place]),
            "ALTER TABLE ZWIDE RENAME COLUMN ZJ TO ZZ; ALTER TABLE ZWIDE ADD COLUMN ZPLACE INTEGER; "
                + "CREATE INDEX ZWIDE_ZPLACE_INDEX ON ZWIDE (ZPLACE)")
    }

    // MARK: Policies

    private func moveByPolicy() throws {
        let name = "V3 a policy in Swift over 200,000 rows"
        guard wants(name) else { return }
        let url = try store(Self.version(), 200_000)
        try compare(name, bound: 6) {
            let target = newURL()
            defer { remove(target) }
            return try Self.time { try Self.migrateByPolicy(url, to: target) }
        } raw: {
            let target = newURL()
            defer { remove(target) }
            return try Self.time { try Self.copyByHand(url, to: target) }
        }
        let growth = try Self.childGrowth("policy", url.path)
        record(
            "V3 growth of the resident set in MB", ratio: growth / 1e6, bound: 100,
            detail: String(format: "%.1f MB", growth / 1e6))
        remove(url)
    }

    static func migrateByPolicy(_ url: URL, to target: URL) throws {
        let (old, new) = (version(), version([BenchmarkModel.attribute("sum", .integer64AttributeType)]))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        for entity in mapping.entityMappings ?? [] {
            entity.entityMigrationPolicyClassName = NSStringFromClass(SumPolicy.self)
            entity.mappingType = .customEntityMappingType
        }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: target, type: .sqlite)
    }

    private static func copyByHand(_ url: URL, to target: URL) throws {
        let (source, made) = (try RawDatabase(url.path), try RawDatabase(target.path))
        let columns = "abcdefghij".map { "Z\($0.uppercased())" }.joined(separator: ", ")
        try made.execute(
            "CREATE TABLE ZWIDE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns), "
                + "ZSUM INTEGER); BEGIN"
        )
        let rows = try source.prepare("SELECT Z_PK, Z_ENT, Z_OPT, \(columns) FROM ZWIDE ORDER BY Z_PK")
        let insert = try made.prepare(
            "INSERT INTO ZWIDE VALUES (\(Array(repeating: "?", count: 14).joined(separator: ", ")))")
        while sqlite3_step(rows) == SQLITE_ROW {
            for column in 0..<Int32(13) { sqlite3_bind_int64(insert, column + 1, sqlite3_column_int64(rows, column)) }
            sqlite3_bind_int64(insert, 14, sqlite3_column_int64(rows, 3) &+ sqlite3_column_int64(rows, 4))
            sqlite3_step(insert)
            sqlite3_reset(insert)
        }
        sqlite3_finalize(rows)
        sqlite3_finalize(insert)
        try made.execute("COMMIT")
    }

    // MARK: Binary stores

    /// Opens a binary store and fetches all objects, against its archive read by Foundation.
    private func openBinary() throws {
        let name = "V4 open a binary store of 100,000 objects"
        guard wants(name) else { return }
        let url = newURL()
        defer { remove(url) }
        let model = Self.version()
        func opened() throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext()
            context.persistentStoreCoordinator = coordinator
            return (coordinator, context)
        }
        try Self.insertWide(100_000, opened().1)
        try compare(name, bound: 3) {
            try Self.time {
                let (coordinator, context) = try opened()
                let count = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Wide")).count
                guard count == 100_000 else { throw RawDatabase.Failure(message: "\(count) objects") }
                withExtendedLifetime(coordinator) {}
            }
        } raw: {
            try Self.time {
                let nodes = try Self.archive(ofBinaryFile: url)
                guard nodes.count == 100_000 else { throw RawDatabase.Failure(message: "\(nodes.count) objects") }
            }
        }
    }

    private static func insertWide(_ count: Int, _ context: NSManagedObjectContext) throws {
        for index in 0..<count {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
            for letter in "abcdefghij" { object.setValue(index * 7, forKey: String(letter)) }
        }
        try context.save()
    }

    /// The objects of a binary file: the archive whose place is in the header.
    private static func archive(ofBinaryFile url: URL) throws -> [NSObject: MapNode] {
        let data = try Data(contentsOf: url)
        func number(_ place: Int) -> Int { data[place * 8..<place * 8 + 8].reduce(0) { $0 << 8 | Int($1) } }
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data.subdata(in: number(4)..<number(4) + number(5)))
        unarchiver.requiresSecureCoding = false
        unarchiver.setClass(MapNode.self, forClassName: "NSDictionaryMapNode")
        return unarchiver.decodeObject(forKey: "mapData") as? [NSObject: MapNode] ?? [:]
    }
}

/// An object in the archive of a binary file.
private final class MapNode: NSObject, NSCoding {
    let entity: String
    let key: Int64
    let values: [Any]

    init?(coder: NSCoder) {
        entity = coder.decodeObject(forKey: "NSEntityName") as? String ?? ""
        key = coder.decodeInt64(forKey: "NSPrimaryKey64")
        values = coder.decodeObject(forKey: "NSAttributeValues") as? [Any] ?? []
    }

    func encode(with coder: NSCoder) {}
}
