import CoreData

/// Imports objects from files into a store.
///
/// The files are read several times: first every row is checked by itself and matched with the
/// store, then all references are checked, and only then objects are written. So nearly every
/// mistake is known before anything is written, and memory holds one batch of rows beside the plan.
///
/// All methods are called on the queue of the store's context.
final class StoreImport {
    struct Options {
        /// Names of properties that together identify an object that is there already.
        var matchKeys: [String] = []
        /// The number of rows of a save; nil for one save of all rows.
        var batchSize: Int?
        /// Whether rows that are refused are left out.
        var skipsRefused = false
        var isDryRun = false
        /// Whether the progress of an import that was stopped is forgotten.
        var restarts = false
        /// Called after each save of a batch.
        var afterBatch: () throws -> Void = {}
    }

    let store: WritableStore
    let source: ImportSource
    let schema: ImportSchema
    let values: ImportValues
    let options: Options
    let console: Console

    var plan = ImportPlan()
    var problems: [ImportProblem] = []
    /// The progress in the store's metadata, of an import in batches.
    var progress: ImportProgress
    /// Whether an import that was stopped goes on.
    let isResumed: Bool
    var matching: RowMatching
    /// The rows that update an object, by the object's key in the store.
    var updated: [ImportSchema.RowName: Int] = [:]
    /// The objects of the current save, by the number of their row.
    var objects: [Int: NSManagedObject] = [:]
    /// The rows of the current save.
    var saved: [Int] = []
    /// Objects of the store to which no row of the files belongs, as far as they were looked for.
    var stored: [ImportSchema.RowName: NSManagedObjectID?] = [:]
    /// References that were reported and are left out.
    var left: Set<LeftReference> = []

    var context: NSManagedObjectContext { store.context }
    var isOneSave: Bool { options.batchSize == nil || options.isDryRun }

    /// - Throws: `ToolError` when an import of another file has not ended, or a key to match is
    ///   unknown.
    init(
        into store: WritableStore, from source: ImportSource, schema: ImportSchema, blobs: URL?, options: Options,
        console: Console
    ) throws {
        (self.store, self.source, self.schema, self.options) = (store, source, schema, options)
        self.console = console
        values = ImportValues(transformables: store.model.transformables, blobs: blobs)
        matching = try RowMatching(schema, keys: options.matchKeys)
        let begun = options.restarts ? nil : ImportProgress(store.store.metadata ?? [:])
        if let begun, !begun.isOf(source) || options.batchSize == nil {
            throw ToolError(
                "An import of '\(begun.file)' (\(begun.size) bytes) into this store stopped after \(begun.rows) rows. "
                    + "Give the same file with --batch to finish it, or --restart to forget it.")
        }
        isResumed = begun != nil
        progress = begun ?? ImportProgress(of: source)
    }

    /// - Throws: `ToolError` for files that cannot be read, or an error of Core Data.
    func run() throws -> ImportReport {
        try context.performAndWait {
            try lookAtTables()
            try survey()
            if !hasToStop { try checkReferences() }
            if hasToStop { return report(isStopped: true) }
            try assignKeys()
            let isComplete = isOneSave ? try writeAll() : try writeBatches()
            return report(isStopped: !isComplete)
        }
    }

    /// Whether something was found, and refused rows are not to be left out.
    var hasToStop: Bool { !problems.isEmpty && !options.skipsRefused }

    private func report(isStopped: Bool) -> ImportReport {
        var counts = schema.entities.map { ImportReport.Count(entity: $0.name) }
        for row in plan.rows where row.state == .written || row.state == .incomplete {
            if row.isNew { counts[Int(row.entity)].inserted += 1 } else { counts[Int(row.entity)].updated += 1 }
        }
        return ImportReport(
            store: store.url.lastPathComponent, isDryRun: options.isDryRun, rows: plan.rows.count,
            counts: counts.filter { $0.inserted + $0.updated > 0 },
            refused: plan.count(of: .refused),
            problems: problems.sorted { ($0.file ?? "", $0.line) < ($1.file ?? "", $1.line) }, isStopped: isStopped)
    }

    // MARK: Rows

    /// Passes all rows to a function, with a progress bar.
    func forEachRow(_ label: String, _ body: (ImportRow) throws -> Void) throws {
        var bar = ProgressBar(label, total: source.size, on: console)
        defer { try? bar.finish() }
        try source.forEachRow(progress: { try bar.advance(by: $0) }, body)
    }

