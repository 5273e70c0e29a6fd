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
    /// The tables of entities, join tables and tables of the history; without those whose size is
    /// not known.
    let sizes: [TableSize]
    let history: HistorySummary
    let externalFiles: ExternalFolder
    /// The number of values whose external file is missing, in the rows that were looked at.
    let missingFiles: Int64
    /// The number of external files that belong to no row; nil if not all rows were looked at, or
    /// without a model.
    let orphanedFiles: Int?
    /// Whether all rows were searched for contradictions.
    let isComplete: Bool

    /// Tables that do not belong to Core Data.
    let otherTables: [String]

    init(path: String, modelPath: String?) throws {
        let store = try ReadableStore(path: path, modelPath: modelPath, isSampled: true)
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
            history = try HistorySummary(contents, reader: store.reader)
            externalFiles = ExternalFolder(of: store.file)
            otherTables = contents.otherTables(besides: store.survey.tableNames)
            sizes = try Self.sizes(store, history)
            isComplete = store.survey.sampledTables.isEmpty
            let faults = try Self.faults(store)
            missingFiles = faults.missingFiles
            orphanedFiles =
                isComplete && store.survey.damagedTables.isEmpty && origin != .tables
                ? try? externalFiles.orphans(in: store.survey.tables, reader: store.reader).count : nil
            warnings = store.problems + history.problems + faults.sentences
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

    /// Returns the values that contradict the model, in the first and last rows of each table.
    private static func faults(_ store: ReadableStore) throws -> (sentences: [String], missingFiles: Int64) {
        var (sentences, missingFiles): ([String], Int64) = ([], 0)
        for table in store.survey.tables
        where store.survey.missingTables[table.entities.first?.name ?? ""] == nil
            && !store.survey.damagedTables.contains(table.name)
        {
            do {
                let sample =
                    store.survey.sampledTables.contains(table.name)
                    ? store.contents.sample(of: table.name, reader: store.reader) : .all
                for finding in try CellChecks(table, entity: nil, file: store.file).findings(
                    reader: store.reader, in: sample)
                {
                    sentences.append(finding.sentence)
                    if finding.fault == .missingFile { missingFiles += finding.count }
                }
            } catch let failure as SQLiteReader.Failure where failure.isOfPages {
                sentences.append(
                    "The table \(table.name) is damaged (\(failure.message)): not all its values can be read.")
            }
        }
        return (sentences, missingFiles)
    }

    private static func sizes(_ store: ReadableStore, _ history: HistorySummary) throws -> [TableSize] {
        let sizes = try TableSizes(store.contents, reader: store.reader, fileSize: store.file.size)
        var counts: [(name: String, rows: Int64)] = []
        for table in store.survey.tables {
            let rows = table.entities.reduce(0) { $0 + (store.survey.counts[$1.number] ?? 0) }
            counts.append((store.contents.present(table.name) ?? table.name, rows))
        }
        for join in store.survey.joins {
            let name = store.contents.present(join.name) ?? join.name
            let count = try? store.reader.rows("SELECT count(*) FROM \(SQLiteReader.identifier(name))").first
            counts.append((name, count?[0].integer ?? 0))
        }
        counts += history.tables.map { ($0.name, $0.rows) }
        return counts.compactMap { sizes.size(of: $0.name, rowCount: $0.rows) }
    }

    // MARK: Metadata

    var identifiers: [String] {
        let list = metadata[NSStoreModelVersionIdentifiersKey] as? [Any] ?? []
        return list.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
    }

    func text(_ key: String) -> String? { metadata[key].map { "\($0)" } }

    static let frameworkKey = "NSPersistenceFrameworkVersion"
    static let digestKey = "NSStoreModelVersionHashesDigest"

    /// The metadata keys of the application.
    var ownKeys: [String] {
        let known: Set<String> = [
            NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
            NSPersistentStoreModelVersionChecksumKey, Self.frameworkKey, Self.digestKey,
            "NSStoreModelVersionHashesVersion", "_NSAutoVacuumLevel",
        ]
        return metadata.keys.filter { !known.contains($0) }.sorted()
    }
}
