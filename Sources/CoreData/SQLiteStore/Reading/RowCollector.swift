import CSQLite

/// Collects rows of one hierarchy, each in pages of its own entity.
struct RowCollector {
    private let plan: SelectPlan<RowDecoder>
    private let expectedRows: Int
    /// The limit for bytes of texts and blobs; reading stops once the rows exceed it.
    private let mostBytes: Int
    /// The page builder of a plan of one entity: the rows of its pages are the result.
    private var only: RowPageBuilder?
    /// The page builders of a plan of several entities, by layout index.
    private var builders: ContiguousArray<RowPageBuilder?> = []
    /// The rows of a plan of several entities, in order.
    private var mixedRows: ContiguousArray<RowPointer> = []
    /// The owner's key of each row.
    private(set) var ownerKeys: ContiguousArray<Int64> = []

    init(_ plan: SelectPlan<RowDecoder>, expectedRows: Int, mostBytes: Int = .max) {
        self.plan = plan
        self.mostBytes = mostBytes
        self.expectedRows = expectedRows
    }

    private func makeBuilder(_ layout: EntityLayout) -> RowPageBuilder {
        RowPageBuilder(layout: layout, expectedRows: expectedRows, heapBytesPerRow: plan.heapBytesPerRow)
    }

    /// Whether the byte limit is exceeded, so that no more rows are read.
    private var isFull: Bool {
        mostBytes < .max && (only?.heapBytes ?? 0) + builders.reduce(0) { $0 + ($1?.heapBytes ?? 0) } > mostBytes
    }

    /// Reads all rows of a bound statement.
    ///
    /// - Parameter owner: the position of the key of each row's owner; nil when it is not needed.
    mutating func readAll(_ statement: SQLiteStatement, owner: OwnerKey? = nil) throws {
        if isFull { return }
        guard let decoder = plan.only else {
            let column = owner == nil ? -1 : sqlite3_column_count(statement.handle) - 1
            while try statement.step() {
                if append(statement), column >= 0 { ownerKeys.append(statement.int64(column)) }
                if isFull { break }
            }
            for builder in builders { try builder?.requireWholeRows() }
            return
        }
        var builder = only ?? makeBuilder(decoder.layout)
        var keys = ownerKeys
        ownerKeys = []
        defer {
            only = builder
            ownerKeys = keys
        }
        switch owner {
        case nil: try Self.readAll(statement, decoder, into: &builder, upTo: mostBytes) { _ in }
        case .slot(let slot)?:
            try Self.readAll(statement, decoder, into: &builder) { keys.append(Int64(bitPattern: $0[slot])) }
        case .lastColumn?:
            let column = sqlite3_column_count(statement.handle) - 1
            try Self.readAll(statement, decoder, into: &builder) { _ in keys.append(statement.int64(column)) }
        }
        try builder.requireWholeRows()
    }

    /// Reads all rows, which belong to one entity, and passes each to `note`.
    @inline(__always)
    private static func readAll(
        _ statement: SQLiteStatement, _ decoder: RowDecoder, into builder: inout RowPageBuilder, upTo bytes: Int = .max,
        note: (RowPointer) -> Void
    ) throws {
        let handle = statement.handle
        var hasRow = try statement.step()
        while hasRow, builder.heapBytes <= bytes {
            let page = builder.pageWithRoom()
            repeat {
                let row = page.appendRow(key: sqlite3_column_int64(handle, 1), version: sqlite3_column_int64(handle, 2))
                decoder.decode(handle, into: row, of: page)
                note(row)
                hasRow = try statement.step()
            } while hasRow && page.hasRoom
        }
    }

    /// Reads the current row of a plan of several entities; skips a row of an entity that the model
    /// does not know.
    ///
    /// - Returns: whether a row was appended.
    private mutating func append(_ statement: SQLiteStatement) -> Bool {
        let handle = statement.handle
        guard let decoder = plan.decoder(forEntityNumber: sqlite3_column_int64(handle, 0)) else { return false }
        let index = decoder.layout.index
        while builders.count <= index { builders.append(nil) }
        if builders[index] == nil { builders[index] = makeBuilder(decoder.layout) }
        if let row = builders[index]?.append(handle, decoder) { mixedRows.append(row) }
        return true
    }

    /// Returns the rows, published in the cache.
    ///
    /// - Parameter generation: the cache's generation from before the first row was read.
    mutating func finish(in cache: RowCache, readAt generation: Int) -> FetchedRows {
        let fetched = finishUnpublished()
        if !fetched.pages.isEmpty { cache.insert(fetched.pages, readAt: generation) }
        return fetched
    }

    /// Returns the rows without publishing them; the caller may do so later.
    mutating func finishUnpublished() -> FetchedRows { plan.finish(&only, &builders, mixedRows) }
}

extension RowPageBuilder {
    fileprivate mutating func append(_ statement: OpaquePointer, _ decoder: RowDecoder) -> RowPointer {
        let row = appendRow(key: sqlite3_column_int64(statement, 1), version: sqlite3_column_int64(statement, 2))
        decoder.decode(statement, into: row, of: page)
        return row
    }
}
