/// The result columns of a statement that reads whole rows of an entity and, perhaps, its subentities.
///
/// The first three columns are always entity number (or 0), key and version.
struct SelectColumns {
    let entity: SQLEntity
    /// The entities that rows may be of.
    let family: [SQLEntity]
    /// `t0.entity, t0.key, t0.version, …`, for the first table of a query.
    let sql: String
    /// The position of each column's name among the results.
    let positions: [String: Int32]

    /// - Parameter present: the columns that the table has; nil for all that it should have.
    init(_ entity: SQLEntity, includesSubentities: Bool, in mapping: SQLMapping, present: Set<String>? = nil) {
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
        let naming = mapping.naming
        let number = family.count == 1 ? "0" : column(naming.entity)
        sql = ([number] + ([naming.key, naming.version] + names).map(column)).joined(separator: ", ")
        self.positions = positions
        self.family = family
    }

    /// Whether all rows are of one entity.
    var isSingle: Bool { family.count == 1 }
}

extension SQLMapping {
    /// The statement for the rows with some keys.
    func statement(_ columns: SelectColumns, for keys: SQLKeys.Form) -> String {
        let key = SQLScope.firstAlias + "." + dialect.identifier(naming.key)
        return "SELECT \(columns.sql) FROM \(dialect.identifier(columns.entity.table.name)) \(SQLScope.firstAlias) WHERE \(key) "
            + dialect.keyCondition(keys)
    }
}
