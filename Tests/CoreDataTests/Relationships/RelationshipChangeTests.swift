import CoreData
import TestSupport
import Testing

final class ChangingOwner: NSManagedObject {
    @Managed var name: String?
    @Managed var items: Set<ChangingItem>
    @Managed var tags: Set<ChangingItem>
    @Managed var list: NSOrderedSet?
}

class ChangingItem: NSManagedObject {
    @Managed var name: String?
    @Managed var owner: ChangingOwner?
    @Managed var taggers: Set<ChangingOwner>
    @Managed var lister: ChangingOwner?
}

final class ChangingSpecialItem: ChangingItem {
    @Managed var special: String?
}

/// Relationship changes together with refreshing, rolling back, deleting and other contexts.
@Suite(.everyStore) struct RelationshipChangeTests {
    let stack: TestStack
    let owner: ChangingOwner
    let items: [ChangingItem]

    init() throws {
        let owner = NSEntityDescription("Owner", class: "ChangingOwner", [.init("name", .stringAttributeType)])
        let item = NSEntityDescription("Item", class: "ChangingItem", [.init("name", .stringAttributeType)])
        let special = NSEntityDescription(
            "SpecialItem", class: "ChangingSpecialItem",
            [.init("special", .stringAttributeType), .init("above", .stringAttributeType)])
        item.subentities = [special]
        relate(owner, "items", toMany: true, item, inverse: "owner")
        relate(owner, "tags", toMany: true, item, inverse: "taggers", inverseToMany: true)
        relate(owner, "list", toMany: true, ordered: true, item, inverse: "lister")
        stack = try TestStack([owner, item, special])
        self.owner = ChangingOwner(context: stack.context)
        items = "abc".map { [stack] name in
            let item = name == "c" ? ChangingSpecialItem(context: stack.context) : ChangingItem(context: stack.context)
            item.name = String(name)
            return item
        }
        self.owner.items = [items[0]]
        self.owner.tags = [items[0], items[1]]
        self.owner.list = NSOrderedSet(array: [items[1], items[0]])
        try stack.context.save()
    }

    func names(_ items: Set<ChangingItem>) -> String { items.compactMap(\.name).sorted().joined() }

    func listNames(_ owner: ChangingOwner) -> String {
        (owner.list?.array as? [ChangingItem] ?? []).compactMap(\.name).joined()
    }

    func stored() throws -> ChangingOwner {
        try #require(try stack.newContext().existingObject(with: owner.objectID) as? ChangingOwner)
    }

    @Test("86: an object of a sub-entity takes part in its parent's relationships") func subentitiesInRelationships()
        throws
    {
        owner.items.insert(items[2])
        owner.tags.insert(items[2])
        #expect(items[2].owner === owner)
        #expect(items[2].taggers == [owner])
        try stack.context.save()
        let stored = try stored()
        #expect(names(stored.items) == "ac")
        #expect(names(stored.tags) == "abc")
        #expect(stored.items.contains { $0 is ChangingSpecialItem })
    }

    @Test("88: rolling back restores relationships on both sides") func rollbackRestoresRelationships() throws {
        owner.items = [items[1], items[2]]
        owner.tags = [items[2]]
        owner.list = NSOrderedSet(array: [items[2], items[1]])
        stack.context.rollback()
        #expect(names(owner.items) == "a")
        #expect(names(owner.tags) == "ab")
        #expect(listNames(owner) == "ba")
        #expect(items[0].owner === owner)
        #expect(items[1].owner == nil)
        #expect(items[2].taggers.isEmpty)
        #expect(items[1].taggers == [owner])
        #expect(items[2].lister == nil)
        #expect(!stack.context.hasChanges)
    }

    @Test("112: refreshing with merged changes keeps added and removed members") func refreshKeepsRelationshipChanges()
        throws
    {
        owner.items.insert(items[1])
        owner.tags.remove(items[0])
        let other = stack.newContext()
        let theirs = try #require(try other.existingObject(with: owner.objectID) as? ChangingOwner)
        let c = try #require(try other.existingObject(with: items[2].objectID) as? ChangingItem)
        theirs.tags.insert(c)
        try other.save()
        stack.context.refresh(owner, mergeChanges: true)
        #expect(names(owner.items) == "ab")
        #expect(names(owner.tags) == "bc")
        try stack.context.save()
        #expect(names(try stored().items) == "ab")
        #expect(names(try stored().tags) == "bc")
    }

