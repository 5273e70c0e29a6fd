import CSQLite
import Foundation

// Fetches and reads of rows.
extension SQLiteStore {
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        let backend = try backend()
        if plan.shape == .dictionaries { return .dictionaries(try fetchDictionaries(plan, backend)) }
        let generator = SQLGenerator(mapping: backend.mapping, store: self)
        if let (statement, arguments) = backend.fetchStatement(for: plan, generator) {
            return try run(SQLText(statement.sql, arguments), plan, statement.entity, backend)
        }
        let entity = try generator.entity(plan.entity)
        let query = try query(plan, entity, generator, backend)
        if let statement = FetchStatement(
            plan, entity: entity, query: query, others: generator.othersOfConstants, generator)
        {
            backend.keep(statement)
        }
        return try run(query, plan, entity, backend)
    }

    /// The SQL of a fetch.
    private func query(
        _ plan: StoreFetch, _ entity: SQLEntity, _ generator: SQLGenerator, _ backend: SQLiteBackend
    ) throws -> SQLText {
        let scope = generator.newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let condition = try plan.predicate.map { try generator.condition($0, in: environment) }
        let order = plan.shape == .count ? SQLText("") : try generator.order(plan.sortDescriptors, in: scope)
        let source = generator.source(
            scope, where: [condition, Self.exclusion(plan)], includesSubentities: plan.includesSubentities)
        let limits = Self.limits(plan)
        switch plan.shape {
        case .rows, .dictionaries:
            let columns = backend.selectPlan(entity, includesSubentities: plan.includesSubentities).columns
            return ("SELECT " + columns) + source + order + limits
        case .references:
            return "SELECT \(Self.isSingle(plan, entity) ? "0" : "t0.Z_ENT"), t0.Z_PK" + source + order + limits
        case .count:
            return limits.sql.isEmpty
                ? "SELECT COUNT(*)" + source : "SELECT COUNT(*) FROM (SELECT 1" + source + limits + ")"
        }
    }

    /// Whether all rows are of one entity.
    private static func isSingle(_ plan: StoreFetch, _ entity: SQLEntity) -> Bool {
        !plan.includesSubentities || entity.layout.familyIndexes.count == 1
    }

    private func run(
        _ query: SQLText, _ plan: StoreFetch, _ entity: SQLEntity, _ backend: SQLiteBackend
    ) throws -> StoreFetchResult {
        switch plan.shape {
        case .rows:
            let select = backend.selectPlan(entity, includesSubentities: plan.includesSubentities)
            return .rows(
                try readRows(select, backend, expected: plan.limit > 0 ? plan.limit : 64) { connection, body in
                    try connection.read(query.sql, query.arguments, body)
                })
        case .references:
            let isSingle = Self.isSingle(plan, entity)
            var references: [RowReference] = []
            try backend.pool.read { connection in
                try connection.query(query.sql, query.arguments) { row in
                    guard isSingle else {
                        // Rows of no entity that was asked for are damaged.
                        if let index = backend.mapping.layoutIndex(forNumber: row.int64(0)),
                            backend.mapping.layouts.layouts[index].isKind(of: entity.layout)
                        {
                            references.append(RowReference(key: row.int64(1), layoutIndex: index))
                        }
                        return
                    }
                    references.append(RowReference(key: row.int64(1), layoutIndex: entity.layout.index))
                }
            }
            return .references(references)
        case .count:
            let count = try backend.pool.read { try $0.integer(query.sql, query.arguments) }
            return .count(Int(count ?? 0))
        case .dictionaries:
            return .dictionaries([])
        }
    }

    /// What leaves the excluded rows out; nil when there are none.
    static func exclusion(_ plan: StoreFetch) -> SQLText? {
        if plan.excludedKeys.isEmpty { return nil }
        // One text, whatever their number: the statement stays the same, and SQLite allows a limited number of parameters.
        return SQLText(
            "t0.Z_PK NOT IN (SELECT value FROM json_each(?))", [.string(SQLList.json(plan.excludedKeys.sorted()))])
    }

    /// ` LIMIT … OFFSET …`, empty when the fetch has neither.
    static func limits(_ plan: StoreFetch) -> SQLText {
        guard plan.limit > 0 || plan.offset > 0 else { return SQLText("") }
        let limit = PropertyValue.integer(plan.limit > 0 ? Int64(plan.limit) : -1)
        if plan.offset <= 0 { return SQLText(" LIMIT ?", [limit]) }
        return SQLText(" LIMIT ? OFFSET ?", [limit, .integer(Int64(plan.offset))])
    }

    /// Runs a statement for whole rows, each of them once, and publishes them.
    private func readRows(
        _ select: SelectPlan, _ backend: SQLiteBackend, expected: Int,
        running statement: (SQLiteConnection, (SQLiteStatement) throws -> Void) throws -> Void
    ) throws -> FetchedRows {
        let cache = backend.rowCache(of: select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(select, expectedRows: expected)
            try statement(connection) { try collector.readAll($0) }
            var rows = collector.finish(in: cache, readAt: generation)
            rows.areDistinct = true
            return rows
        }
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        if keys.isEmpty { return FetchedRows() }
        let backend = try backend()
        let select = backend.selectPlan(try backend.entity(entity), includesSubentities: true)
        let keys = SelectedKeys(keys)
        let sql = select.statement(for: keys.form)
        return try readRows(select, backend, expected: keys.count) { connection, body in
            try connection.read(sql, keys, body)
        }
    }

    // MARK: - Relationships

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        let backend = try backend()
        let plan = try backend.relatedRowsPlan(slot, of: entity, .one)
        let cache = backend.rowCache(of: plan.select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(plan.select, expectedRows: plan.expectedRows)
            try connection.read(plan.sql, key) { try collector.readAll($0) }
            var rows = collector.finish(in: cache, readAt: generation)
            // A join table may list a row twice in a damaged file.
            rows.areDistinct = plan.isInverse
            plan.noteRows(rows.rows.count)
            return rows
        }
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        if keys.isEmpty { return RelatedRows() }
        let backend = try backend()
        let keys = SelectedKeys(keys)
        let plan = try backend.relatedRowsPlan(slot, of: entity, keys.form)
        let cache = backend.rowCache(of: plan.select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(plan.select, expectedRows: keys.count)
            try connection.read(plan.sql, keys) { try collector.readAll($0, owner: plan.owner) }
            var related = RelatedRows()
            related.rows = collector.finish(in: cache, readAt: generation)
            related.rows.areDistinct = plan.isInverse
            related.ownerKeys = collector.ownerKeys
            return related
        }
    }
}
