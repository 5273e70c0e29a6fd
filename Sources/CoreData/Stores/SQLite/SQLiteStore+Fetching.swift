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
        let source = generator.source(scope, where: [condition], includesSubentities: plan.includesSubentities)
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
                try readRows(query, select, backend, expected: plan.limit > 0 ? plan.limit : 64, areKept: plan.areRowsKept))
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

    /// ` LIMIT … OFFSET …`, empty when the fetch has neither.
    static func limits(_ plan: StoreFetch) -> SQLText {
        guard plan.limit > 0 || plan.offset > 0 else { return SQLText("") }
        let limit = PropertyValue.integer(plan.limit > 0 ? Int64(plan.limit) : -1)
        if plan.offset <= 0 { return SQLText(" LIMIT ?", [limit]) }
        return SQLText(" LIMIT ? OFFSET ?", [limit, .integer(Int64(plan.offset))])
    }

    /// Runs a query for whole rows, each of them once, and publishes them if they are to be kept.
    private func readRows(
        _ query: SQLText, _ select: SelectPlan, _ backend: SQLiteBackend, expected: Int, areKept: Bool = true
    ) throws -> FetchedRows {
        let cache = backend.rowCache(of: select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(select, expectedRows: expected)
            try connection.read(query.sql, query.arguments) { try collector.readAll($0) }
            var rows = areKept ? collector.finish(in: cache, readAt: generation) : collector.finishUnpublished()
            rows.areDistinct = true
            return rows
        }
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        if keys.isEmpty { return FetchedRows() }
        let backend = try backend()
        let select = backend.selectPlan(try backend.entity(entity), includesSubentities: true)
        let from = "SELECT \(select.columns) FROM \(SQLSchema.identifier(select.entity.table.name)) t0 WHERE t0.Z_PK "
        if keys.count == 1 {
            return try readRows(SQLText(from + "= ?", [.integer(keys[0])]), select, backend, expected: 1)
        }
        if let range = Self.range(of: keys) {
            return try readRows(
                SQLText(from + "BETWEEN ? AND ?", [.integer(range.lowerBound), .integer(range.upperBound)]), select, backend,
                expected: keys.count)
        }
        return try readRows(
            SQLText(from + "IN (SELECT value FROM json_each(?))", [.string(SQLList.json(keys))]), select, backend,
            expected: keys.count)
    }

    /// The range of keys that ascend without a gap, which is read faster than single rows; nil for others.
    private static func range(of keys: [Int64]) -> ClosedRange<Int64>? {
        guard let first = keys.first, let last = keys.last, last >= first, last &- first == Int64(keys.count - 1) else {
            return nil
        }
        for (index, key) in keys.enumerated() where key != first &+ Int64(index) { return nil }
        return first...last
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
        let ranges = OwnerKeys.ranges(of: keys)
        let plan = try backend.relatedRowsPlan(slot, of: entity, ranges == nil ? .list : .range)
        let cache = backend.rowCache(of: plan.select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(plan.select, expectedRows: keys.count)
            func read(_ arguments: [PropertyValue]) throws {
                try connection.read(plan.sql, arguments) { try collector.readAll($0, owner: plan.owner) }
            }
            if let ranges {
                for range in ranges { try read([.integer(range.lowerBound), .integer(range.upperBound)]) }
            } else {
                try read([.string(SQLList.json(keys))])
            }
            var related = RelatedRows()
            related.rows = collector.finish(in: cache, readAt: generation)
            related.rows.areDistinct = plan.isInverse
            related.ownerKeys = collector.ownerKeys
            return related
        }
    }
}
