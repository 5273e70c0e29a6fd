// The order of writes where foreign keys are looked at with each statement, as in tables of others: a row is there before others lead to it,
// and as long as they do.
extension PostgreSQLSave {
    /// Deletes, updates and inserts rows.
    ///
    /// Rows are deleted first, so that others can take their unique values, unless an update takes a key away that leads into a table of
    /// deleted rows. Updates that lead to new rows come behind these.
    func writeRowsInTurn(checksVersions: Bool) throws {
        var new: [Int: Set<Int64>] = [:]
        for change in batch.inserts { new[change.layout.rootIndex, default: []].insert(change.key) }
        let doomed = Set(batch.deletes.map(\.layout.rootIndex))
        var early: [Int] = []
        var late: [Int] = []
        var deletesLast = false
        for (index, change) in batch.updates.enumerated() {
            var isLate = false
            for (root, key) in writtenKeys(of: change) {
                if doomed.contains(root) { deletesLast = true }
                if let key, new[root]?.contains(key) == true { isLate = true }
            }
            if isLate { late.append(index) } else { early.append(index) }
        }
        if !deletesLast { try deleteRows() }
        try updateRows(early, checksVersions: checksVersions)
        try insertRows()
        try updateRows(late, checksVersions: checksVersions)
        if deletesLast { try deleteRows() }
    }

    /// The keys that a change writes into columns: the root of the table that each leads into, and the key; nil for none.
    private func writtenKeys(of change: RowChange) -> [(root: Int, key: Int64?)] {
        guard let values = change.values else { return [] }
        let layouts = backend.mapping.layouts.layouts
        return change.layout.relationshipSlots.compactMap { index in
            let slot = change.layout.slots[index]
            guard slot.kind == .toOne, slot.destinationIndex >= 0, values.has(index) else { return nil }
            let root = layouts[slot.destinationIndex].rootIndex
            if case .reference(let reference) = values[index] { return (root, reference.key) }
            return (root, nil)
        }
    }

    /// The layouts of new rows, each behind those that its rows lead to. Where rows lead to each other in a circle, that is broken
    /// somewhere: only constraints that can be deferred allow it.
    func insertedLayoutsInTurn() -> [Int] {
        var places: [Int: [Int64: Int]] = [:]
        for change in batch.inserts { places[change.layout.rootIndex, default: [:]][change.key] = change.layout.index }
        var needs: [Int: Set<Int>] = [:]
        for change in batch.inserts {
            needs[change.layout.index, default: []].formUnion(
                writtenKeys(of: change).compactMap { root, key in key.flatMap { places[root]?[$0] } })
        }
        return Self.inTurn(needs)
    }

    /// The roots of tables with deleted rows, each before those that its rows may lead to.
    func rootsInTurn(_ roots: Set<Int>) throws -> [Int] {
        let layouts = backend.mapping.layouts.layouts
        var needs: [Int: Set<Int>] = [:]
        for root in roots {
            let destinations = layouts[root].familyIndexes.flatMap { layouts[$0].slots }.filter {
                $0.kind == .toOne && $0.destinationIndex >= 0
            }
            needs[root] = Set(destinations.map { layouts[$0.destinationIndex].rootIndex }).intersection(roots)
        }
        return Self.inTurn(needs).reversed()
    }

    /// Numbers in an order in which each comes behind those that it needs, as far as there is one.
    private static func inTurn(_ needs: [Int: Set<Int>]) -> [Int] {
        var order: [Int] = []
        var seen: Set<Int> = []
        func add(_ number: Int) {
            guard needs[number] != nil, seen.insert(number).inserted else { return }
            for other in needs[number]?.sorted() ?? [] { add(other) }
            order.append(number)
        }
        for number in needs.keys.sorted() { add(number) }
        return order
    }
}
