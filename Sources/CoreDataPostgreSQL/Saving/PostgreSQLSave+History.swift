import CoreData

// The changes that a save records.
extension PostgreSQLSave {
    /// Returns the changes for the history; none where saves are not recorded.
    func historyChanges() throws -> [PostgreSQLChange] {
        guard backend.history == .recorded else { return [] }
        var properties = ChangedProperties()
        var changes: [PostgreSQLChange] = []
        changes.reserveCapacity(batch.inserts.count + batch.updates.count + batch.deletes.count)
        for change in batch.inserts {
            changes.append(PostgreSQLChange(.insert, try backend.entity(change.layout), change.key))
        }
        for change in batch.updates {
            changes.append(
                PostgreSQLChange(
                    .update, try backend.entity(change.layout), change.key,
                    properties: try properties.text(change.changedProperties, of: change.layout)))
        }
        for change in batch.deletes {
            changes.append(
                PostgreSQLChange(
                    .delete, try backend.entity(change.layout), change.key,
                    tombstone: try tombstone(change, preserved[change.layout.index]?[change.key])))
        }
        return changes
    }

    /// - Parameter stored: the values of the row when it was locked.
    private func tombstone(_ change: RowChange, _ stored: [StoredValue]?) throws -> String? {
        let slots = change.layout.preservedSlots
        if slots.isEmpty { return nil }
        let values = slots.enumerated().map { place, slot -> StoredValue in
            if let values = change.values, values.has(slot) { return values[slot] }
            return stored?[place] ?? .null
        }
        return try Tombstone.text(values, of: change.layout)
    }

    /// Returns the statements that read what the history preserves of the rows to delete, with the
    /// entities of the rows.
    func readsOfPreservedValues() throws -> [(entity: SQLEntity, statement: WireStatement)] {
        guard backend.history == .recorded else { return [] }
        var keys: [Int: [Int64]] = [:]
        for change in batch.deletes where !change.layout.preservedSlots.isEmpty {
            keys[change.layout.index, default: []].append(change.key)
        }
        return try keys.sorted { $0.key < $1.key }.map { index, keys in
            let entity = try backend.entity(backend.mapping.layouts.layouts[index])
            return (entity, preservedValues(of: entity, keys))
        }
    }
}

extension PostgreSQLAttempt {
    /// Returns the statement that reads the keys of rows, and the values that the history preserves
    /// of them.
    final func preservedValues(of entity: SQLEntity, _ keys: some Collection<Int64>) -> WireStatement {
        let columns = entity.layout.preservedSlots.compactMap { entity.columns[$0]?.name }
        return WireStatement(statements.values(columns, of: entity), WireArguments(keys: keys), isKept: true)
    }

    /// Returns the values in a row of that statement, in the order of `preservedSlots`.
    final func preservedValues(_ row: WireRow, of entity: SQLEntity) -> [StoredValue] {
        var column: Int32 = 0
        return entity.layout.preservedSlots.map { slot in
            guard entity.columns[slot] != nil else { return .null }
            column += 1
            return row.storedValue(column, as: entity.layout.slots[slot].kind)
        }
    }
}
