import CoreData

/// A store as it is in its file, unmended, with what `check` needs to know of its tables.
final class CheckedStore {
    let file: StoreFile
    let reader: SQLiteReader
    let contents: StoreCatalog
    let model: StoreModel
    let survey: StoreSurvey
    /// The tables of entities whose rows have the keys and entity numbers that checks need.
    let tables: [StoreInspection.EntityTable]
    /// The entities of the model, by name.
    let entities: [String: NSEntityDescription]
    /// The entity number of each entity, by name.
    let numbers: [String: Int]

    /// - Throws: `ToolError`.
    init(path: String, modelPath: String?) throws {
        let file = try StoreFile(path: path)
        self.file = file
        do {
            reader = try file.reader()
            var contents = try StoreCatalog(file, reader: reader)
            model = try StoreModel(&contents, reader: reader, modelPath: modelPath)
            survey = try StoreSurvey(contents, model, reader: reader, rows: .none, isSampled: true)
            self.contents = contents
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, file)
        }
        let contents = contents
        tables = survey.tables.filter { Self.hasKeys($0, contents) }
        entities = model.model.entitiesByName
        numbers = Dictionary(
            tables.flatMap(\.entities).map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether a table has the columns that Core Data's tables begin with.
    private static func hasKeys(_ table: StoreInspection.EntityTable, _ contents: StoreCatalog) -> Bool {
        guard let present = contents.present(table.name), let columns = contents.tables[present] else { return false }
        let keys = columns.filter(\.isKey)
        guard keys.count == 1, keys[0].name == "Z_PK", keys[0].type == "INTEGER" else { return false }
        return Set(["Z_ENT", "Z_OPT"]).isSubset(of: columns.map(\.name))
    }

    // MARK: Entities

    /// The table of an entity; nil if it is missing or cannot be checked.
    func table(of entity: String) -> StoreInspection.EntityTable? {
        tables.first { $0.entities.contains { $0.name == entity } }
    }

    func hasColumn(_ column: String, in table: String) -> Bool {
        contents.present(table).map { contents.columns(of: $0).contains { $0.name == column } } ?? false
    }

    /// Returns the columns of a table's properties that the file has.
    func cells(of table: StoreInspection.EntityTable) -> [StoreInspection.Cell] {
        let present = Set(contents.columns(of: contents.present(table.name) ?? table.name).map(\.name))
        return table.cells.filter { present.contains($0.column) }
    }

    /// Returns the names of an entity and all its subentities.
    func family(of entity: NSEntityDescription) -> [String] {
        [entity.name ?? ""] + entity.subentities.flatMap(family)
    }

    /// Returns an SQL condition for rows of some entities of a table; nil if all its rows are of
    /// these.
    func isOf(_ names: [String], in table: StoreInspection.EntityTable, alias: String = "t") -> String? {
        let wanted = table.entities.filter { names.contains($0.name) }
        if wanted.count == table.entities.count { return nil }
        let list = wanted.map { String($0.number) }.joined(separator: ", ")
        return "\(alias).Z_ENT IN (\(list))"
    }

    /// Returns the property of a column, or the element of a composite attribute.
    func property(of cell: StoreInspection.Cell) -> NSPropertyDescription? {
        let names = cell.property.split(separator: ".").map(String.init)
        guard let first = names.first, var property = entities[cell.entity]?.propertiesByName[first] else { return nil }
        for name in names.dropFirst() {
            guard let inner = (property as? NSCompositeAttributeDescription)?.elements.first(where: { $0.name == name })
            else { return nil }
            property = inner
        }
        return property
    }

    /// Returns what a row is called: `Thing/p12`.
    func identity(_ key: SQLiteReader.Value, number: SQLiteReader.Value?, in table: String) -> String {
        let named = tables.first { $0.name == table }
        let entity = named?.entities.first { number?.integer == Int64($0.number) } ?? named?.entities.first
        return "\(entity?.name ?? table)/p\(key.integer.map(String.init) ?? key.description)"
    }
}
