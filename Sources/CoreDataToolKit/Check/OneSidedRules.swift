import CoreData

/// The rules that both sides of a relationship agree.
///
/// A store keeps both sides of a one-to-one relationship, each in a column of its own. A pair whose
/// rows both name each other stays as it is. A key that only one side has is completed if the other
/// row has no partner and no other row leads to it; otherwise the key is cleared.
struct OneSidedRules {
    let store: CheckedStore

    func rules(of table: StoreInspection.EntityTable) -> [RowRule] {
        let keys = store.keyColumns
        return keys.filter { $0.table.name == table.name }.compactMap { key in
            inverse(of: key, among: keys).map { rule(key, $0) }
        }
    }

    private func inverse(of key: KeyColumn, among keys: [KeyColumn]) -> KeyColumn? {
        guard !key.relationship.isToMany, let inverse = key.relationship.inverseRelationship, !inverse.isToMany
        else { return nil }
        return keys.first { $0.relationship === inverse }
    }

    private func rule(_ key: KeyColumn, _ inverse: KeyColumn) -> RowRule {
        let condition = Self.isOneSided(key, inverse)
        let isClearable = key.isOptional
        var steps = [Self.completion(key, inverse), Self.completion(inverse, key)]
        for (side, other) in [(key, inverse), (inverse, key)] where side.isOptional {
            steps.append(
                "UPDATE \(side.tableName) AS t SET \(side.clearing) WHERE \(Self.isOneSided(side, other))")
        }
        return RowRule(
            kind: .oneSided, table: key.table.name, entity: key.cell.entity, property: key.cell.property,
            condition: condition,
            fault: "leads to an object whose '\(inverse.cell.property)' is another"
                + (isClearable ? "" : "; the model requires it, so that it can only be completed"),
            mend: Mend(
                "completes the pair where the other object is free, clears the key otherwise",
                steps.map { .statement($0) }))
    }

    /// The condition of rows whose partner names another row, or none.
    private static func isOneSided(_ key: KeyColumn, _ inverse: KeyColumn) -> String {
        "EXISTS (SELECT 1 FROM \(key.destinationName) d WHERE d.Z_PK = \(key.sql) "
            + "AND d.\(SQLiteReader.identifier(inverse.column)) IS NOT t.Z_PK)"
    }

    /// Returns the statement that gives the rows without a partner the only row that leads to them.
    private static func completion(_ key: KeyColumn, _ inverse: KeyColumn) -> String {
        let column = SQLiteReader.identifier(key.column)
        let claims = "FROM \(key.tableName) o WHERE o.\(column) = t.Z_PK"
        var assignments = "\(SQLiteReader.identifier(inverse.column)) = (SELECT o.Z_PK \(claims))"
        if let number = inverse.entityColumn {
            assignments += ", \(SQLiteReader.identifier(number)) = (SELECT o.Z_ENT \(claims))"
        }
        return "UPDATE \(inverse.tableName) AS t SET \(assignments) WHERE \(inverse.sql) IS NULL "
            + "AND (SELECT count(*) \(claims)) = 1"
    }
}
