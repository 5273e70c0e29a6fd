import CoreData

/// The rules for values in external files.
struct FileRules {
    let store: CheckedStore

    /// Returns the values of a table whose files are missing.
    func missingFiles(of table: StoreInspection.EntityTable) throws -> [StoreFinding] {
        let external = store.cells(of: table).filter { cell in
            if case .bytes(isExternal: true) = cell.content { true } else { false }
        }
        if external.isEmpty { return [] }
        let checks = CellChecks(
            table, entity: nil, properties: Set(external.map(\.property)), file: store.file)
        do {
            return try checks.findings(reader: store.reader).filter { $0.fault == .missingFile }.map {
                finding($0, table)
            }
        } catch let failure as SQLiteReader.Failure where failure.isOfPages || failure.isEndless {
            return [RowRules.unreadable(table.name, failure)]
        }
    }

    private func finding(_ found: CellChecks.Finding, _ table: StoreInspection.EntityTable) -> StoreFinding {
        let isOptional = store.property(of: found.cell)?.isOptional ?? true
        let keys = found.keys.prefix(StoreFinding.exampleCount).map { "\(found.cell.entity)/p\($0)" }
        return StoreFinding(
            kind: .missingFile, table: table.name, entity: found.cell.entity, property: found.cell.property,
            count: found.count, examples: keys, sentence: found.sentence,
            mend: isOptional ? Mend("clears the value", clearing(found, table)) : nil)
    }

    private func clearing(_ found: CellChecks.Finding, _ table: StoreInspection.EntityTable) -> [Mend.Step] {
        let column = SQLiteReader.identifier(found.cell.column)
        return stride(from: 0, to: found.keys.count, by: 500).map { start in
            let keys = found.keys[start..<min(start + 500, found.keys.count)].map(String.init)
            return .statement(
                "UPDATE \(SQLiteReader.identifier(table.name)) SET \(column) = NULL "
                    + "WHERE Z_PK IN (\(keys.joined(separator: ", ")))")
        }
    }

    /// Returns the files that no row refers to; nil if there are none, or if it cannot be known.
    func orphanedFiles() -> StoreFinding? {
        // Without a model, and with tables missing, nobody knows what refers to a file.
        guard store.model.origin != .tables, store.tables.count == store.survey.tables.count,
            let files = try? ExternalFolder(of: store.file).orphans(in: store.tables, reader: store.reader),
            !files.isEmpty
        else { return nil }
        let names = files.prefix(StoreFinding.exampleCount).map(\.name)
        let list = names.joined(separator: ", ") + (files.count > names.count ? ", …" : "")
        return StoreFinding(
            kind: .orphanedFile, table: nil, count: Int64(files.count), examples: names,
            sentence: "\(files.count) \(files.count == 1 ? "file" : "files") of external data (\(list)) "
                + "\(files.count == 1 ? "belongs" : "belong") to no object.",
            mend: Mend("moves them into the backup", files.map { .moveFile($0.name) }))
    }
}
