import CoreData
import TestSupport
import Testing

final class InverseNode: NSManagedObject {
    @Managed var name: String?
    @Managed var mate: InverseNode?
    @Managed var mateOf: InverseNode?
    @Managed var parent: InverseNode?
    @Managed var children: Set<InverseNode>
    @Managed var likes: Set<InverseNode>
    @Managed var likedBy: Set<InverseNode>
    @Managed var friends: Set<InverseNode>
    @Managed var twin: InverseNode?
    @Managed var bookmark: InverseNode?
    @Managed var bookmarks: Set<InverseNode>

    @ManagedAccessor func addToChildren(_ value: InverseNode)
    @ManagedAccessor func removeFromChildren(_ value: InverseNode)
    @ManagedAccessor func addToChildren(_ values: NSSet)
    @ManagedAccessor func removeFromChildren(_ values: NSSet)
}

@Suite(.everyStore) struct InverseTests {
    let stack: TestStack
    let a: InverseNode
    let b: InverseNode
    let c: InverseNode

    init() throws {
        let node = NSEntityDescription("Node", class: "InverseNode", [.init("name", .stringAttributeType)])
        relate(node, "mate", node, inverse: "mateOf")
        relate(node, "children", toMany: true, node, inverse: "parent")
        relate(node, "likes", toMany: true, node, inverse: "likedBy", inverseToMany: true)
        let friends = NSRelationshipDescription("friends", to: node, toMany: true)
        friends.inverseRelationship = friends
        let twin = NSRelationshipDescription("twin", to: node)
        twin.inverseRelationship = twin
        node.properties += [
            friends, twin, NSRelationshipDescription("bookmark", to: node),
            NSRelationshipDescription("bookmarks", to: node, toMany: true),
        ]
        stack = try TestStack([node])
        let nodes = ["a", "b", "c"].map { [stack] name in
            let node = InverseNode(context: stack.context)
            node.name = name
            return node
        }
        (a, b, c) = (nodes[0], nodes[1], nodes[2])
        try stack.context.save()
    }

    /// The object in a context of its own, as the store has it.
    func stored(_ node: InverseNode) throws -> InverseNode {
        try #require(try stack.newContext().existingObject(with: node.objectID) as? InverseNode)
    }

    func names(_ nodes: Set<InverseNode>) -> Set<String?> { Set(nodes.map(\.name)) }

    @Test("86: a one-to-one relationship sets its inverse") func oneToOne() throws {
        a.mate = b
        #expect(b.mateOf === a)
        c.mateOf = b
        #expect(b.mate === c)
        try stack.context.save()
        #expect(try stored(b).mateOf?.name == "a")
        #expect(try stored(b).mate?.name == "c")
        a.mate = nil
        #expect(b.mateOf == nil)
    }

    @Test("86: the one side of a one-to-many relationship sets its inverse") func oneToMany() throws {
        a.children = [b, c]
        #expect(b.parent === a)
        #expect(c.parent === a)
        try stack.context.save()
        #expect(try stored(b).parent?.name == "a")
        #expect(names(try stored(a).children) == ["b", "c"])
    }

    @Test("86: the many side of a one-to-many relationship sets its inverse") func manyToOne() throws {
        b.parent = a
        #expect(a.children == [b])
        c.parent = a
        #expect(a.children == [b, c])
        b.parent = nil
        #expect(a.children == [c])
        try stack.context.save()
        #expect(names(try stored(a).children) == ["c"])
    }

    @Test("86: a many-to-many relationship sets its inverse, from both sides") func manyToMany() throws {
        a.likes = [b, c]
        #expect(b.likedBy == [a])
        c.likedBy.insert(b)
        #expect(b.likes == [c])
        #expect(c.likedBy == [a, b])
        try stack.context.save()
        #expect(names(try stored(c).likedBy) == ["a", "b"])
        #expect(names(try stored(a).likes) == ["b", "c"])
        a.likes.remove(b)
        #expect(b.likedBy.isEmpty)
        try stack.context.save()
        #expect(names(try stored(b).likedBy) == [])
        #expect(names(try stored(a).likes) == ["c"])
    }

    @Test("86: inverses are set on objects whose relationships are faults") func inversesOfFaults() throws {
        a.children = [b]
        try stack.context.save()
        let context = stack.newContext()
        let a = try #require(try context.existingObject(with: a.objectID) as? InverseNode)
        let b = try #require(try context.existingObject(with: b.objectID) as? InverseNode)
        let c = try #require(try context.existingObject(with: c.objectID) as? InverseNode)
        c.parent = a
        #expect(a.children == [b, c])
        b.parent = c
        #expect(a.children == [c])
        #expect(c.children == [b])
        try context.save()
        #expect(names(try stored(a).children) == ["c"])
        #expect(names(try stored(c).children) == ["b"])
    }

    @Test("87: a new destination removes the object from the earlier one's inverse") func newDestinations() throws {
        c.parent = a
        c.parent = b
        #expect(a.children.isEmpty)
        #expect(b.children == [c])
        a.mate = b
        c.mate = b
        #expect(a.mate == nil)
        #expect(b.mateOf === c)
        try stack.context.save()
        #expect(names(try stored(a).children) == [])
        #expect(names(try stored(b).children) == ["c"])
        #expect(try stored(a).mate == nil)
    }

