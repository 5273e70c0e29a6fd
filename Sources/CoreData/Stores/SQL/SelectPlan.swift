import Synchronization

/// How the results of a statement that reads whole rows of an entity and, perhaps, its subentities become rows: a decoder for each entity.
package final class SelectPlan<Decoder: AnyObject>: @unchecked Sendable {
    // Sendable: never changed after `init`, but for a number that is atomic; decoders are read-only.

    package let columns: SelectColumns
    /// Set when all rows are of one entity.
    package let only: Decoder?
    /// By layout index.
    private let decoders: [Decoder?]
    private let mapping: SQLMapping
    /// How many bytes the texts and blobs of a row took in the last result, so that the next one's pages fit.
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

    package func noteHeap(bytes: Int, rows: Int) {
        // An eighth more, for rows differ.
        lastHeapBytes.store(bytes / rows + bytes / rows / 8 + 1, ordering: .relaxed)
    }

    package func decoder(forEntityNumber number: Int64) -> Decoder? {
        mapping.layoutIndex(forNumber: number).flatMap { decoders[$0] }
    }
}
