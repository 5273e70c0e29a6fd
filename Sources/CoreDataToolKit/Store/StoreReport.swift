import CoreData

/// The report of `coredata info` about a store.
struct StoreReport {
    struct EntityRows {
        let name: String
        /// The number of its superentities.
        let depth: Int
        let isAbstract: Bool
        let own: Int64
        let withSubentities: Int64
    }

    let path: String
    let size: Int64
    let walSize: Int64?
    let metadata: [String: Any]
    let formatVersion: Int64?
    let origin: StoreModel.Origin
    let warnings: [String]
    let entities: [EntityRows]
    /// The tables of the history with the numbers of their rows.
    let history: [(table: String, rows: Int64)]
    /// The number of external files of large values beside the store, and their total size.
    let externalFiles: (count: Int, size: Int64)

    /// Tables that do not belong to Core Data.
    let otherTables: [String]

    init(path: String, modelPath: String?) throws {
        let store = try ReadableStore(path: path, modelPath: modelPath)
        defer { store.file.close() }
        try self.init(store)
    }

    init(_ store: ReadableStore) throws {
        do {
            let contents = store.contents
            self.path = store.file.originalURL.path
            size = store.file.size
            walSize = store.file.walSize
            metadata = contents.metadata
            formatVersion = contents.formatVersion
            origin = store.model.origin
            entities = Self.hierarchy(contents, store.survey.counts, store.model.model)
            var warnings = store.problems + contents.historyProblems
            history = try contents.historyTables.map { table in
                let (rows, failure) = try store.reader.readableRows("SELECT count(*) FROM \(table)")
                if let failure { warnings.append("The table \(table) is damaged (\(failure.message)).") }
                return (table, rows.first?.first?.integer ?? 0)
            }
            externalFiles = Self.externalFiles(in: store.file.externalDataFolder)
            otherTables = contents.otherTables(besides: store.survey.tableNames)
            for table in store.survey.tables
            where store.survey.missingTables[table.entities.first?.name ?? ""] == nil
                && !store.survey.damagedTables.contains(table.name)
            {
                do {
                    warnings += try CellChecks(table, entity: nil, file: store.file).findings(reader: store.reader).map(
                        \.sentence)
                } catch let failure as SQLiteReader.Failure where failure.isOfPages {
                    warnings.append(
                        "The table \(table.name) is damaged (\(failure.message)): not all its values can be read.")
                }
            }
            self.warnings = warnings
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, store.file)
        }
    }

    /// Returns the entities, each followed by its subentities, by name.
    private static func hierarchy(
        _ contents: StoreCatalog, _ counts: [Int: Int64], _ model: NSManagedObjectModel
    ) -> [EntityRows] {
        let byName = model.entitiesByName
        let names = contents.entityNames(in: model)
        func name(_ entity: StoreCatalog.Entity) -> String { names[entity.number] ?? entity.name }
        let numbers = Set(contents.entities.map(\.number))
        var result: [EntityRows] = []
        var seen: Set<Int> = []
        func add(_ entity: StoreCatalog.Entity, depth: Int) -> Int64 {
            // A cycle, which occurs only in a damaged store.
            guard seen.insert(entity.number).inserted else { return 0 }
            let place = result.count
            let own = counts[entity.number] ?? 0
            var total = own
            let children = contents.entities.filter { $0.superNumber == entity.number }.sorted { name($0) < name($1) }
            for child in children { total += add(child, depth: depth + 1) }
            result.insert(
                EntityRows(
                    name: name(entity), depth: depth, isAbstract: byName[name(entity)]?.isAbstract ?? false, own: own,
                    withSubentities: total), at: place)
            return total
        }
        // An entity whose superentity is missing is treated as a root.
        for root in contents.entities.filter({ !numbers.contains($0.superNumber) }).sorted(by: { name($0) < name($1) })
        {
            _ = add(root, depth: 0)
        }
        for entity in contents.entities where !seen.contains(entity.number) { _ = add(entity, depth: 0) }
        return result
    }

    private static func externalFiles(in folder: URL) -> (count: Int, size: Int64) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let sizes = names.map { StoreFile.fileSize(folder.appendingPathComponent($0).path) ?? 0 }
        return (names.count, sizes.reduce(0, +))
    }

    // MARK: Metadata

    var identifiers: [String] {
        let list = metadata[NSStoreModelVersionIdentifiersKey] as? [Any] ?? []
        return list.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
    }

    func text(_ key: String) -> String? { metadata[key].map { "\($0)" } }

    static let frameworkKey = "NSPersistenceFrameworkVersion"
    private static let digestKey = "NSStoreModelVersionHashesDigest"

    /// The metadata keys of the application.
    private var ownKeys: [String] {
        let known: Set<String> = [
            NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
            NSPersistentStoreModelVersionChecksumKey, Self.frameworkKey, Self.digestKey,
            "NSStoreModelVersionHashesVersion", "_NSAutoVacuumLevel",
        ]
        return metadata.keys.filter { !known.contains($0) }.sorted()
    }

    // MARK: Text

    var text: String {
        var facts: [(String, String?)] = [
            ("Store", path),
            ("Type", "Core Data, " + (text(NSStoreTypeKey) ?? NSSQLiteStoreType)),
            ("UUID", text(NSStoreUUIDKey)),
            ("Framework version", text(Self.frameworkKey)),
            ("Format version", formatVersion.map(String.init)),
            ("Model", origin.text),
            ("Model versions", identifiers.isEmpty ? nil : identifiers.joined(separator: ", ")),
            ("Model checksum", text(NSPersistentStoreModelVersionChecksumKey)),
            ("Hash digest", text(Self.digestKey)),
            ("Size", Self.bytes(size)),
            ("WAL", walSize.map { $0 == 0 ? "empty" : Self.bytes($0) } ?? "none"),
        ]
        let tables = history.map { "\($0.table) (\($0.rows) \($0.rows == 1 ? "row" : "rows"))" }
        facts.append(("History", tables.isEmpty ? "none" : tables.joined(separator: ", ")))
        if externalFiles.count > 0 {
            facts.append(("External data", "\(externalFiles.count) files, \(Self.bytes(externalFiles.size))"))
        }
        if !otherTables.isEmpty { facts.append(("Other tables", otherTables.joined(separator: ", "))) }
        if !ownKeys.isEmpty { facts.append(("Other metadata", ownKeys.joined(separator: ", "))) }
        for warning in warnings { facts.append(("Warning", warning)) }
        var result = ""
        for case (let name, let value?) in facts {
            result += name + String(repeating: " ", count: 19 - name.count) + DisplayWidth.printable(value) + "\n"
        }
        return result + "\n" + entityTable
    }

    private var entityTable: String {
        if entities.isEmpty { return "The store has no entities.\n" }
        let names = entities.map {
            String(repeating: "  ", count: $0.depth) + DisplayWidth.printable($0.name)
                + ($0.isAbstract ? " (abstract)" : "")
        }
        let nameWidth = max(names.map(DisplayWidth.of).max() ?? 0, 6) + 2
        var lines = [Self.line("Entity", nameWidth, "Own rows", "With subentities")]
        for (entity, name) in zip(entities, names) {
            lines.append(Self.line(name, nameWidth, String(entity.own), String(entity.withSubentities)))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ name: String, _ width: Int, _ own: String, _ all: String) -> String {
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return name + String(repeating: " ", count: width - DisplayWidth.of(name)) + right(own, 10) + "  "
            + right(all, 16)
    }

    static func bytes(_ count: Int64) -> String {
        let units = ["KB", "MB", "GB", "TB"]
        var value = Double(count)
        var unit = -1
        while value >= 1000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let exact = "\(count) bytes"
        return unit < 0 ? exact : "\((value * 10).rounded() / 10) \(units[unit]) (\(exact))"
    }

    // MARK: JSON

    var json: JSONValue {
        let framework = text(Self.frameworkKey)
        return .object([
            .init("path", .string(path)),
            .init("type", .string(text(NSStoreTypeKey) ?? NSSQLiteStoreType)),
            .init("uuid", .optional(text(NSStoreUUIDKey))),
            .init("frameworkVersion", framework.map { Int64($0).map { .integer($0) } ?? .string($0) } ?? .null),
            .init("formatVersion", formatVersion.map { .integer($0) } ?? .null),
            .init("modelOrigin", .string(origin.name)),
            .init("modelVersionIdentifiers", .array(identifiers.map { .string($0) })),
            .init("modelChecksum", .optional(text(NSPersistentStoreModelVersionChecksumKey))),
            .init("hashesDigest", .optional(text(Self.digestKey))),
            .init("size", .integer(size)),
            .init("walSize", walSize.map { .integer($0) } ?? .null),
            .init("history", .object(history.map { .init($0.table, .integer($0.rows)) })),
            .init("externalFiles", .integer(externalFiles.count)),
            .init("otherTables", .array(otherTables.map { .string($0) })),
            .init("otherMetadata", .array(ownKeys.map { .string($0) })),
            .init("warnings", .array(warnings.map { .string($0) })),
            .init("entities", .array(entities.map(Self.json))),
        ])
    }

    private static func json(_ entity: EntityRows) -> JSONValue {
        .object([
            .init("name", .string(entity.name)), .init("depth", .integer(entity.depth)),
            .init("isAbstract", .bool(entity.isAbstract)), .init("ownRows", .integer(entity.own)),
            .init("rows", .integer(entity.withSubentities)),
        ])
    }
}
