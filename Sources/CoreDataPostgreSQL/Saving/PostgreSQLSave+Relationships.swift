import CoreData

/// A relationship that is stored in rows other than those of its owners.
struct LinkOwner {
    let relationship: String
    let entity: String
}

extension LinkOwner {
    init(_ change: RelationshipChange) {
        self.init(relationship: change.layout.slots[change.slot].name, entity: change.layout.name)
    }

    init(_ join: SQLJoinTable) { self.init(relationship: join.firstRelationship.name, entity: join.owner.layout.name) }

    init(_ key: SQLHiddenKey) { self.init(relationship: key.slot.name, entity: key.owner.layout.name) }
}

// Join tables, hidden keys, and positions in ordered relationships.
extension PostgreSQLSave {
    /// Writes all links before any order, because the members of an ordered relationship may be
    /// linked from their side.
    func writeRelationships() throws {
        var tables: [JoinTableChanges] = []
        var ordered: [(change: RelationshipChange, column: SQLColumn, destination: SQLEntity)] = []
        for change in batch.relationshipChanges {
            let owner = try backend.entity(change.layout)
            switch owner.toMany[change.slot] {
            case .join(let join, let isFirst)?: JoinTableChanges.add(change, join, isFirst: isFirst, to: &tables)
            case .inverse(let column, let destination, let isOrdered)?:
                if column.isHiddenKey { writeHiddenKeys(change, column, destination) }
                if isOrdered { ordered.append((change, column, destination)) }
            case nil:
                throw CoreDataErrors.noStoredRelationship(change.layout.slots[change.slot].name, of: change.layout.name)
            }
        }
        for var table in tables { try writePairs(&table) }
        // New positions depend on those that other members have.
        for (change, column, destination) in ordered { try writePositions(change, column, destination) }
        for table in tables { try writeOrders(of: table) }
    }

    // MARK: Pairs

    private func writePairs(_ table: inout JoinTableChanges) throws {
        let join = table.join
        let name = dialect.identifier(join.name)
        func wait(
            _ sql: String, _ pairs: some Collection<JoinTableChanges.Pair>, _ positions: [[Int64]] = [], wrong: String
        ) {
            if pairs.isEmpty { return }
            var arguments = WireArguments(keys: pairs.map(\.first))
            arguments.append(keys: pairs.map(\.second))
            let keys = arguments
            for positions in positions { arguments.append(keys: positions) }
            waiting.append(WireStatement(sql, arguments, isKept: true))
            expect(pairs.count, wrong, keys, LinkOwner(join), in: join.name)
        }
        let isPair =
            "j.\(dialect.identifier(join.firstColumn)) = d.a AND j.\(dialect.identifier(join.secondColumn)) = d.b"
        let keys = "unnest($1::int8[], $2::int8[]) AS d(a, b)"
        wait(
            "DELETE FROM \(name) j USING \(keys) WHERE \(isPair)", table.removed,
            wrong: "\(name) j JOIN \(keys) ON \(isPair)")
        if table.added.isEmpty { return }
        for isFirst in [true, false] {
            guard let positions = statements.positions(join, isFirst: isFirst) else { continue }
            table.setPositions(
                isFirst: isFirst, behind: try last(positions, of: table.owners(isFirst: isFirst), LinkOwner(join)))
        }
        let positions = [table.added.compactMap(\.firstPosition), table.added.compactMap(\.secondPosition)].filter {
            !$0.isEmpty
        }
        let columns = statements.pairColumns(join).map(dialect.identifier).joined(separator: ", ")
        let values = "unnest($1::int8[], $2::int8[]" + positions.indices.map { ", $\($0 + 3)::int8[]" }.joined() + ")"
        // An external table need not have a constraint that a pair occurs only once.
        let isMissing = " WHERE NOT EXISTS (SELECT 1 FROM \(name) j WHERE \(isPair))"
        let source =
            backend.external == nil
            ? values : values + " AS d(a, b\([", p", ", q"].prefix(positions.count).joined()))" + isMissing
        wait(
            "INSERT INTO \(name) (\(columns)) SELECT * FROM \(source) ON CONFLICT DO NOTHING", table.added.map(\.pair),
            positions,
            wrong: keys + isMissing)
    }

    /// Puts the members of owners into their new order.
    private func writeOrders(of table: JoinTableChanges) throws {
        for isFirst in [true, false] {
            let orders = table.orders.filter { $0.isFirst == isFirst }
            guard !orders.isEmpty, let positions = statements.positions(table.join, isFirst: isFirst) else { continue }
            let stored = try stored(positions, of: orders.map(\.owner))
            for order in orders {
                place(
                    SaveStatements.Positions.assigned(order.members, stored[order.owner] ?? [:]), positions,
                    order.owner,
                    LinkOwner(table.join))
            }
        }
    }

    /// Adds statements to the next round trip that give members their positions.
    private func place(
        _ members: [(key: Int64, position: Int64)], _ positions: SaveStatements.Positions, _ ownerKey: Int64,
        _ owner: LinkOwner
    ) {
        for (member, position) in members {
            wait(
                statements.setPosition(positions), [position, ownerKey, member], owner, in: positions.table,
                wrong: "\(dialect.identifier(positions.table)) WHERE \(dialect.identifier(positions.owner)) = $2 "
                    + "AND \(dialect.identifier(positions.member)) = $3 AND "
                    + "\(dialect.identifier(positions.position)) IS DISTINCT FROM $1"
            )
        }
    }

