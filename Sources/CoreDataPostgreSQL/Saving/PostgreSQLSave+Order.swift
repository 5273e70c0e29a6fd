import CoreData

// The order of writes in external tables, where foreign keys are checked with each statement. A row
// exists before other rows refer to it, and as long as they do.
extension PostgreSQLSave {
    /// Deletes, updates and inserts rows.
    ///
    /// Rows are deleted first, so that other rows can take their unique values. They are deleted
    /// last if an update removes a key that refers to a table with deleted rows. Updates that refer
    /// to new rows come after the inserts.
    func writeRowsInTurn(checksVersions: Bool) throws {
        var new: [Int: Set<Int64>] = [:]
        for change in batch.inserts { new[change.layout.rootIndex, default: []].insert(change.key) }
        let doomed = Set(batch.deletes.map(\.layout.rootIndex))
        var early: [Int] = []
        var late: [Int] = []
        var deletesLast = false
        for (index, change) in batch.updates.enumerated() {
            var isLate = false
            for written in writtenKeys(of: change) {
                if doomed.contains(written.root) { deletesLast = true }
                if let key = written.key, new[written.root]?.contains(key) == true { isLate = true }
            }
            if isLate { late.append(index) } else { early.append(index) }
        }
        if !deletesLast { try deleteRows() }
        try updateRows(early, checksVersions: checksVersions)
        try insertRows()
        try writePostponedKeys()
        try updateRows(late, checksVersions: checksVersions)
        if deletesLast { try deleteRows() }
    }

    /// Returns the keys that a change writes into columns: the relationship, the root of the table
    /// that it refers to, and the key; nil for none.
    private func writtenKeys(of change: RowChange) -> [(slot: PropertySlot, root: Int, key: Int64?)] {
        guard let values = change.values else { return [] }
        let layouts = backend.mapping.layouts.layouts
        return change.layout.relationshipSlots.compactMap { index in
            let slot = change.layout.slots[index]
            guard slot.kind == .toOne, slot.destinationIndex >= 0, values.has(index) else { return nil }
            let root = layouts[slot.destinationIndex].rootIndex
            if case .reference(let reference) = values[index] { return (slot, root, reference.key) }
            return (slot, root, nil)
        }
    }

    // MARK: New rows

    /// Returns the layouts of new rows, each after those that its rows refer to.
    ///
    /// Where rows of several tables refer to each other in a circle, optional relationships are
    /// postponed: they are written after all rows.
    func insertedLayoutsInTurn() throws -> [Int] {
        var places: [Int: [Int64: Int]] = [:]
        for change in batch.inserts { places[change.layout.rootIndex, default: [:]][change.key] = change.layout.index }
        var needs = ExternalOrder()
        for change in batch.inserts {
            needs.add(change.layout.index)
            for written in writtenKeys(of: change) {
                guard let key = written.key, let other = places[written.root]?[key] else { continue }
                needs.add(other, for: change.layout.index, isRequired: !written.slot.isOptional)
            }
        }
        let order = needs.inTurn()
        guard order.isCircular else { return order.numbers }
        let turns = Dictionary(uniqueKeysWithValues: zip(order.numbers, order.numbers.indices))
        for change in batch.inserts {
            for written in writtenKeys(of: change) where written.slot.isOptional {
                guard let key = written.key, let other = places[written.root]?[key], let turn = turns[other],
                    let own = turns[change.layout.index], turn > own
                else { continue }
                try writer(for: change.layout).postponed[written.slot.index, default: []].insert(change.key)
            }
        }
        return order.numbers
    }

    private func writePostponedKeys() throws {
        var seen: Set<Int> = []
        for change in batch.inserts where seen.insert(change.layout.index).inserted {
            let writer = try writer(for: change.layout)
            for (slot, keys) in writer.postponed.sorted(by: { $0.key < $1.key }) {
                var mask = SlotMask(count: change.layout.slots.count)
                mask.insert(slot)
                let rows: ContiguousArray = writer.inserted.filter { keys.contains($0.rowKey) }
                waiting.append(try writer.updateStatement(rows, changed: mask)) {
                    writer.expected(rows, .updated(nil), place: $0)
                }
            }
        }
    }

    // MARK: Deleted rows

    /// Returns the roots of tables with deleted rows, each before those that its rows may refer to.
    ///
    /// Where tables refer to each other in a circle, optional relationships that refer to earlier
    /// tables are emptied first.
    func rootsInTurn(_ keys: [Int: [Int64]]) throws -> [Int] {
        let layouts = backend.mapping.layouts.layouts
        let (needs, optional) = ExternalOrder.ofDeletions(Set(keys.keys), backend.mapping)
        let order = needs.inTurn()
        if order.isCircular {
            let turns = Dictionary(uniqueKeysWithValues: zip(order.numbers, order.numbers.indices))
            var cleared: Set<ObjectIdentifier> = []
            for relationship in optional where (turns[relationship.destination] ?? 0) > (turns[relationship.root] ?? 0)
            {
                let column = relationship.column
                guard cleared.insert(ObjectIdentifier(column)).inserted else { continue }
                let entity = try backend.entity(layouts[relationship.root])
                let rows = "WHERE \(statements.key(entity)) \(dialect.keyCondition(.list))"
                wait(
                    "UPDATE \(statements.table(entity)) SET \(dialect.identifier(column.name)) = NULL \(rows)",
                    keys: keys[relationship.root] ?? [],
                    LinkOwner(relationship: column.propertyName, entity: entity.layout.name),
                    in: entity.table.name,
                    wrong: "\(statements.table(entity)) \(rows) AND \(dialect.identifier(column.name)) IS NOT NULL")
            }
        }
        return order.numbers.reversed()
    }
}