    @Test("87: adding an object to another's to-many takes it from the earlier owner") func newOwners() throws {
        a.children = [c]
        try stack.context.save()
        b.addToChildren(c)
        #expect(a.children.isEmpty)
        #expect(c.parent === b)
        try stack.context.save()
        #expect(names(try stored(a).children) == [])
    }

    @Test("88: replacing a to-many unrelates the objects no longer in it") func replacingAToMany() throws {
        a.children = [b]
        try stack.context.save()
        a.children = [c]
        #expect(b.parent == nil)
        #expect(c.parent === a)
        try stack.context.save()
        #expect(try stored(b).parent == nil)
        #expect(names(try stored(a).children) == ["c"])
        a.setValue(NSSet(), forKey: "children")
        #expect(c.parent == nil)
    }

    @Test("89: objects whose inverse changes are updated too") func inversesAreUpdates() throws {
        b.parent = a
        #expect(stack.context.updatedObjects == [a, b])
        #expect(a.isUpdated)
        try stack.context.save()
        c.addToChildren(b)
        stack.context.processPendingChanges()
        #expect(stack.context.updatedObjects == [a, b, c])
    }

    @Test("90: removing an object from a to-many does not delete it") func removingDoesNotDelete() throws {
        a.children = [b, c]
        try stack.context.save()
        a.removeFromChildren(b)
        a.removeFromChildren(NSSet(array: [c]))
        try stack.context.save()
        #expect(a.children.isEmpty)
        #expect(stack.storedCount(of: "Node") == 3)
        a.addToChildren(NSSet(array: [b, c]))
        #expect(a.children == [b, c])
    }

    @Test("100: a relationship without inverse is kept and saved on its own side only") func withoutInverse() throws {
        a.bookmark = b
        #expect(stack.context.updatedObjects == [a])
        try stack.context.save()
        #expect(try stored(a).bookmark?.name == "b")
        a.bookmark = nil
        try stack.context.save()
        #expect(try stored(a).bookmark == nil)
    }

    @Test("100: two objects may share a destination of a relationship without inverse") func sharedDestination() throws
    {
        a.bookmark = c
        b.bookmark = c
        try stack.context.save()
        #expect(try stored(a).bookmark?.name == "c")
        #expect(try stored(b).bookmark?.name == "c")
    }

    @Test("100: a to-many relationship without inverse is kept and saved") func toManyWithoutInverse() throws {
        a.bookmarks = [b, c]
        try stack.context.save()
        #expect(names(try stored(a).bookmarks) == ["b", "c"])
        a.bookmarks.remove(b)
        try stack.context.save()
        #expect(names(try stored(a).bookmarks) == ["c"])
    }

    @Test("101: a to-many relationship that is its own inverse relates both ways") func friendsAreMutual() throws {
        a.friends = [b]
        #expect(b.friends == [a])
        c.mutableSetValue(forKey: "friends").add(a)
        #expect(a.friends == [b, c])
        try stack.context.save()
        #expect(names(try stored(a).friends) == ["b", "c"])
        #expect(names(try stored(b).friends) == ["a"])
        #expect(names(try stored(c).friends) == ["a"])
        a.friends = []
        #expect(b.friends.isEmpty)
        try stack.context.save()
        #expect(names(try stored(c).friends) == [])
    }

    @Test("101: a to-one relationship that is its own inverse relates both ways") func twinsAreMutual() throws {
        a.twin = b
        #expect(b.twin === a)
        c.twin = b
        #expect(a.twin == nil)
        #expect(b.twin === c)
        try stack.context.save()
        #expect(try stored(c).twin?.name == "b")
        #expect(try stored(b).twin?.name == "c")
        #expect(try stored(a).twin == nil)
    }

    @Test("101: an object may be related to itself") func relatedToItself() throws {
        a.parent = a
        #expect(a.children == [a])
        b.friends = [b]
        #expect(b.friends == [b])
        try stack.context.save()
        #expect(names(try stored(a).children) == ["a"])
        #expect(names(try stored(b).friends) == ["b"])
    }

    @Test("102: objectIDs(forRelationshipNamed:) gives IDs for any cardinality without firing destinations")
    func objectIDsOfRelationships() throws {
        a.children = [b, c]
        a.mate = b
        try stack.context.save()
        let node = try stored(a)
        let context = try #require(node.managedObjectContext)
        #expect(Set(node.objectIDs(forRelationshipNamed: "children")) == [b.objectID, c.objectID])
        #expect(node.objectIDs(forRelationshipNamed: "mate") == [b.objectID])
        #expect(node.objectIDs(forRelationshipNamed: "likes") == [])
        #expect(node.objectIDs(forRelationshipNamed: "twin") == [])
        #expect(context.registeredObject(for: b.objectID)?.isFault ?? true)
        #expect(context.registeredObject(for: c.objectID)?.isFault ?? true)
    }

    @Test("102: objectIDs(forRelationshipNamed:) shows changes that are not saved") func objectIDsOfChanges() throws {
        a.children = [b]
        #expect(a.objectIDs(forRelationshipNamed: "children") == [b.objectID])
        #expect(b.objectIDs(forRelationshipNamed: "parent") == [a.objectID])
    }
}
