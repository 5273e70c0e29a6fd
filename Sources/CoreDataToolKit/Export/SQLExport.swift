import CoreData

/// SQL that makes natural tables: one for each entity, with the names of its properties, and one
/// for each to-many relationship that no to-one column holds.
///
/// The key `p12` is the number in the column `objectID`. A to-one relationship is that number, or
/// the identity as text where objects of several entities can be its destination.
struct SQLExport: GraphExport.Format {
    private let output: OutputWriter

    private enum Column {
        case key
        case value
        case number
        case text
        case pairs(table: String, isNumber: Bool)
        case leftOut
    }

    init(_ output: OutputWriter) throws {
        self.output = output
        try output.write("BEGIN;\n")
    }

    func finish() throws { try output.write("COMMIT;\n") }

    // MARK: Tables

    func write(_ reader: ObjectReader, _ objects: GraphExport.Objects) throws {
        let table = SQLiteReader.identifier(reader.entity.name ?? "")
        let columns = reader.columns.map { Self.column($0, of: reader.entity) }
        try declare(table, columns, reader)
        try objects { values, key in try write(values, key, to: table, columns) }
    }

    private func declare(_ table: String, _ columns: [Column], _ reader: ObjectReader) throws {
        let entity = reader.entity
        var declarations: [String] = []
        for (column, source) in zip(columns, reader.columns) {
            let name = SQLiteReader.identifier(source.name)
            switch column {
            case .key: declarations.append("\(name) INTEGER PRIMARY KEY")
            case .value: declarations.append("\(name) \(Self.type(of: source))")
            case .number:
                let destination = Self.destinations(of: source.name, entity).first?.name ?? ""
                declarations.append("\(name) INTEGER REFERENCES \(SQLiteReader.identifier(destination))")
            case .text: declarations.append("\(name) TEXT")
            case .pairs, .leftOut: break
            }
        }
        try output.write("CREATE TABLE \(table) (\(declarations.joined(separator: ", ")));\n")
        for case .pairs(let pairs, let isNumber) in columns {
            try output.write(
                "CREATE TABLE \(pairs) (owner INTEGER REFERENCES \(table), member \(isNumber ? "INTEGER" : "TEXT"), "
                    + "position INTEGER, PRIMARY KEY (owner, position));\n")
        }
    }

    private static func column(_ column: QueryColumn, of entity: NSEntityDescription) -> Column {
        switch column.source {
        case .object: return .key
        case .attribute, .composite: return .value
        case .toOne: return destinations(of: column.name, entity).count == 1 ? .number : .text
        case .toMany:
            guard let relationship = entity.relationshipsByName[column.name], holdsPairs(relationship) else {
                return .leftOut
            }
            return .pairs(
                table: SQLiteReader.identifier("\(entity.name ?? "")_\(column.name)"),
                isNumber: destinations(of: column.name, entity).count == 1)
        }
    }

    /// The entities whose objects can be destinations of a relationship.
    private static func destinations(of relationship: String, _ entity: NSEntityDescription) -> [NSEntityDescription] {
        func concrete(_ entity: NSEntityDescription) -> [NSEntityDescription] {
            (entity.isAbstract ? [] : [entity]) + entity.subentities.flatMap(concrete)
        }
        return entity.relationshipsByName[relationship]?.destinationEntity.map(concrete) ?? []
    }

    /// Whether a to-many relationship has a table: no to-one column holds it, or not its order. Of
    /// a pair without an order one side has it.
    private static func holdsPairs(_ relationship: NSRelationshipDescription) -> Bool {
        guard !relationship.isOrdered, let inverse = relationship.inverseRelationship else { return true }
        guard inverse.isToMany, !inverse.isOrdered else { return false }
        func name(_ side: NSRelationshipDescription) -> String { "\(side.owningEntity?.name ?? "") \(side.name)" }
        return name(relationship) <= name(inverse)
    }

    private static func type(of column: QueryColumn) -> String {
        guard case .attribute(let type, let isTransformable) = column.source, !isTransformable else { return "TEXT" }
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return "INTEGER"
        case .booleanAttributeType: return "BOOLEAN"
        case .doubleAttributeType, .floatAttributeType: return "REAL"
        case .decimalAttributeType: return "DECIMAL"
        case .binaryDataAttributeType: return "BLOB"
        default: return "TEXT"
        }
    }

    // MARK: Rows

    private func write(_ values: [CellValue], _ key: Int64, to table: String, _ columns: [Column]) throws {
        var list: [String] = []
        for (value, column) in zip(values, columns) {
            switch column {
            case .key: list.append("\(key)")
            case .value, .text: list.append(Self.literal(value))
            case .number: list.append(Self.number(value.plainText))
            case .pairs, .leftOut: break
            }
        }
        try output.write("INSERT INTO \(table) VALUES (\(list.joined(separator: ", ")));\n")
        for case (.structure(.array(let members)), .pairs(let pairs, let isNumber)) in zip(values, columns) {
            for (position, member) in members.enumerated() {
                guard case .string(let identity) = member else { continue }
                let member = isNumber ? Self.number(identity) : Self.literal(.text(identity))
                try output.write("INSERT INTO \(pairs) VALUES (\(key), \(member), \(position));\n")
            }
        }
    }

    /// Returns the number of an identity, `Maker/p12`; NULL if there is none.
    private static func number(_ identity: String) -> String {
        identity.utf8.lastIndex(of: UInt8(ascii: "p")).flatMap {
            Int64(identity[identity.utf8.index(after: $0)...])
        }.map { "\($0)" } ?? "NULL"
    }

    private static func literal(_ value: CellValue) -> String {
        switch value {
        case .null: return "NULL"
        case .bool(let value): return value ? "1" : "0"
        // More digits than a number of SQLite has are kept as text.
        case .number(let number): return number.utf8.count > 15 && Int64(number) == nil ? "'\(number)'" : number
        case .data(let data): return "x'\(hexadecimal(data))'"
        case .text, .date, .structure:
            let text = value.plainText
            if text.utf8.contains(0) { return "CAST(x'\(hexadecimal(Data(text.utf8)))' AS TEXT)" }
            return SQLiteReader.text(text)
        }
    }

    private static func hexadecimal(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
