import CoreData
import TestSupport
import Testing

class UniqueItem: NSManagedObject {
    @Managed var name: String?
    @Managed var cache: String?
    @Managed var owner: UniqueOwner?
}

final class UniqueSpecialItem: UniqueItem {
    @Managed var special: String?
}

final class UniqueOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<UniqueItem>
    @Managed var favourite: UniqueItem?
}

@Suite(.everyStore) struct UniquingTests {
    let stack: TestStack
    let ownerID: NSManagedObjectID
    let itemID: NSManagedObjectID

    init() throws {
        let cache = NSAttributeDescription("cache", .stringAttributeType)
        cache.isTransient = true
        let item = NSEntityDescription("Item", class: "UniqueItem", [.init("name", .stringAttributeType), cache])
        let special = NSEntityDescription(
            "SpecialItem", class: "UniqueSpecialItem", [.init("special", .stringAttributeType)])
        item.subentities = [special]
        let owner = NSEntityDescription("Owner", class: "UniqueOwner", [.init("name", .stringAttributeType)])
        relate(owner, "items", toMany: true, item, inverse: "owner")
        owner.properties += [NSRelationshipDescription("favourite", to: item)]
        stack = try TestStack([item, special, owner])
        let newOwner = UniqueOwner(context: stack.context)
        newOwner.name = "owner"
        let newItem = UniqueItem(context: stack.context)
        newItem.name = "item"
        newItem.owner = newOwner
        let other = UniqueSpecialItem(context: stack.context)
        other.special = "special"
        newOwner.favourite = other
        try stack.context.save()
        (ownerID, itemID) = (newOwner.objectID, newItem.objectID)
    }

    @Test("103: fetches, IDs and relationships give the identical object") func objectsAreUnique() throws {
        let context = stack.newContext()
        let request = NSFetchRequest<UniqueItem>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == 'item'")
        let item = try #require(try context.fetch(request).first)
        #expect(try context.fetch(request).first === item)
        #expect(context.object(with: itemID) === item)
        #expect(try context.existingObject(with: itemID) === item)
        #expect(context.registeredObject(for: itemID) === item)
        let owner = try #require(item.owner)
        #expect(owner.items.first === item)
        #expect(try context.fetch(NSFetchRequest<UniqueOwner>(entityName: "Owner")).first === owner)
    }

    @Test("103: an object stays the same through its first save") func objectsStayTheSameThroughASave() throws {
        let item = UniqueItem(context: stack.context)
        let temporaryID = item.objectID
        #expect(stack.context.object(with: temporaryID) === item)
        try stack.context.save()
        #expect(stack.context.object(with: item.objectID) === item)
        #expect(stack.context.registeredObject(for: item.objectID) === item)
    }

    @Test("103: two contexts have two objects of one ID") func contextsHaveTheirOwnObjects() throws {
        let (first, second) = (stack.newContext(), stack.newContext())
        let item = first.object(with: itemID)
        #expect(second.object(with: itemID) !== item)
        #expect(second.object(with: itemID).objectID == item.objectID)
    }

    @Test("110: a to-many relationship is a fault until it is read") func toManyRelationshipsAreFaults() throws {
        let context = stack.newContext()
        let owner = try #require(try context.existingObject(with: ownerID) as? UniqueOwner)
        #expect(owner.name == "owner")
        #expect(owner.hasFault(forRelationshipNamed: "items"))
        #expect(owner.hasFault(forRelationshipNamed: "items"))
        #expect(owner.items.count == 1)
        #expect(!owner.hasFault(forRelationshipNamed: "items"))
        context.refresh(owner, mergeChanges: false)
        #expect(owner.hasFault(forRelationshipNamed: "items"))
    }

    @Test("111: a to-one destination is a fault of the right class") func toOneDestinationsAreFaults() throws {
        let context = stack.newContext()
        let item = try #require(try context.existingObject(with: itemID) as? UniqueItem)
        let owner = try #require(item.owner)
        #expect(owner.isFault)
        #expect(type(of: owner) == UniqueOwner.self)
        #expect(owner.objectID == ownerID)
        #expect(owner.name == "owner")
    }

    @Test("111: a destination of a sub-entity has the sub-entity's class") func destinationsHaveTheirOwnClass() throws {
        let context = stack.newContext()
        let owner = try #require(try context.existingObject(with: ownerID) as? UniqueOwner)
        let favourite = try #require(owner.favourite)
        #expect(favourite.isFault)
        #expect(type(of: favourite) == UniqueSpecialItem.self)
        #expect(favourite.entity.name == "SpecialItem")
        #expect((favourite as? UniqueSpecialItem)?.special == "special")
    }

    @Test("112: turning into a fault drops values and related objects, not the identity") func faultsKeepTheirIdentity()
        throws
    {
        let context = stack.newContext()
        let item = try #require(try context.existingObject(with: itemID) as? UniqueItem)
        item.cache = "cached"
        item.name = "changed"
        weak let owner = item.owner
        #expect(owner != nil)
        context.refresh(item, mergeChanges: false)
        #expect(item.isFault)
        #expect(!item.hasChanges)
        #expect(!context.hasChanges)
        #expect(owner == nil)
        #expect(context.object(with: itemID) === item)
        #expect(item.name == "item")
        #expect(item.cache == nil)
    }

    @Test("117: existingObject gives an object with its values") func existingObjectGivesNoFault() throws {
        let context = stack.newContext()
        #expect(try !context.existingObject(with: itemID).isFault)
        let fault = context.object(with: ownerID)
        #expect(fault.isFault)
        let existing = try context.existingObject(with: ownerID)
        #expect(existing === fault)
        #expect(!existing.isFault)
    }

    @Test("118: object(with:) gives a fault for any ID, without asking the store") func objectWithIDAsksNoStore() throws
    {
        let uri = itemID.uriRepresentation().deletingLastPathComponent().appendingPathComponent("p4711")
        let unknownID = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(unknownID != itemID)
        let context = stack.newContext()
        let object = context.object(with: unknownID)
        #expect(object.isFault)
        #expect(object.objectID == unknownID)
        #expect(object is UniqueItem)
        #expect(errorThrown { _ = try context.existingObject(with: unknownID) }?.code == 133000)
    }
}

@Suite(.stores(StoreKind.persistent)) struct MissingRowTests {
    private let stack: TestStack
    private let itemID: NSManagedObjectID

    init() throws {
        let tests = try UniquingTests()
        (stack, itemID) = (tests.stack, tests.itemID)
    }

    @Test("117: existingObject throws error 133000 for a missing row") func existingObjectThrowsForMissingRows() throws
    {
        #expect(stack.tables?.execute("DELETE FROM {item}") == true)
        let other = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        _ = try other.addPersistentStore(ofType: stack.kind.type, configurationName: nil, at: stack.url)
        let context = other.newContext()
        let id = try #require(other.managedObjectID(forURIRepresentation: itemID.uriRepresentation()))
        let error = try #require(errorThrown { _ = try context.existingObject(with: id) })
        #expect(error.code == 133000)
        #expect(error.domain == NSCocoaErrorDomain)
    }
}