    @Test("94: deleting a member of a many-to-many relationship removes its join rows") func deletingRemovesJoinRows()
        throws
    {
        let other = stack.newContext()
        other.delete(try other.existingObject(with: items[0].objectID))
        try other.save()
        let stored = try stored()
        #expect(names(stored.tags) == "b")
        #expect(names(stored.items) == "")
        #expect(listNames(stored) == "b")
        let joinNames =
            stack.kind == .sqlite
            ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z\\_%TAG%' ESCAPE '\\'"
            : "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE '%tag%'"
        let joins = stack.tables.map { $0.column(joinNames) } ?? [nil]
        #expect(joins.count == 1)
        stack.expectColumn("SELECT count(*) FROM \(joins.first.flatMap { $0 } ?? "")", is: ["1"])
    }

    @Test("94: deleting an owner whose relationships are faults clears the members' side") func deletingAFault() throws
    {
        let other = stack.newContext()
        other.delete(other.object(with: owner.objectID))
        try other.save()
        let fresh = stack.newContext()
        let item = try #require(try fresh.existingObject(with: items[0].objectID) as? ChangingItem)
        #expect(item.owner == nil)
        #expect(item.lister == nil)
        #expect(item.taggers.isEmpty)
        #expect(stack.stored("owner", of: "Item") == [nil, nil, nil])
    }

    @Test("86: new objects that name each other are saved together") func newObjectsNameEachOther() throws {
        let new = ChangingOwner(context: stack.context)
        let item = ChangingItem(context: stack.context)
        item.owner = new
        item.lister = new
        new.tags = [item, items[0]]
        try stack.context.save()
        let context = stack.newContext()
        let stored = try #require(try context.existingObject(with: new.objectID) as? ChangingOwner)
        #expect(stored.items.map(\.objectID) == [item.objectID])
        #expect(Set(stored.tags.map(\.objectID)) == [item.objectID, items[0].objectID])
        #expect((stored.list?.array as? [ChangingItem])?.map(\.objectID) == [item.objectID])
    }

    @Test("87: moving a member back and forth before a save leaves no change of the store") func movingBackAndForth()
        throws
    {
        let new = ChangingOwner(context: stack.context)
        try stack.context.save()
        items[0].owner = new
        items[0].owner = owner
        #expect(names(owner.items) == "a")
        #expect(new.items.isEmpty)
        #expect(!items[0].hasPersistentChangedValues)
        #expect(!owner.hasPersistentChangedValues)
        try stack.context.save()
        #expect(names(try stored().items) == "a")
    }

    @Test("97: a new member that is deleted leaves the relationship") func deletedNewMembersLeave() throws {
        let item = ChangingItem(context: stack.context)
        owner.items.insert(item)
        owner.tags.insert(item)
        item.lister = owner
        stack.context.delete(item)
        try stack.context.save()
        #expect(names(owner.items) == "a")
        #expect(names(owner.tags) == "ab")
        #expect(listNames(owner) == "ba")
        #expect(stack.storedCount(of: "Item") == 3)
    }

    @Test("88: emptying and filling a relationship in one save stores the last state") func emptyingAndFilling() throws
    {
        owner.tags = []
        owner.tags = [items[1], items[2]]
        owner.list = nil
        owner.list = NSOrderedSet(array: [items[2], items[0], items[1]])
        owner.setValue(nil, forKey: "items")
        try stack.context.save()
        let stored = try stored()
        #expect(names(stored.tags) == "bc")
        #expect(listNames(stored) == "cab")
        #expect(stored.items.isEmpty)
    }

    @Test("58: committedValues of a relationship keep the members of the store") func committedMembers() throws {
        owner.items = [items[2]]
        owner.list = NSOrderedSet(array: [items[2]])
        #expect(owner.committedValues(forKeys: ["items"])["items"] as? Set<ChangingItem> == [items[0]])
        #expect(
            (owner.committedValues(forKeys: ["list"])["list"] as? NSOrderedSet)?.array as? [ChangingItem]
                == [items[1], items[0]])
        #expect(owner.changedValues()["items"] as? Set<ChangingItem> == [items[2]])
    }
}
