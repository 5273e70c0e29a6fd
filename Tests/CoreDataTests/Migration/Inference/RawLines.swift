import CoreData
import TestSupport

/// The lines of `StoreLines`, read from a store by the client library of its database: by the names
/// of tables and columns that the documents of both formats give.
struct RawLines {
    private let model: NSManagedObjectModel
    private let isFile: Bool
    private let rows: (String) -> [[String?]]
    private let numbers: [String: String]
    private let tables: [String]
    /// Names of objects by table and key.
    private var names: [String: [String: String]] = [:]
    private(set) var lines: [String] = []

    init(_ store: MigratedStore, _ model: NSManagedObjectModel) {
        self.model = model
        isFile = store.kind == .sqlite
        if isFile {
            let file = store.file
            rows = { file.rows($0) }
        } else {
            let tables = PostgreSQLTables(store.url)
            rows = { tables.rows($0) }
        }
        numbers = Dictionary(
            rows(isFile ? "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY" : "SELECT name, number FROM ocd_entity").map {
                ($0[0] ?? "", $0.last.flatMap { $0 } ?? "")
            }, uniquingKeysWith: { first, _ in first })
        tables =
            isFile
            ? rows("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] }
            : PostgreSQLTables(store.url).tables
        let roots = model.entities.filter { $0.superentity == nil }
        for root in roots {
            let columns = isFile ? "Z_PK, ZNAME" : "id, name"
            for row in rows("SELECT \(columns) FROM \(table(root))") {
                names[table(root), default: [:]][row[0] ?? ""] = row.last.flatMap { $0 } ?? "?"
            }
        }
        lines = roots.flatMap(lines).sorted()
    }

    // MARK: Names

    private func root(_ entity: NSEntityDescription) -> NSEntityDescription {
        entity.superentity.map(root) ?? entity
    }

    private func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.flatMap(family)
    }

    private func word(_ name: String) -> String {
        if isFile { return name.uppercased() }
        return name.reduce(into: "") { text, letter in
            if letter.isUppercase, let last = text.last, last != "_" { text += "_" }
            text += letter.lowercased()
        }
    }

    private func table(_ entity: NSEntityDescription) -> String {
        (isFile ? "Z" : "") + word(root(entity).name ?? "")
    }

    private func owner(_ property: NSPropertyDescription) -> NSEntityDescription? {
        model.entities.first { entity in
            entity.propertiesByName[property.name] != nil
                && entity.superentity?.propertiesByName[property.name] == nil
                && entity.propertiesByName[property.name] === property
        }
    }

    private func number(_ property: NSPropertyDescription) -> String {
        owner(property)?.name.flatMap { numbers[$0] } ?? ""
    }

    /// The column of an attribute or a to-one relationship. Siblings with one name have columns of
    /// their own, by the order of their numbers.
    private func column(_ property: NSPropertyDescription, _ entity: NSEntityDescription) -> String {
        let declaring = family(root(entity)).filter {
            $0.propertiesByName[property.name] != nil && $0.superentity?.propertiesByName[property.name] == nil
        }
        let sorted = declaring.sorted {
            Int(numbers[$0.name ?? ""] ?? "") ?? 0 < Int(numbers[$1.name ?? ""] ?? "") ?? 0
        }
        let place = sorted.firstIndex { entity.isKindOf(entity: $0) } ?? 0
        let end = isFile || !(property is NSRelationshipDescription) ? "" : "_id"
        return (isFile ? "Z" : "") + word(property.name) + end + (place == 0 ? "" : "\(place)")
    }

    // MARK: Rows

    private func lines(_ root: NSEntityDescription) -> [String] {
        let members = family(root)
        return members.filter { !$0.isAbstract }.flatMap { entity in
            let number = numbers[entity.name ?? ""] ?? ""
            let hasNumbers = isFile || members.count > 1
            let condition = hasNumbers ? " WHERE \(isFile ? "Z_ENT" : "entity") = \(number)" : ""
            let key = isFile ? "Z_PK" : "id"
            return rows("SELECT \(key) FROM \(table(root))\(condition)").compactMap { $0[0] }.map { line(entity, $0) }
        }
    }

    private func line(_ entity: NSEntityDescription, _ key: String) -> String {
        var words: [String] = []
        for (name, property) in entity.propertiesByName.sorted(by: { $0.key < $1.key })
        where name != "name" && !property.isTransient {
            if let relationship = property as? NSRelationshipDescription {
                let others = destinations(relationship, entity, key)
                guard !others.isEmpty else { continue }
                let isOrdered = relationship.isToMany && relationship.isOrdered
                let texts = isOrdered ? others : others.sorted()
                words.append("\(name)=\(texts.joined(separator: isOrdered ? ">" : ","))")
            } else if let composite = property as? NSCompositeAttributeDescription {
                for element in composite.elements.sorted(by: { $0.name < $1.name }) {
                    let inServer = word(composite.name) + "_" + word(element.name)
                    let column = isFile ? "Z" + word(element.name) : inServer
                    guard let text = value(element, column, entity, key) else { continue }
                    words.append("\(name).\(element.name)=\(text)")
                }
            } else if let attribute = property as? NSAttributeDescription,
                let text = value(attribute, column(attribute, entity), entity, key)
            {
                words.append("\(name)=\(text)")
            }
        }
        return ([entity.name ?? "", names[table(entity)]?[key] ?? "?"] + words).joined(separator: " ")
    }

