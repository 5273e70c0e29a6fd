import CoreData

/// A fixture with one store: a stack, or a library.
public protocol StoreOwner {
    var coordinator: NSPersistentStoreCoordinator { get }
    /// The store as its database sees it; nil for a store in memory, which no second path leads to.
    var secondPath: StoreTables? { get }
}

extension TestStack: StoreOwner {
    public var secondPath: StoreTables? { tables }
}

extension Library: StoreOwner {
    public var secondPath: StoreTables? { kind.isDatabase ? tables : nil }
}

// What the store has, by the second path where one leads there, and otherwise as a fresh context
// reads it.
extension StoreOwner {
    /// The values of a property of all objects of an entity, in ascending order, with nil first.
    ///
    /// Values are texts, of which those of Boolean values, dates, bytes and numbers with fractions
    /// differ from kind to kind; that of a destination is its key. A request that fails gives one
    /// value with the message.
    ///
    /// - Parameters:
    ///   - property: an attribute or a relationship to one object, whose name is no reserved word
    ///     of SQL.
    ///   - entity: one without a superentity.
    public func stored(_ property: String, of entity: String) -> [String?] {
        stored([property], of: entity).map { $0.first ?? nil }
    }

    /// The values of some properties of all objects of an entity, in ascending order of the first,
    /// then of the second, and so on.
    public func stored(_ properties: [String], of entity: String) -> [[String?]] {
        let rows = secondPath.map { tableRows($0, properties, entity) } ?? contextRows(properties, entity)
        return rows.sorted { $0.lexicographicallyPrecedes($1, by: precedes) }
    }

    private func precedes(_ value: String?, _ other: String?) -> Bool {
        guard let other else { return false }
        return value.map { $0 < other } ?? true
    }

    /// How many objects of an entity without a superentity the store has.
    public func storedCount(of entity: String) -> Int? {
        if let secondPath { return secondPath.value("SELECT count(*) FROM {\(snakeCase(entity))}").flatMap { Int($0) } }
        let context = coordinator.newContext()
        return try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    private func tableRows(_ tables: StoreTables, _ properties: [String], _ entity: String) -> [[String?]] {
        let relationships = coordinator.managedObjectModel.entitiesByName[entity]?.relationshipsByName ?? [:]
        let columns = properties.map { "{\(snakeCase($0))\(relationships[$0] == nil ? "" : "_id")}" }
        return tables.rows("SELECT \(columns.joined(separator: ", ")) FROM {\(snakeCase(entity))}")
    }

    private func contextRows(_ properties: [String], _ entity: String) -> [[String?]] {
        let context = coordinator.newContext()
        return withExtendedLifetime(context) {
            do {
                return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                    properties.map { text(object.value(forKey: $0)) }
                }
            } catch {
                return [["error: \(error)"]]
            }
        }
    }

    private func text(_ value: Any?) -> String? {
        switch value {
        case nil, is NSNull: nil
        case let destination as NSManagedObject: destination.objectID.keyText
        case let value?: "\(value)"
        }
    }

    /// A name of a few words as PostgreSQL has it: `isOn` is `is_on`.
    private func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { result, character in
            if character.isUppercase, !result.isEmpty { result += "_" }
            result += character.lowercased()
        }
    }
}

extension NSManagedObjectID {
    /// The key of the row, as databases' texts have it.
    public var keyText: String { String(uriRepresentation().lastPathComponent.dropFirst()) }
}
