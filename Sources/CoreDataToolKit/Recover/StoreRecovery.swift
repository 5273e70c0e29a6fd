import CoreData

/// A recovery of what can be read of a damaged store into a new one.
struct StoreRecovery {
    /// How many objects could not be read.
    enum Lost: Equatable {
        case none
        case exactly(Int64)
        /// The number of keys that were given and cannot be read; some may have been deleted
        /// before.
        case atMost(Int64)
        case unknown
    }

    struct Part {
        /// The name of the entity, or of a table that belongs to none.
        let name: String
        let saved: Int64
        let lost: Lost
    }

    private(set) var parts: [Part] = []
    /// The losses other than rows, in sentences.
    private(set) var problems: [String] = []
    private(set) var externalFiles = 0

    var isComplete: Bool { problems.isEmpty && parts.allSatisfy { $0.lost == .none } }

    private let source: SQLiteReader
    private let target: SQLiteWriter
    private let schema: DamagedSchema
    private let template: StoreTemplate?
    private var readings: [String: TableReading] = [:]

    /// Recovers a store.
    ///
    /// - Parameters:
    ///   - output: the path of the new store, where nothing may be yet.
    ///   - advance: called after each table, with the number of all tables.
    /// - Throws: `ToolError`.
    init(
        path: String, modelPath: String?, output: String, advance: (_ total: Int) throws -> Void = { _ in }
    ) throws {
        let url = URL(fileURLWithPath: output)
        try Self.requireNothing(at: url)
        let file = try StoreFile(path: path)
        defer { file.close() }
        do {
            try self.init(file, modelPath, url, advance)
            externalFiles = try Self.copyExternalFiles(of: file, to: url)
        } catch {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: url.path + suffix)
            }
            guard let failure = error as? SQLiteReader.Failure else { throw error }
            throw StoreCatalog.error(failure, file)
        }
    }

    private init(_ file: StoreFile, _ modelPath: String?, _ url: URL, _ advance: (Int) throws -> Void) throws {
        source = try file.reader()
        // SQLite reads what it can of a page whose cells do not fit.
        _ = try source.rows("PRAGMA cell_size_check = OFF")
        schema = try DamagedSchema(source)
        if let problem = source.schemaProblem { problems.append("The schema is damaged: \(problem).") }
        guard schema.tables.contains(where: { $0.name.hasPrefix("Z") }) else {
            throw ToolError(
                "Nothing of '\(file.originalURL.path)' can be read: its schema is lost, or it is no Core Data store.")
        }
        let model = try Self.model(source, modelPath)
        do {
            template = try model.map { try StoreTemplate($0) }
        } catch {
            template = nil
            problems.append("Nothing that is lost can be made from the model: \(ErrorText.line(error))")
        }
        target = try SQLiteWriter(path: url.path, isNew: true)
        try prepareFile()
        try target.transaction {
            try makeTables()
            for item in schema.tables {
                try copyRows(of: item)
                try advance(schema.tables.count)
            }
            try completeEntities()
            try completeMetadata(model, isNamed: modelPath != nil)
            makeOthers()
            try countParts()
        }
        if (try source.rows("PRAGMA journal_mode").first?[0].text) == "wal" {
            try target.run("PRAGMA journal_mode = WAL")
        }
    }

    private static func requireNothing(at url: URL) throws {
        let support = StoreFile.externalDataFolder(of: url).deletingLastPathComponent()
        for place in [url, support] where FileManager.default.fileExists(atPath: place.path) {
            throw ToolError("'\(place.path)' is there already. Name a new file with --output.")
        }
    }

    /// Returns the model that a person named, or that the store has; nil if it cannot be read.
    private static func model(_ source: SQLiteReader, _ modelPath: String?) throws -> NSManagedObjectModel? {
        if let modelPath { return try NamedModel(path: modelPath, version: nil).model }
        let rows = try? source.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        return rows?.first?[0].blob.flatMap { try? StoreInspection.model(modelCache: $0) }
    }

    // MARK: Tables

    /// Gives the new file the settings of the old one, which must stand before its first table.
    private func prepareFile() throws {
        for name in ["page_size", "auto_vacuum", "encoding", "application_id", "user_version"] {
            guard let value = try? source.rows("PRAGMA \(name)").first?[0] else { continue }
            switch value {
            case .integer(let number): _ = try? target.run("PRAGMA \(name) = \(number)")
            case .text(let text): _ = try? target.run("PRAGMA \(name) = \(SQLiteReader.text(text))")
            default: continue
            }
        }
    }

    private mutating func makeTables() throws {
        for item in schema.tables where Self.ownColumns(of: item, in: schema) == nil { make(item) }
        let present = Set(schema.tables.map { $0.name.uppercased() })
        for item in template?.schema.tables ?? [] where !present.contains(item.name.uppercased()) {
            // The history is not of every store, and nothing needs it.
            if item.name.hasPrefix("A") { continue }
            make(item)
            // Old frameworks kept no model in the store.
            if item.name == "Z_MODELCACHE" { continue }
            problems.append("The table \(item.name) is lost; the new store has an empty one.")
        }
        for table in [StoreTable.metadata, .entities] where (try? target.run("SELECT 1 FROM \(table.name)")) == nil {
            try target.run(table.definition)
            problems.append("The table \(table.name) is damaged in the schema; it is made again.")
        }
    }

    /// Returns the columns that a table of Core Data's own should have; nil if it has them, and for
    /// other tables.
    private static func ownColumns(of item: DamagedSchema.Item, in schema: DamagedSchema) -> [String]? {
        let own = [StoreTable.metadata, .entities].first { $0.name == item.name }
        guard let own, !Set(own.columns).isSubset(of: schema.columns(of: item.name).map(\.name)) else { return nil }
        return own.columns
    }

    private mutating func make(_ item: DamagedSchema.Item) {
        guard let sql = item.sql else { return }
        do { try target.savepoint { try target.run(sql) } } catch {
            let reason = (error as? SQLiteReader.Failure)?.message ?? "\(error)"
            problems.append("The \(item.type) \(item.name) cannot be made: \(reason).")
        }
    }

    private mutating func makeOthers() {
        for item in schema.others { make(item) }
        let present = Set(schema.items.map(\.name))
        for item in template?.schema.others ?? [] where !present.contains(item.name) {
            // Indexes and triggers of tables that were lost as a whole.
            guard let sql = item.sql, !schema.tables.contains(where: { $0.name == item.table }) else { continue }
            _ = try? target.savepoint { try target.run(sql) }
        }
    }

    private mutating func copyRows(of item: DamagedSchema.Item) throws {
        let columns = schema.columns(of: item.name)
        if columns.isEmpty { return }
        // Rows keep their numbers, so that one that is read twice is there once.
        let number = columns.contains { $0.isKey } ? nil : schema.rowNumber(of: item)
        let names = Self.ownColumns(of: item, in: schema) ?? columns.map(\.name)
        guard names.count == columns.count, let insert = statement("IGNORE", item.name, number, names),
            let replace = statement("REPLACE", item.name, number, names)
        else { return }
        var reading = schema.reading(of: item, greatest: greatestKey(of: item.name))
        try reading.forEachRow { key, row, replaces in
            do {
                try (replaces ? replace : insert).run(key, row)
            } catch let failure as SQLiteReader.Failure {
                // Not a failure of the damaged store, around which the reading would go on.
                throw ToolError("The new store cannot be written: \(failure.message).")
            }
        }
        readings[item.name] = reading
    }

    /// A statement that inserts rows, with or without their row numbers.
    private struct Insertion {
        let statement: SQLiteWriter.Statement
        let hasNumber: Bool

        func run(_ key: Int64, _ row: [SQLiteReader.Value]) throws {
            try statement.run(hasNumber ? [.integer(key)] + row : row)
        }
    }

    /// Returns nil for a table that could not be made.
    private func statement(_ conflict: String, _ table: String, _ number: String?, _ names: [String]) -> Insertion? {
        let start = "INSERT OR \(conflict) INTO \(SQLiteReader.identifier(table))"
        let all = [number].compactMap { $0 } + names.map(SQLiteReader.identifier)
        let marks = all.map { _ in "?" }
        if let named = try? target.prepare(
            "\(start) (\(all.joined(separator: ", "))) VALUES (\(marks.joined(separator: ", ")))")
        {
            return Insertion(statement: named, hasNumber: number != nil)
        }
        // Names with damaged characters cannot be written.
        let plain = try? target.prepare("\(start) VALUES (\(marks.suffix(names.count).joined(separator: ", ")))")
        return plain.map { Insertion(statement: $0, hasNumber: false) }
    }

    /// Returns the greatest key that `Z_PRIMARYKEY` says was given in a table.
    private func greatestKey(of table: String) -> Int64? {
        let history = HistoryRules.tables.first { $0.table == table }
        let name = history?.name ?? String(table.dropFirst())
        let rows = try? source.rows(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE upper(Z_NAME) = \(SQLiteReader.text(name.uppercased())) "
                + "ORDER BY Z_SUPER LIMIT 1")
        return rows?.first?[0].integer
    }

    // MARK: Core Data's own tables

    /// Adds entities that the list has lost, and raises the greatest keys to those in the tables.
    private func completeEntities() throws {
        for row in (try? template?.reader.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, 0 FROM Z_PRIMARYKEY")) ?? [] {
            try target.run(
                "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT ?, ?, ?, ? "
                    + "WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_NAME = ?2)", row)
        }
        for entity in (try? target.run("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0")) ?? [] {
            guard let number = entity[0].integer, let name = entity[1].text else { continue }
            let history = HistoryRules.tables.first { $0.number == Int(clamping: number) }
            let table = SQLiteReader.identifier(history?.table ?? "Z" + name.uppercased())
            // The table of an entity without a table of its own is not there.
            _ = try? target.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), ifnull((SELECT max(Z_PK) FROM \(table)), 0)) "
                    + "WHERE Z_ENT = ?", [.integer(number)])
        }
    }

    private mutating func completeMetadata(_ model: NSManagedObjectModel?, isNamed: Bool) throws {
        let list = try? target.run("SELECT Z_PLIST FROM Z_METADATA").first?[0].blob
        let isReadable = list.flatMap { $0 }.flatMap { try? StoreInspection.propertyList($0) } != nil
        if !isReadable {
            problems.append(
                "The metadata of the store cannot be read" + (template == nil ? "." : "; new ones are made."))
            for row in (try? template?.reader.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA")) ?? [] {
                try target.run("INSERT OR IGNORE INTO Z_METADATA (Z_VERSION, Z_UUID) VALUES (?, ?)", [row[0], row[1]])
                try target.run("UPDATE Z_METADATA SET Z_PLIST = ?", [row[2]])
            }
        }
        let cache = try? target.run("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1").first?[0].blob
        if cache.flatMap({ $0 }).flatMap({ try? StoreInspection.model(modelCache: $0) }) != nil { return }
        guard isNamed, let model, let content = try? model.encodedModelCache() else {
            if cache != nil { problems.append("The model in the store cannot be read.") }
            return
        }
        _ = try? target.run("DELETE FROM Z_MODELCACHE")
        _ = try? target.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(content)])
    }

    // MARK: External files

    private static func copyExternalFiles(of file: StoreFile, to url: URL) throws -> Int {
        let (old, new) = (file.externalDataFolder, StoreFile.externalDataFolder(of: url))
        let files = ExternalFolder(of: file).files
        if files.isEmpty { return 0 }
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        for item in files {
            try FileManager.default.copyItem(
                at: old.appendingPathComponent(item.name), to: new.appendingPathComponent(item.name))
        }
        return files.count
    }
}

