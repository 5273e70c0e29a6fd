import CoreData

/// The places in the tables where the values of an entity's properties are.
struct ObjectPlaces {
    private let entity: NSEntityDescription
    private let table: StoreInspection.EntityTable
    private let number: Int
    private let cells: [String: StoreInspection.Cell]
    private let store: ReadableStore
    private let naming: ObjectNaming

    /// The column of the attribute that names objects, as an SQL identifier.
    struct NameColumn {
        let column: String
        let type: NSAttributeType
    }

    init(
        _ entity: NSEntityDescription, _ table: StoreInspection.EntityTable, _ number: Int, _ store: ReadableStore,
        _ naming: ObjectNaming
    ) {
        self.entity = entity
        self.table = table
        self.number = number
        self.store = store
        self.naming = naming
        cells = Self.cells(of: entity, table)
    }

    private static func cells(
        of entity: NSEntityDescription, _ table: StoreInspection.EntityTable
    ) -> [String: StoreInspection.Cell] {
        let owners = entity.lineage
        return Dictionary(
            table.cells.filter { owners.contains($0.entity) }.map { ($0.property, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter property: the name of a property, or the path of a composite attribute's
    ///   element.
    func cell(_ property: String) -> StoreInspection.Cell? { cells[property] }

    /// The column that names the objects of the entity; nil if their keys do.
    var nameColumn: NameColumn? { nameColumn(of: entity, cells) }

    private func nameColumn(of entity: NSEntityDescription?, _ cells: [String: StoreInspection.Cell]) -> NameColumn? {
        guard let attribute = entity.flatMap(naming.attribute), let cell = cells[attribute.name] else { return nil }
        return NameColumn(column: SQLiteReader.identifier(cell.column), type: attribute.attributeType)
    }

    /// The table of a relationship's destinations, and the entities that rows of it can have, by
    /// number.
    struct Destination {
        let name: String
        let table: String
        let entities: [Int64: String]
        let nameColumn: NameColumn?
    }

    func destination(of relationship: String) -> Destination {
        let entity = entity.relationshipsByName[relationship]?.destinationEntity
        let name = entity?.name ?? ""
        let table = store.survey.tables.first { $0.entities.contains { $0.name == name } }
        let cells = entity.flatMap { entity in table.map { Self.cells(of: entity, $0) } } ?? [:]
        return Destination(
            name: name, table: table?.name ?? "", entities: Self.names(of: table),
            nameColumn: nameColumn(of: entity, cells))
    }

    private static func names(of table: StoreInspection.EntityTable?) -> [Int64: String] {
        Dictionary(
            (table?.entities ?? []).filter { !$0.isAbstract }.map { (Int64($0.number), $0.name) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the rows that hold the members of a to-many relationship; nil if they are missing.
    func links(of relationship: String) -> LinkedIdentities.Plan? {
        guard
            let link = store.survey.links.first(where: {
                $0.entity == entity.name && $0.relationship == relationship
            })
        else { return nil }
        let destination = destination(of: relationship)
        let members = store.survey.tables.first { $0.name == link.memberTable }
        return LinkedIdentities.Plan(
            link: link, entities: Self.names(of: members), memberName: destination.nameColumn,
            owners: nameColumn.map { (table: table.name, number: number, column: $0.column) })
    }
}
