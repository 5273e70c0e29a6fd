import CoreData

/// A store, its model, and the file from which the engine can read it: the store itself, or a private copy.
final class ReadableStore {
    let file: StoreFile
    let contents: StoreContents
    let model: StoreModel
    let survey: StoreSurvey
    /// For what lies below Core Data, in the file that the engine reads.
    let reader: SQLiteReader

    /// What is wrong with the store, in sentences.
    var problems: [String] { model.warnings + contents.problems + survey.problems }

    /// Finds out how a store can be read.
    ///
    /// - Parameter entity: the only entity whose rows matter, whatever its case; nil for all.
    /// - Throws: `ToolError`.
    init(path: String, modelPath: String?, entity: String? = nil) throws {
        let file = try StoreFile(path: path)
        self.file = file
        do {
            let reader = try file.reader()
            var contents = try StoreContents(file, reader: reader)
            let model = try StoreModel(&contents, reader: reader, modelPath: modelPath)
            self.model = model
            let chosen = entity.flatMap { try? model.entity(named: $0, in: file) }?.name
            survey = try StoreSurvey(contents, model, reader: reader, entity: chosen)
            self.contents = contents
            if survey.mends.isEmpty {
                self.reader = reader
            } else {
                do {
                    try file.mend(survey.mends, reader: reader)
                    self.reader = try file.reader()
                } catch let failure as SQLiteReader.Failure where failure.isOfPages {
                    // What is damaged is read as far as it goes.
                    self.reader = reader
                }
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreContents.error(failure, file)
        }
    }

    /// The entity of a name, whatever its case.
    ///
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
