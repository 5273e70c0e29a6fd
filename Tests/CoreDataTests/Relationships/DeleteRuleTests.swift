import CoreData
import TestSupport
import Testing

final class RuleOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var cascaded: Set<RuleItem>
    @Managed var nullified: Set<RuleItem>
    @Managed var denied: Set<RuleItem>
    @Managed var ignored: Set<RuleItem>
    @Managed var partner: RuleOwner?
    @Managed var partnerOf: RuleOwner?
}

final class RuleItem: NSManagedObject {
    @Managed var name: String?
    @Managed var cascader: RuleOwner?
    @Managed var nullifier: RuleOwner?
    @Managed var denier: RuleOwner?
    @Managed var ignorer: RuleOwner?
    @Managed var parts: Set<RulePart>
}

final class RulePart: NSManagedObject {
    @Managed var name: String?
    @Managed var item: RuleItem?
    @Managed var owner: RuleOwner?
}

@Suite(.everyStore) struct DeleteRuleTests {
    let stack: TestStack
    let owner: RuleOwner

    init() throws {
        let owner = NSEntityDescription("Owner", class: "RuleOwner", [.init("name", .stringAttributeType)])
        let item = NSEntityDescription("Item", class: "RuleItem", [.init("name", .stringAttributeType)])
        let part = NSEntityDescription("Part", class: "RulePart", [.init("name", .stringAttributeType)])
        relate(owner, "cascaded", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "cascader")
        relate(owner, "nullified", toMany: true, deleteRule: .nullifyDeleteRule, item, inverse: "nullifier")
        relate(owner, "denied", toMany: true, deleteRule: .denyDeleteRule, item, inverse: "denier")
        relate(owner, "ignored", toMany: true, deleteRule: .noActionDeleteRule, item, inverse: "ignorer")
        relate(
            owner, "partner", deleteRule: .cascadeDeleteRule, owner, inverse: "partnerOf",
            inverseDeleteRule: .cascadeDeleteRule)
        relate(item, "parts", toMany: true, deleteRule: .cascadeDeleteRule, part, inverse: "item")
        part.properties += [NSRelationshipDescription("owner", to: owner, deleteRule: .cascadeDeleteRule)]
        stack = try TestStack([owner, item, part])
        self.owner = RuleOwner(context: stack.context)
        self.owner.name = "owner"
    }

    func item(_ name: String = "item") -> RuleItem {
        let item = RuleItem(context: stack.context)
        item.name = name
        return item
    }

    func count(_ entity: String) -> Int? { stack.storedCount(of: entity) }

    @Test("91, 93: deletion spreads when pending changes are processed") func deletionSpreadsAtTheEndOfTheEvent() throws
    {
        let item = item()
        owner.cascaded = [item]
        try stack.context.save()
        stack.context.delete(owner)
        stack.context.processPendingChanges()
        #expect(item.isDeleted)
        #expect(stack.context.deletedObjects == [owner, item])
    }

    @Test("91: deletion spreads only in the save when the context is told so") func deletionSpreadsInTheSave() throws {
        let item = item()
        owner.cascaded = [item]
        try stack.context.save()
        stack.context.propagatesDeletesAtEndOfEvent = false
        stack.context.delete(owner)
        stack.context.processPendingChanges()
        #expect(!item.isDeleted)
        #expect(stack.context.deletedObjects == [owner])
        try stack.context.save()
        #expect(count("Item") == 0)
    }

    @Test("92: cascade deletes destinations of destinations") func cascadeIsRecursive() throws {
        let items = [item("1"), item("2")]
        owner.cascaded = Set(items)
        let part = RulePart(context: stack.context)
        part.item = items[0]
        let bystander = item("bystander")
        try stack.context.save()
        stack.context.delete(owner)
        try stack.context.save()
        #expect(count("Owner") == 0)
        #expect(count("Part") == 0)
        #expect(stack.stored("name", of: "Item") == ["bystander"])
        #expect(!bystander.isDeleted)
    }

