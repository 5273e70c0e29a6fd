import CoreData
import TestSupport
import Testing

/// Policies of the program, called step by step.
struct MigrationPolicyTests {
    let stores: MappedStores
    let former = model(entity("Item", text("name"), number("count")))
    let new = model(entity("Item", text("name"), text("origin")))

    init() throws {
        stores = try MappedStores()
        try stores.source.open(former) { context in
            for number in 1...2 { context.insert("Item", ["name": "i\(number)", "count": number]) }
        }
    }

    private func migrate(_ policy: AnyClass, _ attributes: [String: String] = ["name": "$source.name"]) throws {
        try stores.migrate(
            from: former, to: new,
            by: [mapping("ItemToItem", from: "Item", to: "Item", attributes: attributes, policy: policy)])
    }

    @Test("287, 288: The steps of all mappings are called in three passes.")
    func theStepsAreCalledInThreePasses() throws {
        let log = NSMutableArray()
        try stores.migrate(
            from: former, to: new,
            by: ["A", "B"].map { mapping($0, from: "Item", to: "Item", policy: LoggingPolicy.self) }
        ) { $0.userInfo = ["log": log] }
        let first = ["begin", "create", "create", "endCreation"], second = ["relate", "relate", "endRelating"]
        let expected =
            first.map { "A \($0)" } + first.map { "B \($0)" } + second.map { "A \($0)" } + second.map { "B \($0)" }
            + ["A validate", "A end", "B validate", "B end"]
        #expect(log as? [String] == expected)
    }

    @Test func aPolicyAddsToWhatTheMappingMakes() throws {
        try migrate(OriginPolicy.self)
        let rows = "SELECT ZNAME, ZORIGIN FROM ZITEM ORDER BY ZNAME"
        #expect(stores.destination.file.rows(rows) == [["i1", "from 1"], ["i2", "from 2"]])
    }

    @Test("289: An override without super makes and associates its objects itself.")
    func aPolicyMakesSeveralObjectsOfOne() throws {
        try migrate(DoublingPolicy.self)
        let names = stores.destination.file.column("SELECT ZNAME FROM ZITEM ORDER BY ZNAME")
        #expect(names == ["i1 a", "i1 b", "i2 a", "i2 b"])
        let origins = stores.destination.file.column("SELECT ZORIGIN FROM ZITEM ORDER BY ZNAME")
        #expect(origins == ["i1 of 2", "i1 of 2", "i2 of 2", "i2 of 2"])
    }

    @Test func anExpressionCallsAFunctionOfThePolicyByItsName() throws {
        try migrate(FunctionPolicy.self, ["name": "FUNCTION($entityPolicy, \"shout:\", $source.name)"])
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZITEM ORDER BY 1") == ["I1!", "I2!"])
    }

