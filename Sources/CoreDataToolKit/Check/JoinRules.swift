import CoreData

/// The rules for the join tables of many-to-many relationships.
struct JoinRules {
    let store: CheckedStore

    /// One side of a join table: a column with the keys of an entity's rows.
    private struct Side {
        let column: String
        let entity: NSEntityDescription
        let table: StoreInspection.EntityTable
    }

    func rules(of join: StoreInspection.JoinTable) -> [RowRule] {
        guard let relationship = store.entities[join.entity]?.relationshipsByName[join.relationship],
            let first = side(join.columns[0], store.entities[join.entity], join),
            let second = side(join.columns[1], relationship.destinationEntity, join)
        else { return [] }
        var rules = sideRules(first, join) + sideRules(second, join)
        if relationship.inverseRelationship === relationship { rules.append(mirror(first, second, join)) }
        rules += [(first, second), (second, first)].compactMap { owner, member in order(owner, member, join) }
        return rules
    }

    private func side(
        _ column: String, _ entity: NSEntityDescription?, _ join: StoreInspection.JoinTable
    ) -> Side? {
        guard let entity, let table = store.table(of: entity.name ?? ""), store.hasColumn(column, in: join.name)
        else { return nil }
        return Side(column: column, entity: entity, table: table)
    }

    private func rule(
        _ kind: FindingKind, _ join: StoreInspection.JoinTable, _ condition: String, _ fault: String, _ mend: Mend
    ) -> RowRule {
        RowRule(
            kind: kind, table: join.name, condition: condition, key: Array(join.columns.prefix(2)),
            fault: "\(fault), in the relationship \(join.entity).\(join.relationship)", mend: mend)
    }

    private func sideRules(_ side: Side, _ join: StoreInspection.JoinTable) -> [RowRule] {
        let name = SQLiteReader.identifier(join.name)
        let row =
            "FROM \(SQLiteReader.identifier(side.table.name)) d "
            + "WHERE d.Z_PK = t.\(SQLiteReader.identifier(side.column))"
        let missing = "NOT EXISTS (SELECT 1 \(row))"
        func deletion(_ condition: String) -> Mend {
            Mend("deletes the row", sql: "DELETE FROM \(name) AS t WHERE \(condition)")
        }
        let title = side.entity.name ?? ""
        var rules = [
            rule(
                .orphanedJoinRow, join, missing, "leads to no row of \(title) (\(side.column))", deletion(missing))
        ]
        if let isKind = store.isOf(store.family(of: side.entity), in: side.table, alias: "d") {
            let wrong = "EXISTS (SELECT 1 \(row) AND (\(isKind)) IS NOT 1)"
            rules.append(
                rule(.wrongEntity, join, wrong, "leads to a row that is no \(title) (\(side.column))", deletion(wrong)))
        }
        return rules
    }

    /// Each pair of a relationship that is its own inverse stands in the table in both directions.
    private func mirror(_ first: Side, _ second: Side, _ join: StoreInspection.JoinTable) -> RowRule {
        let name = SQLiteReader.identifier(join.name)
        let (one, other) = (SQLiteReader.identifier(first.column), SQLiteReader.identifier(second.column))
        let condition = "NOT EXISTS (SELECT 1 FROM \(name) o WHERE o.\(one) = t.\(other) AND o.\(other) = t.\(one))"
        return rule(
            .oneSided, join, condition, "has no counterpart in the other direction",
            Mend(
                "adds the other direction",
                sql: "INSERT OR IGNORE INTO \(name) (\(one), \(other)) SELECT t.\(other), t.\(one) FROM \(name) t "
                    + "WHERE \(condition)"))
    }

    private func order(_ owner: Side, _ member: Side, _ join: StoreInspection.JoinTable) -> RowRule? {
        let position = "Z_FOK_" + member.column.dropFirst(2)
        guard store.hasColumn(position, in: join.name) else { return nil }
        return OrderRule(
            table: join.name, owner: owner.column, position: position, member: member.column,
            key: Array(join.columns.prefix(2)), entity: join.entity, property: join.relationship
        ).rule
    }
}