    /// Adds a statement with numbers to those of the next round trip.
    ///
    /// - Parameter wrong: selects, with the same arguments, the rows that are not as the statement
    ///   should have left them.
    private func wait(
        _ sql: String, _ numbers: [Int64], _ owner: LinkOwner, in table: String, wrong: @autoclosure () -> String
    ) {
        var arguments = WireArguments()
        for number in numbers { arguments.append(key: number) }
        waiting.append(WireStatement(sql, arguments, isKept: true))
        expect(1, wrong(), arguments, owner, in: table)
    }

    /// Adds a check that the last statement was done, where a policy, a trigger or a rule may have
    /// left out rows.
    ///
    /// - Parameters:
    ///   - count: the number of rows that it writes if no other transaction wrote them first; nil
    ///     where that is not known.
    ///   - wrong: selects, with the arguments of the statement, the rows that are not as it should
    ///     have left them.
    func expect(
        _ count: Int?, _ wrong: @autoclosure () -> String, _ arguments: WireArguments, _ owner: LinkOwner,
        in table: String
    ) {
        guard backend.mayExcludeRows(of: table) else { return }
        let question = WireStatement("SELECT count(*) FROM " + wrong(), arguments)
        waiting.expect {
            PostgreSQLExpectedLinks(place: $0, count: count, question: question, owner: owner, table: table)
        }
    }

    private func statement(_ sql: String, _ keys: some Collection<Int64>) -> WireStatement {
        return WireStatement(sql, WireArguments(keys: keys), isKept: true)
    }

    // MARK: Hidden keys

    /// Writes the gains and losses of a to-many relationship without an inverse into the
    /// destinations' rows.
    ///
    /// A row has one owner for each relationship: the last one that it was given to. Its removal
    /// from another owner does not change that.
    private func writeHiddenKeys(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) {
        let owner = LinkOwner(change)
        let release = statements.releaseDestination(column, of: destination)
        for removed in change.removed {
            wait(
                release, [removed.key, change.ownerKey], owner, in: destination.table.name,
                wrong:
                    "\(statements.table(destination)) WHERE \(statements.key(destination)) = $1 AND "
                    + "\(dialect.identifier(column.name)) = $2"
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

    /// Returns the positions of members, by their owners and keys.
    private func stored(_ positions: SaveStatements.Positions, of owners: [Int64]) throws -> [Int64: [Int64: Int64]] {
        var stored: [Int64: [Int64: Int64]] = [:]
        _ = try send([statement(statements.members(positions), owners)]) { _, row in
            if !row.isNull(2) { stored[row.int64(0), default: [:]][row.int64(1)] = row.int64(2) }
        }
        return stored
    }

    /// Returns the last positions of owners that have members.
    ///
    /// The members of an owner are numbered again if a position leaves no room after it.
    private func last(
        _ positions: SaveStatements.Positions, of owners: some Collection<Int64>, _ owner: LinkOwner
    ) throws -> [Int64: Int64] {
        var last: [Int64: Int64] = [:]
        var full: [Int64] = []
        _ = try send([statement(statements.last(positions), owners)]) { _, row in
            if row.isNull(1) { return }
            if row.int64(2) == 1 { full.append(row.int64(0)) } else { last[row.int64(0)] = row.int64(1) }
        }
        for key in full {
            var keys: [Int64] = []
            let arguments = WireArguments(key: key)
            _ = try send([WireStatement(statements.orderedMembers(positions), arguments, isKept: true)]) { _, row in
                keys.append(row.int64(0))
            }
            let members = SaveStatements.Positions.assigned(keys, [:])
            place(members, positions, key, owner)
            last[key] = members.last?.position
        }
        return last
    }

    private func writePositions(_ change: RelationshipChange, _ column: SQLColumn, _ destination: SQLEntity) throws {
        guard let positions = statements.positions(column, of: destination) else { return }
        let owner = LinkOwner(change)
        let setPosition = statements.setPosition(positions, ofRowOf: change.ownerKey, isNew: change.order == nil)
        func wait(_ position: Int64, of member: Int64) {
            self.wait(
                setPosition, [position, member], owner, in: positions.table,
                wrong: "\(dialect.identifier(positions.table)) WHERE \(dialect.identifier(positions.member)) = $2 "
                    + (positions.isAlone ? "" : "AND \(dialect.identifier(positions.owner)) = \(change.ownerKey) ")
                    + "AND \(dialect.identifier(positions.position)) "
                    + (change.order == nil && !positions.isAlone ? "IS NULL" : "IS DISTINCT FROM $1"))
        }
        guard let wanted = change.order else {
            guard !change.added.isEmpty else { return }
            var last =
                try last(positions, of: [change.ownerKey], owner)[change.ownerKey] ?? SaveStatements.Positions.step
            for added in change.added {
                last += SaveStatements.Positions.step
                wait(last, of: added.key)
            }
            return
        }
        for (key, position) in SaveStatements.Positions.assigned(
            wanted.map(\.key), try stored(positions, of: [change.ownerKey])[change.ownerKey] ?? [:])
        {
            wait(position, of: key)
        }
    }
}
