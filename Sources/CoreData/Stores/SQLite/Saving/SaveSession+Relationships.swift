// Join tables, hidden keys, and positions in ordered relationships.
extension SaveSession {
    func writeRelationships() throws {
        for change in batch.relationshipChanges {
            let owner = try backend.entity(change.layout)
            switch owner.toMany[change.slot] {
            case .join(let join, let isFirst)?: try write(change, join, isFirst)
            case .inverse(let column, let destination, _)?:
                if column.isHiddenKey { try writeHiddenKeys(change, column, destination) }
                try writePositions(change, column, destination)
            case nil:
                throw CoreDataErrors.noStoredRelationship(change.layout.slots[change.slot].name, of: change.layout.name)
            }
        }
    }

    private func write(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) throws {
        let ownerKey = StoredValue.integer(change.ownerKey)
        let deletion = statements.deletePair(join, isFirst: isFirst)
        for removed in change.removed {
            let key = StoredValue.integer(removed.key)
            try connection.run(deletion, [ownerKey, key])
            if join.isReflexive { try connection.run(deletion, [key, ownerKey]) }
        }
        let positions = statements.positions(join, isFirst: isFirst)
        let otherPositions = statements.otherPositions(join, isFirst: isFirst)
        let insertion = statements.insertPair(join, isFirst: isFirst)
        if let positions, !change.added.isEmpty { try makeRoom(positions, ownerKey) }
        for added in change.added {
            let key = StoredValue.integer(added.key)
            if let otherPositions { try makeRoom(otherPositions, key) }
            try connection.run(insertion, [ownerKey, key])
            if join.isReflexive { try connection.run(insertion, [key, ownerKey]) }
        }
        guard let wanted = change.order, let positions else { return }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, ownerKey)) {
            try connection.run(statements.setPosition(positions), [.integer(position), ownerKey, .integer(key)])
        }
    }

    /// The positions that members of a relationship have, by key.
    private func stored(_ positions: SaveStatements.Positions, _ owner: StoredValue) throws -> [Int64: Int64] {
        var stored: [Int64: Int64] = [:]
        try connection.query(statements.members(positions), [owner]) { row in
            if !row.isNull(1) { stored[row.int64(0)] = row.int64(1) }
        }
        return stored
    }

    /// Numbers the members of one relationship anew if a position, or what a damaged file has in its place, leaves no room behind it.
    private func makeRoom(_ positions: SaveStatements.Positions, _ owner: StoredValue) throws {
        guard try connection.integer(statements.isFull(positions), [owner]) == 1 else { return }
        var keys: [Int64] = []
        try connection.query(statements.orderedMembers(positions), [owner]) { keys.append($0.int64(0)) }
        for (member, position) in SaveStatements.Positions.assigned(keys, [:]) {
            try connection.run(statements.setPosition(positions), [.integer(position), owner, .integer(member)])
        }
    }

    /// Writes what a to-many relationship without an inverse gains and loses into the destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one it was given to. Another owner's removal does not take it away.
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
        let ownerKey = StoredValue.integer(change.ownerKey)
        let setPosition = statements.setPosition(positions, ofRowOf: change.ownerKey)
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            try makeRoom(positions, ownerKey)
            var last = try connection.integer(statements.last(positions), [ownerKey]) ?? SaveStatements.Positions.step
            for added in change.added {
                last += SaveStatements.Positions.step
                try connection.run(setPosition, [.integer(last), .integer(added.key)])
            }
            return
        }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, ownerKey)) {
            try connection.run(setPosition, [.integer(position), .integer(key)])
        }
    }
}
