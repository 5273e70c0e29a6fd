import CoreData

/// Reads all objects of an entity from the tables of a store, one at a time.
///
/// Values are those that a query shows. A to-one relationship is an identity, a to-many one a list
/// of identities, and a transformable attribute has its bytes beside its value.
struct ObjectReader {
    /// The columns of a row: the object's identity, attributes, and relationships, each group by
    /// name.
    let columns: [QueryColumn]
    let entity: NSEntityDescription

    fileprivate let store: ReadableStore
    fileprivate let decoder: ValueDecoder
    fileprivate let fields: [Field]
    fileprivate let name: ObjectNameField?
    private let statement: String

    /// The place of a property's value in a row of the statement, or its own statement.
    fileprivate enum Field {
        case object
        case attribute(place: Int, NSAttributeType, isTransformable: Bool, isExternal: Bool)
        case composite([CompositeElement])
        case toOne(place: Int, entities: [Int64: String], only: String, typePlace: Int?, name: ObjectNameField?)
        case toMany(LinkedIdentities.Plan)
        case missing
    }

    /// - Parameter naming: the way objects are named; their order is that of their names.
    /// - Throws: `ToolError` when the table of the entity is missing.
    init(_ entity: NSEntityDescription, in store: ReadableStore, naming: ObjectNaming = .byKey) throws {
        let entityName = entity.name ?? ""
        guard let table = store.survey.tables.first(where: { $0.entities.contains { $0.name == entityName } }),
            let number = table.entities.first(where: { $0.name == entityName })?.number
        else { throw ToolError("The store '\(store.file.originalURL.path)' has no table for '\(entityName)'.") }
        self.entity = entity
        self.store = store
        columns = try QueryColumn.columns(named: nil, of: entity, model: store.model)
        decoder = ValueDecoder(folder: store.file.externalDataFolder)
        var select = SelectList()
        let places = ObjectPlaces(entity, table, number, store, naming)
        name = places.nameColumn.map { ObjectNameField(place: select.add("t.\($0.column)"), type: $0.type) }
        fields = columns.map { Self.field(of: $0, places, &select) }
        let order = places.nameColumn.map { "t.\($0.column), " } ?? ""
        statement =
            "SELECT \(select.terms.joined(separator: ", ")) FROM \(SQLiteReader.identifier(table.name)) t "
            + "WHERE t.Z_ENT = \(number) ORDER BY \(order)t.Z_PK"
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
        case .toOne: return toOne(column.name, places, &select)
        case .toMany: return places.links(of: column.name).map { .toMany($0) } ?? .missing
        }
    }

    private static func toOne(_ property: String, _ places: ObjectPlaces, _ select: inout SelectList) -> Field {
        guard let cell = places.cell(property) else { return .missing }
        let destination = places.destination(of: property)
        let place = select.add(cell)
        func lookUp(_ column: String) -> Int {
            select.add(
                "(SELECT d.\(column) FROM \(SQLiteReader.identifier(destination.table)) d WHERE d.Z_PK = "
                    + "t.\(SQLiteReader.identifier(cell.column)))")
        }
        let name = destination.nameColumn.map { ObjectNameField(place: lookUp($0.column), type: $0.type) }
        if destination.entities.count == 1, let only = destination.entities.values.first {
            return .toOne(place: place, entities: [:], only: only, typePlace: nil, name: name)
        }
        return .toOne(
            place: place, entities: destination.entities, only: destination.name, typePlace: lookUp("Z_ENT"), name: name
        )
    }

    /// Passes each object's key and values to a function.
    func forEach(_ body: (_ key: Int64, _ values: [CellValue]) throws -> Void) throws {
        let objects = try objects()
        while let object = try objects.next() { try body(object.key, object.values) }
    }

    /// Returns the objects one by one, when they are asked for.
    func objects() throws -> Objects { try Objects(self, store.reader.cursor(statement)) }

    /// An object that was read.
    struct Object {
        let key: Int64
        /// The value by which objects are in order.
        let order: SQLiteReader.Value
        /// The values of the reader's columns.
        let values: [CellValue]
    }

    /// The objects that are still to come.
    final class Objects {
        private let reader: ObjectReader
        private let rows: SQLiteReader.Cursor
        private let links: [LinkedIdentities?]
        private let entityName: String

        fileprivate init(_ reader: ObjectReader, _ rows: SQLiteReader.Cursor) throws {
            self.reader = reader
            self.rows = rows
            entityName = reader.entity.name ?? ""
            links = try reader.fields.map { field in
                guard case .toMany(let plan) = field else { return nil }
                return try LinkedIdentities(plan, reader.store.reader, reader.decoder)
            }
        }

        /// Returns the next object; nil after the last one.
        func next() throws -> Object? {
            while let row = try rows.next() {
                // A row without a key cannot be referred to.
                guard let key = row[0].integer else { continue }
                var values: [CellValue] = []
                values.reserveCapacity(reader.fields.count)
                for index in reader.fields.indices { values.append(try value(index, row, key)) }
                return Object(key: key, order: reader.name.map { row[$0.place] } ?? row[0], values: values)
            }
            return nil
        }

        private func value(_ index: Int, _ row: [SQLiteReader.Value], _ key: Int64) throws -> CellValue {
            switch reader.fields[index] {
            case .object: return .text(ObjectNameField.text(entityName, key, reader.name, row, reader.decoder))
            case .attribute(let place, let type, let isTransformable, let isExternal):
                return reader.decoder.value(row[place], type, isTransformable: isTransformable, isExternal: isExternal)
            case .composite(let elements): return CompositeElement.value(of: elements, row, reader.decoder)
            case .toOne(let place, let entities, let only, let typePlace, let name):
                guard let destination = row[place].integer else { return .null }
                let entity = typePlace.flatMap { row[$0].integer }.flatMap { entities[$0] } ?? only
                return .text(ObjectNameField.text(entity, destination, name, row, reader.decoder))
            case .toMany: return .structure(.array(try links[index]?.members(of: key) ?? []))
            case .missing: return .null
            }
        }
    }
}

/// The place of the attribute that names an object.
struct ObjectNameField {
    let place: Int
    let type: NSAttributeType

    /// Returns `Maker/p12`, or `Maker[name]` where an attribute names objects.
    static func text(
        _ entity: String, _ key: Int64, _ name: ObjectNameField?, _ row: [SQLiteReader.Value], _ decoder: ValueDecoder
    ) -> String {
        guard let name else { return entity + "/p" + String(key) }
        let value = decoder.value(row[name.place], name.type, isTransformable: false, isExternal: false)
        return value == .null ? "\(entity)[-]" : "\(entity)[\(value.plainText)]"
    }
}

/// The terms of a statement's result; the key of the object is the first.
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
