import CoreData
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stores on a server that are migrated by a mapping model while they are added: the migrated one
/// is made in a schema beside the former one, whose place it takes.
@Suite(.enabled(if: StoreKind.allCases.contains(.postgreSQL)))
struct ServerMappingTests {
    /// The names of one test: the program searches the mapping models of all.
    private struct Versions: Codable {
        let suffix: String
        var item: String { "Item\(suffix)" }
        var group: String { "Group\(suffix)" }

        func former() -> NSManagedObjectModel { model() }

        func model(_ extra: NSAttributeDescription..., required: Bool = false) -> NSManagedObjectModel {
            // An entity before the others shifts the numbers of all.
            let first = extra.isEmpty ? [] : [entity("A\(suffix)", text("name"))]
            let (item, group) = (entity(item, text("name"), number("count")), entity(group, text("name")))
            item.properties += extra
            relate(group, "items", toMany: true, item, inverse: "group")
            item.relationshipsByName["group"]?.isOptional = !required
            return NSManagedObjectModel(first + [item, group])
        }

        func new() -> NSManagedObjectModel { model(text("origin")) }

        func addMapping(
            policy: String?, groupPolicy: String? = nil, to new: NSManagedObjectModel, in folder: URL
        ) throws {
            _ = try MappingFile(
                [
                    MappingFile.Mapping(
                        source: item, destination: item, policy: policy, attributes: ["name", "count"],
                        relationships: ["group"]),
                    MappingFile.Mapping(
                        source: group, destination: group, policy: groupPolicy, attributes: ["name"],
                        relationships: ["items"]),
                ], from: former(), to: new, in: folder)
        }
    }

    private let resources: ResourceFolder
    private let store: MigratedStore
    private let versions = Versions(suffix: UUID().uuidString.filter(\.isLetter))

    init() throws {
        resources = try ResourceFolder()
        store = try MigratedStore(.postgreSQL)
        try fill()
    }

    private var tables: PostgreSQLTables { PostgreSQLTables(store.url) }
    private var table: String { "item_\(versions.suffix.lowercased())" }

