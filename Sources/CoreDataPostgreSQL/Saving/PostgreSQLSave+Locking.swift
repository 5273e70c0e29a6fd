import CoreData

// Locking the rows that a save is based on.
extension PostgreSQLSave {
    private struct Lock {
        var keys: [Int64] = []
        var isForDeletion = false
    }

    /// Locks the rows that the save is based on, and compares their versions.
    func lockRows() throws {
        var locks: [Int: Lock] = [:]
        for change in batch.updates { locks[change.layout.rootIndex, default: Lock()].keys.append(change.key) }
        for change in batch.versionChecks { locks[change.layout.rootIndex, default: Lock()].keys.append(change.key) }
        for change in batch.deletes {
            locks[change.layout.rootIndex, default: Lock()].keys.append(change.key)
            locks[change.layout.rootIndex]?.isForDeletion = true
        }
        guard !locks.isEmpty else { return }
        let roots = locks.keys.sorted()
        var versions: [Int: [Int64: UInt32]] = [:]
        let reads = try roots.map { root in
            let lock = locks[root] ?? Lock()
            let entity = try backend.entity(backend.mapping.layouts.layouts[root])
            let (key, version) = (statements.key(entity), dialect.identifier(entity.table.versionColumn))
            versions[root] = Dictionary(minimumCapacity: lock.keys.count)
            return WireStatement(
                "SELECT \(key), \(version) FROM \(statements.table(entity)) WHERE \(key) = ANY($1) ORDER BY \(key) "
                    + "FOR \(lock.isForDeletion ? "" : "NO KEY ")UPDATE", WireArguments(keys: lock.keys), isKept: true)
        }
        let preserving = try readsOfPreservedValues()
        try send(reads + preserving.map(\.statement)) { index, row in
            if index < roots.count {
                versions[roots[index]]?[row.int64(0)] = UInt32(truncatingIfNeeded: row.int64(1))
            } else {
                let entity = preserving[index - roots.count].entity
                preserved[entity.layout.index, default: [:]][row.int64(0)] = preservedValues(row, of: entity)
            }
        }
        lockedVersions = versions
        let same = try rowsWithSameValues(versions)
        func isCurrent(_ change: RowChange) -> Bool {
            guard let version = versions[change.layout.rootIndex]?[change.key] else { return false }
            return change.base.map { UInt32(truncatingIfNeeded: $0.version) == version } ?? true
                || same[change.layout.rootIndex]?.contains(change.key) ?? false
        }
        for (index, change) in batch.versionChecks.enumerated() where !isCurrent(change) {
            try addConflict(.check, index, change)
        }
        for (index, change) in batch.deletes.enumerated() where !isCurrent(change) {
            try addConflict(.delete, index, change)
        }
        for (index, change) in batch.updates.enumerated() where !isCurrent(change) {
            try addConflict(.update, index, change)
        }
    }

    /// Returns a row whose transaction number shows whether the save was committed; nil where the
    /// server gives no such number.
    func witness() throws -> PostgreSQLWitness? {
        for changes in [batch.inserts, batch.updates, batch.deletes] {
            for change in changes {
                let entity = try backend.root(of: change.layout)
                // A view has no such numbers, nor has a table of another server.
                guard backend.schema.isTable(entity.table.name) else { continue }
                return PostgreSQLWitness(
                    table: statements.table(entity), keyColumn: statements.key(entity), key: change.key)
            }
        }
        return nil
    }
}
