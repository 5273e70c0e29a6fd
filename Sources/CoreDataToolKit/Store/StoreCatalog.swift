import CoreData

/// The contents of a store's file, read from its tables only.
struct StoreCatalog {
    struct Column {
        let name: String
        /// The declared type: `INTEGER`, `TIMESTAMP`, …
        let type: String
        let isKey: Bool
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
    /// Views with the name of a table of Core Data, and their columns.
    let views: [String: [Column]]
    let indexNames: Set<String>
    /// The entities in the order of their numbers, without those of the history; each name occurs
    /// once.
    private(set) var entities: [Entity]
    /// Further numbers under which `Z_PRIMARYKEY` lists an entity, with its name.
    private(set) var otherNumbers: [Int: String] = [:]
    /// Entities that the tables or the model show, but `Z_PRIMARYKEY` does not.
    private(set) var unlisted: Set<String> = []
    /// Whether `Z_PRIMARYKEY` and `Z_METADATA` have the form that the engine needs.
    private(set) var isListed = true
    let hasMetadata: Bool
    /// The problems of the tables that every store has, in sentences.
    private(set) var problems: [String] = []

    /// The first entity number that is reserved for Core Data itself.
    static let firstReservedNumber = 16_000

    /// - Throws: `ToolError` when the database is damaged or is not a Core Data store.
    init(_ file: StoreFile, reader: SQLiteReader) throws {
        do {
            let tables = try Self.columns(reader, ofKind: "table")
            let views = try Self.columns(reader, ofKind: "view").filter { $0.key.hasPrefix("Z") }
            (self.tables, self.views) = (tables, views)
            // A store without one of these tables is still a Core Data store.
            guard
                ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].contains(where: { tables[$0] != nil || views[$0] != nil }
                )
            else {
                throw ToolError(
                    "'\(file.originalURL.path)' is a SQLite database but no Core Data store: it has no table "
                        + "Z_METADATA. "
                        + "Choose another file.")
            }
            indexNames = Set(
                try reader.rows("SELECT name FROM sqlite_master WHERE type = 'index'").compactMap { $0.first?.text })
            var problems =
                reader.schemaProblem.map {
                    [
                        "The schema is damaged, and a part of it is read: \($0). "
                            + "'coredata recover' makes a store of that part."
                    ]
                } ?? []
            let table = try StoreTable.metadata.rows(in: tables, views, reader, &problems)
            hasMetadata = StoreTable.metadata.isComplete(in: tables)
            if table.isEmpty, hasMetadata { problems.append("The table Z_METADATA has no row.") }
            let row = table.first
            formatVersion = row?[0].integer
            metadata = Self.metadata(uuid: row?[1].text, list: row?[2], &problems)
            if table.count > 1 {
                problems.append("The table Z_METADATA has \(table.count) rows instead of one; the first is read.")
            }
            modelCache = try Self.modelCache(tables, reader, &problems)
            let listed = try StoreTable.entities.rows(in: tables, views, reader, &problems)
            entities = []
            isListed = StoreTable.entities.isComplete(in: tables)
            self.problems = problems
            takeEntities(listed)
        } catch let failure as SQLiteReader.Failure {
            throw Self.error(failure, file)
        }
    }

    private static func modelCache(
        _ tables: [String: [Column]], _ reader: SQLiteReader, _ problems: inout [String]
    ) throws -> Data? {
        guard tables["Z_MODELCACHE"]?.contains(where: { $0.name == "Z_CONTENT" }) == true else { return nil }
        let (rows, failure) = try reader.readableRows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        if let failure {
            problems.append("The table Z_MODELCACHE is damaged (\(failure.message)); its model cannot be read.")
        }
        let content = rows.first?[0]
        switch content {
        case .blob(let data)?: return data
        case nil, .null?: return nil
        default:
            problems.append("The table Z_MODELCACHE has no model but something else.")
            return nil
        }
    }

    // MARK: Entities