// MARK: Counting

extension StoreRecovery {
    /// Counts the rows of each entity and of each other table.
    fileprivate mutating func countParts() throws {
        let entities = (try? target.run("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")) ?? []
        var counted: Set<String> = []
        for entity in entities where entity[2].integer == 0 && (entity[0].integer ?? .max) < 16_000 {
            guard let name = entity[1].text, let item = table("Z" + name.uppercased()) else { continue }
            counted.insert(item)
            parts += entityParts(of: item, root: name, entities)
        }
        for item in schema.tables where !counted.contains(item.name) && !item.isVirtual {
            let saved = count(item.name)
            let lost = lost(item.name, saved)
            if lost != .none || item.name.hasPrefix("A") {
                parts.append(Part(name: item.name, saved: saved, lost: lost))
            }
        }
    }

    private func table(_ name: String) -> String? { schema.tables.first { $0.name.uppercased() == name }?.name }

    private func count(_ table: String) -> Int64 {
        (try? target.run("SELECT count(*) FROM \(SQLiteReader.identifier(table))").first?[0].integer) ?? 0
    }

    private func lost(_ table: String, _ saved: Int64) -> Lost {
        guard let reading = readings[table], reading.failure != nil else { return .none }
        if let expected = reading.indexedCount() { return expected > saved ? .exactly(expected - saved) : .none }
        return reading.unreadKeys > 0 ? .atMost(reading.unreadKeys) : .unknown
    }

