/// The result columns of a statement that reads whole rows of an entity and, perhaps, its
/// subentities.
///
/// The first three columns are always entity number (or 0), key and version.
package struct SelectColumns {
    package let entity: SQLEntity
    /// The possible entities of the rows.
    let family: [SQLEntity]
    /// `t0.entity, t0.key, t0.version, …`, for the first table of a query.
    package let sql: String
    /// The position of each column's name among the results.
    package let positions: [String: Int32]

    /// The statements for the rows with some keys. They are made once, because single rows are read
    /// often.
    private let oneKey: String
    private let keyList: String
    private let keyRange: String

    /// - Parameter present: the columns that the table has; nil if it has all that it should have.
    package init(_ entity: SQLEntity, includesSubentities: Bool, in mapping: SQLMapping, present: Set<String>? = nil) {
        self.entity = entity
        let family = includesSubentities ? entity.layout.familyIndexes.compactMap { mapping.entities[$0] } : [entity]
        var names: [String] = []
        var positions: [String: Int32] = [:]
        func add(_ name: String?) {
            guard let name, positions[name] == nil, present?.contains(name) ?? true else { return }
            positions[name] = Int32(names.count + 3)
            names.append(name)
        }
        for member in family {
            for slot in member.layout.slots.prefix(member.layout.storedCount) {
                add(member.columns[slot.index]?.name)
                add(member.columns[slot.index]?.entityColumn)
            }
        }
        func column(_ name: String) -> String { SQLScope.firstAlias + "." + mapping.dialect.identifier(name) }
        let table: SQLTable = entity.table
        let number = family.count == 1 ? "0" : column(table.numberColumn)
        sql = ([number] + ([table.keyColumn, table.versionColumn] + names).map(column)).joined(separator: ", ")
        let dialect = mapping.dialect
        let keyed =
            "SELECT \(sql) FROM \(dialect.identifier(table.name)) \(SQLScope.firstAlias) WHERE "
            + "\(column(table.keyColumn)) "
        // An object ID may name another entity of the table than its row has.
        let limit = mapping.entityCondition(
            entity, alias: SQLScope.firstAlias, includesSubentities: includesSubentities
        ).map {
            " AND " + $0
        }
        func statement(_ form: SQLKeys.Form) -> String { keyed + dialect.keyCondition(form) + (limit ?? "") }
        oneKey = statement(.one)
        keyList = statement(.list)
        keyRange = statement(.range)
        self.positions = positions
        self.family = family
    }

    package func statement(for keys: SQLKeys.Form) -> String {
        switch keys {
        case .one: oneKey
        case .list: keyList
        case .range: keyRange
        }
    }

    /// Whether all rows are of one entity.
    var isSingle: Bool { family.count == 1 }
}