    private static var recording: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSPersistentHistoryTrackingKey: true]
    }

    /// Items with gaps between their keys, in two groups.
    private func fill() throws {
        try store.open(versions.former(), Self.recording) { context in
            let groups = ["g1", "g2"].map { context.insert(versions.group, ["name": $0]) }
            for number in 1...9 {
                context.insert(
                    versions.item, ["name": "i\(number)", "count": number, "group": groups[number % 2]])
            }
            try context.save()
            for item in try context.objects(versions.item) where (item.value(forKey: "count") as? Int ?? 0) % 3 == 0 {
                context.delete(item)
            }
            try context.save()
        }
    }

    private func addMapping(policy: String?, to new: NSManagedObjectModel? = nil) throws {
        try versions.addMapping(policy: policy, to: new ?? versions.new(), in: resources.url)
    }

    /// The URIs of all objects by name.
    private func uris(_ context: NSManagedObjectContext) throws -> [String: URL] {
        let objects = try context.objects(versions.item) + context.objects(versions.group)
        return Dictionary(
            uniqueKeysWithValues: objects.map {
                ($0.value(forKey: "name") as? String ?? "", $0.objectID.uriRepresentation())
            })
    }

    private func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: store.kind.type, at: store.url)
    }

    /// The schemas that migrations make beside stores, in the whole database.
    private var workSchemas: [String?] {
        let number = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
        return tables.column("SELECT nspname FROM pg_namespace WHERE nspname = 'ocd_migration_' || \(number)")
    }

    // MARK: What stays

    @Test(arguments: [nil, "OriginPolicy"]) func objectsKeepTheirURIsAndRelationships(policy: String?) throws {
        let before = try store.open(versions.former()) { try uris($0) }
        try addMapping(policy: policy)
        try store.migrate(to: versions.new(), Self.recording)
        try store.open(versions.new(), Self.recording) { context in
            #expect(try uris(context) == before)
            let items = try context.objects(versions.item, by: "name")
            #expect(
                items.map { $0.value(forKeyPath: "group.name") as? String } == ["g2", "g1", "g1", "g2", "g2", "g1"])
            let origins = items.map { $0.value(forKey: "origin") as? String }
            #expect(origins == [1, 2, 4, 5, 7, 8].map { policy == nil ? nil : "from \($0)" })
        }
        #expect(workSchemas == [])
    }

    @Test(arguments: ["items", "groups", "both"]) func anyChoiceOfExecutorsGivesTheSame(choice: String) throws {
        let before = try store.open(versions.former()) { try uris($0) }
        try versions.addMapping(
            policy: choice == "groups" ? nil : "PlainPolicy",
            groupPolicy: choice == "items" ? nil : "PlainPolicy", to: versions.new(), in: resources.url)
        try store.migrate(to: versions.new(), Self.recording)
        try store.open(versions.new(), Self.recording) { context in
            #expect(try uris(context) == before)
            let groups = try context.objects(versions.group, by: "name").map { $0.value(forKey: "items") as? NSSet }
            #expect(groups.map { $0?.count } == [3, 3])
        }
    }

    @Test func aRelationshipThatIsRequiredIsThereInTheEnd() throws {
        let new = versions.model(text("origin"), required: true)
        try addMapping(policy: "OriginPolicy", to: new)
        try store.migrate(to: new, Self.recording)
        try store.open(new, Self.recording) { context in
            let names = try context.objects(versions.item).map { $0.value(forKeyPath: "group.name") as? String }
            #expect(names.allSatisfy { $0 != nil })
        }
    }

    @Test func theUUIDAndTheMetadataOfTheProgramStay() throws {
        var before = try metadata()
        before["origin"] = "import"
        try NSPersistentStoreCoordinator.setMetadata(
            before, forPersistentStoreOfType: store.kind.type, at: store.url)
        try addMapping(policy: "OriginPolicy")
        try store.migrate(to: versions.new(), Self.recording)
        #expect(try metadata()["origin"] as? String == "import")
        #expect(try metadata()[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
    }

    @Test(arguments: [nil, "OriginPolicy"]) func keysOfDeletedObjectsAreNotGivenAgain(policy: String?) throws {
        try addMapping(policy: policy)
        try store.migrate(to: versions.new(), Self.recording)
        try store.open(versions.new(), Self.recording) { $0.insert(versions.item, ["name": "new"]) }
        #expect(tables.integer("SELECT id FROM \(table) WHERE name = 'new'") ?? 0 > 9)
    }

    @Test(arguments: [nil, "OriginPolicy"]) func theHistoryStaysAsItWas(policy: String?) throws {
        let changes = """
            SELECT h.number, c.place, e.name, c.kind, c.key, c.properties::text FROM ocd_change c \
            JOIN ocd_history h ON h.save = c.save JOIN ocd_entity e ON e.number = c.entity ORDER BY 1, 2
            """
        let before = tables.rows(changes)
        try addMapping(policy: policy)
        try store.migrate(to: versions.new(), Self.recording)
        #expect(before.count > 14)
        #expect(tables.rows(changes) == before)
    }

    @Test func rolesKeepTheirRights() throws {
        let role = "reader_\(versions.suffix.lowercased())"
        #expect(
            tables.execute(
                "CREATE ROLE \(role); GRANT SELECT, UPDATE ON \(table), ocd_store TO \(role); "
                    + "REVOKE EXECUTE ON FUNCTION ocd_functions() FROM PUBLIC; "
                    + "GRANT EXECUTE ON FUNCTION ocd_functions() TO \(role)"
            ))
        defer { _ = tables.execute("DROP OWNED BY \(role); DROP ROLE \(role)") }
        try addMapping(policy: "OriginPolicy")
        try store.open(versions.new(), Self.recording) { _ in }
        let rights = """
            SELECT bool_and(has_table_privilege('\(role)', t, 'SELECT') AND \
            has_table_privilege('\(role)', t, 'UPDATE') AND NOT has_table_privilege('\(role)', t, 'DELETE'))::int \
            FROM unnest(ARRAY['\(table)', 'ocd_store']) AS t
            """
        #expect(tables.integer(rights) == 1)
        let grants = "SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE a.grantee = '\(role)'::regrole"
        #expect(tables.integer(grants) == 1)
    }

    // MARK: What fails

    @Test func anErrorOfThePolicyLeavesTheStore() throws {
        try addMapping(policy: "CancellingPolicy")
        let error = try store.refusal(versions.new(), Self.recording)
        #expect(error.domain == "Cancelled")
        #expect(workSchemas == [])
    }

    @Test func anErrorInTheCopyNamesTheStore() throws {
        let new = versions.new()
        new.entitiesByName[versions.group]?.uniquenessConstraints = [["name"]]
        try store.open(versions.former(), Self.recording) { $0.insert(versions.group, ["name": "g1"]) }
        try addMapping(policy: "OriginPolicy", to: new)
        let error = try store.refusal(new, Self.recording)
        #expect(error.code == NSMigrationConstraintViolationError)
        #expect(!error.localizedDescription.contains("ocd_migration"), "\(error)")
        #expect(workSchemas == [])
    }

    @Test func aReadOnlyStoreIsNotMigrated() throws {
        try addMapping(policy: "OriginPolicy")
        let error = try store.refusal(
            versions.new(), Self.recording.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        #expect(error.code == NSMigrationError)
    }

    @Test func aViewOfAnotherProgramKeepsTheStoreAsItIs() throws {
        #expect(tables.execute("CREATE VIEW names AS SELECT name FROM \(table)"))
        try addMapping(policy: "OriginPolicy")
        _ = try store.refusal(versions.new(), Self.recording)
        #expect(workSchemas == [])
        #expect(tables.execute("DROP VIEW names"))
        try store.migrate(to: versions.new(), Self.recording)
    }

    // MARK: Other programs

    @Test func whoReadsSeesTheFormerStoreAndWhoWritesWaits() throws {
        try addMapping(policy: "AskingPolicy")
        let url = store.url
        let answers = Mutex<[Int?]>([])
        try AskingPolicy.$question.withValue({
            let tables = PostgreSQLTables(url)
            let count = tables.integer("SELECT count(*) FROM ocd_model")
            let saved = tables.execute("SET lock_timeout TO 50; UPDATE ocd_entity SET last_key = last_key + 1")
            answers.withLock { $0 = [count, saved ? 1 : 0] }
        }) {
            try store.open(versions.new(), Self.recording) { _ in }
        }
        #expect(answers.withLock { $0 } == [1, 0])
    }

    @Test func aStoreWhoseLocksAreLostStaysAsItWas() throws {
        try addMapping(policy: "AskingPolicy")
        let (url, before) = (store.url, store.content)
        let error = errorThrown {
            try AskingPolicy.$question.withValue({
                let locks = "pg_locks WHERE relation = 'ocd_store'::regclass AND mode = 'ExclusiveLock'"
                _ = PostgreSQLTables(url).rows("SELECT pg_terminate_backend(pid, 10000) FROM \(locks)")
            }) {
                try store.open(versions.new(), Self.recording) { _ in }
            }
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(store.content == before)
        try store.migrate(to: versions.new(), Self.recording)
        #expect(workSchemas == [])
    }

    @Test func aProgramThatHasItOpenIsRefusedAfterwards() throws {
        try addMapping(policy: "OriginPolicy")
        try store.open(versions.former(), Self.recording) { context in
            context.insert(versions.item, ["name": "unsaved"])
            try store.open(versions.new(), Self.recording) { _ in }
            let error = try #require(errorThrown { try context.save() })
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
            context.rollback()
        }
    }

    @Test func aSaveThatWaitsForTheMigrationIsRefused() throws {
        try addMapping(policy: "AskingPolicy")
        let (url, item) = (store.url, versions.item)
        try store.open(versions.former(), Self.recording) { context in
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            let saving = Mutex<OtherThread<Void>?>(nil)
            try AskingPolicy.$question.withValue({
                let save = OtherThread {
                    try other.performAndWait {
                        other.insert(item, ["name": "new"])
                        try other.save()
                    }
                }
                saving.withLock { $0 = save }
                let tables = PostgreSQLTables(url)
                let waiting = """
                    SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
                    WHERE NOT l.granted AND c.relnamespace = current_schema()::regnamespace
                    """
                while tables.integer(waiting) == 0, !save.isOver {}
            }) {
                try store.open(versions.new(), Self.recording) { _ in }
            }
            let save = try #require(saving.withLock { $0 })
            let error = try #require(errorThrown { try save.value() })
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError, "\(error)")
        }
        #expect(tables.integer("SELECT count(*) FROM \(table)") == 6)
    }

    @Test func twoProgramsThatMigrateAtOnceMigrateOnce() throws {
        try addMapping(policy: "OriginPolicy")
        let (url, versions, type) = (store.url, versions, store.kind.type)
        let errors = Mutex<[NSError]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            let error = errorThrown {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions.new())
                let added = try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: url, options: Self.recording)
                try coordinator.remove(added)
            }
            if let error { errors.withLock { $0.append(error) } }
        }
        #expect(errors.withLock { $0 } == [])
        #expect(tables.integer("SELECT count(*) FROM \(table)") == 6)
        try store.expectSoundness(versions.new(), #_sourceLocation)
    }

    @Test(arguments: ["create", "relate", "end"]) func aKilledProgramLeavesTheFormerStore(step: String) async throws {
        try addMapping(policy: "KillingPolicy")
        let before = store.content
        let (url, suffix) = (store.url.absoluteString, versions.suffix)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [url = url as String, suffix = suffix as String, step = step as String] in
            let place = try #require(URL(string: url))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Versions(suffix: suffix).new())
            try KillingPolicy.$step.withValue(step) {
                _ = try coordinator.addPersistentStore(
                    ofType: StoreKind.postgreSQL.type, configurationName: nil, at: place, options: Self.recording)
            }
        }
        #expect(store.content == before)
        #expect(workSchemas.count == 1)
        // What is left goes with the next migration.
        try store.migrate(to: versions.new(), Self.recording)
        #expect(workSchemas == [])
    }
}

/// Asks a question when its objects are made.
final class AskingPolicy: NSEntityMigrationPolicy {
    @TaskLocal static var question: (@Sendable () -> Void)?

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.question?()
    }
}

/// Kills the program at a step.
final class KillingPolicy: NSEntityMigrationPolicy {
    @TaskLocal static var step: String?

    private func take(_ step: String) { if Self.step == step { kill(getpid(), SIGKILL) } }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        take("create")
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        take("relate")
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { take("end") }
}
