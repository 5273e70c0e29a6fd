import CoreData

/// An entity of a store, with the table and the number that its rows have.
struct EntityPlace {
    let entity: NSEntityDescription
    let name: String
    let table: StoreInspection.EntityTable
    let number: Int
    /// The number of objects.
    let count: Int64

    /// Returns nil for an entity without a table.
    init?(_ entity: NSEntityDescription, in store: ReadableStore) {
        let name = entity.name ?? ""
        guard let table = store.survey.tables.first(where: { $0.entities.contains { $0.name == name } }),
            let number = table.entities.first(where: { $0.name == name })?.number
        else { return nil }
        self.entity = entity
        self.name = name
        self.table = table
        self.number = number
        count = store.survey.counts[number] ?? 0
    }

    /// The rows of the entity in SQL, behind `FROM`.
    var rows: String { "\(SQLiteReader.identifier(table.name)) t WHERE t.Z_ENT = \(number)" }
}
