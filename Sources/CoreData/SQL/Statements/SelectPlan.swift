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

    package func noteHeap(bytes: Int, rows: Int) {
        // Adds an eighth, because rows differ in size.
        lastHeapBytes.store(bytes / rows + bytes / rows / 8 + 1, ordering: .relaxed)
    }

    package func decoder(forEntityNumber number: Int64) -> Decoder? {
        mapping.layoutIndex(forNumber: number).flatMap { decoders[$0] }
    }
}
