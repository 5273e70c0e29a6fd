// Join tables, hidden keys, and positions in ordered relationships.
extension SaveSession {
    /// Writes join tables, hidden keys and positions.
    ///
    /// Writes all links before any order: the members of an ordered relationship may be linked from
    /// their side.
    func writeRelationships() throws {
        var tables: [JoinTableChanges] = []
        for change in batch.relationshipChanges {
            let owner = try backend.entity(change.layout)
            switch owner.toMany[change.slot] {
            case .join(let join, let isFirst)?: JoinTableChanges.add(change, join, isFirst: isFirst, to: &tables)
            case .inverse(let column, let destination, _)?:
                if column.isHiddenKey { try writeHiddenKeys(change, column, destination) }
                try writePositions(change, column, destination)
            case nil:
                throw CoreDataErrors.noStoredRelationship(change.layout.slots[change.slot].name, of: change.layout.name)
            }
        }
        for var table in tables { try write(&table) }
    }

    private func write(_ table: inout JoinTableChanges) throws {
        let join = table.join
        let deletion = statements.deletePair(join)
        for pair in table.removed { try connection.run(deletion, [.integer(pair.first), .integer(pair.second)]) }
        if !table.added.isEmpty {
            for isFirst in [true, false] {
                guard let positions = statements.positions(join, isFirst: isFirst) else { continue }
                table.setPositions(isFirst: isFirst, behind: try last(positions, of: table.owners(isFirst: isFirst)))
            }
        }
        let insertion = statements.insertPair(join)
        for addition in table.added {
            var values = [StoredValue.integer(addition.pair.first), .integer(addition.pair.second)]
            if let position = addition.firstPosition { values.append(.integer(position)) }
            if let position = addition.secondPosition { values.append(.integer(position)) }
            try connection.run(insertion, values)
        }
        for order in table.orders {
            guard let positions = statements.positions(join, isFirst: order.isFirst) else { continue }
            for (key, position) in SaveStatements.Positions.assigned(
                order.members, try stored(positions, of: order.owner))
            {
                try connection.run(
                    statements.setPosition(positions), [.integer(position), .integer(order.owner), .integer(key)])
            }
        }
    }

    private func list(_ keys: some Sequence<Int64>) -> [StoredValue] { [backend.mapping.dialect.keyList(keys).value] }

    /// The positions of the members of a relationship, by key.
    private func stored(_ positions: SaveStatements.Positions, of owner: Int64) throws -> [Int64: Int64] {
        var stored: [Int64: Int64] = [:]
        try connection.query(statements.members(positions), list([owner])) { row in
            if !row.isNull(2) { stored[row.int64(1)] = row.int64(2) }
        }
        return stored
    }

    /// Returns the last position of each owner that has members.
    ///
    /// Renumbers the members of an owner if a position, or a damaged value in its place, leaves no
    /// room after it.
    private func last(_ positions: SaveStatements.Positions, of owners: some Sequence<Int64>) throws -> [Int64: Int64] {
        var last: [Int64: Int64] = [:]
        var full: [Int64] = []
        try connection.query(statements.last(positions), list(owners)) { row in
            if row.int64(2) == 1 {
                full.append(row.int64(0))
            } else if !row.isNull(1) {
                last[row.int64(0)] = row.int64(1)
            }
        }
        for owner in full {
            var keys: [Int64] = []
            try connection.query(statements.orderedMembers(positions), [.integer(owner)]) { keys.append($0.int64(0)) }
            for (member, position) in SaveStatements.Positions.assigned(keys, [:]) {
                try connection.run(
                    statements.setPosition(positions), [.integer(position), .integer(owner), .integer(member)])
                last[owner] = position
            }
        }
        return last
    }

    /// Writes the changes of a to-many relationship without an inverse into the destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one it was assigned to. A removal by
    /// another owner does not clear it.
    private func writeHiddenKeys(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        let owner = StoredValue.integer(change.ownerKey)
        for removed in change.removed {
            try connection.run(statements.releaseDestination(column, of: destination), [.integer(removed.key), owner])
        }
        let gift = statements.giveDestination(column, of: destination, to: backend.mapping.entity(change.layout))
        for added in change.added { try connection.run(gift, [owner, .integer(added.key)]) }
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let positions = statements.positions(column, of: destination) else { return }
        let setPosition = statements.setPosition(positions, ofRowOf: change.ownerKey, isNew: change.order == nil)
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            var last = try last(positions, of: [change.ownerKey])[change.ownerKey] ?? SaveStatements.Positions.step
            for added in change.added {
                last += SaveStatements.Positions.step
                try connection.run(setPosition, [.integer(last), .integer(added.key)])
            }
            return
        }
        for (key, position) in SaveStatements.Positions.assigned(
            wanted.map(\.key), try stored(positions, of: change.ownerKey))
        {
            try connection.run(setPosition, [.integer(position), .integer(key)])
        }
    }
}
