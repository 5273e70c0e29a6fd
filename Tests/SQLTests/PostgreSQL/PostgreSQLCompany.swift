import TestSupport

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The company's model in PostgreSQL's tables, without a database.
struct PostgreSQLCompany {
    let mapping: SQLMapping
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore

    init(_ model: NSManagedObjectModel = Company.model(), dialect: PostgreSQLDialect = PostgreSQLDialect()) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        // Object IDs are of some store.
        store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        mapping = try SQLMapping(layouts: coordinator.modelLayout, dialect, SnakeCaseNaming()) { _ in true }
    }

    func entity(_ name: String) -> SQLEntity {
        guard let entity = mapping.layouts.layoutByName[name].flatMap({ mapping.entity($0) }) else {
            preconditionFailure("no entity \(name)")
        }
        return entity
    }

    func slot(_ name: String, of entity: String) -> PropertySlot {
        let layout = self.entity(entity).layout
        guard let slot = layout.slotByPath[name] ?? layout.slotByName[name] else {
            preconditionFailure("no property \(name)")
        }
        return layout.slots[slot]
    }

    func generator() -> SQLGenerator { SQLGenerator(mapping: mapping, store: store) }

    func objectID(_ entity: String, _ key: Int64) -> NSManagedObjectID {
        NSManagedObjectID(key: key, layout: self.entity(entity).layout, store: store)
    }

    // MARK: SQL

    /// A fetch's statement; the reason where it is refused.
    func fetch(_ entity: String, _ fill: (inout StoreFetch) -> Void) -> String {
        var fetch = StoreFetch(entity: self.entity(entity).layout)
        fetch.shape = .count
        fill(&fetch)
        do {
            let generator = generator()
            if fetch.shape == .dictionaries {
                return try DictionaryStatement(fetch, generator).text.statement(mapping.dialect).sql
            }
            return try generator.fetch(fetch, self.entity(entity)) {
                SelectColumns(self.entity(entity), includesSubentities: fetch.includesSubentities, in: mapping)
            }.statement(mapping.dialect).sql
        } catch {
            return "refused: \((error as NSError).localizedDescription)"
        }
    }

    /// The condition of a predicate, as it follows WHERE.
    func condition(_ question: Question) -> String {
        let sql = fetch(question.entity) { $0.predicate = question.predicate(objectID) }
        let start = "SELECT COUNT(*) FROM \"\(entity(question.entity).table.name)\" t0"
        return sql.hasPrefix(start + " WHERE ") ? String(sql.dropFirst(start.count + 7)) : sql
    }
}
