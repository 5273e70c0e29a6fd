// Deleting, updating and inserting rows.
extension SaveSession {
    func checkVersions() throws {
        for (index, check) in batch.versionChecks.enumerated() {
            let version = try connection.integer(
                statements.version(of: try backend.entity(check.layout)), [.integer(check.key)])
            if version != check.base?.version { try addConflict(.check, index, check) }
        }
    }

    func deleteRows() throws {
        for (index, change) in batch.deletes.enumerated() {
            let writer = try writer(for: change.layout)
            let old = writer.hasExternalColumns ? try writer.externalFileNames(ofRow: change.key) : []
            if backend.tracksHistory { try noteTombstones(of: change, index) }
            guard try writer.delete(change) else {
                try addConflict(.delete, index, change)
                continue
            }
            files?.supersede(old)
            for join in backend.mapping.joinTables {
                let root = change.layout.rootIndex
                if join.owner.layout.rootIndex == root { try deletePairs(of: join, join.firstColumn, change.key) }
                if join.destination.layout.rootIndex == root {
                    try deletePairs(of: join, join.secondColumn, change.key)
                }
            }
            for key in backend.mapping.hiddenKeys where change.layout.isKind(of: key.owner.layout) {
                try releaseDestinations(of: change.key, key)
            }
        }
    }

    /// Clears foreign keys that refer to a deleted owner in a relationship without an inverse.
    private func releaseDestinations(of owner: Int64, _ key: SQLHiddenKey) throws {
        try connection.run(statements.releaseDestinations(key.column, of: key.destination), [.integer(owner)])
    }

    private func deletePairs(of join: SQLJoinTable, _ column: String, _ key: Int64) throws {
        try connection.run(statements.deletePairs(join, column), [.integer(key)])
    }

    func updateRows() throws {
        var waiting: [Int] = []
        for index in batch.updates.indices where try !update(index) { waiting.append(index) }
        guard !waiting.isEmpty else { return }
        // A unique value may become free after another update has changed it.
        while true {
            var left: [Int] = []
            for index in waiting where try !update(index) { left.append(index) }
            if left.isEmpty { return }
            if left.count == waiting.count { break }
            waiting = left
        }
        // Rows that exchange values block each other: clear these values, then try once more.
        for index in waiting { try clearUniqueColumns(of: batch.updates[index]) }
        for index in waiting where try !update(index) { try addViolation(update: index) }
    }

    /// - Returns: false when a uniqueness constraint forbids the update.
    private func update(_ index: Int) throws -> Bool {
        try batch.updates.withUnsafeBufferPointer { updates in
            guard let first = updates.baseAddress else { return true }
            return try update(index, first + index)
        }
    }

    // By address: passing the change by value would copy it with its references for each row.
    @inline(__always)
    private func update(_ index: Int, _ change: UnsafePointer<RowChange>) throws -> Bool {
        let writer = try writer(for: change.pointee.layout)
        let filesBefore = files?.written.count ?? 0
        do {
            let old = writer.hasExternalColumns ? try writer.externalFileNames(replacedBy: change.pointee) : []
            guard let row = try writer.update(change) else {
                try addConflict(.update, index, change.pointee)
                return true
            }
            files?.supersede(old)
            rows.updated[index] = row
            return true
        } catch let error as SQLiteError where error.isUniquenessViolation {
            // The update may be tried again, and then writes its values to new files.
            files?.discard(after: filesBefore)
            return false
        }
    }

    /// Clears the unique values that the change itself replaces.
    ///
    /// No others are cleared, as nothing would write them again.
    private func clearUniqueColumns(of change: RowChange) throws {
        guard let values = change.values else { return }
        let entity = try backend.entity(change.layout)
        let paths = backend.mapping.constraints(of: change.layout).flatMap(\.names)
        let slots = Set(paths.compactMap { change.layout.slotByPath[$0] }).filter(values.has)
        let columns = slots.sorted().compactMap { entity.columns[$0] }.flatMap {
            [$0.name, $0.entityColumn].compactMap { $0 }
        }
        guard !columns.isEmpty else { return }
        try connection.run(
            statements.clear(columns, of: entity), [.integer(change.key), .integer(change.base?.version ?? 0)])
    }

    func insertRows() throws {
        try batch.inserts.withUnsafeBufferPointer { inserts in
            guard let first = inserts.baseAddress else { return }
            for index in inserts.indices {
                do {
                    rows.inserted[index] = try writer(for: inserts[index].layout).insert(first + index)
                } catch let error as SQLiteError where error.isUniquenessViolation {
                    try addViolation(insert: index)
                } catch let error as SQLiteError where error.isKeyTaken {
                    try addConflict(.insert, index, inserts[index])
                }
            }
        }
    }
}
