import CoreData

/// A store, its model, and the file from which the engine can read it: the store itself, or a
/// private copy.
final class ReadableStore {
    let file: StoreFile
    let contents: StoreCatalog
    let model: StoreModel
    let survey: StoreSurvey
    /// A reader for tables and metadata below Core Data, on the file that the engine reads.
    let reader: SQLiteReader

    /// The problems of the store, in sentences.
    var problems: [String] { model.warnings + contents.problems + survey.problems }

    /// - Parameters:
    ///   - entity: the only entity whose rows are needed, in any case; nil for all.
    ///   - isSampled: whether few rows of large tables are searched for contradictions: enough for
    ///     commands that show a part of a store.
    /// - Throws: `ToolError`.
    init(path: String, modelPath: String?, entity: String? = nil, isSampled: Bool = false) throws {
        let file = try StoreFile(path: path)
        self.file = file
        do {
            let reader = try file.reader()
            var contents = try StoreCatalog(file, reader: reader)
            let model = try StoreModel(&contents, reader: reader, modelPath: modelPath)
            self.model = model
            let chosen = entity.flatMap { try? model.entity(named: $0, in: file) }?.name
            survey = try StoreSurvey(
                contents, model, reader: reader, rows: chosen.map { .of($0) } ?? .all, isSampled: isSampled)
            self.contents = contents
            if survey.mends.isEmpty {
                self.reader = reader
            } else {
                do {
                    try file.mend(survey.mends, reader: reader)
                    self.reader = try file.reader()
                } catch let failure as SQLiteReader.Failure where failure.isOfPages {
                    // Damaged tables are read as far as possible.
                    self.reader = reader
                }
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, file)
        }
    }

    /// - Throws: `ToolError` with near names, or when the entity's table is missing.
    func entity(named name: String) throws(ToolError) -> NSEntityDescription {
        let lost = contents.entities.first { $0.name == name && contents.table(of: $0) == nil }
        if model.origin == .tables, let lost { throw missing("", lost.name) }
        let entity = try model.entity(named: name, in: file)
        if let table = survey.missingTables[entity.name ?? ""] { throw missing(" \(table)", entity.name ?? name) }
        return entity
    }

    private func missing(_ table: String, _ entity: String) -> ToolError {
        ToolError(
            "The store '\(file.originalURL.path)' has lost the table\(table) with the objects of '\(entity)'. "
                + "Restore it from a copy.")
    }
}
