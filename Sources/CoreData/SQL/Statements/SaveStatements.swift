/// The statements of a save, for single rows. The comments name the bound values in their order.
package struct SaveStatements {
    let mapping: SQLMapping

    package init(mapping: SQLMapping) {
        self.mapping = mapping
    }

    var dialect: any SQLDialect { mapping.dialect }

    package func identifier(_ name: String) -> String { dialect.identifier(name) }
    package func key(_ entity: SQLEntity) -> String { identifier(entity.table.keyColumn) }
    package func table(_ entity: SQLEntity) -> String { identifier(entity.table.name) }
    func version(_ entity: SQLEntity) -> String { dialect.version(identifier(entity.table.versionColumn)) }

    /// Returns the assignment that raises a row's version; none where the database does so itself.
    func versionRaised(_ entity: SQLEntity, from version: String? = nil) -> [String] {
        guard entity.table.writesVersions else { return [] }
        return ["\(identifier(entity.table.versionColumn)) = \(version ?? self.version(entity)) + 1"]
    }

    /// The placeholders of a statement, in order.
    struct Parameters {
        let dialect: any SQLDialect
        private var count = 0

        init(_ dialect: any SQLDialect) { self.dialect = dialect }

        mutating func next() -> String {
            count += 1
            return dialect.placeholder(count)
        }
    }

    // MARK: Rows

    /// Returns the statement that inserts a row.
    ///
    /// Binds the key, the entity's number where there is a column for it, the version, and the
    /// columns of the properties in the order of their slots. Each column is followed by the number
    /// of the destination's entity where there is a column for that.
    func insert(_ entity: SQLEntity) -> String {
        var names = entity.table.systemColumns
        for column in writtenColumns(of: entity) {
            names.append(column.name)
            if let entityColumn = column.entityColumn { names.append(entityColumn) }
        }
        var parameters = Parameters(dialect)
        let values = names.map { _ in parameters.next() }
        return
            "INSERT INTO \(table(entity)) (\(names.map(identifier).joined(separator: ", "))) VALUES "
            + "(\(values.joined(separator: ", ")))"
    }

    /// Returns the columns that a store writes: all but those of derived attributes, which triggers
    /// maintain.
    func writtenColumns(of entity: SQLEntity, where isWanted: (Int) -> Bool = { _ in true }) -> [SQLColumn] {
        entity.layout.slots.prefix(entity.layout.storedCount).compactMap { slot in
            isWanted(slot.index) && !slot.isDerived ? entity.columns[slot.index] : nil
        }
    }

    /// Returns the statement that updates some columns of a row of a given version. Binds the
    /// values as in `insert`, then the key and the version.
    func update(_ entity: SQLEntity, slots isChanged: (Int) -> Bool) -> String {
        var parameters = Parameters(dialect)
        var assignments = versionRaised(entity)
        for column in writtenColumns(of: entity, where: isChanged) {
            assignments.append("\(identifier(column.name)) = \(parameters.next())")
            if let entityColumn = column.entityColumn {
                assignments.append("\(identifier(entityColumn)) = \(parameters.next())")
            }
            // A row that leaves an ordered relationship loses its position; a later statement sets
            // a new one.
            if let order = column.orderColumn { assignments.append("\(identifier(order)) = NULL") }
        }
        return "UPDATE \(table(entity)) SET \(assignments.joined(separator: ", ")) "
            + "WHERE \(key(entity)) = \(parameters.next()) AND \(version(entity)) = \(parameters.next())"
    }

    /// Returns the statement that sets some columns of a row to NULL. Binds the key and the
    /// version.
    func clear(_ columns: some Sequence<String>, of entity: SQLEntity) -> String {
        var parameters = Parameters(dialect)
        let assignments = columns.map { "\(identifier($0)) = NULL" }.joined(separator: ", ")
        return
            "UPDATE \(table(entity)) SET \(assignments) WHERE \(key(entity)) = \(parameters.next()) AND "
            + "\(version(entity)) = \(parameters.next())"
    }

    /// Returns the statement that deletes a row. Binds the key, and the version if it is checked.
    func delete(_ entity: SQLEntity, checksVersion: Bool) -> String {
        var parameters = Parameters(dialect)
        let row = "DELETE FROM \(table(entity)) WHERE \(key(entity)) = \(parameters.next())"
        return checksVersion ? row + " AND \(version(entity)) = \(parameters.next())" : row
    }

    /// Returns the query for the version of a row. Binds the key.
    func version(of entity: SQLEntity) -> String {
        "SELECT \(version(entity)) FROM \(table(entity)) WHERE \(key(entity)) = \(dialect.placeholder(1))"
    }

    /// Returns the query for another row with given unique values. Binds the values, and the key of
    /// the row that is saved.
    func owner(of columns: [String], in entity: SQLEntity) -> String {
        var parameters = Parameters(dialect)
        let conditions = columns.map { "\(identifier($0)) = \(parameters.next())" }.joined(separator: " AND ")
        return
            "SELECT \(key(entity)) FROM \(table(entity)) WHERE \(conditions) AND \(key(entity)) <> \(parameters.next())"
    }

    // MARK: Pairs

    /// Returns the statement that deletes a pair. Binds the keys of its first and its second row.
    func deletePair(_ join: SQLJoinTable) -> String {
        var parameters = Parameters(dialect)
        return "DELETE FROM \(identifier(join.name)) WHERE \(identifier(join.firstColumn)) = \(parameters.next()) "
            + "AND \(identifier(join.secondColumn)) = \(parameters.next())"
    }

    /// Returns the statement that deletes all pairs with a key in a column. Binds the key.
    func deletePairs(_ join: SQLJoinTable, _ column: String) -> String {
        "DELETE FROM \(identifier(join.name)) WHERE \(identifier(column)) = \(dialect.placeholder(1))"
    }

    /// Returns the statement that inserts a pair unless it exists.
    ///
    /// Binds the keys of its first and its second row, then its position in the order of each side
    /// that has one.
    func insertPair(_ join: SQLJoinTable) -> String {
        var parameters = Parameters(dialect)
        let columns = pairColumns(join)
        let values = columns.map { _ in parameters.next() }.joined(separator: ", ")
        return dialect.insertIfMissing(
            into: identifier(join.name), columns.map(identifier).joined(separator: ", "), SQLText("VALUES (\(values))")
        ).statement(dialect).sql
    }

    /// Returns the columns of a pair in the order in which `insertPair` binds their values.
    package func pairColumns(_ join: SQLJoinTable) -> [String] {
        [join.firstColumn, join.secondColumn] + [join.firstOrderColumn, join.secondOrderColumn].compactMap { $0 }
    }

    // MARK: Keys without an inverse

    /// Returns the statement that removes an owner from a row. Binds the row's key and the owner's
    /// key.
    package func releaseDestination(_ column: SQLColumn, of destination: SQLEntity) -> String {
        var parameters = Parameters(dialect)
        return
            "UPDATE \(table(destination)) SET \(noOwner(in: column)) WHERE \(key(destination)) = \(parameters.next()) "
            + "AND \(identifier(column.name)) = \(parameters.next())"
    }

    /// Returns the statement that removes an owner from all rows. Binds the owner's key.
    func releaseDestinations(_ column: SQLColumn, of destination: SQLEntity) -> String {
        "UPDATE \(table(destination)) SET \(noOwner(in: column)) WHERE \(identifier(column.name)) = "
            + "\(dialect.placeholder(1))"
    }

    /// Returns the assignments that set a hidden key and its companions to NULL.
    package func noOwner(in column: SQLColumn) -> String {
        [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }.map { identifier($0) + " = NULL" }
            .joined(separator: ", ")
    }

    /// Returns the statement that assigns a row to an owner. Binds the owner's key and the row's
    /// key.
    package func giveDestination(_ column: SQLColumn, of destination: SQLEntity, to owner: SQLEntity?) -> String {
        let foreign = identifier(column.name)
        var assignments = "\(foreign) = \(dialect.numberedPlaceholder(1))"
        if let name = column.entityColumn, let number = owner?.number {
            assignments += ", \(identifier(name)) = \(number)"
        }
        // The row loses its position among another owner's destinations; a later statement sets a
        // new one.
        if let name = column.orderColumn { assignments += ", \(identifier(name)) = NULL" }
        let isOther = dialect.isDifferent(SQLText(foreign), SQLText(dialect.numberedPlaceholder(1))).statement(dialect)
            .sql
        return
            "UPDATE \(table(destination)) SET \(assignments) WHERE \(key(destination)) = "
            + "\(dialect.numberedPlaceholder(2)) AND \(isOther)"
    }

    // MARK: Positions

    /// The position column of one owner's rows, or of pairs.
    package struct Positions {
        /// The distance between neighbours in an ordered relationship, which leaves room for
        /// insertions.
        package static let step: Int64 = 1024
        /// The highest position that a store assigns. A relationship with a higher one is numbered
        /// again.
        static let highest: Int64 = 1 << 62

        package let table: String
        package let position: String
        /// The column of the owner's keys.
        package let owner: String
        /// The column of the members' keys.
        package let member: String
        /// Whether the owner's key in a row is written with the row's other values.
        package let isAlone: Bool

        /// Returns the positions to write so that keys have a given order. Stored positions that
        /// fit are kept.
        package static func assigned(_ keys: [Int64], _ stored: [Int64: Int64]) -> [(key: Int64, position: Int64)] {
            let current = stored.filter { (0...highest).contains($0.value) }
            var changes: [(Int64, Int64)] = []
            var previous: Int64 = step
            for (index, key) in keys.enumerated() {
                let next = index + 1 < keys.count ? current[keys[index + 1]] : nil
                if let position = current[key], position > previous,
                    next.map({ position < $0 || $0 <= previous }) ?? true
                {
                    previous = position
                    continue
                }
                let position: Int64
                if let next, next > previous, next - previous >= 2 {
                    position = min(previous + (next - previous) / 2, previous + step)
                } else {
                    position = previous + step
                }
                changes.append((key, position))
                previous = position
            }
            // There is no room after the last position, so all positions are assigned again.
            if previous > highest, !current.isEmpty { return assigned(keys, [:]) }
            return changes
        }
    }

    /// Returns the position column of destinations that hold their owner's key; nil where the
    /// relationship is not ordered.
    package func positions(_ column: SQLColumn, of destination: SQLEntity) -> Positions? {
        column.orderColumn.map {
            Positions(
                table: destination.table.name, position: $0, owner: column.name, member: destination.table.keyColumn,
                isAlone: !column.isHiddenKey)
        }
    }

    /// Returns the position column of pairs; nil where the relationship is not ordered.
    package func positions(_ join: SQLJoinTable, isFirst: Bool) -> Positions? {
        join.orderColumn(isFirst: isFirst).map {
            Positions(
                table: join.name, position: $0, owner: join.ownerColumn(isFirst: isFirst),
                member: join.destinationColumn(isFirst: isFirst),
                isAlone: false)
        }
    }

    /// Returns the query for the last positions of owners, and whether there is no room after them.
    /// Binds a list of the owners' keys.
    package func last(_ positions: Positions) -> String {
        let (owner, position) = (identifier(positions.owner), identifier(positions.position))
        return
            "SELECT \(owner), MAX(\(position)), MAX(\(position)) > \(Positions.highest) FROM "
            + "\(identifier(positions.table)) "
            + "WHERE \(owner) \(dialect.keyCondition(.list)) GROUP BY \(owner)"
    }

    /// Returns the query for the members of owners with their positions. Binds a list of the
    /// owners' keys.
    package func members(_ positions: Positions) -> String {
        let owner = identifier(positions.owner)
        return "SELECT \(owner), \(identifier(positions.member)), \(identifier(positions.position)) "
            + "FROM \(identifier(positions.table)) WHERE \(owner) \(dialect.keyCondition(.list))"
    }

    /// Returns the query for the members that have a position, in order. Binds the owner's key.
    package func orderedMembers(_ positions: Positions) -> String {
        let (member, position) = (identifier(positions.member), identifier(positions.position))
        return
            "SELECT \(member) FROM \(identifier(positions.table)) WHERE \(identifier(positions.owner)) = "
            + "\(dialect.placeholder(1)) "
            + "AND \(position) IS NOT NULL ORDER BY \(position), \(member)"
    }

    /// Returns the statement that sets a member's position. Binds the position, the owner's key and
    /// the member's key.
    package func setPosition(_ positions: Positions) -> String {
        var parameters = Parameters(dialect)
        return "UPDATE \(identifier(positions.table)) SET \(identifier(positions.position)) = \(parameters.next()) "
            + "WHERE \(identifier(positions.owner)) = \(parameters.next()) AND \(identifier(positions.member)) = "
            + "\(parameters.next())"
    }

    /// Returns the statement that sets a row's position among an owner's rows. Binds the position
    /// and the row's key.
    ///
    /// The statement checks that the row has this owner, except where the owner's key is written
    /// with the row's other values.
    ///
    /// - Parameter isNew: whether the row was assigned to the owner. A row with a hidden key may
    ///   have been there before; it then keeps its position.
    package func setPosition(_ positions: Positions, ofRowOf owner: Int64, isNew: Bool) -> String {
        var parameters = Parameters(dialect)
        let update =
            "UPDATE \(identifier(positions.table)) SET \(identifier(positions.position)) = \(parameters.next()) "
            + "WHERE \(identifier(positions.member)) = \(parameters.next())"
        if positions.isAlone { return update }
        return update + " AND \(identifier(positions.owner)) = \(owner)"
            + (isNew ? " AND \(identifier(positions.position)) IS NULL" : "")
    }
}
