import CoreData
import TestSupport
import Testing

private let destinationKeys = ["owner", "line", "heads", "source"]

/// Relationships that the program leads to what it has deleted.
struct DanglingDestinationTests {
    private final class Office {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let root: NSManagedObjectContext
        let context: NSManagedObjectContext
        let owner: NSManagedObject
        let item: NSManagedObject

        init(_ kind: StoreKind, isChild: Bool = false) throws {
            let item = NSEntityDescription("Item", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            let owner = NSEntityDescription("Owner", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            relate(owner, "items", toMany: true, item, inverse: "owner")
            relate(owner, "queue", toMany: true, ordered: true, item, inverse: "line")
            relate(owner, "chief", item, inverse: "heads")
            item.properties.append(NSRelationshipDescription("source", to: owner))
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, owner]))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("office.sqlite")))
            root = coordinator.newContext()
            if isChild {
                context = root.newChild()
            } else {
                context = root
            }
            self.owner = context.insert("Owner", ["name": "owner"])
            self.item = context.insert("Item", ["name": "item"])
            try save()
        }

        func save() throws {
            try context.save()
            if context !== root { try root.save() }
        }

        /// How many owners there are, and what the item leads to, as another context reads them.
        func stored(_ key: String) throws -> (owners: Int, destination: NSManagedObjectID?) {
            let other = coordinator.newContext()
            return try withExtendedLifetime(other) {
                let item = try #require(try other.objects("Item").first)
                return (try other.objects("Owner").count, (item.value(forKey: key) as? NSManagedObject)?.objectID)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, destinationKeys)
    func aDestinationWhoseDeletionIsPendingIsRefused(kind: StoreKind, key: String) throws {
        for isChild in [false, true] {
            let office = try Office(kind, isChild: isChild)
            office.context.delete(office.owner)
            office.context.processPendingChanges()
            office.item.setValue(office.owner, forKey: key)
            let error = try #require(errorThrown { try office.context.save() })
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == 1550)
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === office.item)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == key)
            #expect(error.userInfo[NSValidationValueErrorKey] as? NSManagedObject === office.owner)
            #expect(error.localizedDescription.hasPrefix("Item.\(key) of "))
            #expect(error.localizedDescription.hasSuffix(", which is to be deleted."))
            let before = try office.stored(key)
            #expect(before.owners == 1)
            #expect(before.destination == nil)
            #expect(office.owner.isDeleted)
            #expect(office.item.isUpdated)
            office.item.setValue(nil, forKey: key)
            try office.save()
            let after = try office.stored(key)
            #expect(after.owners == 0)
            #expect(after.destination == nil)
        }
    }

    @Test(arguments: StoreKind.allCases, destinationKeys)
    func aDeletionThatIsTakenBackLeavesTheDestination(kind: StoreKind, key: String) throws {
        let office = try Office(kind)
        office.context.delete(office.owner)
        office.context.processPendingChanges()
        office.item.setValue(office.owner, forKey: key)
        #expect(errorThrown { try office.context.save() }?.code == 1550)
        office.context.insert(office.owner)
        try office.save()
        #expect(try office.stored(key).destination == office.owner.objectID)
    }

    @Test(arguments: StoreKind.allCases, destinationKeys)
    func aDestinationWhoseDeletionWasSavedIsRefusedOrNone(kind: StoreKind, key: String) throws {
        let office = try Office(kind)
        office.context.delete(office.owner)
        try office.save()
        office.item.willChangeValue(forKey: key)
        office.item.setPrimitiveValue(office.owner, forKey: key)
        office.item.didChangeValue(forKey: key)
        // Where there is an inverse, what is known to be gone has left it.
        let error = errorThrown { try office.context.save() }
        #expect(error?.code == (key == "source" ? 1550 : nil))
        #expect(error == nil || error?.localizedDescription.hasSuffix(", which was deleted.") == true)
        #expect(try office.stored(key).destination == nil)
    }

    @Test(arguments: StoreKind.allCases, destinationKeys)
    func aNewDestinationThatLeftTheContextWithItsPermanentIDIsRefused(kind: StoreKind, key: String) throws {
        let office = try Office(kind)
        let new = office.context.insert("Owner", ["name": "new"])
        try office.context.obtainPermanentIDs(for: [new, office.item])
        office.context.delete(new)
        office.context.processPendingChanges()
        office.item.setPrimitiveValue(new, forKey: key)
        office.item.setValue("changed", forKey: "name")
        #expect(errorThrown { try office.context.save() } != nil)
        #expect(try office.stored(key).destination == nil)
    }

    @Test(arguments: StoreKind.allCases, ["owner", "line", "heads"])
    func deleteRulesOfTheSameEventLeadAwayFromWhatIsDeleted(kind: StoreKind, key: String) throws {
        let office = try Office(kind)
        office.item.setValue(office.owner, forKey: key)
        office.context.delete(office.owner)
        try office.save()
        #expect(office.item.value(forKey: key) == nil)
        let after = try office.stored(key)
        #expect(after.owners == 0)
        #expect(after.destination == nil)
    }

    @Test(arguments: StoreKind.allCases) func anUnchangedDestinationWithoutAnInverseIsNoMistake(kind: StoreKind) throws
    {
        let office = try Office(kind)
        office.item.setValue(office.owner, forKey: "source")
        try office.save()
        office.context.delete(office.owner)
        office.item.setValue(office.owner, forKey: "source")
        office.item.setValue("changed", forKey: "name")
        try office.save()
        #expect(try office.stored("owner").owners == 0)
    }
}
