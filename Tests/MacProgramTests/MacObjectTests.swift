import CoreData
import Foundation
import TestSupport
import Testing

// Validation, delete rules, life cycle, change tracking and special attributes of managed objects.

/// Records its life-cycle calls; "check" steers the validation overrides.
class MacObjectNode: NSManagedObject {
    var log: [String] = []
    var childrenAtDeletion = -1
    var failValidation = false

    override func awakeFromInsert() {
        super.awakeFromInsert()
        log.append("awakeFromInsert")
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "created")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        log.append("awakeFromFetch")
    }

    override func willSave() {
        super.willSave()
        log.append(isDeleted ? "willSave deleted" : "willSave")
        if !isDeleted, primitiveValue(forKey: "stamp") as? String != "saved" { setValue("saved", forKey: "stamp") }
    }

    override func didSave() {
        super.didSave()
        log.append("didSave")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        log.append("prepareForDeletion")
        childrenAtDeletion = (value(forKey: "children") as? NSSet)?.count ?? -1
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        log.append("willTurnIntoFault")
    }

    private func check(_ name: String) throws {
        log.append(name)
        if failValidation { throw NSError(domain: "MacObject", code: 42, userInfo: [NSLocalizedDescriptionKey: name]) }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try check("validateForInsert")
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try check("validateForUpdate")
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        try check("validateForDelete")
    }
}

/// Stores a string reversed, as UTF-8 data.
final class MacObjectReverser: ValueTransformer, @unchecked Sendable {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? String else { return nil }
        return Data(String(text.reversed()).utf8)
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return String(String(decoding: data, as: UTF8.self).reversed())
    }
}

private enum ObjectKit: MacModelKit {
    /// Node (children: cascade to Leaf, guards: deny to Leaf, notes: nullify to Leaf, steps:
    /// ordered), Bag with a limited to-many.
    static func model(_ change: ([String: NSEntityDescription]) -> [NSEntityDescription] = { _ in [] })
        -> NSManagedObjectModel
    {
        let short = attribute("code", .stringAttributeType)
        short.setValidationPredicates(
            [CoreData.NSPredicate(format: "length >= 3")], withValidationWarnings: ["code is too short"])
        let scratch = attribute("scratch", .stringAttributeType)
        scratch.isTransient = true
        let node = entity(
            "Node",
            [
                attribute("name", .stringAttributeType, optional: false),
                attribute("number", .integer32AttributeType, default: 7),
                attribute("created", .dateAttributeType), attribute("stamp", .stringAttributeType), short, scratch,
            ], class: MacObjectNode.self)
        let leaf = entity("Leaf", [attribute("name", .stringAttributeType), attribute("size", .doubleAttributeType)])
        relate(node, "children", toMany: true, deleteRule: .cascadeDeleteRule, leaf, inverse: "parent")
        relate(node, "guards", toMany: true, deleteRule: .denyDeleteRule, leaf, inverse: "guarded")
        relate(node, "notes", toMany: true, deleteRule: .nullifyDeleteRule, leaf, inverse: "noted")
        relate(node, "steps", toMany: true, ordered: true, deleteRule: .nullifyDeleteRule, leaf, inverse: "walker")
        let bag = entity("Bag", [attribute("name", .stringAttributeType)])
        let thing = entity("Thing", [attribute("name", .stringAttributeType)])
        relate(bag, "things", toMany: true, deleteRule: .nullifyDeleteRule, thing, inverse: "bag")
        if let things = bag.relationshipsByName["things"] {
            things.isOptional = false
            things.minCount = 2
            things.maxCount = 3
        }
        if let toBag = thing.relationshipsByName["bag"] { toBag.isOptional = true }
        let model = NSManagedObjectModel()
        let base = ["Node": node, "Leaf": leaf, "Bag": bag, "Thing": thing]
        model.entities = [node, leaf, bag, thing] + change(base)
        return model
    }

