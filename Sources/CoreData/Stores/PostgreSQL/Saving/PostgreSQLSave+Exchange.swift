// Rows that exchange unique values on servers that look at each row by itself, and not at what is there in the end.
extension PostgreSQLSave {
    /// The statements that take away the unique values of rows which are to get others; empty where none can be taken away.
    ///
    /// Nothing is taken away but what the updates write.
    func releases() throws -> [WireStatement] {
        var all: [String: (entity: SQLEntity, columns: [String], keys: [Int64])] = [:]
        for change in batch.updates {
            guard let values = change.values else { continue }
            let entity = try backend.entity(change.layout)
            let required = Set(PostgreSQLDialect().columns(of: entity.table).filter { $0.isRequired || $0.check != nil }.map(\.name))
            for constraint in backend.mapping.constraints(of: change.layout) {
                let slots = constraint.names.compactMap { change.layout.slotByPath[$0] }.filter(values.has)
                let columns = slots.compactMap { entity.columns[$0]?.name }.filter { !required.contains($0) }
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
}