    /// Passes the rows that were surveyed to a function.
    ///
    /// - Throws: `ToolError` if another program has changed the files since.
    func forEachKnownRow(_ label: String, _ body: (ImportRow) throws -> Void) throws {
        do {
            try forEachRow(label) { row in
                guard plan.contains(row) else { throw RowMistake(reason: "line \(row.line) is another") }
                try body(row)
            }
        } catch let mistake as RowMistake {
            throw ToolError(
                "'\(source.name)' was changed while it was read: \(mistake.reason). Import it again when it is ready.")
        }
    }

    func entity(of number: Int) -> ImportSchema.Entity { schema.entities[Int(plan.rows[number].entity)] }

    /// Returns the place of a row in the files, for messages.
    func place(of number: Int) -> String {
        let row = plan.rows[number]
        return (fileName(row).map { "\($0) " } ?? "") + "line \(row.line)"
    }

    private func fileName(_ row: ImportPlan.Row) -> String? {
        source.files.count > 1 ? source.files[Int(row.file)].url.lastPathComponent : nil
    }

    /// Reports a problem of a row that is imported nevertheless if problems are allowed.
    func note(_ mistake: RowMistake, of number: Int) {
        let row = plan.rows[number]
        let identity = row.key > 0 && row.entity >= 0 ? "\(entity(of: number).name)/p\(row.key)" : nil
        problems.append(
            ImportProblem(
                file: fileName(row), line: row.line, identity: identity, property: mistake.property,
                reason: mistake.reason))
    }

    func refuse(_ number: Int, _ mistake: RowMistake) {
        note(mistake, of: number)
        plan.set(.refused, of: number)
    }

    func id(of number: Int) -> NSManagedObjectID? {
        store.model.objectID(entity: entity(of: number).name, key: plan.rows[number].target)
    }

    /// Forgets all objects in memory.
    func reset() {
        objects = [:]
        saved = []
        context.reset()
    }

    // MARK: Keys

    /// Finds out which tables are empty: their rows keep the keys that they have in the file.
    private func lookAtTables() throws {
        if isResumed { return }
        for entity in schema.entities where entity.root == entity.index {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
            request.resultType = .managedObjectIDResultType
            request.fetchLimit = 1
            if try context.fetch(request).isEmpty { progress.firstKeys[entity.name] = 0 }
        }
    }

    /// Whether new rows of a table keep the keys that they have in the file.
    func keepsKeys(_ root: Int) -> Bool { progress.firstKeys[schema.entities[root].name] == 0 }

    private struct KeysOfTable {
        /// The greatest key that a row keeps.
        var greatest: Int64 = 0
        /// The number of rows that get a key.
        var count: Int64 = 0
    }

    /// Gives each new row its key: that of the file in a table that was empty, else the next one.
    private func assignKeys() throws {
        var tables: [Int: KeysOfTable] = [:]
        for (number, row) in plan.rows.enumerated() where row.entity >= 0 && row.isNew {
            let root = entity(of: number).root
            if keepsKeys(root), row.key > 0 {
                tables[root, default: KeysOfTable()].greatest = max(tables[root]?.greatest ?? 0, row.key)
                plan.setTarget(row.key, of: number, isNew: true)
            } else {
                plan.setTarget(tables[root]?.count ?? 0, of: number, isNew: true)
                tables[root, default: KeysOfTable()].count += 1
            }
        }
        // Objects of a dry run are never saved and need no keys.
        if options.isDryRun { return }
        var first: [Int: Int64] = [:]
        for (root, keys) in tables { first[root] = try reserve(keys, root) }
        for (number, row) in plan.rows.enumerated() where row.entity >= 0 && row.isNew {
            let root = entity(of: number).root
            if keepsKeys(root), row.key > 0 { continue }
            plan.setTarget(row.target + (first[root] ?? 0), of: number, isNew: true)
        }
    }

    /// Reserves keys of a table.
    ///
    /// - Returns: the first key of rows that get one.
    private func reserve(_ keys: KeysOfTable, _ root: Int) throws -> Int64 {
        let entity = schema.entities[root]
        let known = progress.firstKeys[entity.name]
        if isResumed, let known { return known == 0 ? keys.greatest + 1 : known }
        let (count, isTooMany) = keys.greatest.addingReportingOverflow(keys.count)
        guard !isTooMany, count < Int64.max else {
            throw ToolError("\(entity.name)/p\(keys.greatest) has too high a key: there are none above it.")
        }
        guard
            let first = try StoreInspection.reserveKeys(Int(count), of: entity.description, in: store.store)
        else { throw ToolError("The store '\(store.url.path)' has no keys that rows could be given.") }
        if keepsKeys(root) { return keys.greatest + 1 }
        progress.firstKeys[entity.name] = first
        return first
    }
}