    static func container(_ model: NSManagedObjectModel? = nil) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Object", managedObjectModel: model ?? ObjectKit.model())
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: MacFolder.url.appendingPathComponent("MacObject-\(UUID().uuidString).sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @discardableResult
    static func new(_ entity: String, _ name: String?, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        if let name { object.setValue(name, forKey: "name") }
        return object
    }

    static func node(_ name: String?, _ context: NSManagedObjectContext) throws -> MacObjectNode {
        try #require(new("Node", name, context) as? MacObjectNode)
    }

    static func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    static func error(_ body: () throws -> Void) -> NSError? {
        do { try body() } catch { return error as NSError }
        return nil
    }

    @MainActor static var kept: [NSManagedObjectContext] = []

    /// The object in another main-queue context of the same coordinator, as a fresh fault. The
    /// context is kept alive.
    @MainActor static func twin(_ object: NSManagedObject, _ container: NSPersistentContainer) -> (
        NSManagedObject, NSManagedObjectContext
    ) {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        kept.append(context)
        return (context.object(with: object.objectID), context)
    }
}

/// Life cycle, validation, values and delete rules, as programs for a Mac use them.
@MainActor
struct MacObjectTests {
    // MARK: Validation

    @Test func aMissingMandatoryValueIsReportedDirectly() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node(nil, context)
        let error = try #require(ObjectKit.error { try context.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === node)
        #expect(context.hasChanges)
        node.setValue("ok", forKey: "name")
        try context.save()
    }

