import CoreData

/// The places in the tables where the values of an entity's properties are.
struct ObjectPlaces {
    private let entity: NSEntityDescription
    private let cells: [String: StoreInspection.Cell]
    private let store: ReadableStore

    init(_ entity: NSEntityDescription, _ table: StoreInspection.EntityTable, _ store: ReadableStore) {
        self.entity = entity
        self.store = store
        var ancestors: Set<String> = []
        var next: NSEntityDescription? = entity
        while let current = next {
            ancestors.insert(current.name ?? "")
            next = current.superentity
        }
        cells = Dictionary(
            table.cells.filter { ancestors.contains($0.entity) }.map { ($0.property, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter property: the name of a property, or the path of a composite attribute's element.
    func cell(_ property: String) -> StoreInspection.Cell? { cells[property] }

    /// The table of a relationship's destinations, and the entities that rows of it can have, by
    /// number.
    struct Destination {
        let name: String
        let table: String
        let entities: [Int64: String]
    }

    func destination(of relationship: String) -> Destination {
        let name = entity.relationshipsByName[relationship]?.destinationEntity?.name ?? ""
        let table = store.survey.tables.first { $0.entities.contains { $0.name == name } }
        return Destination(name: name, table: table?.name ?? "", entities: Self.names(of: table))
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
        let members = store.survey.tables.first { $0.name == link.memberTable }
        return LinkedIdentities.Plan(link: link, entities: Self.names(of: members))
    }
}
