import CoreData

/// The rules for what Core Data itself keeps in each row: key, entity number and version.
struct TableRules {
    let store: CheckedStore

    func rules(of table: StoreInspection.EntityTable) -> [RowRule] {
        let name = SQLiteReader.identifier(table.name)
        let numbers = table.entities.map { String($0.number) }.joined(separator: ", ")
        let stray = "(typeof(t.Z_ENT) <> 'integer' OR t.Z_ENT NOT IN (\(numbers)))"
        let unversioned = "(typeof(t.Z_OPT) <> 'integer' OR t.Z_OPT < 1)"
        let substitute = store.survey.fallback(of: table).name
        return [
            RowRule(
                kind: .entityNumber, table: table.name, condition: stray,
                fault: "Z_ENT is the number of no entity of this table",
                mend: Mend(
                    "makes them objects of the entity that Z_ENT names, or else of '\(substitute)'",
                    sql: "UPDATE \(name) AS t SET Z_ENT = \(store.survey.entityNumber(in: table)) WHERE \(stray)")),
            RowRule(
                kind: .rowVersion, table: table.name, condition: unversioned,
                fault: "the version (Z_OPT) is not a number from 1 on",
                mend: Mend("sets it to 1", sql: "UPDATE \(name) AS t SET Z_OPT = 1 WHERE \(unversioned)")),
        ]
    }

    /// Compares `Z_MAX` with the greatest key of a table.
    func greatestKey(of table: StoreInspection.EntityTable) throws -> StoreFinding? {
        try greatestKey(in: table.name, number: table.entities[0].number, name: table.entities[0].name)
    }

    /// - Parameter number: the entity number under which `Z_PRIMARYKEY` has the greatest key.
    func greatestKey(in table: String, number: Int, name: String) throws -> StoreFinding? {
        let greatest = "(SELECT max(Z_PK) FROM \(SQLiteReader.identifier(table)))"
        let rows = try store.reader.rows(
            "SELECT \(greatest), Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)")
        guard let row = rows.first, let key = row[0].integer, (row[1].integer ?? -1) < key else { return nil }
        return StoreFinding(
            kind: .greatestKey, table: "Z_PRIMARYKEY", entity: name, count: 1, examples: ["\(table)/p\(key)"],
            sentence: "Z_MAX of \(name) is \(row[1].description), but its table has the key \(key): "
                + "new objects would get the keys of others.",
            mend: Mend(
                "raises it to \(key)",
                sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = max(\(greatest), CASE WHEN typeof(Z_MAX) = 'integer' THEN Z_MAX "
                    + "ELSE 0 END) WHERE Z_ENT = \(number)"))
    }
}
