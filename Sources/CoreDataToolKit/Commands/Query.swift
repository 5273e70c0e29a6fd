import CoreData

/// A query on an opened store, with all its names found in the model.
struct Query {
    private let opened: OpenedStore
    private let options: QueryOptions
    private let entity: NSEntityDescription
    private let predicate: NSPredicate?

    /// - Throws: `ToolError` for names and values that do not fit the store.
    init(_ options: QueryOptions, on opened: OpenedStore) throws {
        self.opened = opened
        self.options = options
        entity = try opened.store.entity(named: options.entityName)
        let entity = entity
        predicate = try options.predicateText.map { text throws(ToolError) in
            try PredicateResolver.predicate(text, for: entity, identities: ObjectIdentities(opened))
        }
    }

    /// Writes the result, or the SQL that gives it.
    ///
    /// - Parameter trace: the trace of a query to explain; nil to run it.
    func write(to console: Console, explainedBy trace: StatementTrace?) throws {
        do {
            switch options.form {
            case .count: try writeCount(to: console, trace)
            case .groups(let keys, let aggregates):
                let rows = try groupedRows(keys, aggregates)
                if let trace { return try explain(trace, console) { _ = try rows.forEach { _ in } } }
                try rows.write(options.format, isSafe: options.isSafe, to: console)
            case .objects(let columns, let requests):
                let rows = try objectRows(columns, requests)
                if let trace { return try explain(trace, console) { _ = try rows.objects.objectIDs() } }
                try rows.result.write(options.format, isSafe: options.isSafe, to: console)
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, opened.store.file)
        }
    }

    private func explain(_ trace: StatementTrace, _ console: Console, _ run: () throws -> Void) throws {
        let explanation = QueryExplanation(
            statements: try trace.queries(onDatabaseAt: opened.store.file.url.path, run))
        if options.format.isJSON {
            try console.write(json: explanation.json)
        } else {
            try console.write(lines: explanation.lines)
        }
    }

    // MARK: Forms

    private func writeCount(to console: Console, _ trace: StatementTrace?) throws {
        let rows = try plainRows([])
        if let trace { return try explain(trace, console) { _ = try rows.count() } }
        let count = try rows.count()
        switch options.format {
        case .table, .block: try console.output.write("\(count)\n")
        case .csv: try console.output.write("count\r\n\(count)\r\n")
        case .json, .ndjson:
            try console.output.write(JSONValue.object([JSONValue.Member("count", .integer(count))]).compact + "\n")
        }
    }

    private func groupedRows(_ keys: [String], _ aggregates: [Aggregate]) throws -> GroupedRows {
        var rows = try GroupedRows(opened, entity, by: keys, aggregates)
        rows.predicate = predicate
        rows.limit = options.limit
        rows.offset = options.offset
        try rows.sort(by: options.sortKeys)
        return rows
    }

    private func objectRows(
        _ columnNames: [String]?, _ requests: [Expansion.Request]
    ) throws -> (objects: QueryRows, result: any ResultRows) {
        var expansions: [Expansion] = []
        var names = columnNames
        for request in requests {
            var expansion = try Expansion(request, of: entity)
            guard !expansions.contains(where: { $0.name == expansion.name }) else { continue }
            names = try names.map { try expansion.takeColumns(from: $0, opened.model) }
            expansions.append(expansion)
        }
        let expanded = Set(expansions.map(\.name))
        let columns = try QueryColumn.columns(named: names, of: entity, model: opened.model).filter {
            !expanded.contains($0.name)
        }
        let rows = try plainRows(columns)
        if expansions.isEmpty { return (rows, rows) }
        let result: any ResultRows =
            options.format.isJSON
            ? NestedRows(rows, expansions, opened.model) : MemberRows(rows, expansions, opened.model)
        return (rows, result)
    }

    private func plainRows(_ columns: [QueryColumn]) throws -> QueryRows {
        var rows = QueryRows(opened, entity: entity, columns: columns)
        rows.predicate = predicate
        rows.sortDescriptors = try options.sortKeys.map { try descriptor($0.key, $0.ascending) }
        rows.limit = options.limit
        rows.offset = options.offset
        return rows
    }

    private func descriptor(_ key: String, _ ascending: Bool) throws -> NSSortDescriptor {
        let resolved: KeyPathResolver.Resolved
        do {
            resolved = try KeyPathResolver.resolve(key, from: entity)
        } catch {
            throw ToolError("--sort \(key): \(error.message)")
        }
        if resolved.property is NSRelationshipDescription {
            throw ToolError(
                "--sort \(key): '\(resolved.keyPath)' is a relationship. Sort by an attribute behind it: "
                    + "\(resolved.keyPath).NAME, or \(resolved.keyPath).@count for one to many objects.")
        }
        if let composite = resolved.property as? NSCompositeAttributeDescription {
            let elements = composite.elements.map { "\(resolved.keyPath).\($0.name)" }.joined(separator: ", ")
            throw ToolError(
                "--sort \(key): '\(resolved.keyPath)' is a composite attribute. Sort by its elements: \(elements).")
        }
        return NSSortDescriptor(key: resolved.keyPath, ascending: ascending)
    }
}
