/// The relationship that rows hold beside those of its owners.
struct LinkOwner {
    let relationship: String
    let entity: String
}

extension LinkOwner {
    init(_ change: RelationshipChange) { self.init(relationship: change.layout.slots[change.slot].name, entity: change.layout.name) }

    init(_ join: SQLJoinTable) { self.init(relationship: join.firstRelationship.name, entity: join.owner.layout.name) }

    init(_ key: SQLHiddenKey) { self.init(relationship: key.slot.name, entity: key.owner.layout.name) }
}

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
            let owner: LinkOwner
            var removed: (first: [Int64], second: [Int64]) = ([], [])
            var added: (first: [Int64], second: [Int64]) = ([], [])
        }

        var tables: [Table] = []

        mutating func add(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) {
            let place = tables.firstIndex { $0.join === join } ?? tables.count
            if place == tables.count { tables.append(Table(join: join, owner: LinkOwner(change))) }
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
            func wait(_ sql: String, _ pairs: (first: [Int64], second: [Int64]), wrong: String) {
                if pairs.first.isEmpty { return }
                var arguments = WireArguments()
                arguments.append(keys: pairs.first)
                arguments.append(keys: pairs.second)
                waiting.append(WireStatement(sql, arguments, isKept: true))
                expect(pairs.first.count, wrong, arguments, table.owner, in: table.join.name)
            }
            let isPair = "j.\(first) = d.a AND j.\(second) = d.b"
            let pairs = "unnest($1::int8[], $2::int8[]) AS d(a, b)"
            wait(
                "DELETE FROM \(name) j USING \(pairs) WHERE \(isPair)", table.removed, wrong: "\(name) j JOIN \(pairs) ON \(isPair)")
            // Tables of others need not say that a pair is there once.
            let isMissing = " WHERE NOT EXISTS (SELECT 1 FROM \(name) j WHERE \(isPair))"
            wait(
                "INSERT INTO \(name) (\(first), \(second)) SELECT * FROM "
                    + (backend.given == nil ? "unnest($1::int8[], $2::int8[])" : pairs + isMissing) + " ON CONFLICT DO NOTHING",
                table.added,
                wrong: pairs + isMissing)
        }
    }

    /// Pairs with positions are written one after the other: each stands behind those before it.
    private func writeOrderedPairs(_ change: RelationshipChange, _ join: SQLJoinTable, _ isFirst: Bool) throws {
        let owner = LinkOwner(change)
        let deletion = statements.deletePair(join, isFirst: isFirst)
        var present: String {
            let columns = [join.ownerColumn(isFirst: isFirst), join.destinationColumn(isFirst: isFirst)].map(dialect.identifier)
            return "\(dialect.identifier(join.name)) WHERE \(columns[0]) = $1 AND \(columns[1]) = $2"
        }
        var absent: String { "(SELECT) AS d WHERE NOT EXISTS (SELECT 1 FROM \(present))" }
        func wait(_ sql: String, _ first: Int64, _ second: Int64, wrong: @autoclosure () -> String) {
            self.wait(sql, [first, second], owner, in: join.name, wrong: wrong())
        }
        for removed in change.removed {
            wait(deletion, change.ownerKey, removed.key, wrong: present)
            if join.isReflexive { wait(deletion, removed.key, change.ownerKey, wrong: present) }
        }
        let positions = statements.positions(join, isFirst: isFirst)
        let otherPositions = statements.otherPositions(join, isFirst: isFirst)
        let insertion = statements.insertPair(join, isFirst: isFirst)
        if let positions, !change.added.isEmpty { try makeRoom(positions, change.ownerKey, owner) }
        for added in change.added {
            if let otherPositions { try makeRoom(otherPositions, added.key, owner) }
            wait(insertion, change.ownerKey, added.key, wrong: absent)
            if join.isReflexive { wait(insertion, added.key, change.ownerKey, wrong: absent) }
        }
        guard let wanted = change.order, let positions else { return }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, change.ownerKey)) {
            place(key, at: position, positions, change.ownerKey, owner)
        }
    }

    /// Gives a member a position with the next round trip.
    private func place(_ member: Int64, at position: Int64, _ positions: SaveStatements.Positions, _ ownerKey: Int64, _ owner: LinkOwner) {
        wait(
            statements.setPosition(positions), [position, ownerKey, member], owner, in: positions.table,
            wrong: "\(dialect.identifier(positions.table)) WHERE \(dialect.identifier(positions.owner)) = $2 "
                + "AND \(dialect.identifier(positions.member)) = $3 AND \(dialect.identifier(positions.position)) IS DISTINCT FROM $1")
    }

    /// Adds a statement with numbers to those of the next round trip.
    ///
    /// - Parameter wrong: with the same arguments, the rows that are not as the statement should have left them.
    private func wait(_ sql: String, _ numbers: [Int64], _ owner: LinkOwner, in table: String, wrong: @autoclosure () -> String) {
        var arguments = WireArguments()
        for number in numbers { arguments.append(key: number) }
        waiting.append(WireStatement(sql, arguments, isKept: true))
        expect(1, wrong(), arguments, owner, in: table)
    }

    /// Has it looked whether the last statement was done, where a policy, a trigger or a rule may have left out what it writes.
    ///
    /// - Parameters:
    ///   - count: how many rows it writes if nobody was faster; nil where that is not known.
    ///   - wrong: with the arguments of the statement, the rows that are not as it should have left them.
    func expect(_ count: Int?, _ wrong: @autoclosure () -> String, _ arguments: WireArguments, _ owner: LinkOwner, in table: String) {
        guard backend.mayLeaveOutRows(of: table) else { return }
        let question = WireStatement("SELECT count(*) FROM " + wrong(), arguments)
        waiting.expect { PostgreSQLExpectedLinks(place: $0, count: count, question: question, owner: owner, table: table) }
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
        let owner = LinkOwner(change)
        let release = statements.releaseDestination(column, of: destination)
        for removed in change.removed {
            wait(
                release, [removed.key, change.ownerKey], owner, in: destination.table.name,
                wrong:
                    "\(statements.table(destination)) WHERE \(statements.key(destination)) = $1 AND \(dialect.identifier(column.name)) = $2"
            )
        }
        let gift = statements.giveDestination(column, of: destination, to: backend.mapping.entity(change.layout))
        for added in change.added {
            wait(
                gift, [change.ownerKey, added.key], owner, in: destination.table.name,
                wrong: "\(statements.table(destination)) WHERE \(statements.key(destination)) = $2 "
                    + "AND \(dialect.identifier(column.name)) IS DISTINCT FROM $1")
        }
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
    private func makeRoom(_ positions: SaveStatements.Positions, _ ownerKey: Int64, _ owner: LinkOwner) throws {
        var isFull = false
        try send([statement(statements.isFull(positions), ownerKey)]) { _, row in isFull = PostgreSQLRow(row: row).int64(0) == 1 }
        guard isFull else { return }
        var keys: [Int64] = []
        try send([statement(statements.orderedMembers(positions), ownerKey)]) { _, row in keys.append(PostgreSQLRow(row: row).int64(0)) }
        for (member, position) in SaveStatements.Positions.assigned(keys, [:]) {
            place(member, at: position, positions, ownerKey, owner)
        }
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let positions = statements.positions(column, of: destination) else { return }
        let owner = LinkOwner(change)
        let setPosition = statements.setPosition(positions, ofRowOf: change.ownerKey)
        func wait(_ position: Int64, of member: Int64) {
            self.wait(
                setPosition, [position, member], owner, in: positions.table,
                wrong: "\(dialect.identifier(positions.table)) WHERE \(dialect.identifier(positions.member)) = $2 "
                    + (positions.isAlone ? "" : "AND \(dialect.identifier(positions.owner)) = \(change.ownerKey) ")
                    + "AND \(dialect.identifier(positions.position)) IS DISTINCT FROM $1")
        }
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            try makeRoom(positions, change.ownerKey, owner)
            var last = SaveStatements.Positions.step
            try send([statement(statements.last(positions), change.ownerKey)]) { _, row in
                let row = PostgreSQLRow(row: row)
                if !row.isNull(0) { last = row.int64(0) }
            }
            for added in change.added {
                last += SaveStatements.Positions.step
                wait(last, of: added.key)
            }
            return
        }
        for (key, position) in SaveStatements.Positions.assigned(wanted.map(\.key), try stored(positions, change.ownerKey)) {
            wait(position, of: key)
        }
    }
}