    @Test func aFunctionThatThePolicyLacksEndsTheMigration() throws {
        let error = try #require(
            errorThrown {
                try migrate(FunctionPolicy.self, ["name": "FUNCTION($entityPolicy, \"whisper:\", $source.name)"])
            })
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("whisper:"))
        #expect(stores.destinationFiles == [])
    }

    @Test(arguments: ["begin", "create", "endCreation", "relate", "endRelating", "validate", "end"])
    func anErrorOfAnyStepLeavesBothPlacesAsTheyWere(step: String) throws {
        let before = stores.source.content
        let error = try #require(
            errorThrown {
                try stores.migrate(
                    from: former, to: new,
                    by: [mapping("A", from: "Item", to: "Item", policy: LoggingPolicy.self)]
                ) { $0.userInfo = ["log": NSMutableArray(), "failing": step] }
            })
        #expect(error.domain == "Policy")
        #expect(error.localizedDescription == step)
        #expect(stores.source.content == before)
        #expect(stores.destinationFiles == [])
    }

    @Test("292: A cancelled migration throws the given error.")
    func aCancelledMigrationThrowsTheGivenError() throws {
        let error = errorThrown { try migrate(CancellingPolicy.self) }
        #expect(error?.domain == "Cancelled")
        #expect(stores.destinationFiles == [])
    }

    @Test func aPolicyClassThatTheProgramLacksIsNamed() throws {
        let item = mapping("ItemToItem", from: "Item", to: "Item")
        item.entityMigrationPolicyClassName = "App.NoSuchPolicy"
        let error = try #require(errorThrown { try stores.migrate(from: former, to: new, by: [item]) })
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("App.NoSuchPolicy"))
    }

    @Test func aPolicyIsFoundByItsNameWithoutModule() throws {
        let item = mapping("ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"])
        item.entityMigrationPolicyClassName = "OriginPolicy"
        try stores.migrate(from: former, to: new, by: [item])
        #expect(stores.destination.file.column("SELECT ZORIGIN FROM ZITEM ORDER BY 1") == ["from 1", "from 2"])
    }

    @Test func aPolicySetsRelationshipsBetweenWhatMappingsMade() throws {
        let (item, label) = (entity("Item", text("name")), entity("Label", text("text")))
        relate(label, "item", item, inverse: "labels", inverseToMany: true)
        try stores.migrate(
            from: former, to: model(item, label),
            by: [
                mapping("ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"]),
                mapping(
                    "ItemToLabel", from: "Item", to: "Label", attributes: ["text": "$source.count"],
                    policy: LabelPolicy.self),
            ])
        let rows = "SELECT l.ZTEXT, i.ZNAME FROM ZLABEL l JOIN ZITEM i ON i.Z_PK = l.ZITEM ORDER BY 1"
        #expect(stores.destination.file.rows(rows) == [["no. 1", "i1"], ["no. 2", "i2"]])
    }
}

/// Writes its steps into the manager's user info, and fails at the one that it names.
final class LoggingPolicy: NSEntityMigrationPolicy {
    private func note(_ step: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) throws {
        #expect(manager.currentEntityMapping === mapping)
        (manager.userInfo?["log"] as? NSMutableArray)?.add("\(mapping.name ?? "") \(step)")
        if manager.userInfo?["failing"] as? String == step {
            throw NSError(domain: "Policy", code: 1, userInfo: [NSLocalizedDescriptionKey: step])
        }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try note("begin", mapping, manager)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try note("create", mapping, manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try note("endCreation", mapping, manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try note("relate", mapping, manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try note("endRelating", mapping, manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try note("validate", mapping, manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try note("end", mapping, manager)
    }
}

/// Sets an attribute of what the mapping made.
final class OriginPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue("from \(sInstance.value(forKey: "count") ?? 0)", forKey: "origin")
    }
}

/// Makes two objects of each, and looks for both and for their source afterwards.
final class DoublingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        for suffix in ["a", "b"] {
            let object = NSEntityDescription.insertNewObject(
                forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
            object.setValue("\(sInstance.value(forKey: "name") ?? "") \(suffix)", forKey: "name")
            manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
        }
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: sources)
        dInstance.setValue("\(sources[0].value(forKey: "name") ?? "") of \(made.count)", forKey: "origin")
    }
}

final class FunctionPolicy: NSEntityMigrationPolicy {
    override func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any? {
        switch selector.name {
        case "shout:": (arguments[0] as? String).map { $0.uppercased() + "!" }
        default: super.performPredicateFunction(selector, arguments: arguments)
        }
    }
}

final class CancellingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        manager.cancelMigrationWithError(NSError(domain: "Cancelled", code: 1))
    }
}

final class LabelPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: manager.destinationContext)
        label.setValue("no. \(sInstance.value(forKey: "count") ?? 0)", forKey: "text")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: label, for: mapping)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let items = manager.destinationInstances(forEntityMappingName: "ItemToItem", sourceInstances: sources)
        dInstance.setValue(items.first, forKey: "item")
    }
}
