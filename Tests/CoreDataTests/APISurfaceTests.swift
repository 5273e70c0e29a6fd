import CoreData
import TestSupport
import Testing

// The names of the API that every client of Core Data uses, in the spelling of Apple's
// documentation: this file does not compile when one is missing or has another type.

final class SurfaceThing: NSManagedObject {
    @Managed var name: String?
    @Managed var parts: Set<SurfacePart>
    @Managed var steps: NSOrderedSet?

    class func fetchRequest() -> NSFetchRequest<SurfaceThing> { NSFetchRequest<SurfaceThing>(entityName: "Thing") }

    override func awakeFromInsert() { super.awakeFromInsert() }
    override func awakeFromFetch() { super.awakeFromFetch() }
    override func prepareForDeletion() { super.prepareForDeletion() }
    override func willSave() { super.willSave() }
    override func validateForInsert() throws { try super.validateForInsert() }
    override func validateForUpdate() throws { try super.validateForUpdate() }
    override func validateForDelete() throws { try super.validateForDelete() }
}

final class SurfacePart: NSManagedObject {
    @Managed var thing: SurfaceThing?
}

struct APISurfaceTests {
    let folder: TemporaryFolder
    let stack: TestStack

    init() throws {
        folder = try TemporaryFolder()
        let thing = NSEntityDescription(
            "Thing", class: "SurfaceThing", [NSAttributeDescription("name", .stringAttributeType)])
        let part = NSEntityDescription("Part", class: "SurfacePart", [])
        let step = NSEntityDescription("Step", class: "NSManagedObject", [])
        relate(thing, "parts", toMany: true, part, inverse: "thing")
        relate(thing, "steps", toMany: true, ordered: true, step, inverse: "thing")
        let model = NSManagedObjectModel()
        model.entities = [thing, part, step]
        stack = try TestStack(model, url: folder.file("surface.sqlite"))
    }

