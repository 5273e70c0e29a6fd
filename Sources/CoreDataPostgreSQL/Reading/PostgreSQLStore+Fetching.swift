import CoreData
import Foundation

extension PostgreSQLStore {
    var concurrentReads: Int { max((openPool?.configuration.maximumConnections ?? 0) - 1, 1) }

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        let backend = try backend()
        if plan.shape == .dictionaries { return .dictionaries(try fetchDictionaries(plan, backend)) }
        let fetch = try backend.statement(for: plan, in: self)
        return try run(statement(fetch.sql, fetch.arguments, isKept: fetch.isKept), plan, fetch.entity, backend)
    }

    /// - Throws: code 134060 for a value that no column can have.
    func statement(_ sql: String, _ arguments: [SQLArgument], isKept: Bool = false) throws -> WireStatement {
        var wired = WireArguments()
        for argument in arguments {
            do throws(WireValue.Refusal) { try wired.append(argument) } catch {
                throw CoreDataErrors.unanswerable(
                    "\(argument.value)", by: "PostgreSQL store", "the value " + error.reason,
                    advice: "Change the request, or filter and sort in memory.")
            }
        }
        return WireStatement(sql, wired, isKept: isKept)
    }

    private func run(
        _ statement: WireStatement, _ plan: StoreFetch, _ entity: SQLEntity, _ backend: PostgreSQLBackend
    ) throws -> StoreFetchResult {
        switch plan.shape {
        case .rows:
            let select = backend.selectPlan(entity, includesSubentities: plan.includesSubentities)
            return .rows(
                try readRows(
                    select, backend, [statement], expected: plan.limit > 0 ? plan.limit : 64, isCancellable: true))
        case .references:
            let only = plan.isOfOneEntity ? entity.layout.index : nil
            let references = try withCancellableConnection(backend) { connection in
                var references = FetchedReferences(of: entity.layout.index)
                try connection.execute(statement) { row in
                    guard let index = only ?? backend.mapping.layoutIndex(forNumber: row.int64(0), of: entity.layout)
                    else { return }
                    references.append(RowReference(key: row.int64(1), layoutIndex: index))
                }
                references.areDistinct = true
                return references
            }
            return .references(references)
        case .count:
            return .count(Int(try withCancellableConnection(backend) { try $0.integer(statement) } ?? 0))
        case .dictionaries:
            return .dictionaries([])
        }
    }

    /// Runs a block with a connection whose statement ends when the task that waits for it is
    /// cancelled.
    private func withCancellableConnection<Result>(
        _ backend: PostgreSQLBackend, _ body: (PostgreSQLConnection) throws -> Result
    ) throws -> Result {
        try backend.pool.withConnection(repeats: true) { connection in
            try RequestCancellation.run(ending: connection.wire.statementEnding) { try body(connection) }
        }
    }

    private func fetchDictionaries(_ plan: StoreFetch, _ backend: PostgreSQLBackend) throws -> [[String: Any]] {
        let dictionaries = try DictionaryStatement(plan, SQLGenerator(mapping: backend.mapping, store: self))
        let query = dictionaries.text.statement(backend.mapping.dialect)
        let statement = try statement(query.sql, query.arguments)
        return try withCancellableConnection(backend) { connection in
            var results: [[String: Any]] = []
            try connection.execute(statement) { row in
                results.append(
                    try dictionaries.dictionary(of: row) { reference in
                        NSManagedObjectID(
                            key: reference.key, layout: backend.mapping.layouts.layouts[reference.layoutIndex],
                            store: self)
                    })
            }
            return results
        }
    }

    /// Runs statements for whole rows, each of them once, and publishes the rows.
    private func readRows(
        _ select: SelectPlan<PostgreSQLDecoder>, _ backend: PostgreSQLBackend, _ statements: [WireStatement],
        expected: Int,
        isCancellable: Bool = false
    ) throws -> FetchedRows {
        let cache = backend.rowCache(of: select.columns.entity.layout)
        func read(_ connection: PostgreSQLConnection) throws -> FetchedRows {
            let generation = cache.generation
            var collector = PostgreSQLRowCollector(select, expectedRows: expected)
            if statements.count == 1 {
                try connection.execute(statements[0]) { collector.append($0) }
            } else {
                try connection.executeAll(statements) { collector.append($1) }
            }
            var rows = try collector.finish(in: cache, readAt: generation)
            rows.areDistinct = true
            return rows
        }
        return isCancellable
            ? try withCancellableConnection(backend, read) : try backend.pool.withConnection(repeats: true, read)
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        if keys.isEmpty { return FetchedRows() }
        let backend = try backend()
        let select = backend.selectPlan(try backend.entity(entity), includesSubentities: true)
        let wanted = SQLKeys(keys, backend.mapping.dialect)
        return try readRows(
            select, backend, try self.statements(select.columns.statement(for: wanted.form), wanted),
            expected: keys.count)
    }

    /// Reads as many rows as take a number of bytes if they are like the last ones. The server
    /// sends everything that it was asked for, so the number of rows is limited.
    func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (
        rows: FetchedRows, rest: [Int64]
    ) {
        let backend = try backend()
        let likely = backend.selectPlan(try backend.entity(entity), includesSubentities: true).heapBytesPerRow
        let holdsBytes = entity.slots.contains { $0.kind == .data || $0.kind == .transformable }
        let count = max(1, min(bytes / max(1, likely), holdsBytes ? Self.mostRowsWithBytes : keys.count))
        return (try readRows(Array(keys.prefix(count)), of: entity), Array(keys.dropFirst(count)))
    }

    /// The largest number of rows with values of bytes, whose sizes differ most.
    private static let mostRowsWithBytes = 256

    /// Returns a statement for each part of the keys.
    private func statements(_ sql: String, _ keys: SQLKeys) throws -> [WireStatement] {
        try keys.arguments.map { try statement(sql, $0, isKept: true) }
    }

    // MARK: - Relationships

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        try relatedRows(toAll: [key], through: slot, of: entity).rows
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        if keys.isEmpty { return RelatedRows() }
        let backend = try backend()
        let wanted = SQLKeys(keys, backend.mapping.dialect)
        let plan = try backend.relatedRowsPlan(slot, of: entity, wanted.form)
        let cache = backend.rowCache(of: plan.select.columns.entity.layout)
        let statements = try statements(plan.sql, wanted)
        return try backend.pool.withConnection(repeats: true) { connection in
            let generation = cache.generation
            var collector = PostgreSQLRowCollector(plan.select, expectedRows: keys.count)
            try connection.executeAll(statements) { collector.append($1, owner: plan.owner) }
            var related = RelatedRows()
            related.rows = try collector.finish(in: cache, readAt: generation)
            related.rows.areDistinct = plan.isInverse
            related.ownerKeys = collector.ownerKeys
            return related
        }
    }

    func relatedReferences(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout
    ) throws -> [Int64: [RowReference]] {
        if keys.isEmpty { return [:] }
        let backend = try backend()
        let wanted = SQLKeys(keys, backend.mapping.dialect)
        let made = try RelatedReferences(through: slot, of: entity, owners: wanted.form, in: backend.mapping)
        let statements = try statements(made.sql, wanted)
        return try backend.pool.withConnection(repeats: true) { connection in
            var related = made
            try connection.executeAll(statements) { _, row in
                related.append(entityNumber: row.int64(0), key: row.int64(1), owner: row.int64(3))
            }
            return related.references
        }
    }
}
