import Foundation

/// Runs one fetch over tables in memory: filter, sort, cut, shape.
struct MemoryFetch {
    let plan: StoreFetch
    let tables: MemoryTables
    let store: NSPersistentStore

    func run() throws -> StoreFetchResult {
        if case .dictionaries = plan.shape, let columns = plan.columns {
            return .dictionaries(
                try MemoryDictionaries(columns: columns, plan: plan, tables: tables, store: store).run(over: matching())
            )
        }
        if case .count = plan.shape {
            let count = max(0, (plan.predicate == nil ? rowCount : try matching().count) - max(0, plan.offset))
            return .count(plan.limit > 0 ? min(count, plan.limit) : count)
        }
        let rows = MemoryFetch.cut(
            MemorySort(plan.sortDescriptors, tables: tables, store: store).sorted(try matching()), plan)
        if case .references = plan.shape {
            var references = FetchedReferences(
                rows.lazy.map { RowReference(key: $0.key, layoutIndex: $0.layout.index) })
            references.areDistinct = true
            return .references(references)
        }
        return .rows(FetchedRows(rows))
    }

    private var layoutIndexes: [Int] { plan.includesSubentities ? plan.entity.familyIndexes : [plan.entity.index] }

    private var rowCount: Int {
        layoutIndexes.reduce(0) { count, index in
            let table = tables.tables[index]
            return count + table.count - plan.excludedKeys.count(where: { table.row($0) != nil })
        }
    }

    /// The rows that satisfy the predicate, entity by entity in order of insertion.
    ///
    /// - Throws: the error of the evaluation, code 134060.
    private func matching() throws -> [Snapshot] {
        var found: [Snapshot] = []
        guard let predicate = plan.predicate else {
            found.reserveCapacity(rowCount)
            for index in layoutIndexes {
                for case let row? in tables.tables[index].rows where !isExcluded(row) { found.append(row) }
            }
            return found
        }
        var view: RowView?
        let run = PredicateRun()
        for index in layoutIndexes {
            for case let row? in tables.tables[index].rows where !isExcluded(row) {
                // One view for all rows: evaluation does not keep it.
                let shown = view ?? RowView(row: row, tables: tables, store: store)
                view = shown
                shown.show(row)
                if try predicate.isMet(by: shown, run: run) { found.append(row) }
            }
        }
        return found
    }

    private func isExcluded(_ row: Snapshot) -> Bool {
        !plan.excludedKeys.isEmpty && plan.excludedKeys.contains(row.key)
    }

    /// Applies offset and limit.
    static func cut<Element>(_ elements: [Element], _ plan: StoreFetch) -> [Element] {
        guard plan.offset > 0 || plan.limit > 0 else { return elements }
        let rest = elements.dropFirst(max(0, plan.offset))
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }
}