    @Test func theModelIsDescribed() {
        let types: [(NSAttributeDescription.AttributeType, NSAttributeType)] = [
            (.binaryData, .binaryDataAttributeType), (.boolean, .booleanAttributeType), (.date, .dateAttributeType),
            (.decimal, .decimalAttributeType), (.double, .doubleAttributeType), (.float, .floatAttributeType),
            (.integer16, .integer16AttributeType), (.integer32, .integer32AttributeType),
            (.integer64, .integer64AttributeType), (.string, .stringAttributeType), (.uuid, .UUIDAttributeType),
        ]
        for (type, old) in types {
            #expect(type == NSAttributeDescription.AttributeType(rawValue: old))
            #expect(NSAttributeType(rawValue: old.rawValue) == old)
        }
        let attribute = NSAttributeDescription()
        attribute.type = .string
        attribute.defaultValue = "x" as Any?
        let className: String? = attribute.attributeValueClassName
        #expect(attribute.attributeType == .stringAttributeType)
        #expect(className == "NSString")
        let relationship = NSRelationshipDescription()
        relationship.minCount = 0
        relationship.maxCount = 1
        relationship.deleteRule = .denyDeleteRule
        relationship.destinationEntity = nil as NSEntityDescription?
        relationship.inverseRelationship = nil as NSRelationshipDescription?
        #expect(!relationship.isToMany)
        let rules: [NSDeleteRule] = [.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
        #expect(rules.map(\.rawValue) == [0, 1, 2, 3])
        let property: NSPropertyDescription = attribute
        property.name = "name"
        property.isOptional = true
        property.isTransient = false
        let entity = NSEntityDescription()
        entity.name = "Entity" as String?
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = [property]
        #expect(property.entity === entity)
        let byName: [String: NSPropertyDescription] = entity.propertiesByName
        let attributes: [String: NSAttributeDescription] = entity.attributesByName
        let relationships: [String: NSRelationshipDescription] = entity.relationshipsByName
        #expect(byName.count == 1)
        #expect(attributes.count == 1)
        #expect(relationships.isEmpty)
        entity.subentities = [NSEntityDescription]()
        let parent: NSEntityDescription? = entity.superentity
        #expect(parent == nil)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let entities: [String: NSEntityDescription] = model.entitiesByName
        #expect(entities.count == 1)
        let missing: NSManagedObjectModel? = NSManagedObjectModel(contentsOf: folder.file("None.mom"))
        let merged: NSManagedObjectModel? = NSManagedObjectModel.mergedModel(from: nil as [Bundle]?)
        #expect(missing == nil)
        _ = merged
    }

    @Test func objectsAreInsertedReadAndValidated() throws {
        let context = stack.context
        let thing = SurfaceThing(context: context)
        let description = try #require(NSEntityDescription.entity(forEntityName: "Thing", in: context))
        let other: NSManagedObject = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        let unmanaged = NSManagedObject(entity: description, insertInto: nil as NSManagedObjectContext?)
        #expect(unmanaged.managedObjectContext == nil)
        thing.willChangeValue(forKey: "name")
        thing.setPrimitiveValue("a" as Any?, forKey: "name")
        thing.didChangeValue(forKey: "name")
        thing.willAccessValue(forKey: "name" as String?)
        let primitive: Any? = thing.primitiveValue(forKey: "name")
        thing.didAccessValue(forKey: "name" as String?)
        #expect(primitive as? String == "a")
        thing.setValue("b" as Any?, forKey: "name")
        let value: Any? = thing.value(forKey: "name")
        #expect(value as? String == "b")
        let parts: NSMutableSet = thing.mutableSetValue(forKey: "parts")
        parts.add(SurfacePart(context: context))
        let steps: NSMutableOrderedSet = thing.mutableOrderedSetValue(forKey: "steps")
        #expect(steps.count == 0)
        #expect(thing.parts.count == 1)
        var candidate: AnyObject? = "c" as NSString
        try thing.validateValue(&candidate, forKey: "name")
        try thing.validateForInsert()
        try thing.validateForUpdate()
        try thing.validateForDelete()
        let changed: [String: Any] = thing.changedValues()
        let committed: [String: Any] = thing.committedValues(forKeys: ["name"] as [String]?)
        #expect(!changed.isEmpty)
        #expect(committed.isEmpty)
        let flags: [Bool] = [thing.isInserted, thing.isUpdated, thing.isDeleted, thing.isFault, thing.hasChanges]
        #expect(flags == [true, false, false, false, true])
        let id: NSManagedObjectID = thing.objectID
        let uri: URL = id.uriRepresentation()
        let store: NSPersistentStore? = id.persistentStore
        #expect(id.isTemporaryID)
        #expect(store == nil)
        #expect(id.entity === description)
        #expect(thing.entity === description)
        #expect(!uri.absoluteString.isEmpty)
        let typed: NSFetchRequest<SurfaceThing> = SurfaceThing.fetchRequest()
        #expect(typed.entityName == "Thing")
        #expect(other.entity === description)
        let owner: NSManagedObjectContext? = thing.managedObjectContext
        #expect(owner === context)
        #expect(SurfacePart.entity().name == "Part")
        let untyped: NSFetchRequest<any NSFetchRequestResult> = SurfacePart.fetchRequest()
        #expect(untyped.entityName == "Part")
    }

    @Test func contextsFetchSaveAndForget() async throws {
        let kinds: [NSManagedObjectContextConcurrencyType] = [.privateQueueConcurrencyType, .mainQueueConcurrencyType]
        #expect(kinds.map(\.rawValue) == [1, 2])
        #expect(NSManagedObjectContext.ConcurrencyType(rawValue: .mainQueueConcurrencyType) == .mainQueue)
        let context = NSManagedObjectContext(.privateQueue)
        let coding: any NSLocking & NSObjectProtocol = stack.coordinator
        #expect(coding === stack.coordinator)
        context.persistentStoreCoordinator = stack.coordinator
        context.automaticallyMergesChangesFromParent = false
        context.mergePolicy = NSMergePolicy.error
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        let thing = SurfaceThing(context: context)
        let sets: [Set<NSManagedObject>] = [
            context.insertedObjects, context.updatedObjects, context.deletedObjects, context.registeredObjects,
        ]
        #expect(sets.map(\.count) == [1, 0, 0, 1])
        context.processPendingChanges()
        try context.save()
        let request = NSFetchRequest<SurfaceThing>(entityName: "Thing")
        let things: [SurfaceThing] = try context.fetch(request)
        let count: Int = try context.count(for: request)
        let untyped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
        let anything: [Any] = try context.fetch(untyped)
        let anyCount: Int = try context.count(for: untyped)
        #expect(things.count == 1)
        #expect(count == 1)
        #expect(anything.count == 1)
        #expect(anyCount == 1)
        let existing: NSManagedObject = try context.existingObject(with: thing.objectID)
        let found: NSManagedObject = context.object(with: thing.objectID)
        let registered: NSManagedObject? = context.registeredObject(for: thing.objectID)
        #expect(existing === thing)
        #expect(found === thing)
        #expect(registered === thing)
        context.refresh(thing, mergeChanges: true)
        context.refreshAllObjects()
        context.mergeChanges(fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectsNotification))
        context.delete(thing)
        context.rollback()
        #expect(!context.hasChanges)
        let value: Int = context.performAndWait { 1 }
        let later: Int = await context.perform { 2 }
        let scheduled: Int = await context.perform(schedule: .enqueued) { 3 }
        #expect(value == 1)
        #expect(later == 2)
        #expect(scheduled == 3)
        context.reset()
    }