    private func value(
        _ attribute: NSAttributeDescription, _ column: String, _ entity: NSEntityDescription, _ key: String
    ) -> String? {
        let isDate = attribute.attributeType == .dateAttributeType
        let read =
            !isFile && isDate
            ? "(extract(epoch FROM \(column)) - 978307200)::float8" : isFile ? column : "\(column)::text"
        let found = rows("SELECT \(read) FROM \(table(entity)) WHERE \(isFile ? "Z_PK" : "id") = \(key)")
        guard let text = found.first?.first ?? nil else { return nil }
        switch attribute.attributeType {
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType:
            return StoreLines.text(ofNumber: Double(text).map { NSNumber(value: $0).stringValue } ?? text)
        case .dateAttributeType: return Double(text).map { "\($0)" } ?? text
        case .booleanAttributeType: return ["true": "1", "false": "0"][text] ?? text
        case .UUIDAttributeType where isFile:
            let digits = Array(text)
            let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
            return digits.count == 32 ? parts.map { String(digits[$0]) }.joined(separator: "-") : text
        case .UUIDAttributeType: return text.uppercased()
        case .binaryDataAttributeType:
            // Bytes that could lie in a file of their own follow a mark, and stay in short values.
            var digits = Array(isFile ? text : String(text.dropFirst(2)))
            if isFile, attribute.allowsExternalBinaryDataStorage { digits.removeFirst(2) }
            let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
            return Data(bytes.compactMap { $0 }).base64EncodedString()
        default: return text
        }
    }

    // MARK: Links

    /// The names of the objects that a relationship leads to, in their order.
    private func destinations(
        _ relationship: NSRelationshipDescription, _ entity: NSEntityDescription, _ key: String
    ) -> [String] {
        guard let destination = relationship.destinationEntity else { return [] }
        let keyColumn = isFile ? "Z_PK" : "id"
        func found(_ table: String, _ wanted: String, _ condition: String, _ position: String) -> [String] {
            let order = relationship.isToMany && relationship.isOrdered ? " ORDER BY \(position)" : ""
            return rows("SELECT \(wanted) FROM \(table) WHERE \(condition)\(order)").compactMap { $0[0] }
                .map { names[self.table(destination)]?[$0] ?? "key \($0)" }
        }
        func position(_ column: String) -> String {
            isFile ? "Z_FOK_" + column.drop { $0 == "Z" || $0 == "_" } : column.dropLast(3) + "_pos"
        }
        guard relationship.isToMany else {
            return found(table(entity), column(relationship, entity), "\(keyColumn) = \(key)", "").filter {
                $0 != "key "
            }
        }
        guard let inverse = relationship.inverseRelationship else {
            let name = word(relationship.name)
            let hidden =
                isFile ? "Z\(number(relationship))\(name)" : "\(word(owner(relationship)?.name ?? ""))_\(name)_id"
            return found(table(destination), keyColumn, "\(hidden) = \(key)", position(hidden))
        }
        guard inverse.isToMany else {
            let column = column(inverse, destination)
            return found(table(destination), keyColumn, "\(column) = \(key)", position(column))
        }
        let (own, other, join) = joinTable(relationship, inverse)
        return found(join, other, "\(own) = \(key)", position(other))
    }

    /// The join table of a relationship, with the columns of its owners and of their destinations.
    private func joinTable(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription) -> (
        own: String, other: String, table: String
    ) {
        func table(_ side: NSRelationshipDescription) -> String {
            isFile
                ? "Z_\(number(side))\(word(side.name))" : "\(word(owner(side)?.name ?? ""))_\(word(side.name))"
        }
        let join = tables.contains(table(relationship)) ? table(relationship) : table(inverse)
        if isFile {
            let own = "Z_\(number(relationship))\(word(inverse.name))"
            let other = "Z_\(number(inverse))\(word(relationship.name))"
            // With itself as inverse each pair stands in the table in both directions.
            return relationship === inverse ? (own, "REFLEXIVE", join) : (own, other, join)
        }
        let isOfOne = owner(relationship) === owner(inverse)
        func column(_ side: NSRelationshipDescription, _ inverse: NSRelationshipDescription) -> String {
            word(isOfOne ? inverse.name : owner(side)?.name ?? "") + "_id"
        }
        let own = relationship === inverse ? "owner_id" : column(relationship, inverse)
        return (own, column(inverse, relationship), join)
    }
}
