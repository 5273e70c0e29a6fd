import CoreData

/// `coredata query`: shows the objects of an entity.
struct QueryCommand: Command {
    static let syntax = CommandSyntax(
        name: "query", summary: "Shows the objects of an entity: filtered, sorted, as a table, JSON or CSV.",
        operands: [.store, .entity],
        options: [
            .init(name: "where", value: "PREDICATE", help: "Only objects that match, in NSPredicate's language."),
            .init(name: "sort", value: "KEY[:desc],…", help: "Order by these properties."),
            .init(name: "limit", value: "N", help: "At most N objects."),
            .init(name: "offset", value: "N", help: "Leave out the first N objects."),
            .init(
                name: "columns", value: "A,B,…",
                help: "Only these properties, or paths to some; objectID is the object itself."),
            .format("table", "json", "csv"), .model,
        ],
        notes: """
            Objects of subentities are included. To-one relationships are shown as Entity/p12, to-many ones
            as their count. Composite attributes are shown as JSON; 'address.city' in predicates, --sort and
            --columns is an element of one. Dates are in UTC; in a predicate write them as "2026-01-31" or
            "2026-01-31T12:00:00Z", and objects as they are shown: SELF == "Item/p12",
            maker IN {"Maker/p1", "Maker/p2"}. A table that is too wide for the terminal becomes a block of
            lines for each object.

              coredata query Store.sqlite Item --where 'stock < 5 AND name BEGINSWITH[c] "b"' --sort name,price:desc
            """)

    private let path: String
    private let entityName: String
    private let modelPath: String?
    private let predicateText: String?
    private let sortKeys: [(key: String, ascending: Bool)]
    private let columnNames: [String]?
    private let limit: Int?
    private let offset: Int
    private let format: RowFormats

    /// - Throws: `UsageError` for values that are invalid for any store.
    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        entityName = arguments.operands[1]
        modelPath = arguments.values["model"]
        predicateText = arguments.values["where"]
        sortKeys = try Self.sortKeys(arguments.names("sort", of: "property") ?? [])
        columnNames = try arguments.names("columns", of: "property")
        limit = try arguments.count("limit")
        offset = try arguments.count("offset") ?? 0
        format = RowFormats(rawValue: arguments.format) ?? .table
    }

    private static func sortKeys(_ words: [String]) throws(UsageError) -> [(key: String, ascending: Bool)] {
        var keys: [(key: String, ascending: Bool)] = []
        for word in words {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let direction = parts.count > 1 ? parts[1].lowercased() : "asc"
            guard parts.count <= 2, !parts[0].isEmpty, ["asc", "desc"].contains(direction) else {
                throw UsageError(message: "--sort takes KEY, KEY:asc or KEY:desc, not '\(word)'.")
            }
            keys.append((parts[0], direction == "asc"))
        }
        return keys
    }

    // MARK: Running

    func run(_ console: Console) throws -> ExitStatus {
        let opened = try OpenedStore(path: path, modelPath: modelPath, entity: entityName)
        let (store, entity) = (opened.store, try opened.store.entity(named: entityName))
        for problem in store.problems { try console.warn(problem) }
        let columns = try QueryColumn.columns(named: columnNames, of: entity, model: store.model)
        var rows = QueryRows(context: opened.context, entity: entity, columns: columns, reader: store.reader)
        rows.predicate = try predicateText.map { text throws(ToolError) in
            try PredicateResolver.predicate(text, for: entity, identities: ObjectIdentities(opened))
        }
        rows.sortDescriptors = try sortKeys.map { try descriptor($0.key, $0.ascending, entity) }
        rows.limit = limit
        rows.offset = offset
        let table = store.survey.tables.first { $0.entities.contains { $0.name == entity.name } }
        rows.checks = table.map {
            CellChecks($0, entity: entity, properties: Set(columns.map(\.name)), file: store.file)
        }
        var writer = format.make(columns, width: console.columns)
        do {
            if writer.needsAllRows { _ = try rows.forEach { writer.measure($0) } }
            let outcome = try rows.forEach { try writer.write($0, to: console.output) }
            try writer.finish(rowCount: outcome.count, to: console.output)
            for problem in outcome.problems { try console.warn(problem) }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, store.file)
        }
        return .success
    }

    private func descriptor(_ key: String, _ ascending: Bool, _ entity: NSEntityDescription) throws -> NSSortDescriptor
    {
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
