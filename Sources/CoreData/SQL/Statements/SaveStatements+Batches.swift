// The statements of batches, besides those for single rows.
extension SaveStatements {
    /// The handling of an inserted row whose unique values another row has.
    enum UniqueRow {
        case refuse
        /// The other row gets the values of these slots.
        ///
        /// The columns are those of the only constraint to which the rule applies; nil for all
        /// constraints.
        case update((Int) -> Bool, by: [String]?)
        case skip
    }

    /// Returns a statement that inserts a row like `insert(_:)`, or handles the row with the same
    /// unique values.
    ///
    /// A row of another entity is changed only if that is a subentity.
    ///
    /// - Parameter returnsKey: whether the statement returns the key of the row that it has
    ///   written, and nothing for a row that it skips. For a row that may be of a subentity, the
    ///   number of its entity follows the key.
    func insert(_ entity: SQLEntity, uniqueRow: UniqueRow, returnsKey: Bool) -> String {
        var sql = insert(entity)
        switch uniqueRow {
        case .refuse: break
        case .skip: sql += " ON CONFLICT DO NOTHING"
        case .update(let isGiven, let columns):
            sql +=
                " " + dialect.updatesUniqueRow(columns ?? constraints(of: entity).first ?? [], isOnly: columns != nil)
                + " SET "
                + replacement(entity, isGiven).joined(separator: ", ")
            if entity.table.family.count > 1, let number = entity.table.entityColumn.map(identifier) {
                let numbers = entity.layout.familyIndexes.compactMap { mapping.entities[$0]?.number }.map(String.init)
                sql += " WHERE \(table(entity)).\(number) IN (\(numbers.joined(separator: ", ")))"
            }
        }
        guard returnsKey else { return sql }
        let number = changesSubentities(of: entity) ? entity.table.entityColumn.map { ", " + identifier($0) } : nil
        return sql + " RETURNING \(key(entity))\(number ?? "")"
    }

    /// Whether an insertion may change rows of subentities.
    func changesSubentities(of entity: SQLEntity) -> Bool {
        entity.layout.familyIndexes.count > 1 && entity.table.entityColumn != nil
    }

    private func replacement(_ entity: SQLEntity, _ isGiven: (Int) -> Bool) -> [String] {
        let constraints = constraints(of: entity)
        // The conflicting values are equal in both rows.
        let same = Set(constraints.count == 1 ? constraints[0] : [])
        var assignments = versionRaised(
            entity, from: dialect.version("\(table(entity)).\(identifier(entity.table.versionColumn))"))
        for column in writtenColumns(of: entity, where: isGiven) where !same.contains(column.name) {
            for name in [column.name, column.entityColumn].compactMap({ $0 }) {
                assignments.append("\(identifier(name)) = excluded.\(identifier(name))")
            }
            if let order = column.orderColumn { assignments.append("\(identifier(order)) = NULL") }
        }
        return assignments
    }

    /// Returns the columns of the uniqueness constraints of an entity, including those of its
    /// superentities.
    func constraints(of entity: SQLEntity) -> [[String]] { mapping.constraints(of: entity.layout).map(\.columns) }

    /// Returns the query for the key of the row with given unique values. Binds these values.
    func row(withUnique columns: [String], in entity: SQLEntity) -> String {
        var parameters = Parameters(dialect)
        let conditions = columns.map { "\(identifier($0)) = \(parameters.next())" }.joined(separator: " AND ")
        return "SELECT \(key(entity)) FROM \(table(entity)) WHERE \(conditions)"
    }

    // MARK: Many rows by their keys

    private var ofList: String { dialect.keyCondition(.list) }

    private func references(_ entity: SQLEntity) -> String {
        let number = entity.table.entityColumn.map(identifier) ?? String(entity.number)
        return "SELECT \(number), \(key(entity)) FROM \(table(entity))"
    }

    /// Returns the query for the entity numbers and keys of existing rows. Binds a list of keys.
    func references(of entity: SQLEntity) -> String { "\(references(entity)) WHERE \(key(entity)) \(ofList)" }

    /// Returns the statement that deletes rows. Binds a list of keys.
    package func deleteRows(of entity: SQLEntity) -> String {
        "DELETE FROM \(table(entity)) WHERE \(key(entity)) \(ofList)"
    }

    /// Returns the query for the keys and some columns of rows. Binds a list of keys.
    package func values(_ columns: [String], of entity: SQLEntity) -> String {
        "SELECT \(([entity.table.keyColumn] + columns).map(identifier).joined(separator: ", ")) FROM "
            + "\(table(entity)) WHERE \(key(entity)) \(ofList)"
    }

    /// Returns the query for the entity numbers and keys of a to-one relationship's destinations.
    /// Binds a list of the owners' keys.
    func destinations(of column: SQLColumn, from owner: SQLEntity, to destination: SQLEntity) -> String {
        "\(references(destination)) WHERE \(key(destination)) IN (SELECT \(identifier(column.name)) FROM "
            + "\(table(owner)) WHERE \(key(owner)) \(ofList))"
    }

    /// Returns the query for the entity numbers and keys of the rows that refer to owners. Binds a
    /// list of the owners' keys.
    func destinations(holding column: SQLColumn, _ destination: SQLEntity) -> String {
        "\(references(destination)) WHERE \(identifier(column.name)) \(ofList)"
    }

    /// Returns the query for the entity numbers and keys of the other rows in pairs. Binds a list
    /// of the owners' keys.
    func destinations(_ join: SQLJoinTable, isFirst: Bool, _ destination: SQLEntity) -> String {
        let (owner, other) = (
            identifier(join.ownerColumn(isFirst: isFirst)), identifier(join.destinationColumn(isFirst: isFirst))
        )
        return
            "\(references(destination)) WHERE \(key(destination)) IN (SELECT \(other) FROM \(identifier(join.name)) "
            + "WHERE \(owner) \(ofList))"
    }

    /// Returns the statement that clears the references of rows to owners. Binds a list of the
    /// owners' keys.
    ///
    /// If `returnsReferences` is true, it returns the entity numbers and keys of these rows.
    func release(_ column: SQLColumn, of destination: SQLEntity, returnsReferences: Bool) -> String {
        let assignments = (versionRaised(destination) + [noOwner(in: column)]).joined(separator: ", ")
        let sql = "UPDATE \(table(destination)) SET \(assignments) WHERE \(identifier(column.name)) \(ofList)"
        return returnsReferences ? sql + returningReferences(destination) : sql
    }

    /// Returns the statement that deletes the pairs with some keys in a column. Binds a list of
    /// these keys.
    package func deletePairs(_ join: SQLJoinTable, ofKeysIn column: String) -> String {
        "DELETE FROM \(identifier(join.name)) WHERE \(identifier(column)) \(ofList)"
    }

    /// Returns the end of a statement that returns the entity numbers and keys of the rows that it
    /// has written.
    package func returningReferences(_ entity: SQLEntity) -> String {
        " RETURNING \(entity.table.entityColumn.map(identifier) ?? String(entity.number)), \(key(entity))"
    }

    /// Returns the statement that writes one column of a row. Binds the value and the key.
    func setValue(_ column: SQLColumn, of entity: SQLEntity) -> String {
        var parameters = Parameters(dialect)
        return
            "UPDATE \(table(entity)) SET \(identifier(column.name)) = \(parameters.next()) WHERE \(key(entity)) = "
            + "\(parameters.next())"
    }
}
