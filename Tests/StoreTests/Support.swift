import TestSupport
import Testing

@testable import CoreData

/// Stores that Apple's framework wrote, copied before use.
enum Fixture: String, CaseIterable, CustomTestStringConvertible {
    case sampleModelV1 = "CoreDataPlus/SampleModel/Fixtures/SampleModel_V1.sqlite"
    case sampleModelV2 = "CoreDataPlus/SampleModel/Fixtures/SampleModel_V2.sqlite"
    case sampleModel2V1 = "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V1.sqlite"
    case sampleModel2V2 = "CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V2.sqlite"
    case sampleModel3V1 = "CoreDataPlus/SampleModel3/Fixtures/SampleModel3_V1.sqlite"
    case migration1 = "CoreDataMigrationRevised/CoreDataMigration_Example_1.sqlite"
    case migration2 = "CoreDataMigrationRevised/CoreDataMigration_Example_2.sqlite"
    case migration3 = "CoreDataMigrationRevised/CoreDataMigration_Example_3.sqlite"
    case bookmarksV1 = "DuckDuckGoBookmarks/Bookmarks_V1.sqlite"
    case bookmarksV5 = "DuckDuckGoBookmarks/Bookmarks_V5.sqlite"
    case loopKit = "LoopKit/Model.sqlite.v1.original.sqlite"

    var testDescription: String { rawValue }

    static var folder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    }

    static var areHere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Copies the store with its journal; skips nothing silently: callers carry `.enabled(if:
    /// Fixture.areHere)`.
    func copy(to folder: TemporaryFolder) throws -> URL {
        let source = Fixture.folder.appendingPathComponent(rawValue)
        let copy = folder.file(source.lastPathComponent)
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: source.path + suffix) {
            try FileManager.default.copyItem(atPath: source.path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }
}

/// A store and its coordinator.
struct OpenStore {
    let coordinator: NSPersistentStoreCoordinator
    let store: SQLiteStore

    init(model: NSManagedObjectModel, url: URL, options: [AnyHashable: Any]? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        store = try #require(added as? SQLiteStore)
    }

    func layout(_ name: String) -> EntityLayout { coordinator.modelLayout.layoutByName[name]! }

    func rows(_ entity: String, _ predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = []) throws -> FetchedRows {
        var plan = StoreFetch(entity: layout(entity))
        plan.predicate = predicate
        plan.sortDescriptors = sort
        guard case .rows(let rows) = try store.fetch(plan) else { return FetchedRows() }
        return rows
    }

    /// The values of one attribute, in result order.
    func strings(
        _ entity: String, _ attribute: String = "name", _ predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = []
    ) throws -> [String?] {
        let fetched = try rows(entity, predicate, sort: sort)
        return withExtendedLifetime(fetched.pages) {
            fetched.rows.map { row in
                let snapshot = Snapshot(retaining: row)
                guard let slot = snapshot.layout.slotByName[attribute] else { return nil }
                switch snapshot.value(slot) {
                case .string(let string): return string
                case .integer(let integer): return String(integer)
                case .double(let double): return String(double)
                case .decimal(let decimal): return decimal.description
                case .null: return nil
                default: return "other"
                }
            }
        }
    }

    /// The names that fulfil a predicate, sorted.
    func names(_ entity: String, _ format: String, _ arguments: [Any] = []) throws -> [String] {
        try strings(entity, "name", NSPredicate(format: format, argumentArray: arguments)).compactMap { $0 }.sorted()
    }

    func change(
        _ entity: String, _ key: Int64, _ values: [String: StoredValue], base: Snapshot? = nil
    ) -> RowChange {
        let layout = layout(entity)
        let pending = RowValues.make(slotCount: layout.slots.count)
        for (name, value) in values { pending[layout.slotByName[name]!] = value }
        return RowChange(layout: layout, key: key, base: base, values: pending)
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: StoredValue]) throws -> Snapshot {
        var batch = SaveBatch()
        batch.inserts = [change(entity, try store.reserveKeys(1, for: layout(entity)), values)]
        return try #require(firstSnapshot(try store.save(batch).inserted))
    }

    /// The first row, with its page retained.
    func firstSnapshot(_ rows: FetchedRows) -> Snapshot? {
        withExtendedLifetime(rows.pages) { rows.rows.first.map { Snapshot(retaining: $0) } }
    }

    func reference(_ entity: String, _ key: Int64) -> StoredValue {
        .reference(RowReference(key: key, layoutIndex: layout(entity).index))
    }

    func close() throws { try coordinator.remove(store) }
}

/// Builds models in a few words.
enum TestModel {
    static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    static func relationship(_ name: String, to entity: NSEntityDescription, many: Bool, ordered: Bool = false)
        -> NSRelationshipDescription
    {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = many ? 0 : 1
        relationship.isOrdered = ordered
        return relationship
    }

    static func pair(_ first: NSRelationshipDescription, _ second: NSRelationshipDescription) {
        first.inverseRelationship = second
        second.inverseRelationship = first
    }

    /// Departments with employees (managers among them), who have tags and ordered tasks.
    static func company() -> NSManagedObjectModel {
        let department = NSEntityDescription()
        department.name = "Department"
        let employee = NSEntityDescription()
        employee.name = "Employee"
        let manager = NSEntityDescription()
        manager.name = "Manager"
        let tag = NSEntityDescription()
        tag.name = "Tag"
        let task = NSEntityDescription()
        task.name = "Task"
        let employees = relationship("employees", to: employee, many: true)
        let home = relationship("department", to: department, many: false)
        pair(employees, home)
        let tags = relationship("tags", to: tag, many: true)
        let tagged = relationship("employees", to: employee, many: true)
        pair(tags, tagged)
        let tasks = relationship("tasks", to: task, many: true, ordered: true)
        let owner = relationship("owner", to: employee, many: false)
        pair(tasks, owner)
        let count = NSDerivedAttributeDescription()
        count.name = "headcount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(forKeyPath: "employees.@count")
        department.properties = [attribute("name", .stringAttributeType), employees, count]
        let photo = attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        employee.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer64AttributeType),
            attribute("salary", .decimalAttributeType), attribute("hired", .dateAttributeType),
            attribute("rating", .doubleAttributeType), attribute("badge", .UUIDAttributeType),
            attribute("site", .URIAttributeType), attribute("active", .booleanAttributeType), photo, home, tags, tasks,
        ]
        employee.uniquenessConstraints = [["badge"]]
        manager.properties = [attribute("level", .integer16AttributeType)]
        employee.subentities = [manager]
        employee.indexes = [
            NSFetchIndexDescription(
                name: "byName",
                elements: [
                    NSFetchIndexElementDescription(
                        property: employee.propertiesByName["name"]!, collationType: .binary)
                ])
        ]
        tag.properties = [attribute("name", .stringAttributeType), tagged]
        task.properties = [attribute("name", .stringAttributeType), owner]
        let model = NSManagedObjectModel()
        model.entities = [department, employee, manager, tag, task]
        return model
    }
}
