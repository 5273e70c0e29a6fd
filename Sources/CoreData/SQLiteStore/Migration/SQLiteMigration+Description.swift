import Foundation

// The store's description of itself: entity numbers, history, metadata, model.
extension SQLiteMigration {
    func writePrimaryKeys(_ highestKeys: [Int: Int64]) throws {
        // Numbers from 16000 on belong to the framework's own tables.
        try connection.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
        for layout in plan.target.layouts.layouts {
            guard let entity = plan.target.entity(layout) else { continue }
            let parent = layout.superIndex >= 0 ? plan.target.entities[layout.superIndex]?.number ?? 0 : 0
            var highest: Int64 = 0
            if parent == 0 {
                let table = SQLSchema.identifier(entity.table.name)
                highest = try connection.integer("SELECT max(Z_PK) FROM \(table)") ?? 0
                for former in plan.formerTables(of: entity.table) {
                    guard let number = plan.source.entity(former.root)?.number else { continue }
                    highest = max(highest, highestKeys[number] ?? 0)
                }
            }
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
                [.integer(Int64(entity.number)), .string(layout.name), .integer(Int64(parent)), .integer(highest)])
        }
    }

    /// Gives the changes in the history the new entity numbers. Deletes the changes of removed
    /// entities.
    func renumberHistory() throws {
        let columns = try SQLiteSchemaReader.read(connection).columns["ACHANGE"] ?? []
        guard columns.contains("ZENTITY") else { return }
        let numbers = plan.entityNumbers
        try connection.execute(
            "DELETE FROM ACHANGE WHERE ZENTITY < 16000 AND ZENTITY NOT IN (\(SQLMigrationPlan.list(numbers.keys)))")
        if columns.contains("ZCOLUMNS") {
            for (former, _) in MigrationFunctions.changedBits(plan) {
                try connection.run(
                    "UPDATE ACHANGE SET ZCOLUMNS = \(SQLFunctionName.historyColumns)(ZCOLUMNS, ZENTITY) "
                        + "WHERE ZENTITY = ? AND ZCOLUMNS IS NOT NULL", [.integer(Int64(former))])
            }
        }
        try moveTombstones(columns)
        guard numbers.contains(where: { $0.key != $0.value }) else { return }
        let cases = numbers.sorted { $0.key < $1.key }.map { " WHEN \($0.key) THEN \($0.value)" }.joined()
        try connection.execute("UPDATE ACHANGE SET ZENTITY = CASE ZENTITY\(cases) ELSE ZENTITY END")
    }

    /// Moves the preserved values of deleted rows to the columns that their attributes have now.
    private func moveTombstones(_ columns: [String]) throws {
        var present = columns.filter { $0.hasPrefix("ZTOMBSTONE") }
        for member in plan.successors.values {
            let (now, former) = (member.target.layout, member.source.layout)
            let sources = now.preservedSlots.map { slot in
                member.sourceNames[now.slots[slot].name].flatMap { former.slotByPath[$0] }
                    .flatMap { former.preservedSlots.firstIndex(of: $0) }
            }
            guard !former.preservedSlots.isEmpty, sources != former.preservedSlots.indices.map({ $0 }) else { continue }
            try SQLiteHistory.addTombstoneColumns(sources.count, to: connection, present: present)
            let all = (0..<max(sources.count, present.count)).map(SQLiteHistory.tombstoneColumn)
            let assignments = all.enumerated().map { index, column in
                let source = index < sources.count ? sources[index].map(SQLiteHistory.tombstoneColumn) : nil
                return "\(column) = " + (source.flatMap { present.contains($0) ? $0 : nil } ?? "NULL")
            }
            present = all
            guard !assignments.isEmpty else { continue }
            try connection.run(
                "UPDATE ACHANGE SET \(assignments.joined(separator: ", ")) WHERE ZENTITY = ?",
                [.integer(Int64(member.source.number))])
        }
    }

    /// Writes the metadata and the copy of the model.
    func writeDescription() throws {
        var metadata = metadata
        let new = StoreMetadata.make(for: entities, of: model)
        for (key, value) in new where key != NSStoreUUIDKey { metadata[key] = value }
        let tasks = try SQLiteDeferredTasks(connection, SQLSchema(mapping: plan.target).indexes()).statements
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = tasks.isEmpty ? nil : true
        try StoreMetadata.write(metadata, to: connection)
        try connection.execute(SQLiteDialect.modelTable(unlessExists: true))
        try StoreMetadata.writeModel(model, to: connection)
    }
}
