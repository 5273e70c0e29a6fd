import Foundation

/// One save applied to tables in memory.
///
/// It checks conflicts first, then changes rows, then relationships, then derived attributes.
struct MemorySave {
    private(set) var outcome = SaveOutcome()
    /// New pages to publish, with the layout of their rows.
    private(set) var pages: [(layout: EntityLayout, pages: [RowPage])] = []
    /// Rows that the save deleted.
    private(set) var removed: [(layout: EntityLayout, key: Int64)] = []

    /// - Throws: `SaveConflicts` when another context changed the rows or uniqueness constraints
    ///   fail; the tables are then unchanged.
    init(
        _ batch: SaveBatch, to tables: inout MemoryTables, derivation: MemoryDerivation?, store: NSPersistentStore
    ) throws {
        var conflicts = SaveConflicts()
        MemorySave.check(batch.updates, .update, in: tables, &conflicts)
        MemorySave.check(batch.deletes, .delete, in: tables, &conflicts)
        MemorySave.check(batch.versionChecks, .check, in: tables, &conflicts)
        // New keys are unique. Only a row that replaces a deleted one may conflict with another
        // row.
        for (index, change) in batch.inserts.enumerated() where change.insertedVersion > 1 {
            guard let current = tables.row(change.key, of: change.layout) else { continue }
            conflicts.rows.append(SaveConflicts.RowConflict(change: .insert, index: index, current: current))
        }
        conflicts.violations = tables.violations(of: batch)
        guard conflicts.rows.isEmpty, conflicts.violations.isEmpty else { throw conflicts }

        var builders: [Int: RowPageBuilder] = [:]
        var counts: [Int: Int] = [:]
        for change in batch.inserts + batch.updates { counts[change.layout.index, default: 0] += 1 }
        let inserted = batch.inserts.map { change in
            MemorySave.row(for: change, base: nil, counts, &builders)
        }
        let updated = batch.updates.map { change in
            MemorySave.row(for: change, base: tables.row(change.key, of: change.layout), counts, &builders)
        }
        for builder in builders.values { try builder.requireWholeRows() }
        for change in batch.deletes {
            tables.remove(change.key, of: change.layout)
            removed.append((change.layout, change.key))
        }
        // Retained before the builders are released.
        for row in inserted { tables.put(Snapshot(retaining: row)) }
        for row in updated { tables.put(Snapshot(retaining: row)) }
        tables.apply(batch.relationshipChanges)

        for index in Array(builders.keys) {
            guard var builder = builders.removeValue(forKey: index) else { continue }
            let layout = builder.layout
            pages.append((layout, builder.finish()))
        }
        if let derivation, !derivation.isEmpty {
            for (layout, derivedPages) in derivation.rows(after: batch, in: tables, store: store) {
                pages.append((layout, derivedPages))
                for page in derivedPages {
                    for index in 0..<page.rowCount { tables.put(Snapshot(row: page.row(at: index), page: page)) }
                }
            }
        }
        // As the tables have them now, with their derived values.
        outcome.inserted = FetchedRows(batch.inserts.compactMap { tables.row($0.key, of: $0.layout) })
        outcome.updated = FetchedRows(batch.updates.compactMap { tables.row($0.key, of: $0.layout) })
    }

    private static func check(
        _ changes: [RowChange], _ kind: SaveConflicts.RowConflict.Change, in tables: MemoryTables,
        _ conflicts: inout SaveConflicts
    ) {
        for (index, change) in changes.enumerated() {
            guard let base = change.base else { continue }
            let current = tables.row(change.key, of: change.layout)
            if let current, current.version == base.version { continue }
            conflicts.rows.append(SaveConflicts.RowConflict(change: kind, index: index, current: current))
        }
    }

    private static func row(
        for change: RowChange, base: Snapshot?, _ counts: [Int: Int], _ builders: inout [Int: RowPageBuilder]
    ) -> RowPointer {
        let layout = change.layout
        var builder =
            builders.removeValue(forKey: layout.index)
            ?? RowPageBuilder(layout: layout, expectedRows: counts[layout.index] ?? 1)
        let row = builder.appendRow(key: change.key, version: base.map { $0.version + 1 } ?? change.insertedVersion)
        for slot in 0..<layout.storedCount {
            if let values = change.values, values.has(slot) {
                builder.set(row, slot, values[slot])
            } else if let base {
                builder.set(row, slot, base.value(slot))
            } else {
                builder.set(row, slot, .null)
            }
        }
        builders[layout.index] = builder
        return row
    }
}