    private mutating func takeEntities(_ rows: [[SQLiteReader.Value]]) {
        var numbers: [String: Int] = [:]
        for row in rows {
            let number = row[0].wholeNumber
            if let number, number >= Self.firstReservedNumber { continue }
            if row[0].integer == nil { isListed = false }
            guard let number, number > 0, let name = row[1].text, !name.isEmpty, !name.utf8.contains(0) else {
                problems.append(
                    "A row of Z_PRIMARYKEY is none of an entity: "
                        + "\(row.prefix(3).map(\.description).joined(separator: ", "))."
                )
                continue
            }
            if let first = numbers[name] {
                problems.append(
                    "Z_PRIMARYKEY lists the entity '\(name)' twice, with the numbers \(first) and \(number).")
                otherNumbers[Int(number)] = name
                isListed = false
                continue
            }
            numbers[name] = Int(number)
            entities.append(
                Entity(number: Int(number), name: name, superNumber: Int(clamping: row[2].wholeNumber ?? 0)))
        }
        entities.sort { $0.number < $1.number }
    }

    /// Adds entities that have a table but are not in `Z_PRIMARYKEY`: those of the model, or else
    /// those of tables that belong to no entity.
    ///
    /// - Parameter configuration: the configuration of the model whose entities the store holds;
    ///   nil for all.
    mutating func addEntities(
        missingIn model: NSManagedObjectModel?, configuration: String? = nil, reader: SQLiteReader
    ) throws {
        let known = Set(entityNames(in: model).values)
        if let model {
            let numbers = Dictionary(entities.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
            let planned = try StoreInspection.tables(
                of: model, columns: columnNames, numbers: numbers, configuration: configuration
            ).entities
            for table in planned {
                for entity in table.entities where !known.contains(entity.name) {
                    if isListed { problems.append("Z_PRIMARYKEY does not list the entity '\(entity.name)'.") }
                    add(Entity(number: entity.number, name: entity.name, superNumber: entity.superNumber))
                }
            }
        } else {
            let used = Set(entities.compactMap(table(of:)).map { $0.uppercased() })
            var next = max(entities.map(\.number).max() ?? 0, otherNumbers.keys.max() ?? 0)
            for name in (Array(tables.keys) + Array(views.keys)).sorted() where !used.contains(name.uppercased()) {
                guard let entity = Self.entityName(ofTable: name, columns(of: name)) else { continue }
                next += 1
                let number = try number(ofRowsIn: name, reader) ?? next
                next = max(next, number)
                problems.append(
                    "Z_PRIMARYKEY does not list the entity of the table \(name); it is shown as '\(entity)'.")
                add(Entity(number: number, name: entity, superNumber: 0))
            }
        }
        if !unlisted.isEmpty { isListed = false }
        entities.sort { $0.number < $1.number }
    }

    private mutating func add(_ entity: Entity) {
        unlisted.insert(entity.name)
        entities.append(entity)
    }

    /// Returns the number of the root entity of a table that belongs to no listed entity: the
    /// number of a superentity that is missing in the list, or the only one in the table's rows.
    private func number(ofRowsIn table: String, _ reader: SQLiteReader) throws -> Int? {
        let rows = try? reader.rows(
            "SELECT DISTINCT Z_ENT FROM \(SQLiteReader.identifier(table)) LIMIT 1000")
        let listed = Set(entities.map(\.number))
        let numbers = Set((rows ?? []).compactMap { $0[0].wholeNumber.map { Int(clamping: $0) } })
        let parents = Set(entities.map(\.superNumber)).subtracting(listed).intersection(numbers)
        let free = numbers.subtracting(listed).filter { (1..<Self.firstReservedNumber).contains($0) }
        return parents.min() ?? (numbers.count == 1 ? free.first : nil)
    }

    /// Returns a name for the entity whose rows a table seems to hold; nil for other tables.
    private static func entityName(ofTable name: String, _ columns: [Column]) -> String? {
        guard name.uppercased().hasPrefix("Z"), !name.hasPrefix("Z_"), name.count > 1,
            Set(["Z_PK", "Z_ENT"]).isSubset(of: columns.map { $0.name.uppercased() })
        else { return nil }
        let rest = name.dropFirst()
        return rest.prefix(1).uppercased() + rest.dropFirst().lowercased()
    }

    /// Returns a failure of SQLite as a message for people.
    static func error(_ failure: SQLiteReader.Failure, _ file: StoreFile) -> ToolError {
        let path = file.originalURL.path
        switch failure.code {
        case _ where failure.isLocked:
            return ToolError("'\(path)' is locked by another program. Try again when that has finished.")
        case 11, 26:
            return ToolError(
                "'\(path)' is damaged (\(failure.message)). Restore it from a copy, or try 'coredata recover'.")
        default:
            return ToolError("'\(path)' cannot be read: \(failure.message). Check the file, or restore it from a copy.")
        }
    }

    /// - Parameter kind: `table` or `view`.
    private static func columns(_ reader: SQLiteReader, ofKind kind: String) throws -> [String: [Column]] {
        var tables: [String: [Column]] = [:]
        let names = try reader.rows("SELECT name FROM sqlite_master WHERE type = '\(kind)' ORDER BY name").compactMap {
            $0[0].text
        }
        for name in names {
            // The columns of a view of a missing table are unknown.
            let columns = try? reader.rows(
                "SELECT name, type, pk FROM pragma_table_info(\(SQLiteReader.text(name))) ORDER BY cid")
            // A table without columns is one whose statement in the schema is damaged.
            if kind == "table", columns?.isEmpty != false { continue }
            tables[name] = (columns ?? []).compactMap { row in
                row[0].text.map {
                    Column(name: $0, type: (row[1].text ?? "").uppercased(), isKey: row[2].integer ?? 0 > 0)
                }
            }
        }
        return tables
    }

    private static func metadata(
        uuid: String?, list: SQLiteReader.Value?, _ problems: inout [String]
    ) -> [String: Any] {
        var metadata: [String: Any] = [:]
        switch list {
        case .blob(let list)? where !list.isEmpty:
            do { metadata = try StoreInspection.propertyList(list) } catch {
                problems.append("The property list in Z_METADATA is damaged.")
            }
        case nil: break
        default: problems.append("Z_METADATA has no property list: the versions of the model are not known.")
        }
        if let uuid { metadata[NSStoreUUIDKey] = uuid }
        return metadata
    }

    // MARK: Derived

    /// Returns the model's name of each entity, by entity number.
    ///
    /// A store that was migrated in place keeps the old name of a renamed entity. The entity of the
    /// model is the one with that name as its renaming identifier, or else the only one under the
    /// same superentity that the store does not list.
    func entityNames(in model: NSManagedObjectModel?) -> [Int: String] {
        let byName = model?.entitiesByName ?? [:]
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

    /// Returns the name of an entity's table: the table of the root of its hierarchy.
    func table(of entity: Entity) -> String? {
        var current = entity
        var steps = 0
        while current.superNumber != 0, steps < entities.count,
            let parent = entities.first(where: { $0.number == current.superNumber })
        {
            current = parent
            steps += 1
        }
        return present("Z" + current.name.uppercased())
    }

    /// Returns the table or view with a name, as the file spells it.
    func present(_ name: String) -> String? {
        if tables[name] != nil || views[name] != nil { return name }
        let wanted = name.uppercased()
        return tables.keys.first { $0.uppercased() == wanted } ?? views.keys.first { $0.uppercased() == wanted }
    }

    /// Returns the columns of a table, or of the view in its place.
    func columns(of table: String) -> [Column] { tables[table] ?? views[table] ?? [] }

    var columnNames: [String: [String]] {
        tables.mapValues { $0.map(\.name) }.merging(views.mapValues { $0.map(\.name) }) { table, _ in table }
    }

    /// The existing tables of persistent history.
    var historyTables: [String] {
        ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"].filter { tables[$0] != nil }
    }

    /// The missing parts of the history, in sentences. Old frameworks had no table of strings.
    var historyProblems: [String] {
        let expected = [
            "ATRANSACTION": ["Z_PK", "ZTIMESTAMP"],
            "ACHANGE": ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"],
        ]
        if historyTables.isEmpty { return [] }
        return expected.sorted { $0.key < $1.key }.compactMap { table, columns in
            guard let present = tables[table]?.map(\.name) else {
                return "The history is not complete: the table \(table) is missing."
            }
            let missing = columns.filter { !present.contains($0) }
            if missing.isEmpty { return nil }
            return "The history is not complete: the table \(table) has no column \(missing.joined(separator: ", "))."
        }
    }

    /// Returns the tables and views that belong neither to Core Data nor to its entities.
    func otherTables(besides names: Set<String>) -> [String] {
        let own: Set<String> = [
            "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING",
        ]
        let present = Set(names.compactMap(present))
        return (Array(tables.keys) + Array(views.keys)).filter {
            !own.contains($0) && !present.contains($0) && !$0.hasPrefix("sqlite_")
        }
        .sorted()
    }
}