    @Test func mergePoliciesHaveNames() {
        let types: [NSMergePolicyType] = [
            .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType,
        ]
        #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4])
        let policies: [NSMergePolicy] = [
            .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ]
        let constants: [AnyObject] = [
            NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
            NSOverwriteMergePolicy, NSRollbackMergePolicy,
        ]
        #expect(zip(policies, constants).allSatisfy { $0 === $1 })
        #expect(policies.map(\.mergeType) == types)
    }

    @Test func containersAndCoordinatorsAddStores() async throws {
        let container = NSPersistentContainer(name: "Surface", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: folder.file("container.sqlite"))
        description.type = NSInMemoryStoreType
        description.isReadOnly = false
        description.shouldAddStoreAsynchronously = false
        description.shouldInferMappingModelAutomatically = true
        description.shouldMigrateStoreAutomatically = true
        description.setOption(nil as NSObject?, forKey: NSReadOnlyPersistentStoreOption)
        let options: [String: NSObject] = description.options
        let place: URL? = description.url
        #expect(place != nil)
        #expect(options[NSReadOnlyPersistentStoreOption] == nil)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { (_: NSPersistentStoreDescription, error: (any Error)?) in #expect(error == nil)
        }
        #expect(container.name == "Surface")
        let coordinator: NSPersistentStoreCoordinator = container.persistentStoreCoordinator
        let model: NSManagedObjectModel = container.managedObjectModel
        let view: NSManagedObjectContext = container.viewContext
        let background: NSManagedObjectContext = container.newBackgroundContext()
        #expect(view !== background)
        #expect(coordinator.managedObjectModel === model)
        let answer: Int = await container.performBackgroundTask { (_: NSManagedObjectContext) in 7 }
        #expect(answer == 7)
        let stores: [NSPersistentStore] = coordinator.persistentStores
        let store = try #require(stores.first)
        let (type, url): (String, URL?) = (store.type, store.url)
        #expect(type == NSInMemoryStoreType)
        #expect(url != nil)
        try coordinator.remove(store)
        let second: NSPersistentStore = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil as String?, at: folder.file("a.sqlite") as URL?,
            options: nil)
        let third: NSPersistentStore = try coordinator.addPersistentStore(type: .sqlite, at: folder.file("b.sqlite"))
        coordinator.addPersistentStore(with: NSPersistentStoreDescription(url: folder.file("c.sqlite"))) { _, error in
            #expect(error == nil)
        }
        let uri = try #require(URL(string: "x-coredata:///Nothing/p1"))
        let id: NSManagedObjectID? = coordinator.managedObjectID(forURIRepresentation: uri)
        #expect(id == nil)
        #expect(second !== third)
        let storeTypes: [NSPersistentStore.StoreType] = [.sqlite, .inMemory, .xml, .binary]
        #expect(
            storeTypes.map(\.rawValue)
                == [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType])
        let named: (String) -> NSPersistentContainer = { NSPersistentContainer(name: $0) }
        _ = named
    }

    @Test func requestsHaveTheirProperties() {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = nil as NSEntityDescription?
        request.predicate = nil as NSPredicate?
        request.sortDescriptors = nil as [NSSortDescriptor]?
        request.fetchLimit = 1
        request.fetchOffset = 1
        request.includesPendingChanges = true
        request.includesSubentities = true
        request.returnsObjectsAsFaults = true
        request.resultType = .managedObjectResultType
        let name: String? = request.entityName
        let base: NSPersistentStoreRequest = request
        #expect(name == nil)
        #expect(base.requestType == .fetchRequestType)
        let types: [NSFetchRequestResultType] = [
            .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType, .countResultType,
        ]
        #expect(types.map(\.rawValue) == [0, 1, 2, 4])
        let results: [any NSFetchRequestResult.Type] = [
            NSManagedObject.self, NSManagedObjectID.self, NSDictionary.self, NSNumber.self,
        ]
        #expect(results.count == 4)
    }

    @Test func batchRequestsSayWhatTheyGive() {
        let insertion = NSBatchInsertRequest(entityName: "Thing", objects: [["name": "a"]])
        let objects: [[String: Any]]? = insertion.objectsToInsert
        insertion.objectsToInsert = nil
        #expect(objects?.count == 1)
        #expect(insertion.objectsToInsert == nil)
        let insertions: [NSBatchInsertRequestResultType] = [.statusOnly, .objectIDs, .count]
        let updates: [NSBatchUpdateRequestResultType] = [
            .statusOnlyResultType, .updatedObjectIDsResultType, .updatedObjectsCountResultType,
        ]
        let deletions: [NSBatchDeleteRequestResultType] = [
            .resultTypeStatusOnly, .resultTypeObjectIDs, .resultTypeCount,
        ]
        #expect(insertions.map(\.rawValue) == [0, 1, 2])
        #expect(updates.map(\.rawValue) == [0, 1, 2])
        #expect(deletions.map(\.rawValue) == [0, 1, 2])
        #expect(insertion.resultType == .statusOnly)
        #expect(NSBatchUpdateRequest(entityName: "Thing").resultType == .statusOnlyResultType)
    }

    @Test func notificationsHaveApplesNamesAndKeys() {
        let names: [(NSNotification.Name, Notification.Name)] = [
            (.NSManagedObjectContextObjectsDidChange, NSManagedObjectContext.didChangeObjectsNotification),
            (.NSManagedObjectContextWillSave, NSManagedObjectContext.willSaveObjectsNotification),
            (.NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectsNotification),
            (.NSManagedObjectContextDidSaveObjectIDs, NSManagedObjectContext.didSaveObjectIDsNotification),
            (
                .NSManagedObjectContextDidMergeChangesObjectIDs,
                NSManagedObjectContext.didMergeChangesObjectIDsNotification
            ),
        ]
        for (global, member) in names { #expect(global == member) }
        #expect(Set(names.map(\.0)).count == names.count)
        let keys: [(NSManagedObjectContext.NotificationKey, String, String)] = [
            (.insertedObjects, NSInsertedObjectsKey, "inserted"),
            (.updatedObjects, NSUpdatedObjectsKey, "updated"),
            (.deletedObjects, NSDeletedObjectsKey, "deleted"),
            (.refreshedObjects, NSRefreshedObjectsKey, "refreshed"),
            (.invalidatedObjects, NSInvalidatedObjectsKey, "invalidated"),
            (.invalidatedAllObjects, NSInvalidatedAllObjectsKey, "invalidatedAll"),
            (.insertedObjectIDs, NSInsertedObjectIDsKey, "inserted_objectIDs"),
            (.updatedObjectIDs, NSUpdatedObjectIDsKey, "updated_objectIDs"),
            (.deletedObjectIDs, NSDeletedObjectIDsKey, "deleted_objectIDs"),
            (.refreshedObjectIDs, NSRefreshedObjectIDsKey, "refreshed_objectIDs"),
            (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey, "invalidated_objectIDs"),
        ]
        for (key, constant, text) in keys {
            #expect(key.rawValue == constant)
            #expect(constant == text)
        }
    }

    @Test func errorsHaveApplesCodesAndKeys() {
        let codes: [(CocoaError.Code, Int)] = [
            (.managedObjectValidation, 1550),
            (.validationMultipleErrors, 1560),
            (.validationMissingMandatoryProperty, 1570),
            (.validationRelationshipLacksMinimumCount, 1580),
            (.validationRelationshipExceedsMaximumCount, 1590),
            (.validationRelationshipDeniedDelete, 1600),
            (.validationNumberTooLarge, 1610),
            (.validationNumberTooSmall, 1620),
            (.validationDateTooLate, 1630),
            (.validationDateTooSoon, 1640),
            (.validationStringTooLong, 1660),
            (.validationStringTooShort, 1670),
            (.validationStringPatternMatching, 1680),
            (.managedObjectReferentialIntegrity, 133000),
            (.managedObjectMerge, 133020),
            (.managedObjectConstraintMerge, 133021),
            (.persistentStoreSaveConflicts, 134050),
            (.coreData, 134060),
            (.persistentStoreIncompatibleVersionHash, 134100),
            (.migrationMissingSourceModel, 134130),
            (.migrationMissingMappingModel, 134140),
        ]
        for (code, number) in codes { #expect(code.rawValue == number) }
        let numbers: [(Int, Int)] = [
            (NSCoreDataError, 134060),
            (NSManagedObjectConstraintMergeError, 133021),
            (NSManagedObjectMergeError, 133020),
            (NSManagedObjectReferentialIntegrityError, 133000),
            (NSManagedObjectValidationError, 1550),
            (NSMigrationMissingMappingModelError, 134140),
            (NSMigrationMissingSourceModelError, 134130),
            (NSPersistentStoreIncompatibleVersionHashError, 134100),
            (NSPersistentStoreSaveConflictsError, 134050),
            (NSValidationDateTooLateError, 1630),
            (NSValidationDateTooSoonError, 1640),
            (NSValidationMissingMandatoryPropertyError, 1570),
            (NSValidationMultipleErrorsError, 1560),
            (NSValidationNumberTooLargeError, 1610),
            (NSValidationNumberTooSmallError, 1620),
            (NSValidationRelationshipDeniedDeleteError, 1600),
            (NSValidationRelationshipExceedsMaximumCountError, 1590),
            (NSValidationRelationshipLacksMinimumCountError, 1580),
            (NSValidationStringPatternMatchingError, 1680),
            (NSValidationStringTooLongError, 1660),
            (NSValidationStringTooShortError, 1670),
        ]
        for (constant, number) in numbers { #expect(constant == number) }
        let short: [CocoaError.Code] = [
            CocoaError.managedObjectValidation,
            CocoaError.validationMultipleErrors,
            CocoaError.validationMissingMandatoryProperty,
            CocoaError.validationRelationshipLacksMinimumCount,
            CocoaError.validationRelationshipExceedsMaximumCount,
            CocoaError.validationRelationshipDeniedDelete,
            CocoaError.validationNumberTooLarge,
            CocoaError.validationNumberTooSmall,
            CocoaError.validationDateTooLate,
            CocoaError.validationDateTooSoon,
            CocoaError.validationStringTooLong,
            CocoaError.validationStringTooShort,
            CocoaError.validationStringPatternMatching,
            CocoaError.managedObjectReferentialIntegrity,
            CocoaError.managedObjectMerge,
            CocoaError.managedObjectConstraintMerge,
            CocoaError.persistentStoreSaveConflicts,
            CocoaError.coreData,
            CocoaError.persistentStoreIncompatibleVersionHash,
            CocoaError.migrationMissingSourceModel,
            CocoaError.migrationMissingMappingModel,
        ]
        #expect(short == codes.map(\.0))
        let keys: [String] = [
            NSDetailedErrorsKey,
            NSPersistentStoreSaveConflictsErrorKey,
            NSValidationKeyErrorKey,
            NSValidationObjectErrorKey,
            NSValidationPredicateErrorKey,
            NSValidationValueErrorKey,
        ]
        #expect(Set(keys).count == keys.count)
        let error = CocoaError(.managedObjectValidation)
        let (key, object): (String?, Any?) = (error.validationKey, error.validationObject)
        #expect(key == nil)
        #expect(object == nil)
    }
}
