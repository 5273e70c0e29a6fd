import CoreData
import TestSupport

/// A store read with the sqlite3 library, by the rules of the file format.
struct RawStore {
    let database: SQLiteFile
    let model: NSManagedObjectModel
    /// Entities by their numbers in `Z_PRIMARYKEY`.
    let entities: [Int64: NSEntityDescription]
    /// `Z_MAX` of each number.
    private let highestKeys: [Int64: Int64]
    /// Rows of each root entity's table.
    private(set) var tables: [String: [Int64: [String: SQLiteCell]]] = [:]
    private var joins: [(name: String, columns: [String])] = []

    init(_ url: URL, _ model: NSManagedObjectModel) throws {
        let database = SQLiteFile(url)
        self.database = database
        self.model = model
        let numbers = try database.cells("SELECT Z_NAME, Z_ENT, Z_MAX FROM Z_PRIMARYKEY")
        var entities: [Int64: NSEntityDescription] = [:]
        var highestKeys: [Int64: Int64] = [:]
        for row in numbers {
            guard let name = row[0].text, let number = row[1].integer else { continue }
            highestKeys[number] = row[2].integer
            // A migrated store keeps the former name of a renamed entity.
            entities[number] =
                model.entitiesByName[name] ?? model.entities.first { $0.renamingIdentifier == name }
        }
        self.entities = entities
        self.highestKeys = highestKeys
        for entity in model.entities where entity.superentity == nil {
            tables[Self.table(of: entity)] = try database.table(Self.table(of: entity))
        }
        for table in try database.strings(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        {
            joins.append((table, try database.columns(of: table)))
        }
    }

    /// The name of the table that an entity's rows are in.
    static func table(of entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return "Z" + (root.name ?? "").uppercased()
    }

    func rows(of entity: NSEntityDescription) -> [Int64: [String: SQLiteCell]] {
        (tables[Self.table(of: entity)] ?? [:]).filter { self.entity(of: $0.value)?.name == entity.name }
    }

    func entity(of row: [String: SQLiteCell]) -> NSEntityDescription? { entities[row["Z_ENT"]?.integer ?? 0] }

    func row(_ place: String) -> [String: SQLiteCell]? {
        let parts = place.split(separator: "/")
        guard let entity = model.entitiesByName[String(parts[0])], let key = Int64(parts[1].dropFirst()) else {
            return nil
        }
        return tables[Self.table(of: entity)]?[key]
    }

    /// The highest primary key that was handed out in a table, as `Z_PRIMARYKEY` keeps it with the
    /// root entity.
    func highestKey(_ table: String) -> Int64 {
        for (number, entity) in entities where entity.superentity == nil && Self.table(of: entity) == table {
            return highestKeys[number] ?? 0
        }
        return 0
    }

    func isDerived(_ name: String, of place: String) -> Bool {
        row(place).flatMap(entity)?.attributesByName[name] is NSDerivedAttributeDescription
    }

    /// Whether a row differs from its former self only in the version and in columns that triggers
    /// keep.
    func isUnchanged(_ place: String, since before: RawStore) -> Bool {
        guard let row = row(place), let former = before.row(place) else { return false }
        let kept = Set(
            (entity(of: row)?.attributesByName.keys.filter { isDerived($0, of: place) } ?? []).map {
                "Z" + $0.uppercased()
            })
        // A key of an owner that the row does not know, such as `Z3ITEMS`, changes without the row.
        func isHiddenKey(_ name: String) -> Bool {
            let digits = name.dropFirst().prefix { $0.isNumber }
            return !digits.isEmpty && name.dropFirst(1 + digits.count).first != "_"
        }
        return row.allSatisfy {
            isHiddenKey($0.key) || $0.key == "Z_OPT" || kept.contains($0.key) || former[$0.key] == $0.value
        }
    }

    private func place(_ key: Int64, in entity: NSEntityDescription) -> String {
        let row = tables[Self.table(of: entity)]?[key]
        return "\(row.flatMap(self.entity)?.name ?? "nothing")/p\(key)"
    }

    // MARK: Values

    /// All objects of all entities.
    func states() throws -> [String: ObjectState] {
        var result: [String: ObjectState] = [:]
        for entity in model.concreteEntities {
            let relationships = try entity.relationshipsByName.filter { $0.value.isToMany }
                .mapValues { try destinations(of: $0) }
            for (key, row) in rows(of: entity) {
                var state: ObjectState = [:]
                for (name, attribute) in entity.attributesByName where !attribute.isTransient {
                    state[name] = value(row["Z" + name.uppercased()] ?? .text("no such column"), attribute)
                }
                for (name, relationship) in entity.relationshipsByName {
                    guard let destination = relationship.destinationEntity else { continue }
                    if relationship.isToMany {
                        let places = relationships[name]?[key] ?? []
                        state[name] = relationship.isOrdered ? .ordered(places) : .many(Set(places))
                    } else {
                        let key = row["Z" + name.uppercased()]?.integer
                        state[name] = key.map { .one(place($0, in: destination)) } ?? ReadValue.none
                    }
                }
                result["\(entity.name ?? "")/p\(key)"] = state
            }
        }
        return result
    }

    private func value(_ raw: SQLiteCell, _ attribute: NSAttributeDescription) -> ReadValue {
        if raw == .null { return .none }
        let found: AnyHashable?
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            found = raw.integer.map { NSNumber(value: $0) }
        case .booleanAttributeType: found = raw.integer.map { NSNumber(value: $0 != 0) }
        case .doubleAttributeType: found = raw.double.map { NSNumber(value: $0) }
        case .floatAttributeType: found = raw.double.map { NSNumber(value: Float($0)) }
        case .decimalAttributeType: return raw.double.map { .decimal($0) } ?? .none
        case .dateAttributeType: found = raw.double.map { Date(timeIntervalSinceReferenceDate: $0) }
        case .stringAttributeType: found = raw.text
        case .URIAttributeType: found = raw.text.flatMap { URL(string: $0) }
        case .UUIDAttributeType:
            found = raw.blob.flatMap { data in
                data.count == 16 ? UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }) : nil
            }
        case .binaryDataAttributeType where attribute.allowsExternalBinaryDataStorage:
            found = raw.blob.flatMap(externalData)
        default: found = raw.blob
        }
        return found.map { .value($0) } ?? .value("unexpected \(raw)")
    }

    /// A leading byte 1 and the bytes, or 2 and the name of a file beside the store.
    private func externalData(_ blob: Data) -> Data? {
        if blob.first == 1 { return Data(blob.dropFirst()) }
        guard blob.first == 2 else { return nil }
        let name = String(decoding: blob.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        let store = database.url.deletingPathExtension().lastPathComponent
        return try? Data(
            contentsOf: database.url.deletingLastPathComponent()
                .appendingPathComponent(".\(store)_SUPPORT/_EXTERNAL_DATA/\(name)"))
    }

    // MARK: Relationships

    /// The keys of owners, and the places that a to-many relationship leads to, in their order.
    private func destinations(of relationship: NSRelationshipDescription) throws -> [Int64: [String]] {
        guard let destination = relationship.destinationEntity else { return [:] }
        var found: [(owner: Int64, position: Int64, key: Int64)] = []
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            let column = "Z" + inverse.name.uppercased()
            let order = relationship.isOrdered ? "Z_FOK_" + inverse.name.uppercased() : "Z_PK"
            for (key, row) in tables[Self.table(of: destination)] ?? [:] {
                guard let owner = row[column]?.integer else { continue }
                found.append((owner, row[order]?.integer ?? 0, key))
            }
        } else if relationship.inverseRelationship == nil {
            // A hidden key: `Z`, the number of the entity that declares the relationship, and the
            // name.
            let number = database.integer(
                "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(relationship.entity.name ?? "")'")
            let column = "\(number ?? 0)\(relationship.name.uppercased())"
            for (key, row) in tables[Self.table(of: destination)] ?? [:] {
                guard let owner = row["Z" + column] else { throw CocoaError(.fileReadCorruptFile) }
                if let owner = owner.integer { found.append((owner, row["Z_FOK_" + column]?.integer ?? 0, key)) }
            }
        } else if let join = join(of: relationship) {
            let order = relationship.isOrdered ? join.order : "0"
            for row in try database.cells("SELECT \(join.owner), \(join.destination), \(order) FROM \(join.table)") {
                found.append((row[0].integer ?? 0, row[2].integer ?? 0, row[1].integer ?? 0))
            }
        }
        found.sort { ($0.position, $0.key) < ($1.position, $1.key) }
        return Dictionary(grouping: found, by: \.owner).mapValues { $0.map { place($0.key, in: destination) } }
    }

    /// The table of a many-to-many relationship: `Z_<number>NAME` with a column named after each
    /// side.
    func join(
        of relationship: NSRelationshipDescription
    ) -> (table: String, owner: String, destination: String, order: String)? {
        guard let inverse = relationship.inverseRelationship else { return nil }
        func tail(_ name: String) -> String { String(name.dropFirst(2).drop(while: \.isNumber)) }
        let name = relationship.name.uppercased()
        let inverseName = inverse.name.uppercased()
        for (table, columns) in joins where [name, inverseName].contains(tail(table)) {
            let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
            guard let destination = keys.first(where: { tail($0) == name }),
                let owner = keys.first(where: { tail($0) == inverseName && $0 != destination })
            else { continue }
            return (table, owner, destination, "Z_FOK_" + destination.dropFirst(2))
        }
        return nil
    }
}
