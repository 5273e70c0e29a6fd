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
                throw CoreDataErrors.make(
                    .coreData,
                    "'\(change.layout.slots[change.slot].name)' of entity '\(change.layout.name)' is no stored to-many "
                        + "relationship.")
            }
        }
    }

    /// The distance between neighbours in an ordered relationship, which leaves room for insertions.
    private static let orderStep: Int64 = 1024
    /// Positions beyond this are no store's own: a relationship that has one is numbered anew.
    private static let highestPosition: Int64 = 1 << 62

    private func write(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) throws {
        let table = SQLSchema.identifier(join.name)
        let owner = SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))
        let destination = SQLSchema.identifier(join.destinationColumn(isFirst: isFirst))
        let order = join.orderColumn(isFirst: isFirst).map(SQLSchema.identifier)
        let otherOrder = join.otherOrderColumn(isFirst: isFirst).map(SQLSchema.identifier)
        let ownerKey = PropertyValue.integer(change.ownerKey)
        for removed in change.removed {
            let key = PropertyValue.integer(removed.key)
            try connection.run("DELETE FROM \(table) WHERE \(owner) = ? AND \(destination) = ?", [ownerKey, key])
            if join.isReflexive {
                try connection.run("DELETE FROM \(table) WHERE \(owner) = ? AND \(destination) = ?", [key, ownerKey])
            }
        }
        var columns = "\(owner), \(destination)"
        var values = "?1, ?2"
        func next(_ order: String, _ column: String, _ parameter: Int) -> String {
            "(SELECT IFNULL(MAX(\(order)), \(Self.orderStep)) + \(Self.orderStep) FROM \(table) WHERE \(column) = ?\(parameter))"
        }
        if let order {
            columns += ", \(order)"
            values += ", " + next(order, owner, 1)
        }
        if let otherOrder {
            columns += ", \(otherOrder)"
            values += ", " + next(otherOrder, destination, 2)
        }
        if let order, !change.added.isEmpty { try makeRoom(table, order, of: owner, ownerKey, members: destination) }
        for added in change.added {
            let key = PropertyValue.integer(added.key)
            if let otherOrder { try makeRoom(table, otherOrder, of: destination, key, members: owner) }
            let sql = "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(values))"
            try connection.run(sql, [ownerKey, key])
            if join.isReflexive { try connection.run(sql, [key, ownerKey]) }
        }
        guard let wanted = change.order, let order else { return }
        var positions: [Int64: Int64] = [:]
        try connection.query("SELECT \(destination), \(order) FROM \(table) WHERE \(owner) = ?", [ownerKey]) { row in
            if !row.isNull(1) { positions[row.int64(0)] = row.int64(1) }
        }
        for (key, position) in Self.newPositions(wanted.map(\.key), positions) {
            try connection.run(
                "UPDATE \(table) SET \(order) = ? WHERE \(owner) = ? AND \(destination) = ?",
                [.integer(position), ownerKey, .integer(key)])
        }
    }

    /// Numbers the members of one relationship anew if a position, or what a damaged file has in its place, leaves no room behind it.
    private func makeRoom(_ table: String, _ order: String, of owner: String, _ key: PropertyValue, members: String) throws {
        let isFull = try connection.integer(
            "SELECT MAX(\(order)) > \(Self.highestPosition) FROM \(table) WHERE \(owner) = ?", [key])
        guard isFull == 1 else { return }
        var keys: [Int64] = []
        try connection.query(
            "SELECT \(members) FROM \(table) WHERE \(owner) = ? AND \(order) IS NOT NULL ORDER BY \(order), \(members)", [key]
        ) { keys.append($0.int64(0)) }
        for (member, position) in Self.newPositions(keys, [:]) {
            try connection.run(
                "UPDATE \(table) SET \(order) = ? WHERE \(owner) = ? AND \(members) = ?",
                [.integer(position), key, .integer(member)])
        }
    }

    /// Writes what a to-many relationship without an inverse gains and loses into the destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one it was given to. Another owner's removal does not take it away.
    private func writeHiddenKeys(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        let table = SQLSchema.identifier(destination.table.name)
        let key = SQLSchema.identifier(column.name)
        let owner = PropertyValue.integer(change.ownerKey)
        for removed in change.removed {
            try connection.run(
                "UPDATE \(table) SET \(Self.noOwner(in: column)) WHERE Z_PK = ? AND \(key) = ?", [.integer(removed.key), owner])
        }
        var assignments = "\(key) = ?1"
        if let name = column.entityColumn, let number = backend.mapping.entity(change.layout)?.number {
            assignments += ", \(SQLSchema.identifier(name)) = \(number)"
        }
        // The place among another owner's destinations ends; a new one follows.
        if let name = column.orderColumn { assignments += ", \(SQLSchema.identifier(name)) = NULL" }
        for added in change.added {
            try connection.run(
                "UPDATE \(table) SET \(assignments) WHERE Z_PK = ?2 AND \(key) IS NOT ?1", [owner, .integer(added.key)])
        }
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let order = column.orderColumn.map(SQLSchema.identifier) else { return }
        let table = SQLSchema.identifier(destination.table.name)
        let key = SQLSchema.identifier(column.name)
        let ownerKey = PropertyValue.integer(change.ownerKey)
        let setPosition = "UPDATE \(table) SET \(order) = ? WHERE Z_PK = ?" + (column.isHiddenKey ? " AND \(key) = \(change.ownerKey)" : "")
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            try makeRoom(table, order, of: key, ownerKey, members: "Z_PK")
            var last =
                try connection.integer("SELECT MAX(\(order)) FROM \(table) WHERE \(key) = ?", [ownerKey])
                ?? Self.orderStep
            for added in change.added {
                last += Self.orderStep
                try connection.run(setPosition, [.integer(last), .integer(added.key)])
            }
            return
        }
        var positions: [Int64: Int64] = [:]
        try connection.query("SELECT Z_PK, \(order) FROM \(table) WHERE \(key) = ?", [ownerKey]) { row in
            if !row.isNull(1) { positions[row.int64(0)] = row.int64(1) }
        }
        for (key, position) in Self.newPositions(wanted.map(\.key), positions) {
            try connection.run(setPosition, [.integer(position), .integer(key)])
        }
    }

    /// The positions to write so that keys stand in a wanted order; positions that fit stay.
    static func newPositions(_ keys: [Int64], _ stored: [Int64: Int64]) -> [(key: Int64, position: Int64)] {
        let current = stored.filter { (0...highestPosition).contains($0.value) }
        var changes: [(Int64, Int64)] = []
        var previous: Int64 = Self.orderStep
        for (index, key) in keys.enumerated() {
            let next = index + 1 < keys.count ? current[keys[index + 1]] : nil
            if let position = current[key], position > previous, next.map({ position < $0 || $0 <= previous }) ?? true {
                previous = position
                continue
            }
            let position: Int64
            if let next, next > previous, next - previous >= 2 {
                position = min(previous + (next - previous) / 2, previous + Self.orderStep)
            } else {
                position = previous + Self.orderStep
            }
            changes.append((key, position))
            previous = position
        }
        // Behind the last room there is none: everything moves.
        if previous > highestPosition, !current.isEmpty { return newPositions(keys, [:]) }
        return changes
    }
}
