import Foundation

/// Derived attributes of rows in memory; each save that may change them computes them again.
///
/// Attributes that depend only on their own row cost O(rows of the save). An attribute that follows
/// a relationship costs O(rows of its entity) in each save of rows at the other end.
struct MemoryDerivation {
    /// One derived attribute of one entity.
    private struct Derived {
        let slot: PropertySlot
        let expression: NSExpression
        /// The root entities of the other rows that the expression reads.
        let roots: Set<Int>
    }

    private let layouts: ModelLayout
    /// The derived attributes of each entity, by layout index.
    private let derived: [[Derived]]
    let isEmpty: Bool

    init(_ layouts: ModelLayout) {
        self.layouts = layouts
        derived = layouts.layouts.map { layout in
            layout.slots.compactMap { slot in
                guard slot.isDerived, slot.isStored,
                    let expression = (slot.property as? NSDerivedAttributeDescription)?.derivationExpression
                else { return nil }
                return Derived(slot: slot, expression: expression, roots: Self.roots(of: expression, layout))
            }
        }
        isEmpty = derived.allSatisfy(\.isEmpty)
    }

    private static func roots(of expression: NSExpression, _ layout: EntityLayout) -> Set<Int> {
        switch expression.expressionType {
        case .keyPath:
            guard let name = expression.keyPath.split(separator: ".").first, let slot = layout.slotByName[String(name)],
                layout.slots[slot].destinationIndex >= 0
            else { return [] }
            return [layout.model.layouts[layout.slots[slot].destinationIndex].rootIndex]
        case .function:
            return (expression.arguments ?? []).reduce(into: []) { $0.formUnion(roots(of: $1, layout)) }
        default: return []
        }
    }

    /// New rows to replace rows whose derived values are out of date, by table.
    ///
    /// - Parameter tables: the tables after the batch, without the derived values.
    func rows(after batch: SaveBatch, in tables: MemoryTables, store: NSPersistentStore) -> [(EntityLayout, [RowPage])]
    {
        var saved: [Int: Set<Int64>] = [:]
        var roots: Set<Int> = []
        for change in batch.inserts + batch.updates {
            saved[change.layout.index, default: []].insert(change.key)
            roots.insert(change.layout.rootIndex)
        }
        for change in batch.deletes { roots.insert(change.layout.rootIndex) }
        for change in batch.relationshipChanges {
            roots.insert(change.layout.rootIndex)
            roots.insert(layouts.layouts[change.layout.slots[change.slot].destinationIndex].rootIndex)
        }
        var result: [(EntityLayout, [RowPage])] = []
        for layout in layouts.layouts where !derived[layout.index].isEmpty {
            let ofLayout = derived[layout.index]
            let looksFurther = ofLayout.contains { !$0.roots.isDisjoint(with: roots) }
            var builder = RowPageBuilder(layout: layout, expectedRows: 1)
            for case let row? in tables.tables[layout.index].rows {
                let isSaved = saved[layout.index]?.contains(row.key) ?? false
                guard isSaved || looksFurther else { continue }
                add(row, ofLayout, isSaved: isSaved, to: &builder, RowView(row: row, tables: tables, store: store))
            }
            let pages = builder.finish()
            if !pages.isEmpty { result.append((layout, pages)) }
        }
        return result
    }

    /// Adds a copy of a row with its derived values, if any of them differs.
    private func add(
        _ row: Snapshot, _ derived: [Derived], isSaved: Bool, to builder: inout RowPageBuilder, _ view: RowView
    ) {
        var values: [Int: StoredValue] = [:]
        for entry in derived {
            // `now()` is the time of the row's own last change.
            if !isSaved, Self.isTime(entry.expression) { continue }
            let value = value(of: entry, view)
            if value != row.value(entry.slot.index) { values[entry.slot.index] = value }
        }
        guard !values.isEmpty else { return }
        let copy = builder.appendRow(key: row.key, version: row.version)
        for slot in 0..<row.layout.storedCount { builder.set(copy, slot, values[slot] ?? row.value(slot)) }
    }

    private static func isTime(_ expression: NSExpression) -> Bool {
        expression.expressionType == .function && expression.function.lowercased().hasPrefix("now")
    }

    private func value(of derived: Derived, _ view: RowView) -> StoredValue {
        let value = derived.expression.expressionValue(with: view, context: nil)
        guard let converted = PropertyConversion.value(from: value, kind: derived.slot.kind) else { return .null }
        return (try? PropertyConversion.storeValue(converted, slot: derived.slot)) ?? .null
    }
}
