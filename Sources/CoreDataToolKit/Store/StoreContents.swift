import CoreData

/// What a store's file holds, read from its tables alone.
struct StoreContents {
    struct Column {
        let name: String
        /// As declared: `INTEGER`, `TIMESTAMP`, …
        let type: String
    }

    /// A row of `Z_PRIMARYKEY`.
    struct Entity {
        let number: Int
        let name: String
        /// 0 for a root entity.
        let superNumber: Int
    }

    let formatVersion: Int64?
    let metadata: [String: Any]
    let modelCache: Data?
    let tables: [String: [Column]]
    let indexNames: Set<String>
    /// By entity number, without those of the history.
    let entities: [Entity]

    /// Entity numbers from here on are Core Data's own.
    private static let firstReservedNumber = 16_000

    /// Reads a store.
    ///
    /// - Throws: `ToolError` when the database is damaged or no Core Data store.
    init(_ file: StoreFile, reader: SQLiteReader) throws {
        do {
            tables = try Self.tables(reader)
            guard tables["Z_METADATA"] != nil, tables["Z_PRIMARYKEY"] != nil else {
                throw ToolError(
                    "'\(file.originalURL.path)' is a SQLite database but no Core Data store: it has no table "
                        + "\(tables["Z_METADATA"] == nil ? "Z_METADATA" : "Z_PRIMARYKEY"). Choose another file.")
            }
            indexNames = Set(
                try reader.rows("SELECT name FROM sqlite_master WHERE type = 'index'").compactMap { $0.first?.text })
            let row = try reader.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
                .first
            formatVersion = row?[0].integer
            metadata = Self.metadata(uuid: row?[1].text, list: row?[2].blob)
            if tables["Z_MODELCACHE"] != nil {
                modelCache = try reader.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1").first?[0].blob
            } else {
                modelCache = nil
            }
            entities = try reader.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT").compactMap {
                guard let number = $0[0].integer, (1..<Int64(Self.firstReservedNumber)).contains(number),
                    let name = $0[1].text, !name.isEmpty
                else { return nil }
                return Entity(number: Int(number), name: name, superNumber: Int(clamping: $0[2].integer ?? 0))
            }
        } catch let failure as SQLiteReader.Failure {
            throw Self.error(failure, file)
        }
    }

    /// A failure of SQLite in words.
    static func error(_ failure: SQLiteReader.Failure, _ file: StoreFile) -> ToolError {
        let path = file.originalURL.path
        switch failure.code {
        case _ where failure.isLocked:
            return ToolError("'\(path)' is locked by another program. Try again when that has finished.")
        case 11, 26: return ToolError("'\(path)' is damaged (\(failure.message)). Restore it from a copy.")
        default:
            return ToolError("'\(path)' cannot be read: \(failure.message). Check the file, or restore it from a copy.")
        }
    }

    private static func tables(_ reader: SQLiteReader) throws -> [String: [Column]] {
        var tables: [String: [Column]] = [:]
        let rows = try reader.rows(
            "SELECT m.name, p.name, p.type FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' "
                + "ORDER BY m.name, p.cid")
        for row in rows {
            guard let table = row[0].text, let name = row[1].text else { continue }
            tables[table, default: []].append(Column(name: name, type: (row[2].text ?? "").uppercased()))
        }
        return tables
    }

    private static func metadata(uuid: String?, list: Data?) -> [String: Any] {
        var metadata: [String: Any] = [:]
        if let list, !list.isEmpty {
            let read = try? PropertyListSerialization.propertyList(from: list, options: [], format: nil)
            metadata = read as? [String: Any] ?? [:]
        }
        if let uuid { metadata[NSStoreUUIDKey] = uuid }
        return metadata
    }

    // MARK: Derived

    /// The model's name of each entity, by entity number.
    ///
    /// A store that was migrated in place keeps the old name of an entity that was renamed: it is the one whose renaming
    /// identifier that is, or else the only one under the same superentity that the store does not list.
    func entityNames(in model: NSManagedObjectModel) -> [Int: String] {
        let byName = model.entitiesByName
        let listed = Set(entities.map(\.name))
        let unlisted = byName.values.filter { !listed.contains($0.name ?? "") }
        var names: [Int: String] = [:]
        for entity in entities {
            if byName[entity.name] != nil {
                names[entity.number] = entity.name
                continue
            }
            let parent = entities.first { $0.number == entity.superNumber }?.name
            let renamed =
                unlisted.first { $0.renamingIdentifier == entity.name }
                ?? Self.only(unlisted.filter { $0.superentity?.name == parent })
            names[entity.number] = renamed?.name ?? entity.name
        }
        return names
    }

    private static func only<Element>(_ elements: [Element]) -> Element? {
        elements.count == 1 ? elements[0] : nil
    }

    /// The name of an entity's table: that of the root of its hierarchy.
    func table(of entity: Entity) -> String? {
        var current = entity
        var steps = 0
        while current.superNumber != 0, steps < entities.count,
            let parent = entities.first(where: { $0.number == current.superNumber })
        {
            current = parent
            steps += 1
        }
        let name = "Z" + current.name.uppercased()
        return tables[name] == nil ? nil : name
    }

    /// The number of rows of each entity itself, by entity number.
    func ownRowCounts(_ reader: SQLiteReader) throws -> [Int: Int64] {
        var counts: [Int: Int64] = [:]
        for table in Set(entities.compactMap(table(of:))) {
            let rows = try reader.rows("SELECT Z_ENT, count(*) FROM \(SQLiteReader.identifier(table)) GROUP BY Z_ENT")
            for row in rows {
                guard let number = row[0].integer, let count = row[1].integer else { continue }
                counts[Int(clamping: number), default: 0] += count
            }
        }
        return counts
    }

    /// The tables of persistent history that are there.
    var historyTables: [String] {
        ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"].filter { tables[$0] != nil }
    }
}
