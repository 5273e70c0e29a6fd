import Synchronization

/// Decodes the results of a statement that reads whole rows of an entity and, perhaps, its
/// subentities. Each entity has its own decoder.
package final class SelectPlan<Decoder: AnyObject>: @unchecked Sendable {
    // Sendable: only an atomic number changes after `init`; decoders are read-only.

    package let columns: SelectColumns
    /// The decoder of all rows, if all rows are of one entity.
    package let only: Decoder?
    /// The decoders by layout index.
    private let decoders: [Decoder?]
    private let mapping: SQLMapping
    /// The number of bytes that a row's texts and blobs took in the last result, which sizes the
    /// pages of the next one.
    private let lastHeapBytes = Atomic<Int>(0)

    package init(_ columns: SelectColumns, mapping: SQLMapping, decoder: (SQLEntity) -> Decoder) {
        self.columns = columns
        self.mapping = mapping
        var table: [Decoder?] = Array(repeating: nil, count: mapping.layouts.layouts.count)
        for member in columns.family { table[member.layout.index] = decoder(member) }
        decoders = table
        only = columns.isSingle ? table[columns.entity.layout.index] : nil
    }

    package var heapBytesPerRow: Int { lastHeapBytes.load(ordering: .relaxed) }

    /// Returns the rows that builders have collected.
    ///
    /// - Parameters:
    ///   - only: the builder of a plan of one entity: the rows of its pages are the result.
    ///   - builders: the builders of a plan of several entities, by layout index.
    ///   - mixedRows: the rows of those, in order.
    package func finish(
        _ only: inout RowPageBuilder?, _ builders: inout ContiguousArray<RowPageBuilder?>,
        _ mixedRows: ContiguousArray<RowPointer>
    ) -> FetchedRows {
        var pages: [RowPage] = only?.finish() ?? []
        for index in builders.indices { pages += builders[index]?.finish() ?? [] }
        let fetched = self.only == nil ? FetchedRows(rows: mixedRows, pages: pages) : FetchedRows(pagesInOrder: pages)
        if !fetched.rows.isEmpty {
            let bytes = pages.reduce(0) { $0 + $1.heapCount } / fetched.rows.count
            // Adds an eighth, because rows differ in size.
            lastHeapBytes.store(bytes + bytes / 8 + 1, ordering: .relaxed)
        }
        return fetched
    }

    package func decoder(forEntityNumber number: Int64) -> Decoder? {
        mapping.layoutIndex(forNumber: number).flatMap { decoders[$0] }
    }
}
