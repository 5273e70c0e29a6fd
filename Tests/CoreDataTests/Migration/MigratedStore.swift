import CoreData
import TestSupport
import Testing

/// A store in a temporary folder, or in a schema of its own, that goes through versions of a model.
struct MigratedStore {
    let kind: StoreKind
    let folder: TemporaryFolder
    let url: URL

    init(_ kind: StoreKind = .sqlite) throws {
        self.kind = kind
        folder = try TemporaryFolder()
        let file = folder.file("store.sqlite")
        url = kind.url(file) ?? file
    }

    static var automatic: [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
    }

    /// Opens the store with a model, lets `body` use a context, saves, and closes the store.
    ///
    /// - Parameter options: by default those of an automatic migration with an inferred mapping.
    @discardableResult
    func open<Result>(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = automatic, configuration: String? = nil,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: configuration, at: url, options: options)
        let context = coordinator.newContext()
        let result = try body(context)
        if context.hasChanges { try context.save() }
        try coordinator.remove(store)
        return result
    }

    /// Migrates the store and checks that it is as sound as a new one of the model.
    func migrate(
        to model: NSManagedObjectModel, _ options: [AnyHashable: Any] = automatic,
        location: SourceLocation = #_sourceLocation
    ) throws {
        try open(model, options) { _ in }
        try expectSoundness(model, location)
    }

    /// The error of opening the store with a model.
    func refusal(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = automatic, configuration: String? = nil
    ) throws -> NSError {
        let before = content
        let error = try #require(errorThrown { try open(model, options, configuration: configuration) { _ in } })
        #expect(content == before, "a refused store was changed")
        return error
    }

    /// Everything that is in the database.
    var content: [String: [[String?]]] {
        if kind == .postgreSQL { return PostgreSQLTables(url).content }
        let file = file
        var content = ["schema": file.rows("SELECT type, name, sql FROM sqlite_master ORDER BY name")]
        for case let table? in file.column("SELECT name FROM sqlite_master WHERE type = 'table'") {
            content[table] = file.rows("SELECT rowid, * FROM \"\(table)\" ORDER BY rowid")
        }
        return content
    }

    var file: SQLiteFile { SQLiteFile(url) }

    /// Tables, indexes, triggers, entity numbers and metadata are those of a new store.
    func expectSoundness(_ model: NSManagedObjectModel, _ location: SourceLocation) throws {
        if kind == .postgreSQL { return try expectSoundSchema(model, location) }
        #expect(file.value("PRAGMA integrity_check") == "ok", sourceLocation: location)
        #expect(file.rows("PRAGMA foreign_key_check").isEmpty, sourceLocation: location)
        let new = try MigratedStore()
        try new.open(model.copy() as? NSManagedObjectModel ?? model) { _ in }
        #expect(file.schemaByName() == new.file.schemaByName(), sourceLocation: location)
        let numbers = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT"
        #expect(file.rows(numbers) == new.file.rows(numbers), sourceLocation: location)
        for table in file.column(
            "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%Z\\_PK INTEGER PRIMARY KEY%' ESCAPE '\\'")
        {
            let unknown = "SELECT count(*) FROM \(table ?? "") WHERE Z_ENT NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY)"
            #expect(file.integer(unknown) == 0, sourceLocation: location)
        }
        try expectDescription(of: model, location)
    }

    /// Columns, constraints, indexes, triggers and functions are those of a new store, but for the
    /// numbers of entities.
    private func expectSoundSchema(_ model: NSManagedObjectModel, _ location: SourceLocation) throws {
        let new = try MigratedStore(kind)
        let hasHistory = PostgreSQLTables(url).value("SELECT to_regclass('ocd_history')") != nil
        try new.open(
            model.copy() as? NSManagedObjectModel ?? model, [NSPersistentHistoryTrackingKey: hasHistory]
        ) { _ in }
        func structure(_ store: MigratedStore) -> [String] {
            PostgreSQLTables(store.url).structure.map { row in
                let isConstraint = row[0] == "constraint" && row[2]?.contains(" CHECK ") == true
                let text = row.map { $0 ?? "" }.joined(separator: " | ")
                // Entities keep the numbers that they had.
                return isConstraint
                    ? text.replacingOccurrences(of: "entity <> .*? OR ", with: "ENTITY ", options: .regularExpression)
                    : text
            }
        }
        #expect(structure(self) == structure(new), sourceLocation: location)
        let rows = "SELECT e.name, p.name FROM ocd_entity e LEFT JOIN ocd_entity p ON p.number = e.parent ORDER BY 1"
        #expect(PostgreSQLTables(url).rows(rows) == PostgreSQLTables(new.url).rows(rows), sourceLocation: location)
        try expectDescription(of: model, location)
    }

    private func expectDescription(of model: NSManagedObjectModel, _ location: SourceLocation) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
        #expect(
            metadata[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName,
            sourceLocation: location)
        #expect(
            metadata[NSPersistentStoreModelVersionChecksumKey] as? String == model.versionChecksum,
            sourceLocation: location)
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(cached.entityVersionHashesByName == model.entityVersionHashesByName, sourceLocation: location)
    }
}

extension NSManagedObjectContext {
    @discardableResult
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (name, value) in values { object.setValue(value, forKey: name) }
        return object
    }

    /// The objects of an entity, in the order of an attribute.
    func objects(_ entity: String, by key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }

    /// The values of one property.
    func values<Value>(_ entity: String, _ key: String, by order: String? = nil, as type: Value.Type = Value.self)
        throws -> [Value?]
    {
        try objects(entity, by: order ?? key).map { $0.value(forKey: key) as? Value }
    }
}

func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel { NSManagedObjectModel(entities) }

func entity(_ name: String, was former: String? = nil, _ properties: NSPropertyDescription...) -> NSEntityDescription {
    let entity = NSEntityDescription(name, class: "NSManagedObject", properties)
    if let former { entity.renamingIdentifier = former }
    return entity
}

func text(_ name: String, was former: String? = nil, optional: Bool = true, default value: String? = nil)
    -> NSAttributeDescription
{
    let attribute = NSAttributeDescription(name, .stringAttributeType, optional: optional, default: value)
    if let former { attribute.renamingIdentifier = former }
    return attribute
}

func number(
    _ name: String, _ type: NSAttributeType = .integer64AttributeType, optional: Bool = true, default value: Int? = nil
) -> NSAttributeDescription {
    NSAttributeDescription(name, type, optional: optional, default: value)
}