    @Test func cocoaErrorReadsTheUserInfo() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node(nil, context)
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as CocoaError {
            #expect(error.code == .validationMissingMandatoryProperty)
            #expect(error.validationKey == "name")
            #expect(error.validationObject as? NSManagedObject === node)
        }
    }

    @Test func severalFailuresGiveOneErrorWithDetails() throws {
        let context = try ObjectKit.container().viewContext
        let first = try ObjectKit.node(nil, context)
        let second = try ObjectKit.node(nil, context)
        second.setValue("x", forKey: "code")
        let error = try #require(ObjectKit.error { try context.save() })
        #expect(error.code == NSValidationMultipleErrorsError)
        #expect(error.code == 1560)
        // Not documented: that the errors of one object with two failures are put flat into the
        // list (they are in Apple's logs).
        let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.count == 3)
        let missing = details.filter { $0.code == NSValidationMissingMandatoryPropertyError }
        #expect(
            Set(missing.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }) == [first, second])
        #expect(details.filter { $0.userInfo[NSValidationKeyErrorKey] as? String == "code" }.count == 1)
    }

    @Test func validationPredicates() throws {
        // Not documented: the code of a predicate made in code (1550 with the warning text, or
        // 1670); a model file stores a number as warning.
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        node.setValue("ab", forKey: "code")
        let error = try #require(ObjectKit.error { try context.save() })
        #expect((1550...1690).contains(error.code))
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "code")
        #expect(error.userInfo[NSValidationValueErrorKey] as? String == "ab")
        #expect(error.userInfo[NSValidationPredicateErrorKey] != nil)
        node.setValue("abc", forKey: "code")
        try context.save()
        node.setValue(nil, forKey: "code")  // an optional nil value is not checked
        try context.save()
    }

    @Test func validateValueChecksOneProperty() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        var good: AnyObject? = "text" as NSString
        try node.validateValue(&good, forKey: "name")
        var bad: AnyObject?
        let error = ObjectKit.error { try node.validateValue(&bad, forKey: "name") }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(node.value(forKey: "name") as? String == "n")
    }

    @Test func validationRunsPerKindOfChange() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        try context.save()
        #expect(node.log.contains("validateForInsert"))
        #expect(!node.log.contains("validateForUpdate"))
        node.log = []
        node.setValue("m", forKey: "name")
        try context.save()
        #expect(node.log.contains("validateForUpdate"))
        #expect(!node.log.contains("validateForInsert"))
        node.log = []
        context.delete(node)
        try context.save()
        #expect(node.log.contains("validateForDelete"))
        #expect(!node.log.contains("validateForUpdate"))
    }

    @Test func errorsOfOverridesReachTheCaller() throws {
        let container = try ObjectKit.container()
        let context = container.viewContext
        let node = try ObjectKit.node("n", context)
        node.failValidation = true
        let error = ObjectKit.error { try context.save() }
        #expect(error?.domain == "MacObject")
        #expect(error?.code == 42)
        let background = container.newBackgroundContext()
        #expect(try background.performAndWait { try ObjectKit.count("Node", background) } == 0)
        node.failValidation = false
        try context.save()
        node.failValidation = true
        context.delete(node)
        #expect(ObjectKit.error { try context.save() }?.code == 42)
        context.rollback()
        #expect(!node.isDeleted)
    }

    @Test func validationCanBeAskedWithoutSaving() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node(nil, context)
        #expect(ObjectKit.error { try node.validateForInsert() }?.code == NSValidationMissingMandatoryPropertyError)
        node.setValue("n", forKey: "name")
        try node.validateForInsert()
        try node.validateForUpdate()
        #expect(node.isInserted)
    }

    @Test func relationshipCounts() throws {
        let context = try ObjectKit.container().viewContext
        let bag = ObjectKit.new("Bag", "b", context)
        let things = bag.mutableSetValue(forKey: "things")
        things.add(ObjectKit.new("Thing", "1", context))
        let few = try #require(ObjectKit.error { try context.save() })
        #expect(few.code == NSValidationRelationshipLacksMinimumCountError)
        #expect(few.userInfo[NSValidationKeyErrorKey] as? String == "things")
        for name in ["2", "3", "4"] { things.add(ObjectKit.new("Thing", name, context)) }
        let many = try #require(ObjectKit.error { try context.save() })
        #expect(many.code == NSValidationRelationshipExceedsMaximumCountError)
        if let extra = things.anyObject() { things.remove(extra) }
        try context.save()
    }

    @Test func errorCodes() {
        #expect(NSManagedObjectValidationError == 1550)
        #expect(NSValidationMultipleErrorsError == 1560)
        #expect(NSValidationMissingMandatoryPropertyError == 1570)
        #expect(NSValidationRelationshipLacksMinimumCountError == 1580)
        #expect(NSValidationRelationshipExceedsMaximumCountError == 1590)
        #expect(NSValidationRelationshipDeniedDeleteError == 1600)
        #expect(NSValidationNumberTooLargeError == 1610)
        #expect(NSValidationNumberTooSmallError == 1620)
        #expect(NSValidationDateTooLateError == 1630)
        #expect(NSValidationDateTooSoonError == 1640)
        #expect(NSValidationStringTooLongError == 1660)
        #expect(NSValidationStringTooShortError == 1670)
        #expect(NSValidationStringPatternMatchingError == 1680)
        #expect(NSManagedObjectMergeError == 133020)
        #expect(NSManagedObjectConstraintMergeError == 133021)
    }

    // MARK: Delete rules

    @Test func cascade() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        for name in ["a", "b"] { ObjectKit.new("Leaf", name, context).setValue(node, forKey: "parent") }
        try context.save()
        context.delete(node)
        try context.save()
        #expect(try ObjectKit.count("Leaf", context) == 0)
        #expect(node.childrenAtDeletion == 2)
    }

    @Test func denial() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        let leaf = ObjectKit.new("Leaf", "a", context)
        leaf.setValue(node, forKey: "guarded")
        try context.save()
        context.delete(node)
        let error = try #require(ObjectKit.error { try context.save() })
        #expect(error.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "guards")
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === node)
        context.rollback()
        leaf.setValue(nil, forKey: "guarded")
        context.delete(node)
        try context.save()
        #expect(try ObjectKit.count("Node", context) == 0)
    }

    @Test func nullification() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        let leaf = ObjectKit.new("Leaf", "a", context)
        leaf.setValue(node, forKey: "noted")
        try context.save()
        context.delete(node)
        context.processPendingChanges()
        #expect(leaf.value(forKey: "noted") == nil)
        #expect(leaf.isUpdated)
        try context.save()
        #expect(try ObjectKit.count("Leaf", context) == 1)
    }

    @Test func deletionStates() throws {
        let context = try ObjectKit.container().viewContext
        let leaf = ObjectKit.new("Leaf", "a", context)
        try context.save()
        context.delete(leaf)
        #expect(leaf.isDeleted)
        #expect(leaf.hasChanges)
        #expect(context.deletedObjects == [leaf])
        try context.save()
        #expect(!leaf.isDeleted)
        #expect(context.deletedObjects.isEmpty)
        let unsaved = ObjectKit.new("Leaf", "b", context)
        context.delete(unsaved)
        context.processPendingChanges()
        #expect(context.insertedObjects.isEmpty)
        try context.save()
        #expect(try ObjectKit.count("Leaf", context) == 0)
    }

    // MARK: Relationships

    @Test func inversesAreMaintained() throws {
        let context = try ObjectKit.container().viewContext
        let one = try ObjectKit.node("1", context), two = try ObjectKit.node("2", context)
        let leaf = ObjectKit.new("Leaf", "a", context)
        leaf.setValue(one, forKey: "parent")
        #expect((one.value(forKey: "children") as? Set<NSManagedObject>) == [leaf])
        two.mutableSetValue(forKey: "children").add(leaf)
        #expect(leaf.value(forKey: "parent") as? NSManagedObject === two)
        #expect((one.value(forKey: "children") as? NSSet)?.count == 0)
        two.setValue(NSSet(), forKey: "children")
        #expect(leaf.value(forKey: "parent") == nil)
        #expect(!leaf.isDeleted)
        one.setValue(NSSet(array: [leaf]), forKey: "children")
        #expect(leaf.value(forKey: "parent") as? NSManagedObject === one)
        one.mutableSetValue(forKey: "children").remove(leaf)
        #expect(leaf.value(forKey: "parent") == nil)
    }

    @Test func orderedRelationshipsKeepTheirOrder() throws {
        let container = try ObjectKit.container()
        let context = container.viewContext
        let node = try ObjectKit.node("n", context)
        let steps = node.mutableOrderedSetValue(forKey: "steps")
        let leaves = ["a", "b", "c"].map { ObjectKit.new("Leaf", $0, context) }
        steps.addObjects(from: leaves)
        steps.insert(ObjectKit.new("Leaf", "first", context), at: 0)
        steps.exchangeObject(at: 1, withObjectAt: 3)
        try context.save()
        let (twin, other) = ObjectKit.twin(node, container)
        func names(_ object: NSManagedObject) -> [String] {
            (object.value(forKey: "steps") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            } ?? []
        }
        #expect(names(twin) == ["first", "c", "b", "a"])
        #expect((twin.value(forKey: "steps") as? NSOrderedSet)?.index(of: other.object(with: leaves[0].objectID)) == 3)
        steps.removeObject(at: 0)
        steps.replaceObject(at: 0, with: ObjectKit.new("Leaf", "new", context))
        #expect(names(node) == ["new", "b", "a"])
        #expect(leaves[2].value(forKey: "walker") == nil)
    }

    @Test func objectIDsOfRelationships() throws {
        let container = try ObjectKit.container()
        let context = container.viewContext
        let node = try ObjectKit.node("n", context)
        let leaves = ["a", "b"].map { ObjectKit.new("Leaf", $0, context) }
        leaves.forEach { $0.setValue(node, forKey: "parent") }
        try context.save()
        #expect(Set(node.objectIDs(forRelationshipNamed: "children")) == Set(leaves.map(\.objectID)))
        #expect(leaves[0].objectIDs(forRelationshipNamed: "parent") == [node.objectID])
        #expect(leaves[0].objectIDs(forRelationshipNamed: "noted").isEmpty)
        let (twin, _) = ObjectKit.twin(node, container)
        #expect(twin.objectIDs(forRelationshipNamed: "children").count == 2)
    }

    // MARK: Life cycle

    @Test func theLifeCycleOfAnInsertion() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        #expect(node.log == ["awakeFromInsert"])
        #expect(node.value(forKey: "number") as? Int == 7)
        #expect(node.value(forKey: "created") as? Date == Date(timeIntervalSinceReferenceDate: 1))
        try context.save()
        #expect(node.log.contains("willSave"))
        #expect(node.log.last == "didSave")
        let willSave = try #require(node.log.firstIndex(of: "willSave"))
        let validated = try #require(node.log.firstIndex(of: "validateForInsert"))
        #expect(willSave < validated)
        #expect(node.log.filter { $0 == "awakeFromInsert" }.count == 1)
    }

    @Test func changesInWillSaveAreSaved() throws {
        let container = try ObjectKit.container()
        let context = container.viewContext
        let node = try ObjectKit.node("n", context)
        try context.save()
        #expect(node.value(forKey: "stamp") as? String == "saved")
        #expect(!node.hasChanges)
        let (twin, _) = ObjectKit.twin(node, container)
        #expect(twin.value(forKey: "stamp") as? String == "saved")
    }

    @Test func deletionCallsPrepareAndWillSave() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        try context.save()
        node.log = []
        context.delete(node)
        context.processPendingChanges()
        #expect(node.log.contains("prepareForDeletion"))
        try context.save()
        #expect(node.log.contains("willSave deleted"))
        #expect(node.log.contains("didSave"))
    }

    @Test func faultsAwakeFromFetchEachTime() throws {
        let container = try ObjectKit.container()
        let node = try ObjectKit.node("n", container.viewContext)
        try container.viewContext.save()
        let (object, context) = ObjectKit.twin(node, container)
        let twin = try #require(object as? MacObjectNode)
        #expect(twin.isFault)
        #expect(twin.log.isEmpty)
        _ = twin.value(forKey: "name")
        #expect(twin.log == ["awakeFromFetch"])
        context.refresh(twin, mergeChanges: false)
        #expect(twin.log == ["awakeFromFetch", "willTurnIntoFault"])
        _ = twin.value(forKey: "name")
        #expect(twin.log == ["awakeFromFetch", "willTurnIntoFault", "awakeFromFetch"])
        #expect(!twin.hasChanges)
    }

    @Test func faultStates() throws {
        let container = try ObjectKit.container()
        let node = try ObjectKit.node("n", container.viewContext)
        ObjectKit.new("Leaf", "a", container.viewContext).setValue(node, forKey: "parent")
        try container.viewContext.save()
        #expect(node.faultingState == 0)
        let (twin, _) = ObjectKit.twin(node, container)
        _ = (
            twin.objectID, twin.entity, twin.isInserted, twin.isUpdated, twin.isDeleted, twin.hash,
            twin.managedObjectContext
        )
        #expect(twin.isFault)
        #expect(twin.faultingState != 0)
        twin.willAccessValue(forKey: nil)
        #expect(!twin.isFault)
        #expect(twin.faultingState == 0)
        #expect(twin.hasFault(forRelationshipNamed: "children"))
        #expect((twin.value(forKey: "children") as? NSSet)?.count == 1)
        #expect(!twin.hasFault(forRelationshipNamed: "children"))
    }

    // MARK: Tracking

    @Test func changedAndCommittedValues() throws {
        let context = try ObjectKit.container().viewContext
        let leaf = ObjectKit.new("Leaf", "a", context)
        try context.save()
        #expect(leaf.changedValues().isEmpty)
        #expect(leaf.committedValues(forKeys: ["name", "size"])["name"] as? String == "a")
        #expect(leaf.committedValues(forKeys: ["size"])["size"] is NSNull)
        leaf.setValue("b", forKey: "name")
        leaf.setValue(2.5, forKey: "size")
        #expect(Set(leaf.changedValues().keys) == ["name", "size"])
        #expect(leaf.changedValues()["name"] as? String == "b")
        #expect(leaf.committedValues(forKeys: ["name"])["name"] as? String == "a")
        #expect(leaf.committedValues(forKeys: nil)["name"] as? String == "a")
        leaf.setValue(nil, forKey: "name")
        #expect(leaf.changedValues()["name"] is NSNull)
        leaf.setValue("c", forKey: "name")
        try context.save()
        #expect(leaf.changedValues().isEmpty)
        #expect(leaf.committedValues(forKeys: ["name"])["name"] as? String == "c")
    }

    @Test func changesOfTheCurrentEvent() throws {
        // Not documented: whether the dictionary has the old or the new values; so only the keys.
        let context = try ObjectKit.container().viewContext
        let leaf = ObjectKit.new("Leaf", "a", context)
        try context.save()
        leaf.setValue("b", forKey: "name")
        #expect(Array(leaf.changedValuesForCurrentEvent().keys) == ["name"])
        context.processPendingChanges()
        #expect(leaf.changedValuesForCurrentEvent().isEmpty)
        leaf.setValue(1.0, forKey: "size")
        #expect(Array(leaf.changedValuesForCurrentEvent().keys) == ["size"])
        #expect(Set(leaf.changedValues().keys) == ["name", "size"])
    }

    @Test func equalAndTransientChanges() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        try context.save()
        node.setValue("n", forKey: "name")
        #expect(node.hasChanges)
        #expect(!node.hasPersistentChangedValues)
        try context.save()
        node.setValue("tmp", forKey: "scratch")
        #expect(node.hasChanges)
        #expect(!node.hasPersistentChangedValues)
        #expect(node.changedValues().isEmpty)
        node.setValue("other", forKey: "name")
        #expect(node.hasPersistentChangedValues)
    }

    @Test func primitiveValuesAreNotTracked() throws {
        let context = try ObjectKit.container().viewContext
        let leaf = ObjectKit.new("Leaf", "a", context)
        try context.save()
        leaf.setPrimitiveValue("p", forKey: "name")
        #expect(leaf.primitiveValue(forKey: "name") as? String == "p")
        #expect(leaf.value(forKey: "name") as? String == "p")
        #expect(!leaf.hasChanges)
        leaf.willChangeValue(forKey: "name")
        leaf.setPrimitiveValue("q", forKey: "name")
        leaf.didChangeValue(forKey: "name")
        #expect(leaf.hasChanges)
        #expect(leaf.changedValues()["name"] as? String == "q")
    }

    @Test func statesOfAnObject() throws {
        let context = try ObjectKit.container().viewContext
        let leaf = ObjectKit.new("Leaf", "a", context)
        #expect(leaf.isInserted)
        #expect(!leaf.isUpdated)
        #expect(!leaf.isDeleted)
        #expect(leaf.hasChanges)
        try context.save()
        #expect(!leaf.isInserted)
        #expect(!leaf.isUpdated)
        #expect(!leaf.hasChanges)
        leaf.setValue("b", forKey: "name")
        #expect(leaf.isUpdated)
        #expect(!leaf.isInserted)
        context.delete(leaf)
        #expect(leaf.isDeleted)
        #expect(leaf.entity.name == "Leaf")
    }

    // MARK: Attributes

    @Test func transientValuesAreNotStored() throws {
        let container = try ObjectKit.container()
        let node = try ObjectKit.node("n", container.viewContext)
        node.setValue("tmp", forKey: "scratch")
        try container.viewContext.save()
        #expect(node.value(forKey: "scratch") as? String == "tmp")
        #expect(ObjectKit.twin(node, container).0.value(forKey: "scratch") == nil)
        container.viewContext.refresh(node, mergeChanges: false)
        #expect(node.value(forKey: "scratch") == nil)
    }

    @Test func allAttributeTypesComeBack() throws {
        let types: [(String, NSAttributeType)] = [
            ("i16", .integer16AttributeType), ("i32", .integer32AttributeType), ("i64", .integer64AttributeType),
            ("decimal", .decimalAttributeType),
            ("double", .doubleAttributeType), ("float", .floatAttributeType), ("string", .stringAttributeType),
            ("bool", .booleanAttributeType),
            ("date", .dateAttributeType), ("data", .binaryDataAttributeType), ("uuid", .UUIDAttributeType),
            ("url", .URIAttributeType),
        ]
        let model = ObjectKit.model { _ in [ObjectKit.entity("All", types.map { ObjectKit.attribute($0.0, $0.1) })] }
        let container = try ObjectKit.container(model)
        let object = NSEntityDescription.insertNewObject(forEntityName: "All", into: container.viewContext)
        let uuid = UUID(), date = Date(timeIntervalSinceReferenceDate: 12_345.5)
        object.setValue(Int16.max, forKey: "i16")
        object.setValue(Int32.min, forKey: "i32")
        object.setValue(Int64.max, forKey: "i64")
        object.setValue(NSDecimalNumber(string: "12345.6789"), forKey: "decimal")
        object.setValue(1.25, forKey: "double")
        object.setValue(Float(0.5), forKey: "float")
        object.setValue("Grüße 🌍", forKey: "string")
        object.setValue(true, forKey: "bool")
        object.setValue(date, forKey: "date")
        object.setValue(Data([0, 1, 255]), forKey: "data")
        object.setValue(uuid, forKey: "uuid")
        object.setValue(URL(string: "https://example.org/a?b=c"), forKey: "url")
        try container.viewContext.save()
        let twin = ObjectKit.twin(object, container).0
        #expect(twin.value(forKey: "i16") as? Int16 == Int16.max)
        #expect(twin.value(forKey: "i32") as? Int32 == Int32.min)
        #expect(twin.value(forKey: "i64") as? Int64 == Int64.max)
        #expect(twin.value(forKey: "decimal") as? NSDecimalNumber == NSDecimalNumber(string: "12345.6789"))
        #expect(twin.value(forKey: "double") as? Double == 1.25)
        #expect(twin.value(forKey: "float") as? Float == 0.5)
        #expect(twin.value(forKey: "string") as? String == "Grüße 🌍")
        #expect(twin.value(forKey: "bool") as? Bool == true)
        #expect(twin.value(forKey: "date") as? Date == date)
        #expect(twin.value(forKey: "data") as? Data == Data([0, 1, 255]))
        #expect(twin.value(forKey: "uuid") as? UUID == uuid)
        #expect(twin.value(forKey: "url") as? URL == URL(string: "https://example.org/a?b=c"))
    }

    @Test func transformableWithTheSecureTransformer() throws {
        let tags = ObjectKit.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        // Not documented: the literal; Xcode also takes "NSSecureUnarchiveFromDataTransformer"
        #expect(tags.valueTransformerName == "NSSecureUnarchiveFromData")
        tags.attributeValueClassName = "NSArray"
        let container = try ObjectKit.container(ObjectKit.model { _ in [ObjectKit.entity("Tagged", [tags])] })
        let object = NSEntityDescription.insertNewObject(forEntityName: "Tagged", into: container.viewContext)
        object.setValue(["a", "b"] as NSArray, forKey: "tags")
        try container.viewContext.save()
        #expect(ObjectKit.twin(object, container).0.value(forKey: "tags") as? [String] == ["a", "b"])
        object.setValue(nil, forKey: "tags")
        try container.viewContext.save()
        #expect(ObjectKit.twin(object, container).0.value(forKey: "tags") == nil)
    }

    @Test func transformableWithAnOwnTransformer() throws {
        ValueTransformer.setValueTransformer(MacObjectReverser(), forName: NSValueTransformerName("MacObjectReverser"))
        let secret = ObjectKit.attribute("secret", .transformableAttributeType)
        secret.valueTransformerName = "MacObjectReverser"
        let container = try ObjectKit.container(ObjectKit.model { _ in [ObjectKit.entity("Secret", [secret])] })
        let object = NSEntityDescription.insertNewObject(forEntityName: "Secret", into: container.viewContext)
        object.setValue("hello", forKey: "secret")
        try container.viewContext.save()
        #expect(ObjectKit.twin(object, container).0.value(forKey: "secret") as? String == "hello")
    }

    @Test func derivedAttributes() throws {
        func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSDerivedAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            attribute.derivationExpression = CoreData.NSExpression(format: format)
            return attribute
        }
        let model = ObjectKit.model { base in
            let extra: [NSPropertyDescription] = [
                derived("search", .stringAttributeType, "canonical:(name)"),
                derived("upper", .stringAttributeType, "uppercase:(name)"),
                derived("total", .integer64AttributeType, "children.@count"),
            ]
            if let node = base["Node"] { node.properties = node.properties + extra }
            return []
        }
        let container = try ObjectKit.container(model)
        let context = container.viewContext
        let node = try ObjectKit.node("Élan", context)
        for name in ["a", "b"] { ObjectKit.new("Leaf", name, context).setValue(node, forKey: "parent") }
        try context.save()
        context.refresh(node, mergeChanges: false)
        #expect(node.value(forKey: "search") as? String == "elan")
        #expect(node.value(forKey: "upper") as? String == "ÉLAN")
        #expect(node.value(forKey: "total") as? Int == 2)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = CoreData.NSPredicate(format: "search == 'elan' AND total == 2")
        #expect(try context.fetch(request) == [node])
        ObjectKit.new("Leaf", "c", context).setValue(node, forKey: "parent")
        node.setValue("Bar", forKey: "name")
        try context.save()
        context.refresh(node, mergeChanges: false)
        #expect(node.value(forKey: "search") as? String == "bar")
        #expect(node.value(forKey: "total") as? Int == 3)
    }

    @Test func compositeAttributes() throws {
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.isOptional = true
        // Not documented: whether a new description already has this type
        address.attributeType = .compositeAttributeType
        address.elements = [
            ObjectKit.attribute("street", .stringAttributeType), ObjectKit.attribute("city", .stringAttributeType),
            ObjectKit.attribute("zip", .integer32AttributeType),
        ]
        let place = ObjectKit.entity("Place", [ObjectKit.attribute("name", .stringAttributeType), address])
        let container = try ObjectKit.container(ObjectKit.model { _ in [place] })
        let context = container.viewContext
        let object = ObjectKit.new("Place", "home", context)
        object.setValue(["street": "Main", "city": "Oslo", "zip": 150] as [String: Any], forKey: "address")
        let other = ObjectKit.new("Place", "work", context)
        other.setValue(["city": "Rome"] as [String: Any], forKey: "address")
        try context.save()
        let twin = ObjectKit.twin(object, container).0
        let value = try #require(twin.value(forKey: "address") as? [String: Any])
        #expect(value["street"] as? String == "Main")
        #expect(value["city"] as? String == "Oslo")
        #expect(value["zip"] as? Int == 150)
        #expect(twin.value(forKeyPath: "address.city") as? String == "Oslo")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
        request.predicate = CoreData.NSPredicate(format: "address.city == %@", "Rome")
        #expect(try context.fetch(request) == [other])
    }

    @Test func uniquenessConstraintsWithTrump() throws {
        let user = ObjectKit.entity(
            "User",
            [ObjectKit.attribute("email", .stringAttributeType), ObjectKit.attribute("name", .stringAttributeType)])
        user.uniquenessConstraints = [["email"]]
        #expect(user.uniquenessConstraints as? [[String]] == [["email"]])
        let container = try ObjectKit.container(ObjectKit.model { _ in [user] })
        let context = container.viewContext
        ObjectKit.new("User", "one", context).setValue("e", forKey: "email")
        try context.save()
        ObjectKit.new("User", "two", context).setValue("e", forKey: "email")
        let error = try #require(ObjectKit.error { try context.save() })
        #expect(error.code == NSManagedObjectConstraintMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try ObjectKit.count("User", context) == 1)
    }

    @Test func keyValueCoding() throws {
        let context = try ObjectKit.container().viewContext
        let node = try ObjectKit.node("n", context)
        for (name, size) in [("a", 1.0), ("b", 3.0)] {
            let leaf = ObjectKit.new("Leaf", name, context)
            leaf.setValue(size, forKey: "size")
            leaf.setValue(node, forKey: "parent")
        }
        #expect(node.value(forKeyPath: "children.@count") as? Int == 2)
        #expect(node.value(forKeyPath: "children.@max.size") as? Double == 3)
        #expect((node.value(forKeyPath: "children.@avg.size") as? NSNumber)?.doubleValue == 2)
        let leaf = try #require((node.value(forKey: "children") as? Set<NSManagedObject>)?.first)
        #expect(leaf.value(forKeyPath: "parent.name") as? String == "n")
        leaf.setValue("renamed", forKeyPath: "parent.name")
        #expect(node.value(forKey: "name") as? String == "renamed")
        leaf.setValuesForKeys(["name": "z", "size": 9.0])
        #expect(leaf.dictionaryWithValues(forKeys: ["name", "size"])["name"] as? String == "z")
    }

    @Test func defaultValues() throws {
        let start = Date(timeIntervalSinceReferenceDate: 0)
        let entity = ObjectKit.entity(
            "Defaults",
            [
                ObjectKit.attribute("text", .stringAttributeType, optional: false, default: "none"),
                ObjectKit.attribute("flag", .booleanAttributeType, default: true),
                ObjectKit.attribute("date", .dateAttributeType, default: start),
                ObjectKit.attribute("empty", .integer32AttributeType),
            ])
        let container = try ObjectKit.container(ObjectKit.model { _ in [entity] })
        let object = NSEntityDescription.insertNewObject(forEntityName: "Defaults", into: container.viewContext)
        #expect(object.value(forKey: "text") as? String == "none")
        #expect(object.value(forKey: "flag") as? Bool == true)
        #expect(object.value(forKey: "date") as? Date == start)
        #expect(object.value(forKey: "empty") == nil)
        try container.viewContext.save()
        #expect(ObjectKit.twin(object, container).0.value(forKey: "text") as? String == "none")
    }
}
