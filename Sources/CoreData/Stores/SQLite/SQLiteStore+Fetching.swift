import CSQLite
import Foundation

// Fetches and reads of rows.
extension SQLiteStore {
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult {
        let backend = try backend()
        if plan.shape == .dictionaries { return .dictionaries(try fetchDictionaries(plan, backend)) }
        let generator = SQLGenerator(mapping: backend.mapping, store: self)
        let entity = try generator.entity(plan.entity)
        let scope = generator.newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let condition = try plan.predicate.map { try generator.condition($0, in: environment) }
        let order = plan.shape == .count ? SQLText("") : try generator.order(plan.sortDescriptors, in: scope)
        let source = generator.source(scope, where: [condition], includesSubentities: plan.includesSubentities)
        let limits = Self.limits(plan)

        switch plan.shape {
        case .rows:
            let select = backend.selectPlan(entity, includesSubentities: plan.includesSubentities)
            let query = "SELECT " + select.columns + source + order + limits
            return .rows(try readRows(query, select, backend, expected: plan.limit > 0 ? plan.limit : 256))
        case .references:
            let isSingle = !plan.includesSubentities || entity.layout.familyIndexes.count == 1
            let query = "SELECT \(isSingle ? "0" : "t0.Z_ENT"), t0.Z_PK" + source + order + limits
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
            let query =
                limits.sql.isEmpty
                ? "SELECT COUNT(*)" + source : "SELECT COUNT(*) FROM (SELECT 1" + source + limits + ")"
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

    /// Runs a query for whole rows and publishes them.
    private func readRows(
        _ query: SQLText, _ select: SelectPlan, _ backend: SQLiteBackend, expected: Int
    ) throws -> FetchedRows {
        let cache = backend.rowCache(of: select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(select, expectedRows: expected)
            let statement = try connection.statement(query.sql)
            statement.isInUse = true
            defer {
                statement.reset()
                statement.isInUse = false
            }
            statement.bind(query.arguments)
            try collector.readAll(statement)
            return collector.finish(in: cache, readAt: generation)
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
        let query = try relatedQuery(slot, of: entity, backend, condition: "= ?")
        return try readRows(SQLText(query.sql, [.integer(key)]), query.select, backend, expected: 16)
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        if keys.isEmpty { return RelatedRows() }
        let backend = try backend()
        let query = try relatedQuery(slot, of: entity, backend, condition: "IN (SELECT value FROM json_each(?))")
        let cache = backend.rowCache(of: query.select.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var related = RelatedRows()
            var collector = RowCollector(query.select, expectedRows: keys.count)
            try connection.query(query.sql, [.string(SQLList.json(keys))]) { row in
                // The owner's key stands behind the columns of the row.
                let owner = row.int64(sqlite3_column_count(row.handle) - 1)
                if collector.append(row) { related.ownerKeys.append(owner) }
            }
            related.rows = collector.finish(in: cache, readAt: generation)
            return related
        }
    }

    /// A query for destination rows whose last column is the owner's key.
    private func relatedQuery(
        _ slot: PropertySlot, of entity: EntityLayout, _ backend: SQLiteBackend, condition: String
    ) throws -> (sql: String, select: SelectPlan) {
        let owner = try backend.entity(entity)
        guard slot.destinationIndex >= 0, let destination = backend.mapping.entities[slot.destinationIndex] else {
            throw CoreDataErrors.make(
                .coreData,
                "The destination of '\(slot.name)' of entity '\(entity.name)' is not kept in this store.")
        }
        let select = backend.selectPlan(destination, includesSubentities: true)
        let table = SQLSchema.identifier(destination.table.name)
        if let column = owner.columns[slot.index], slot.kind == .toOne {
            let key = SQLSchema.identifier(column.name)
            return (
                "SELECT \(select.columns), o.Z_PK FROM \(SQLSchema.identifier(owner.table.name)) o JOIN \(table) t0 "
                    + "ON o.\(key) = t0.Z_PK WHERE o.Z_PK \(condition)", select
            )
        }
        switch owner.toMany[slot.index] {
        case .inverse(let column, _, let isOrdered)?:
            let key = "t0." + SQLSchema.identifier(column.name)
            var order = ""
            if isOrdered, let position = column.orderColumn {
                order = " ORDER BY \(key), t0.\(SQLSchema.identifier(position)), t0.Z_PK"
            }
            return ("SELECT \(select.columns), \(key) FROM \(table) t0 WHERE \(key) \(condition)\(order)", select)
        case .join(let join, let isFirst)?:
            let key = "j." + SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))
            let link = "j." + SQLSchema.identifier(join.destinationColumn(isFirst: isFirst))
            var order = ""
            if let position = join.orderColumn(isFirst: isFirst) {
                order = " ORDER BY \(key), j.\(SQLSchema.identifier(position)), t0.Z_PK"
            }
            return (
                "SELECT \(select.columns), \(key) FROM \(SQLSchema.identifier(join.name)) j JOIN \(table) t0 "
                    + "ON \(link) = t0.Z_PK WHERE \(key) \(condition)\(order)", select
            )
        case nil:
            throw CoreDataErrors.make(
                .coreData, "'\(slot.name)' of entity '\(entity.name)' is no stored relationship.")
        }
    }
}
