import CoreData

/// Collects rows of one hierarchy, each in pages of its own entity.
struct PostgreSQLRowCollector {
    private let plan: SelectPlan<PostgreSQLDecoder>
    private let expectedRows: Int
    /// The pages of a plan of one entity: their rows are the result.
    private var only: RowPageBuilder?
    /// The pages of a plan of several entities, by layout index.
    private var builders: ContiguousArray<RowPageBuilder?> = []
    /// The rows of a plan of several entities, in order.
    private var mixedRows: ContiguousArray<RowPointer> = []
    /// The values of the owner column, by row.
    private(set) var ownerKeys: ContiguousArray<Int64> = []

    init(_ plan: SelectPlan<PostgreSQLDecoder>, expectedRows: Int) {
        self.plan = plan
        self.expectedRows = expectedRows
        if let decoder = plan.only { only = makeBuilder(decoder.layout) }
    }

    private func makeBuilder(_ layout: EntityLayout) -> RowPageBuilder {
        RowPageBuilder(layout: layout, expectedRows: expectedRows, heapBytesPerRow: plan.heapBytesPerRow)
    }

    /// Reads a row. Skips a row of an entity that the model does not know.
    @inline(__always)
    mutating func append(_ wire: WireRow, owner: OwnerKey? = nil) {
        let key = number(wire, 1)
        let version = number(wire, 2)
        let row: RowPointer
        if let decoder = plan.only {
            // The page appends the row: the builder would be copied with its references for each
            // row.
            guard let page = only?.pageWithRoom() else { return }
            row = page.appendRow(key: key, version: version)
            decoder.decode(wire, into: row, of: page)
        } else {
            guard let decoder = plan.decoder(forEntityNumber: number(wire, 0)) else { return }
            let index = decoder.layout.index
            while builders.count <= index { builders.append(nil) }
            if builders[index] == nil { builders[index] = makeBuilder(decoder.layout) }
            guard let page = builders[index]?.pageWithRoom() else { return }
            row = page.appendRow(key: key, version: version)
            decoder.decode(wire, into: row, of: page)
            mixedRows.append(row)
        }
        switch owner {
        case nil: break
        case .slot(let slot)?: ownerKeys.append(Int64(bitPattern: row[slot]))
        case .lastColumn?: ownerKeys.append(number(wire, wire.count - 1))
        }
    }

    @inline(__always)
    private func number(_ wire: WireRow, _ column: Int) -> Int64 {
        wire.values[column].map { WireValue.integer($0, wire.lengths[column]) } ?? 0
    }

    /// Returns the rows, published in the cache.
    ///
    /// - Parameter generation: the cache's generation from before the first row was read.
    /// - Throws: the reason why a value is missing.
    mutating func finish(in cache: RowCache, readAt generation: Int) throws -> FetchedRows {
        try only?.requireWholeRows()
        for builder in builders { try builder?.requireWholeRows() }
        let fetched = finishUnpublished()
        if !fetched.pages.isEmpty { cache.insert(fetched.pages, readAt: generation) }
        return fetched
    }

    /// Returns the rows, for a caller that publishes them later or never.
    mutating func finishUnpublished() -> FetchedRows { plan.finish(&only, &builders, mixedRows) }
}