    @Test("92: cascade reaches objects that are not loaded") func cascadeReachesFaults() throws {
        owner.cascaded = [item("1"), item("2")]
        RulePart(context: stack.context).item = owner.cascaded.first
        try stack.context.save()
        let context = stack.newContext()
        context.delete(context.object(with: owner.objectID))
        try context.save()
        #expect(count("Owner") == 0)
        #expect(count("Item") == 0)
        #expect(count("Part") == 0)
    }

    @Test("92: cascade ends on cycles") func cascadeEndsOnCycles() throws {
        let others = [RuleOwner(context: stack.context), RuleOwner(context: stack.context)]
        owner.partner = others[0]
        others[0].partner = others[1]
        others[1].partner = owner
        owner.cascaded = [item()]
        let part = RulePart(context: stack.context)
        part.item = owner.cascaded.first
        part.owner = owner
        try stack.context.save()
        stack.context.delete(part)
        try stack.context.save()
        #expect(count("Owner") == 0)
        #expect(count("Item") == 0)
        #expect(count("Part") == 0)
        #expect(!stack.context.hasChanges)
    }

    @Test("94: nullify takes the deleted object from its destinations") func nullifyClearsTheInverse() throws {
        let item = item()
        owner.nullified = [item]
        try stack.context.save()
        stack.context.delete(owner)
        stack.context.processPendingChanges()
        #expect(item.nullifier == nil)
        #expect(item.isUpdated)
        try stack.context.save()
        #expect(stack.stored("nullifier", of: "Item") == [nil])
    }

    @Test("94: nullify removes the deleted object from a to-many inverse") func nullifyRemovesFromToMany() throws {
        let items = [item("1"), item("2")]
        owner.nullified = Set(items)
        try stack.context.save()
        stack.context.delete(items[0])
        stack.context.processPendingChanges()
        #expect(owner.nullified == [items[1]])
        try stack.context.save()
        #expect(owner.nullified == [items[1]])
        let stored = try stack.newContext().existingObject(with: owner.objectID) as? RuleOwner
        #expect(stored?.nullified.count == 1)
    }

