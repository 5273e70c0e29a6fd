// Rows that exchange unique values on servers that look at each row by itself, and not at what is there in the end.
extension PostgreSQLSave {
    /// The statements that take away the unique values of rows which are to get others; empty where none can be taken away.
    ///
    /// Nothing is taken away but what the updates write.
    func releases() throws -> [WireStatement] {
        var all: [String: (entity: SQLEntity, columns: [String], keys: [Int64])] = [:]
        var emptied: [Int: [[(slot: Int, column: String)]]] = [:]
        for change in batch.updates {
            guard let values = change.values else { continue }
            let entity = try backend.entity(change.layout)
            let constraints = emptied[change.layout.index] ?? emptyColumns(of: entity)
            emptied[change.layout.index] = constraints
            for constraint in constraints {
                let columns = constraint.filter { values.has($0.slot) }.map(\.column)
                if columns.isEmpty { continue }
                // A row with an empty value is the same as no other.
                let name = ([entity.table.name] + columns).joined(separator: "\0")
                all[name, default: (entity, columns, [])].keys.append(change.key)
            }
        }
        return all.sorted { $0.key < $1.key }.map { _, release in
            var arguments = WireArguments()
            arguments.append(keys: release.keys)
            let values = release.columns.map { dialect.identifier($0) + " = NULL" }.joined(separator: ", ")
            return WireStatement(
                "UPDATE \(statements.table(release.entity)) SET \(values) WHERE \(statements.key(release.entity)) = ANY($1)", arguments)
        }
    }

    /// By constraint the columns of an entity that may be empty.
    private func emptyColumns(of entity: SQLEntity) -> [[(slot: Int, column: String)]] {
        backend.mapping.constraints(of: entity.layout).map { constraint in
            constraint.names.compactMap { name in
                guard let slot = entity.layout.slotByPath[name], let column = entity.columns[slot],
                    case .none = PostgreSQLDialect().requirement(of: column, in: entity.table)
                else { return nil }
                return (slot, column.name)
            }
        }
    }
}
