import CSQLite
import Foundation

// Fetches and reads of rows: of the current state or, with the backend of a pinned generation, of
// an earlier one.
extension SQLiteStore {
    var concurrentReads: Int { openPool?.concurrentReads ?? 1 }

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult { try fetch(plan, in: backend()) }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        try readRows(keys, of: entity, in: backend())
    }

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        try relatedRows(to: key, through: slot, of: entity, in: backend())
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        try relatedRows(toAll: keys, through: slot, of: entity, in: backend())
    }

    func fetch(_ plan: StoreFetch, in backend: SQLiteBackend) throws -> StoreFetchResult {
        if plan.shape == .dictionaries { return .dictionaries(try fetchDictionaries(plan, backend)) }
        let fetch = try backend.statement(for: plan, in: self)
        return try run(fetch.sql, fetch.arguments.map(\.value), plan, fetch.entity, backend)
    }

    private func run(
        _ sql: String, _ arguments: [StoredValue], _ plan: StoreFetch, _ entity: SQLEntity, _ backend: SQLiteBackend
    ) throws -> StoreFetchResult {
        switch plan.shape {
        case .rows:
            let select = backend.selectPlan(entity, includesSubentities: plan.includesSubentities)
            return .rows(
                try readRows(select, backend, expected: plan.limit > 0 ? plan.limit : 64) { connection, body in
                    try connection.read(sql, arguments, body)
                })
        case .references:
            let only = plan.isOfOneEntity ? entity.layout.index : nil
            var references = FetchedReferences(of: entity.layout.index)
            try backend.pool.read { connection in
                try connection.query(sql, arguments) { row in
                    guard let index = only ?? backend.mapping.layoutIndex(forNumber: row.int64(0), of: entity.layout)
                    else { return }
                    references.append(RowReference(key: row.int64(1), layoutIndex: index))
                }
            }
            references.areDistinct = true
            return .references(references)
        case .count:
            let count = try backend.pool.read { try $0.integer(sql, arguments) }
            return .count(Int(count ?? 0))
        case .dictionaries:
            return .dictionaries([])
        }
    }

    /// Runs a statement that returns each whole row once, and publishes the rows in the cache.
    private func readRows(
        _ select: SelectPlan<RowDecoder>, _ backend: SQLiteBackend, expected: Int, upTo bytes: Int = .max,
        running statement: (SQLiteConnection, (SQLiteStatement) throws -> Void) throws -> Void
    ) throws -> FetchedRows {
        let cache = backend.rowCache(of: select.columns.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            var collector = RowCollector(select, expectedRows: expected, mostBytes: bytes)
            try statement(connection) { try collector.readAll($0) }
            var rows = collector.finish(in: cache, readAt: generation)
            rows.areDistinct = true
            return rows
        }
    }

    func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (
        rows: FetchedRows, rest: [Int64]
    ) {
        let rows = try readRows(keys, of: entity, in: backend(), upTo: bytes)
        guard rows.pages.reduce(0, { $0 + $1.heapCount }) > bytes else { return (rows, []) }
        let read = withExtendedLifetime(rows) { Set(rows.rows.lazy.map(\.rowKey)) }
        return (rows, keys.filter { !read.contains($0) })
    }

    func readRows(
        _ keys: [Int64], of entity: EntityLayout, in backend: SQLiteBackend, upTo bytes: Int = .max
    ) throws -> FetchedRows {
        if keys.isEmpty { return FetchedRows() }
        let select = backend.selectPlan(try backend.entity(entity), includesSubentities: true)
        if keys.count == 1 {
            let sql = select.columns.statement(for: .one)
            return try readRows(select, backend, expected: 1) { connection, body in
                try connection.read(sql, keys[0], body)
            }
        }
        let keys = SQLKeys(keys, backend.mapping.dialect)
        let sql = select.columns.statement(for: keys.form)
        return try readRows(select, backend, expected: keys.count, upTo: bytes) { connection, body in
            try connection.read(sql, keys, body)
        }
    }

    // MARK: - Relationships

    func relatedRows(
        to key: Int64, through slot: PropertySlot, of entity: EntityLayout, in backend: SQLiteBackend
    ) throws -> FetchedRows {
        let plan = try backend.relatedRowsPlan(slot, of: entity, .one)
        let cache = backend.rowCache(of: plan.select.columns.entity.layout)
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

    func relatedRows(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout, in backend: SQLiteBackend
    ) throws -> RelatedRows {
        if keys.isEmpty { return RelatedRows() }
        let keys = SQLKeys(keys, backend.mapping.dialect)
        var plan = try backend.relatedRowsPlan(slot, of: entity, keys.form)
        let cache = backend.rowCache(of: plan.select.columns.entity.layout)
        let generation = cache.generation
        return try backend.pool.read { connection in
            if try plan.isMostOfTable(keys, connection) {
                plan = try backend.relatedRowsPlan(slot, of: entity, keys.form, readsTable: true)
            }
            var collector = RowCollector(plan.select, expectedRows: keys.count)
            try connection.read(plan.sql, keys) { try collector.readAll($0, owner: plan.owner) }
            var related = RelatedRows()
            related.rows = collector.finish(in: cache, readAt: generation)
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
        let keys = SQLKeys(keys, backend.mapping.dialect)
        var related = try RelatedReferences(through: slot, of: entity, owners: keys.form, in: backend.mapping)
        try backend.pool.read { connection in
            try connection.read(related.sql, keys) { row in
                while try row.step() {
                    related.append(entityNumber: row.int64(0), key: row.int64(1), owner: row.int64(3))
                }
            }
        }
        return related.references
    }
}
