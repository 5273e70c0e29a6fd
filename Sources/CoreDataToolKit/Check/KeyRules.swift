import CoreData

/// The rules for columns with keys of other rows.
struct KeyRules {
    let store: CheckedStore

    func rules(of table: StoreInspection.EntityTable) -> [RowRule] {
        store.cells(of: table).compactMap { KeyColumn($0, of: table, in: store) }.flatMap { key in
            [dangling(key), wrongEntity(key), wrongNumber(key), order(key)].compactMap { $0 }
        }
    }

    private func rule(
        _ kind: FindingKind, _ key: KeyColumn, _ condition: String, _ fault: String, _ mend: Mend?
    ) -> RowRule {
        let note = mend == nil && !key.isOptional ? "; the model requires it, so that it cannot be cleared" : ""
        return RowRule(
            kind: kind, table: key.table.name, entity: key.cell.entity, property: key.cell.property,
            condition: condition, fault: fault + note, mend: mend)
    }

    private func dangling(_ key: KeyColumn) -> RowRule {
        let there = "EXISTS (SELECT 1 FROM \(key.destinationName) d WHERE d.Z_PK = \(key.sql))"
        let condition = "typeof(\(key.sql)) = 'integer' AND NOT \(there)"
        return rule(
            .danglingKey, key, condition, "leads to a row that is not there", key.clear(where: condition))
    }

    private func wrongEntity(_ key: KeyColumn) -> RowRule? {
        guard let isKind = store.isOf(key.destinationEntities, in: key.destination, alias: "d") else { return nil }
        let condition =
            "EXISTS (SELECT 1 FROM \(key.destinationName) d WHERE d.Z_PK = \(key.sql) AND (\(isKind)) IS NOT 1)"
        let name = key.destinationEntities.first ?? ""
        return rule(
            .wrongEntity, key, condition, "leads to a row that is no \(name)", key.clear(where: condition))
    }

    /// The entity number beside a key must be that of the row to which the key leads.
    private func wrongNumber(_ key: KeyColumn) -> RowRule? {
        guard let entityColumn = key.entityColumn else { return nil }
        let number = SQLiteReader.identifier(entityColumn)
        let row = "FROM \(key.destinationName) d WHERE d.Z_PK = \(key.sql)"
        let condition = "EXISTS (SELECT 1 \(row) AND d.Z_ENT IS NOT t.\(number))"
        return RowRule(
            kind: .wrongEntity, table: key.table.name, entity: key.cell.entity, property: key.cell.property,
            condition: condition, fault: "has beside it another entity number than the row to which it leads",
            mend: Mend(
                "sets the number of the row",
                sql: "UPDATE \(key.tableName) AS t SET \(number) = (SELECT d.Z_ENT \(row)) WHERE \(condition)"))
    }

    private func order(_ key: KeyColumn) -> RowRule? {
        guard let column = key.orderColumn else { return nil }
        return OrderRule(
            table: key.table.name, owner: key.column, position: column, member: "Z_PK", key: ["Z_PK"],
            entity: key.cell.entity, property: key.cell.property
        ).rule
    }
}

/// The rule that the members of an ordered relationship have positions of their own.
struct OrderRule {
    let table: String
    /// The column with the key of the owner.
    let owner: String
    let position: String
    /// The column with the key of the member.
    let member: String
    let key: [String]
    let entity: String
    let property: String

    /// The distance between positions, which leaves room for insertions.
    private static let step = 1024

    var rule: RowRule {
        let (name, owner) = (SQLiteReader.identifier(table), SQLiteReader.identifier(owner))
        let (position, member) = (SQLiteReader.identifier(position), SQLiteReader.identifier(member))
        let shared =
            "(SELECT \(owner), \(position) FROM \(name) WHERE \(owner) IS NOT NULL "
            + "GROUP BY \(owner), \(position) HAVING count(*) > 1)"
        let condition =
            "t.\(owner) IS NOT NULL "
            + "AND (typeof(t.\(position)) <> 'integer' OR (t.\(owner), t.\(position)) IN \(shared))"
        // In the order of the positions; members without one are the last.
        let numbered =
            "(SELECT rowid AS place, \(Self.step) * row_number() OVER (PARTITION BY \(owner) ORDER BY "
            + "typeof(\(position)) <> 'integer', \(position), \(member)) AS position FROM \(name) "
            + "WHERE \(owner) IN (SELECT t.\(owner) FROM \(name) t WHERE \(condition)))"
        return RowRule(
            kind: .order, table: table, entity: entity, property: property, condition: condition, key: key,
            fault: "has no position of its own in an ordered relationship",
            mend: Mend(
                "numbers the members of these objects again, in their order",
                sql: "UPDATE \(name) SET \(position) = n.position FROM \(numbered) n WHERE \(name).rowid = n.place"))
    }
}
