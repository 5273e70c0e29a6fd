// Join tables, hidden keys, and positions in ordered relationships.
extension PostgreSQLSave {
    func writeRelationships() throws {
        var pairs = PairChanges()
        var ordered: [RelationshipChange] = []
        for change in batch.relationshipChanges {
            let owner = try backend.entity(change.layout)
            switch owner.toMany[change.slot] {
            case .join(let join, let isFirst)?:
                if join.orderColumn(isFirst: isFirst) != nil || join.otherOrderColumn(isFirst: isFirst) != nil {
                    ordered.append(change)
                } else {
                    pairs.add(change, join, isFirst)
                }
            case .inverse(let column, let destination, let isOrdered)?:
                if column.isHiddenKey { writeHiddenKeys(change, column, destination) }
                if isOrdered { ordered.append(change) }
            case nil:
                throw CoreDataErrors.noStoredRelationship(change.layout.slots[change.slot].name, of: change.layout.name)
            }
        }
        writePairs(pairs)
        // Positions are made of those that others have.
        for change in ordered {
            switch try backend.entity(change.layout).toMany[change.slot] {
            case .join(let join, let isFirst)?: try writeOrderedPairs(change, join, isFirst)
            case .inverse(let column, let destination, _)?: try writePositions(change, column, destination)
            case nil: break
            }
        }
    }

    // MARK: Pairs

    /// The pairs that tables gain and lose, in the tables' order of columns.
    private struct PairChanges {
        struct Table {
            let join: SQLJoinTable
            var removed: (first: [Int64], second: [Int64]) = ([], [])
            var added: (first: [Int64], second: [Int64]) = ([], [])
        }

        var tables: [Table] = []

        mutating func add(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) {
            let place = tables.firstIndex { $0.join === join } ?? tables.count
            if place == tables.count { tables.append(Table(join: join)) }
            func add(_ key: Int64, to pairs: inout (first: [Int64], second: [Int64])) {
                pairs.first.append(isFirst ? change.ownerKey : key)
                pairs.second.append(isFirst ? key : change.ownerKey)
                guard join.isReflexive, key != change.ownerKey else { return }
                pairs.first.append(isFirst ? key : change.ownerKey)
                pairs.second.append(isFirst ? change.ownerKey : key)
            }
            for removed in change.removed { add(removed.key, to: &tables[place].removed) }
            for added in change.added { add(added.key, to: &tables[place].added) }
        }
    }

    private func writePairs(_ changes: PairChanges) {
        for table in changes.tables {
            let name = dialect.identifier(table.join.name)
            let (first, second) = (dialect.identifier(table.join.firstColumn), dialect.identifier(table.join.secondColumn))
            func wait(_ sql: String, _ pairs: (first: [Int64], second: [Int64])) {
                if pairs.first.isEmpty { return }
                var arguments = WireArguments()
                arguments.append(keys: pairs.first)
                arguments.append(keys: pairs.second)
                waiting.append(WireStatement(sql, arguments, isKept: true))
            }
            wait(
                "DELETE FROM \(name) j USING unnest($1::int8[], $2::int8[]) AS d(a, b) WHERE j.\(first) = d.a AND j.\(second) = d.b",
                table.removed)
            // Tables of others need not say that a pair is there once.
            let isNew =
                backend.given == nil ? "" : " WHERE NOT EXISTS (SELECT 1 FROM \(name) j WHERE j.\(first) = d.a AND j.\(second) = d.b)"
            wait(
                "INSERT INTO \(name) (\(first), \(second)) SELECT * FROM unnest($1::int8[], $2::int8[])"
                    + (isNew.isEmpty ? "" : " AS d(a, b)") + isNew + " ON CONFLICT DO NOTHING", table.added)
        }
    }

    /// Pairs with positions are written one after the other: each stands behind those before it.
    private func writeOrderedPairs(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) throws {
        let deletion = statements.deletePair(join, isFirst: isFirst)
        for removed in change.removed {
            wait(deletion, change.ownerKey, removed.key)
            if join.isReflexive { wait(deletion, removed.key, change.ownerKey) }
        }
        let positions = statements.positions(join, isFirst: isFirst)
        let otherPositions = statements.otherPositions(join, isFirst: isFirst)
        let insertion = statements.insertPair(join, isFirst: isFirst)
        if let positions, !change.added.isEmpty { try makeRoom(positions, change.ownerKey) }
        for added in change.added {
            if let otherPositions { try makeRoom(otherPositions, added.key) }
            wait(insertion, change.ownerKey, added.key)
            if join.isReflexive { wait(insertion, added.key, change.ownerKey) }
        }
        guard let wanted = change.order, let positions else { return }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, change.ownerKey)) {
            wait(statements.setPosition(positions), position, change.ownerKey, key)
        }
    }

    /// Adds a statement with numbers to those of the next round trip.
    private func wait(_ sql: String, _ numbers: Int64...) {
        var arguments = WireArguments()
        for number in numbers { arguments.append(key: number) }
        waiting.append(WireStatement(sql, arguments, isKept: true))
    }

    private func statement(_ sql: String, _ numbers: Int64...) -> WireStatement {
        var arguments = WireArguments()
        for number in numbers { arguments.append(key: number) }
        return WireStatement(sql, arguments, isKept: true)
    }

    // MARK: Hidden keys

    /// Writes what a to-many relationship without an inverse gains and loses into the destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one it was given to. Another owner's removal does not take it away.
    private func writeHiddenKeys(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) {
        for removed in change.removed { wait(statements.releaseDestination(column, of: destination), removed.key, change.ownerKey) }
        let gift = statements.giveDestination(column, of: destination, to: backend.mapping.entity(change.layout))
        for added in change.added { wait(gift, change.ownerKey, added.key) }
    }

    // MARK: Positions

    /// The positions that members of a relationship have, by key.
    private func stored(_ positions: SaveStatements.Positions, _ owner: Int64) throws -> [Int64: Int64] {
        var stored: [Int64: Int64] = [:]
        try send([statement(statements.members(positions), owner)]) { _, row in
            let row = PostgreSQLRow(row: row)
            if !row.isNull(1) { stored[row.int64(0)] = row.int64(1) }
        }
        return stored
    }

    /// Numbers the members of one relationship anew if a position leaves no room behind it.
    private func makeRoom(_ positions: SaveStatements.Positions, _ owner: Int64) throws {
        var isFull = false
        try send([statement(statements.isFull(positions), owner)]) { _, row in isFull = PostgreSQLRow(row: row).int64(0) == 1 }
        guard isFull else { return }
        var keys: [Int64] = []
        try send([statement(statements.orderedMembers(positions), owner)]) { _, row in keys.append(PostgreSQLRow(row: row).int64(0)) }
        for (member, position) in SaveStatements.Positions.assigned(keys, [:]) {
            wait(statements.setPosition(positions), position, owner, member)
        }
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let positions = statements.positions(column, of: destination) else { return }
        let setPosition = statements.setPosition(positions, ofRowOf: change.ownerKey)
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            try makeRoom(positions, change.ownerKey)
            var last = SaveStatements.Positions.step
            try send([statement(statements.last(positions), change.ownerKey)]) { _, row in
                let row = PostgreSQLRow(row: row)
                if !row.isNull(0) { last = row.int64(0) }
            }
            for added in change.added {
                last += SaveStatements.Positions.step
                wait(setPosition, last, added.key)
            }
            return
        }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, change.ownerKey)) {
            wait(setPosition, position, key)
        }
    }
}