    @Test("95: deny fails the save with error 1600 while a destination remains") func denyFailsTheSave() throws {
        let item = item()
        owner.denied = [item]
        try stack.context.save()
        stack.context.delete(owner)
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.code == 1600)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "denied")
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === owner)
        #expect(count("Owner") == 1)
    }

    @Test("95: deny allows the deletion when the destinations are deleted too") func denyIgnoresDeletedDestinations()
        throws
    {
        let item = item()
        owner.denied = [item]
        try stack.context.save()
        stack.context.delete(owner)
        stack.context.delete(item)
        try stack.context.save()
        #expect(count("Owner") == 0)
        #expect(count("Item") == 0)
    }

    @Test("95: deny allows the deletion of an object without destinations") func denyAllowsLonelyObjects() throws {
        let item = item()
        owner.denied = [item]
        try stack.context.save()
        item.denier = nil
        stack.context.delete(owner)
        try stack.context.save()
        #expect(count("Owner") == 0)
        #expect(count("Item") == 1)
    }

    @Test("95: deny holds for a to-one relationship too") func denyHoldsForOneDestination() throws {
        let safe = NSEntityDescription("Safe", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let key = NSEntityDescription("Key", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(safe, "key", deleteRule: .denyDeleteRule, key, inverse: "safe")
        let stack = try TestStack([safe, key])
        let object = NSManagedObject(entity: stack.entity("Safe"), insertInto: stack.context)
        let destination = NSManagedObject(entity: stack.entity("Key"), insertInto: stack.context)
        object.setValue(destination, forKey: "key")
        try stack.context.save()
        stack.context.delete(object)
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.code == 1600)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "key")
        #expect(stack.storedCount(of: "Safe") == 1)
        stack.context.delete(destination)
        try stack.context.save()
        #expect(stack.storedCount(of: "Safe") == 0)
        #expect(stack.storedCount(of: "Key") == 0)
    }

    @Test("96: no action leaves destinations as they are") func noActionLeavesDestinations() throws {
        let item = item()
        owner.ignored = [item]
        try stack.context.save()
        let key = owner.objectID.keyText
        stack.expectColumn("SELECT {id} FROM {owner}", is: [key])
        stack.context.delete(owner)
        try stack.context.save()
        #expect(!item.isUpdated)
        // PostgreSQL has foreign keys: a row that goes takes itself out of relationships.
        #expect(stack.stored("ignorer", of: "Item") == [stack.kind == .postgreSQL ? nil : key])
    }

    @Test("96: an object that is deleted in the same save gets into no relationship, whatever the rule")
    func deletedObjectsGetIntoNoRelationship() throws {
        let owner = NSEntityDescription("Owner", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let tag = NSEntityDescription("Tag", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(
            owner, "tags", toMany: true, tag, inverse: "owners", inverseToMany: true,
            inverseDeleteRule: .noActionDeleteRule)
        let stack = try TestStack([owner, tag])
        let object = NSManagedObject(entity: stack.entity("Owner"), insertInto: stack.context)
        let doomed = NSManagedObject(entity: stack.entity("Tag"), insertInto: stack.context)
        try stack.context.save()
        object.mutableSetValue(forKey: "tags").add(doomed)
        stack.context.delete(doomed)
        try stack.context.save()
        #expect(stack.storedCount(of: "Tag") == 0)
        let join = stack.kind == .sqlite ? "Z_1TAGS" : "owner_tags"
        stack.expectColumn("SELECT count(*) FROM \(join)", is: ["0"])
        let stored = try stack.newContext().existingObject(with: object.objectID)
        #expect((stored.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
    }

    @Test("97: an object that was never saved is deleted until the save, and then leaves the context")
    func newObjectsLeave() throws {
        try stack.context.save()
        let item = item()
        owner.cascaded = [item]
        stack.context.delete(item)
        stack.context.processPendingChanges()
        #expect(!stack.context.insertedObjects.contains(item))
        #expect(stack.context.deletedObjects == [item])
        #expect(item.isDeleted)
        #expect(item.managedObjectContext === stack.context)
        #expect(owner.cascaded.isEmpty)
        try stack.context.save()
        #expect(!stack.context.hasChanges)
        #expect(count("Item") == 0)
        #expect(item.managedObjectContext == nil)
    }

    @Test("97: an object that was never saved may be inserted again", arguments: [false, true])
    func newObjectsMayComeBack(isSaved: Bool) throws {
        let item = item("back")
        let id = item.objectID
        stack.context.delete(item)
        stack.context.processPendingChanges()
        #expect(stack.context.registeredObject(for: id) === item)
        if isSaved {
            try stack.context.save()
            #expect(stack.context.registeredObject(for: id) == nil)
            #expect(!item.hasChanges)
        }
        stack.context.insert(item)
        #expect(item.isInserted)
        #expect(item.managedObjectContext === stack.context)
        try stack.context.save()
        #expect(stack.stored("name", of: "Item") == ["back"])
    }

    @Test("97: a cascade over objects that were never saved removes them") func cascadeOverNewObjects() throws {
        owner.cascaded = [item("1"), item("2")]
        let all = Set<NSManagedObject>(owner.cascaded).union([owner])
        stack.context.delete(owner)
        stack.context.processPendingChanges()
        #expect(stack.context.deletedObjects == all)
        try stack.context.save()
        #expect(all.allSatisfy { $0.managedObjectContext == nil })
        #expect(count("Item") == 0)
        #expect(count("Owner") == 0)
        #expect(!stack.context.hasChanges)
    }
}
