import CoreData

/// Whether both ends of relationships agree: what a context shows, and what the tables of a SQLite
/// store hold.
public enum RelationshipEnds {
    /// Inconsistencies of the relationships among all objects that a context can fetch: one end
    /// without the other, a destination that is gone, a member twice.
    ///
    /// Cost: reads every object and every relationship.
    public static func problems(in context: NSManagedObjectContext) throws -> [String] {
        var objects: [NSManagedObject] = []
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        where entity.superentity == nil {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            objects += try context.fetch(request)
        }
        return problems(among: objects)
    }

    /// - Parameter objects: all that there are.
    public static func problems(among objects: [NSManagedObject]) -> [String] {
        let present = Set(objects)
        var problems: [String] = []
        for object in objects {
            for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                let destinations = destinations(of: object, name)
                let place = "\(text(object)).\(name)"
                if Set(destinations).count < destinations.count { problems.append("\(place) has a member twice") }
                for destination in destinations {
                    guard present.contains(destination) else {
                        problems.append("\(place) leads to \(text(destination)), which is gone")
                        continue
                    }
                    guard let inverse = relationship.inverseRelationship?.name else { continue }
                    if !self.destinations(of: destination, inverse).contains(object) {
                        problems.append("\(place) leads to \(text(destination)), whose \(inverse) does not lead back")
                    }
                }
            }
        }
        return problems
    }

    /// The destinations of a relationship, in order where it is ordered.
    public static func destinations(of object: NSManagedObject, _ name: String) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let destination as NSManagedObject: [destination]
        case let members as NSOrderedSet: members.array.compactMap { $0 as? NSManagedObject }
        case let members as NSSet: members.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    private static func text(_ object: NSManagedObject) -> String {
        let key = ["key", "name"].first { object.entity.attributesByName[$0] != nil }
        let name = object.isFault ? nil : key.flatMap { object.value(forKey: $0) as? String }
        return "\(object.entity.name ?? "?") \(name ?? object.objectID.uriRepresentation().lastPathComponent)"
    }

    // MARK: Tables

    /// Inconsistencies in the file of a new store of a model: dangling keys, one half of a
    /// one-to-one relationship, pairs without their mirror image, members of an ordered
    /// relationship without a place.
    public static func problems(in file: SQLiteFile, of model: NSManagedObjectModel) throws -> [String] {
        var problems: [String] = []
        func look(_ what: String, _ sql: String) throws {
            for row in file.column(sql) { problems.append("\(what): \(row ?? "")") }
        }
        for entity in model.entities {
            let table = table(entity)
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                guard !relationship.isToMany, let destination = relationship.destinationEntity else { continue }
                let key = "Z\(name.uppercased())"
                try look(
                    "\(entity.name ?? "").\(name) leads nowhere",
                    "SELECT Z_PK FROM \(table) WHERE \(key) NOT NULL AND \(key) NOT IN (SELECT Z_PK FROM "
                        + "\(self.table(destination)))"
                )
                guard let inverse = relationship.inverseRelationship else { continue }
                if !inverse.isToMany {
                    try look(
                        "\(entity.name ?? "").\(name) is one half",
                        "SELECT a.Z_PK FROM \(table) a JOIN \(self.table(destination)) b ON b.Z_PK = a.\(key) "
                            + "WHERE b.Z\(inverse.name.uppercased()) IS NOT a.Z_PK")
                } else if inverse.isOrdered {
                    let place = try file.columns(of: table).first { $0.hasPrefix("Z_FOK_\(name.uppercased())") }
                    try look(
                        "\(entity.name ?? "").\(name) has no place",
                        "SELECT Z_PK FROM \(table) WHERE \(key) NOT NULL AND \(place ?? "''") IS NULL")
                }
            }
        }
        try lookAtPairs(file, model, look)
        return problems
    }

    private static func lookAtPairs(
        _ file: SQLiteFile, _ model: NSManagedObjectModel, _ look: (String, String) throws -> Void
    ) throws {
        let numbers = try file.cells("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
        let names = Dictionary(
            numbers.map { ($0[0].integer ?? 0, $0[1].text ?? "") }, uniquingKeysWith: { first, _ in first })
        for join in try file.strings("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") {
            let columns = try file.columns(of: join)
            for column in columns {
                if column.hasPrefix("Z_FOK_") {
                    try look("\(join).\(column) is empty", "SELECT rowid FROM \(join) WHERE \(column) IS NULL")
                    continue
                }
                let number = Int64(column.dropFirst(2).prefix { $0.isNumber }) ?? 0
                guard let entity = names[number].flatMap({ model.entitiesByName[$0] }) else { continue }
                try look(
                    "\(join).\(column) leads nowhere",
                    "SELECT \(column) FROM \(join) WHERE \(column) NOT IN (SELECT Z_PK FROM \(table(entity)))")
            }
            guard columns.contains("REFLEXIVE"), columns.count >= 2 else { continue }
            let (first, second) = (columns[0], columns[1])
            try look(
                "\(join) has no mirror image of a pair",
                "SELECT a.\(first) FROM \(join) a WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(join) b WHERE b.\(first) = a.\(second) AND b.\(second) = a.\(first))")
        }
    }

    private static func table(_ entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return "Z\((root.name ?? "").uppercased())"
    }
}
