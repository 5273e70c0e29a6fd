import CoreData

/// Reads all objects of an entity from the tables of a store, in the order of their keys.
///
/// Values are those that a query shows. A to-one relationship is an identity, a to-many one a list
/// of identities, and a transformable attribute has its bytes beside its value. One object is in
/// memory at a time.
struct ObjectReader {
    /// The columns of a row: the object's identity, attributes, and relationships, each group by name.
    let columns: [QueryColumn]
    let entity: NSEntityDescription

    private let store: ReadableStore
    private let decoder: ValueDecoder
    private let fields: [Field]
    private let statement: String

    /// The place of a property's value in a row of the statement, or its own statement.
    private enum Field {
        case object
        case attribute(place: Int, NSAttributeType, isTransformable: Bool, isExternal: Bool)
        case composite([CompositeElement])
        case toOne(place: Int, entities: [Int64: String], only: String, typePlace: Int?)
        case toMany(LinkedIdentities.Plan)
        case missing
    }

    /// - Throws: `ToolError` when the table of the entity is missing.
    init(_ entity: NSEntityDescription, in store: ReadableStore) throws {
        let name = entity.name ?? ""
        guard let table = store.survey.tables.first(where: { $0.entities.contains { $0.name == name } }),
            let number = table.entities.first(where: { $0.name == name })?.number
        else { throw ToolError("The store '\(store.file.originalURL.path)' has no table for '\(name)'.") }
        self.entity = entity
        self.store = store
        columns = try QueryColumn.columns(named: nil, of: entity, model: store.model)
        decoder = ValueDecoder(folder: store.file.externalDataFolder)
        var select = SelectList()
        let places = ObjectPlaces(entity, table, store)
        fields = columns.map { Self.field(of: $0, places, &select) }
        statement =
            "SELECT \(select.terms.joined(separator: ", ")) FROM \(SQLiteReader.identifier(table.name)) t "
            + "WHERE t.Z_ENT = \(number) ORDER BY t.Z_PK"
    }

    private static func field(of column: QueryColumn, _ places: ObjectPlaces, _ select: inout SelectList) -> Field {
        switch column.source {
        case .object: return .object
        case .attribute(let type, let isTransformable):
            guard let cell = places.cell(column.name) else { return .missing }
            return .attribute(
                place: select.add(cell), type, isTransformable: isTransformable, isExternal: cell.isExternal)
        case .composite(let composite, let transformables):
            return .composite(
                CompositeElement.elements(of: composite, column.name, transformables, places, &select))
        case .toOne:
            guard let cell = places.cell(column.name) else { return .missing }
            let destination = places.destination(of: column.name)
            let place = select.add(cell)
            if destination.entities.count == 1, let only = destination.entities.values.first {
                return .toOne(place: place, entities: [:], only: only, typePlace: nil)
            }
            let type = select.add(
                "(SELECT d.Z_ENT FROM \(SQLiteReader.identifier(destination.table)) d WHERE d.Z_PK = "
                    + "t.\(SQLiteReader.identifier(cell.column)))")
            return .toOne(place: place, entities: destination.entities, only: destination.name, typePlace: type)
        case .toMany:
            return places.links(of: column.name).map { .toMany($0) } ?? .missing
        }
    }

    /// Passes each object's key and values to a function, in the order of keys.
    func forEach(_ body: (_ key: Int64, _ values: [CellValue]) throws -> Void) throws {
        var links: [LinkedIdentities?] = []
        for field in fields {
            if case .toMany(let plan) = field {
                links.append(try LinkedIdentities(plan, store.reader))
            } else {
                links.append(nil)
            }
        }
        let name = entity.name ?? ""
        try store.reader.forEachRow(statement) { row in
            guard let key = row[0].integer else { return }
            var values: [CellValue] = []
            values.reserveCapacity(fields.count)
            for (index, field) in fields.enumerated() {
                switch field {
                case .object: values.append(.text("\(name)/p\(key)"))
                case .attribute(let place, let type, let isTransformable, let isExternal):
                    values.append(
                        decoder.value(row[place], type, isTransformable: isTransformable, isExternal: isExternal))
                case .composite(let elements): values.append(CompositeElement.value(of: elements, row, decoder))
                case .toOne(let place, let entities, let only, let typePlace):
                    guard let destination = row[place].integer else {
                        values.append(.null)
                        continue
                    }
                    let entity = typePlace.flatMap { row[$0].integer }.flatMap { entities[$0] } ?? only
                    values.append(.text("\(entity)/p\(destination)"))
                case .toMany: values.append(.structure(.array(try links[index]?.members(of: key) ?? [])))
                case .missing: values.append(.null)
                }
            }
            try body(key, values)
        }
    }
}

/// The terms of a statement's result, without repetition; the key of the object is the first.
struct SelectList {
    private(set) var terms = ["t.Z_PK"]

    mutating func add(_ term: String) -> Int {
        terms.append(term)
        return terms.count - 1
    }

    mutating func add(_ cell: StoreInspection.Cell) -> Int { add("t." + SQLiteReader.identifier(cell.column)) }
}

extension StoreInspection.Cell {
    var isExternal: Bool {
        if case .bytes(let isExternal) = content { return isExternal }
        return false
    }
}