    /// Returns the rows of a table by entity. Only an index of the entity numbers tells of which
    /// entities lost rows are; otherwise all count for the root.
    private func entityParts(of table: String, root: String, _ entities: [[SQLiteReader.Value]]) -> [Part] {
        let rows =
            (try? target.run(
                "SELECT Z_ENT, count(*) FROM \(SQLiteReader.identifier(table)) GROUP BY Z_ENT")) ?? []
        let saved = Dictionary(
            rows.compactMap { row in row[0].integer.map { ($0, row[1].integer ?? 0) } }, uniquingKeysWith: +)
        let family = Self.family(of: root, entities)
        var total = lost(table, count(table))
        var expected: [Int64: Int64]?
        if total != .none, family.count > 1 {
            let index = schema.indexes(of: table).first { $0.column == "Z_ENT" }
            expected = index.flatMap { readings[table]?.indexedCounts(by: "Z_ENT", index: $0.name) }
        }
        if expected != nil { total = .none }
        return family.enumerated().map { place, entity in
            let count = saved[entity.number] ?? 0
            let missing = (expected?[entity.number] ?? count) - count
            let lost: Lost = place == 0 && expected == nil ? total : missing > 0 ? .exactly(missing) : .none
            return Part(name: entity.name, saved: count, lost: lost)
        }
    }

    /// Returns an entity and all its subentities.
    private static func family(
        of root: String, _ entities: [[SQLiteReader.Value]]
    ) -> [(name: String, number: Int64)] {
        var family: [(name: String, number: Int64)] = []
        var numbers: Set<Int64> = []
        var next = entities.filter { $0[1].text == root && $0[2].integer == 0 }
        while let entity = next.popLast() {
            guard let number = entity[0].integer, numbers.insert(number).inserted else { continue }
            family.append((entity[1].text ?? "", number))
            next += entities.filter { $0[2].integer == number }.reversed()
        }
        return family
    }
}
