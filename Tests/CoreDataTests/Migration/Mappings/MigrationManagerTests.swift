import CoreData
import TestSupport
import Testing

/// Migration managers: expressions, errors, places and look-ups.
struct MigrationManagerTests {
    let stores: MappedStores
    let former = model(entity("Item", text("name"), number("count")))
    let new = model(entity("Item", text("name"), number("count", optional: true)))

    init() throws {
        stores = try MappedStores()
        try stores.source.open(former) { context in
            for number in 1...3 { context.insert("Item", ["name": "i\(number)", "count": number]) }
        }
    }

    private func migrate(_ attributes: [String: String], policy: AnyClass? = nil) throws {
        try stores.migrate(
            from: former, to: new,
            by: [mapping("ItemToItem", from: "Item", to: "Item", attributes: attributes, policy: policy)])
    }

    private func refusal(_ attributes: [String: String]) throws -> NSError {
        let error = try #require(errorThrown { try migrate(attributes) })
        #expect(stores.destinationFiles == [])
        return error
    }

    @Test("290: Expressions read the variables of the migration.")
    func expressionsReadTheVariablesOfTheMigration() throws {
        try stores.migrate(
            from: former, to: new,
            by: [
                mapping(
                    "ItemToItem", from: "Item", to: "Item",
                    attributes: [
                        "name": "$entityMapping.name", "count": "$manager.userInfo.start + $source.count",
                    ])
            ]
        ) { $0.userInfo = ["start": 10] }
        let rows = "SELECT ZNAME, ZCOUNT FROM ZITEM ORDER BY ZCOUNT"
        #expect(
            stores.destination.file.rows(rows) == [
                ["ItemToItem", "11"], ["ItemToItem", "12"], ["ItemToItem", "13"],
            ])
    }

    @Test func aVariableWithoutAValueIsAnError() throws {
        let error = try refusal(["name": "$nothing"])
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("$nothing"))
    }

    @Test func aValueOfTheWrongTypeIsAnError() throws {
        let error = try refusal(["count": "$source.name"])
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("Item.count"))
    }

    @Test func aPropertyThatTheSourceLacksIsAnError() throws {
        let error = try refusal(["name": "uppercase($source.title)"])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("'title'"))
    }

    @Test func aPropertyThatTheDestinationLacksIsAnError() throws {
        let error = try refusal(["title": "$source.name"])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("'title'"))
    }

    @Test func anEntityThatAModelLacksIsAnError() throws {
        let error = try #require(
            errorThrown { try stores.migrate(from: former, to: new, by: [mapping("A", from: "Thing", to: "Item")]) })
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("'Thing'"))
    }

    @Test func aMappingOfAnotherVersionIsAnError() throws {
        let item = mapping("A", from: "Item", to: "Item")
        item.sourceEntityVersionHash = Data(repeating: 1, count: 32)
        let error = try #require(errorThrown { try stores.migrate(from: former, to: new, by: [item]) })
        #expect(error.code == NSMigrationError)
    }

    @Test func aMappingThatTheModelLacksIsAnErrorInAnExpression() throws {
        let error = try refusal([
            "name": "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"X\", $source)"
        ])
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("'X'"))
    }

    @Test func theRulesOfTheNewModelAreCheckedAtTheEnd() throws {
        let new = model(entity("Item", text("name", optional: false)))
        let error = try #require(
            errorThrown { try stores.migrate(from: former, to: new, by: [mapping("A", from: "Item", to: "Item")]) })
        #expect(error.code == NSValidationMultipleErrorsError)
        #expect(error.singleErrors.count == 3)
        #expect(stores.destinationFiles == [])
    }

    @Test func aRequiredRelationshipMayBeSetInTheSecondPass() throws {
        let (item, box) = (entity("Item", text("name")), entity("Box", text("name")))
        relate(item, "box", optional: false, box, inverse: "items", inverseToMany: true)
        try stores.migrate(
            from: former, to: model(item, box),
            by: [
                mapping(
                    "ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"],
                    relationships: [
                        "box": "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
                            + "\"ItemToBox\", $source)"
                    ]),
                mapping("ItemToBox", from: "Item", to: "Box", attributes: ["name": "$source.name"]),
            ])
        let rows = "SELECT i.ZNAME, b.ZNAME FROM ZITEM i JOIN ZBOX b ON b.Z_PK = i.ZBOX ORDER BY 1"
        #expect(stores.destination.file.rows(rows) == [["i1", "i1"], ["i2", "i2"], ["i3", "i3"]])
    }

    @Test func aSourceOfAnotherVersionIsRefused() throws {
        let error = try #require(
            errorThrown { try stores.migrate(from: model(entity("Item", text("title"))), to: new, by: []) })
        #expect(error.code == NSMigrationManagerSourceStoreError)
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(underlying?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func aMigrationAddsToADestinationThatIsThere() throws {
        try stores.destination.open(new) { $0.insert("Item", ["name": "old"]) }
        try migrate(["name": "$source.name"])
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZITEM ORDER BY 1") == ["i1", "i2", "i3", "old"])
    }

    @Test func anErrorLeavesADestinationThatWasThere() throws {
        try stores.destination.open(new) { $0.insert("Item", ["name": "old"]) }
        let before = stores.destination.content
        #expect(errorThrown { try migrate(["name": "$source.name"], policy: CancellingPolicy.self) } != nil)
        #expect(stores.destination.content == before)
    }

    @Test func aDestinationOfAnotherVersionIsRefused() throws {
        try stores.destination.open(model(entity("Thing", text("name")))) { _ in }
        let before = stores.destination.content
        let error = try #require(errorThrown { try migrate(["name": "$source.name"]) })
        #expect(error.code == NSMigrationManagerDestinationStoreError)
        #expect(stores.destination.content == before)
    }

    @Test func theSourceCannotBeTheDestination() throws {
        let manager = NSMigrationManager(sourceModel: former, destinationModel: new)
        let error = errorThrown {
            try manager.migrateStore(
                from: stores.source.url, sourceType: NSSQLiteStoreType, with: NSMappingModel(),
                toDestinationURL: stores.source.url, destinationType: NSSQLiteStoreType)
        }
        #expect(error?.code == NSMigrationManagerDestinationStoreError)
    }

    @Test func aDestinationInAFolderThatIsMissingIsRefused() throws {
        let manager = NSMigrationManager(sourceModel: former, destinationModel: new)
        let error = errorThrown {
            try manager.migrateStore(
                from: stores.source.url, type: .sqlite, mapping: NSMappingModel(),
                to: stores.destination.folder.file("missing/store.sqlite"), type: .sqlite)
        }
        #expect(error?.code == NSMigrationManagerDestinationStoreError)
    }

    @Test func whatAKilledMigrationLeftIsRemoved() throws {
        let left = stores.destination.folder.file(".store.sqlite.migration")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
        try Data("partial".utf8).write(to: left.appendingPathComponent("store.sqlite"))
        try migrate(["name": "$source.name"])
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZITEM ORDER BY 1") == ["i1", "i2", "i3"])
        #expect(stores.destinationFiles.allSatisfy { !$0.contains("migration") })
    }

    @Test func aMigrationWithoutAMappingModelIsRefused() throws {
        let manager = NSMigrationManager(sourceModel: former, destinationModel: new)
        let error = errorThrown {
            try manager.migrateStore(
                from: stores.source.url, sourceType: NSSQLiteStoreType, with: nil,
                toDestinationURL: stores.destination.url, destinationType: NSSQLiteStoreType)
        }
        #expect(error?.code == NSMigrationMissingMappingModelError)
    }

    @Test("293: The progress rises from 0, and is 1 unless a migration runs.")
    func theProgressRises() throws {
        let manager = NSMigrationManager(sourceModel: former, destinationModel: new)
        #expect(manager.migrationProgress == 1)
        let model = NSMappingModel()
        model.entityMappings = ["A", "B"].map { mapping($0, from: "Item", to: "Item", policy: ProgressPolicy.self) }
        let log = NSMutableArray()
        manager.userInfo = ["log": log]
        try stores.migrate(with: manager, by: model)
        let progress = log as? [Float] ?? []
        #expect(progress.first == 0)
        #expect(progress.last.map { $0 > 0.5 } == true)
        #expect(progress == progress.sorted())
        #expect(manager.migrationProgress == 1)
    }

    @Test("291: A look-up without objects gives all of the mapping.")
    func aLookUpWithoutObjectsGivesAll() throws {
        try migrate(["name": "$source.name"], policy: TotalPolicy.self)
        #expect(stores.destination.file.column("SELECT ZCOUNT FROM ZITEM") == ["6", "6", "6"])
    }

    @Test func sourceObjectsAreReadOnlyPlainObjectsOfTheGivenVersion() throws {
        let manager = NSMigrationManager(sourceModel: former, destinationModel: new)
        let item = mapping("A", from: "Item", to: "Item")
        #expect(manager.sourceEntity(for: item) === manager.sourceModel.entitiesByName["Item"])
        #expect(manager.destinationEntity(for: item) === new.entitiesByName["Item"])
        #expect(manager.sourceModel.entityVersionHashesByName == former.entityVersionHashesByName)
        #expect(manager.usesStoreSpecificMigrationManager)
    }

    @Test func metadataOfTheProgramIsCopied() throws {
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stores.source.url)
        metadata["origin"] = "import"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: stores.source.url)
        try migrate(["name": "$source.name"])
        let made = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: stores.destination.url)
        #expect(made["origin"] as? String == "import")
        #expect(made[NSStoreUUIDKey] as? String != metadata[NSStoreUUIDKey] as? String)
        #expect(made[NSStoreModelVersionHashesKey] as? [String: Data] == new.entityVersionHashesByName)
    }

    @Test(arguments: StoreKind.persistent, StoreKind.persistent)
    func storesOfOneTypeBecomeStoresOfAnother(source: StoreKind, destination: StoreKind) throws {
        let stores = try MappedStores(from: source, to: destination)
        try stores.source.open(former) { context in
            for number in 1...3 { context.insert("Item", ["name": "i\(number)", "count": number]) }
        }
        let item = mapping("A", from: "Item", to: "Item", attributes: ["name": "uppercase($source.name)"])
        try stores.migrate(from: former, to: new, by: [item])
        let names = try stores.destination.open(new) { try $0.values("Item", "name", as: String.self) }
        #expect(names == ["I1", "I2", "I3"])
    }

    @Test func manyObjectsAreMigratedInBatches() throws {
        let (item, box) = (entity("Item", text("name")), entity("Box", number("number")))
        relate(item, "box", box, inverse: "items", inverseToMany: true)
        let old = model(item, box)
        let stores = try MappedStores()
        try stores.source.open(old) { context in
            let boxes = (0..<7).map { context.insert("Box", ["number": $0]) }
            for number in 0..<2_500 { context.insert("Item", ["name": "i\(number)", "box": boxes[number % 7]]) }
        }
        let mappings = ["Item", "Box"].map { name in
            let mapping = NSEntityMapping()
            mapping.name = name
            mapping.mappingType = .copyEntityMappingType
            (mapping.sourceEntityName, mapping.destinationEntityName) = (name, name)
            return mapping
        }
        try stores.migrate(from: old, to: old, by: mappings)
        let wrong =
            "SELECT count(*) FROM ZITEM i JOIN ZBOX b ON b.Z_PK = i.ZBOX "
            + "WHERE CAST(substr(i.ZNAME, 2) AS INTEGER) % 7 <> b.ZNUMBER"
        #expect(stores.destination.file.integer(wrong) == 0)
        #expect(stores.destination.file.integer("SELECT count(*) FROM ZITEM WHERE ZBOX IS NOT NULL") == 2_500)
    }
}

final class ProgressPolicy: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { note(manager) }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note(manager) }

    private func note(_ manager: NSMigrationManager) {
        (manager.userInfo?["log"] as? NSMutableArray)?.add(manager.migrationProgress)
    }
}

/// Writes how many objects the mapping has on both sides.
final class TotalPolicy: NSEntityMigrationPolicy {
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil)
        for object in made { object.setValue(made.count + sources.count, forKey: "count") }
    }
}
