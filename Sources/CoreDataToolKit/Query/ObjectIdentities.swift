import CoreData

/// Finds objects by the identity that the command shows: `Maker/p12`.
struct ObjectIdentities {
    /// The reason why a text does not identify an object that can be compared.
    struct Mistake: Error {
        let problem: String
        let advice: String
    }

    private let store: ReadableStore
    private let coordinator: NSPersistentStoreCoordinator

    init(_ opened: OpenedStore) {
        store = opened.store
        coordinator = opened.store.model.coordinator
    }

    /// Returns the object ID that a text stands for.
    ///
    /// - Parameter entity: the entity of the objects with which it is compared.
    func identity(_ text: String, of entity: NSEntityDescription) throws(Mistake) -> NSManagedObjectID {
        let identity = try identity(text, example: entity.name)
        let real = identity.entity
        guard real.isKindOf(entity: entity) || entity.isKindOf(entity: real) else {
            throw Mistake(
                problem:
                    "'\(text)' is an object of '\(real.name ?? "")', but what it is compared with is of "
                    + "'\(entity.name ?? "")'.",
                advice: "Write \(entity.name ?? "")/p1.")
        }
        return identity
    }

    /// Returns the object ID that a text stands for; its row may be missing.
    ///
    /// - Parameter example: the name of an entity for the advice; nil for any.
    func identity(_ text: String, example: String? = nil) throws(Mistake) -> NSManagedObjectID {
        // The full URI of an object ends in the same way.
        let parts = text.split(separator: "/").suffix(2).map(String.init)
        guard parts.count == 2, parts[1].hasPrefix("p"), let key = Int64(parts[1].dropFirst()) else {
            throw Mistake(
                problem: "'\(text)' names no object.",
                advice: "Write \(example ?? entities.first?.name ?? "Entity")/p1, as the command shows it.")
        }
        if let other = URL(string: text), other.scheme == "x-coredata", let host = other.host,
            host.lowercased() != coordinator.persistentStores.first?.identifier?.lowercased()
        {
            throw Mistake(problem: "'\(text)' is an object of another store.", advice: "This store has another UUID.")
        }
        let name = parts[0].removingPercentEncoding ?? parts[0]
        guard
            let named = entities.first(where: { $0.name == name })
                ?? entities.first(where: { $0.name?.lowercased() == name.lowercased() })
        else {
            throw Mistake(
                problem: "There is no entity '\(name)'.",
                advice: NearNames.advice(for: name, among: entities.compactMap(\.name).sorted(), kind: "entity"))
        }
        // A missing row may still be referenced: it keeps the entity that was written.
        let real = self.entity(ofRow: key, in: named) ?? named
        guard real.isKindOf(entity: named) else {
            throw Mistake(
                problem: "The object p\(key) is one of '\(real.name ?? "")', not of '\(named.name ?? "")'.",
                advice: "Write \(real.name ?? "")/p\(key).")
        }
        guard let identity = store.model.objectID(entity: real.name ?? "", key: key) else {
            throw Mistake(problem: "'\(text)' names no object of this store.", advice: "")
        }
        return identity
    }

    /// Returns the object ID that an argument of the command stands for.
    func identity(ofArgument text: String) throws(ToolError) -> NSManagedObjectID {
        do {
            return try identity(text)
        } catch {
            throw ToolError([error.problem, error.advice].filter { !$0.isEmpty }.joined(separator: " "))
        }
    }

    private var entities: [NSEntityDescription] { store.model.entities }

    /// Returns the entity of a row in the table of an entity; nil if there is no such row.
    private func entity(ofRow key: Int64, in named: NSEntityDescription) -> NSEntityDescription? {
        guard let table = store.survey.tables.first(where: { $0.entities.contains { $0.name == named.name } }),
            let row = try? store.reader.rows(
                "SELECT Z_ENT FROM \(SQLiteReader.identifier(table.name)) WHERE Z_PK = \(key)"
            ).first,
            let number = row[0].integer, let found = table.entities.first(where: { Int64($0.number) == number })
        else { return nil }
        return store.model.model.entitiesByName[found.name]
    }
}
