import CoreData
import TestSupport
import Testing

/// Invariants of a store: values that no save may change, and conditions that hold after each save.
struct StoreInvariants {
    private let schema: Set<String>
    private let metadata: [SQLiteCell]
    private let hashes: NSDictionary?
    private let modelCache: [[SQLiteCell]]
    private let keys: [Int64: [SQLiteCell]]

    init(_ store: RawStore) throws {
        let database = store.database
        schema = try database.schema()
        metadata = try database.cells("SELECT Z_VERSION, Z_UUID FROM Z_METADATA").first ?? []
        hashes = try Self.plist(store)
        modelCache = try Self.modelCache(store)
        keys = try Self.keys(store)
    }

    private static func plist(_ store: RawStore) throws -> NSDictionary? {
        let data = try store.database.cells("SELECT Z_PLIST FROM Z_METADATA").first?.first?.blob
        guard let data else { return nil }
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        return (list as? [String: Any]).map { NSDictionary(dictionary: $0) }
    }

    private static func modelCache(_ store: RawStore) throws -> [[SQLiteCell]] {
        let tables = try store.database.strings("SELECT name FROM sqlite_master WHERE name = 'Z_MODELCACHE'")
        return tables.isEmpty ? [] : try store.database.cells("SELECT Z_CONTENT FROM Z_MODELCACHE")
    }

    private static func keys(_ store: RawStore) throws -> [Int64: [SQLiteCell]] {
        let rows = try store.database.cells("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? 0, $0) })
    }

    func check(_ store: RawStore) throws {
        let database = store.database
        #expect(try database.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try database.schema() == schema)
        #expect(try database.cells("SELECT Z_VERSION, Z_UUID FROM Z_METADATA") == [metadata])
        #expect(try Self.plist(store) == hashes)
        #expect(try Self.modelCache(store) == modelCache)
        try checkKeys(store)
        try checkRows(store)
        try checkJoins(store)
        try checkDerivedAttributes(store)
        if schema.contains(where: { $0.hasPrefix("table | ACHANGE |") }) { try checkHistory(store) }
    }

    private func checkKeys(_ store: RawStore) throws {
        let now = try Self.keys(store)
        // The numbers of the history's tables come with the first transaction.
        let history: Set<Int64> = [16001, 16002, 16003]
        #expect(Set(now.keys).subtracting(history) == Set(keys.keys).subtracting(history))
        for (number, row) in now where keys[number] != nil {
            #expect(row[1] == keys[number]?[1])
            #expect(row[2] == keys[number]?[2])
            #expect((row[3].integer ?? -1) >= (keys[number]?[3].integer ?? 0))
        }
        for (table, rows) in store.tables {
            #expect(store.highestKey(table) >= rows.keys.max() ?? 0, "\(table)")
        }
    }

    /// Entity numbers, and to-one columns with their companions.
    private func checkRows(_ store: RawStore) throws {
        for (table, rows) in store.tables {
            for (key, row) in rows {
                guard let entity = store.entity(of: row), !entity.isAbstract else {
                    Issue.record("row \(key) of \(table) has no entity")
                    continue
                }
                #expect(RawStore.table(of: entity) == table)
                for relationship in entity.relationshipsByName.values where !relationship.isToMany {
                    try check(relationship, row, store, "\(table) \(key) \(relationship.name)")
                }
            }
        }
    }

    private func check(
        _ relationship: NSRelationshipDescription, _ row: [String: SQLiteCell], _ store: RawStore, _ place: String
    ) throws {
        let destination = try #require(relationship.destinationEntity)
        let name = relationship.name.uppercased()
        let companion = row.keys.first { column in
            column.hasSuffix("_" + name) && column.dropFirst().dropLast(name.count + 1).allSatisfy(\.isNumber)
                && column.count > name.count + 2
        }
        let isOrdered = relationship.inverseRelationship?.isOrdered == true
        guard let key = row["Z" + name]?.integer else {
            #expect(row["Z" + name] == .null, "\(place)")
            if let companion { #expect(row[companion] == .null, "\(place)") }
            if isOrdered { #expect(row["Z_FOK_" + name] == .null, "\(place)") }
            return
        }
        let other = try #require(store.tables[RawStore.table(of: destination)]?[key], "\(place)")
        #expect(store.entity(of: other)?.isKindOf(entity: destination) == true, "\(place)")
        if let companion { #expect(row[companion] == other["Z_ENT"], "\(place)") }
        if isOrdered { #expect(row["Z_FOK_" + name]?.integer != nil, "\(place) has no position") }
    }

    private func checkJoins(_ store: RawStore) throws {
        for entity in store.model.entities {
            for relationship in entity.relationshipsByName.values {
                guard relationship.entity === entity, relationship.isToMany,
                    let inverse = relationship.inverseRelationship, inverse.isToMany
                else { continue }
                let join = try #require(store.join(of: relationship))
                let order = relationship.isOrdered ? join.order : "1"
                var positions: Set<[Int64]> = []
                for row in try store.database.cells(
                    "SELECT \(join.owner), \(join.destination), \(order) FROM \(join.table)")
                {
                    let owner = try #require(row[0].integer)
                    let destination = try #require(row[1].integer)
                    #expect(store.tables[RawStore.table(of: entity)]?[owner] != nil)
                    #expect(
                        store.tables[RawStore.table(of: try #require(relationship.destinationEntity))]?[destination]
                            != nil)
                    #expect(row[2].integer != nil)
                    if relationship.isOrdered {
                        #expect(positions.insert([owner, row[2].integer ?? 0]).inserted, "positions differ")
                    }
                }
            }
        }
    }

    /// Counts of related objects, kept by triggers.
    private func checkDerivedAttributes(_ store: RawStore) throws {
        let states = try store.states()
        for (place, state) in states {
            let entity = try #require(store.entity(of: store.row(place) ?? [:]))
            for attribute in entity.attributesByName.values {
                guard let derived = attribute as? NSDerivedAttributeDescription else { continue }
                // The only derivation in the fixtures.
                #expect(derived.name == "pagesCount")
                #expect(state[derived.name] == .value(NSNumber(value: state["pages"]?.places.count ?? -1)), "\(place)")
            }
        }
    }

    private func checkHistory(_ store: RawStore) throws {
        let database = store.database
        for (table, number) in [("ACHANGE", 16001), ("ATRANSACTION", 16002), ("ATRANSACTIONSTRING", 16003)] {
            let highest = database.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)") ?? 0
            #expect(highest == database.integer("SELECT max(Z_PK) FROM \(table)") ?? 0, "\(table)")
            #expect(database.integer("SELECT count(*) FROM \(table) WHERE Z_ENT <> \(number)") == 0, "\(table)")
        }
        #expect(
            database.integer(
                "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)") == 0)
        #expect(
            database.integer(
                "SELECT count(*) FROM ATRANSACTION WHERE Z_PK NOT IN (SELECT ZTRANSACTIONID FROM ACHANGE)") == 0)
    }
}
