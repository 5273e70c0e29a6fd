import CoreData
import TestSupport
import Testing

/// Many-to-many relationships that are ordered on both sides: each side has an order of its own.
@Suite(.everyStore) struct DoublyOrderedTests {
    /// The relationship of entity A and its inverse.
    enum Shape: CaseIterable {
        /// Of two entities.
        case pair
        /// Of one entity, with an inverse of another name.
        case sameEntity
        /// Its own inverse.
        case ownInverse

        var entities: [NSEntityDescription] {
            let a = NSEntityDescription("A", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            let b = NSEntityDescription("B", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            switch self {
            case .pair:
                relate(
                    a, "bs", toMany: true, ordered: true, b, inverse: "as", inverseToMany: true, inverseOrdered: true)
            case .sameEntity:
                relate(
                    a, "bs", toMany: true, ordered: true, a, inverse: "as", inverseToMany: true, inverseOrdered: true)
            case .ownInverse:
                let friends = NSRelationshipDescription("bs", to: a, toMany: true)
                friends.isOrdered = true
                friends.inverseRelationship = friends
                a.properties += [friends]
            }
            return self == .pair ? [a, b] : [a]
        }

        /// The entity of the second side.
        var other: String { self == .pair ? "B" : "A" }
        /// The second side.
        var inverse: String { self == .ownInverse ? "bs" : "as" }
    }

    let names = ["a0", "a1", "a2", "a3"]

    private func stack(_ shape: Shape) throws -> (stack: TestStack, all: [NSManagedObject], other: NSManagedObject) {
        let stack = try TestStack(shape.entities)
        let all = names.map { insert("A", $0, stack.context) }
        return (stack, all, insert(shape.other, "b", stack.context))
    }

    private func insert(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func members(_ object: NSManagedObject, _ key: String) -> [String] {
        (object.value(forKey: key) as? NSOrderedSet)?.array.map {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "nil"
        }
            ?? []
    }

    private func stored(_ object: NSManagedObject, _ key: String, _ stack: TestStack) throws -> [String] {
        members(try stack.newContext().existingObject(with: object.objectID), key)
    }

    @Test(arguments: Shape.allCases) func newMembersKeepTheOrderOfTheSideThatAddsThem(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(array: [all[2], all[0], all[3]]), forKey: shape.inverse)
        try stack.context.save()
        #expect(members(b, shape.inverse) == ["a2", "a0", "a3"])
        #expect(try stored(b, shape.inverse, stack) == ["a2", "a0", "a3"])
        #expect(try stored(all[2], "bs", stack) == ["b"])
    }

    @Test(arguments: Shape.allCases) func anInsertionFromTheSecondSideKeepsItsPlace(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(object: all[0]), forKey: shape.inverse)
        try stack.context.save()
        b.mutableOrderedSetValue(forKey: shape.inverse).insert(all[1], at: 0)
        try stack.context.save()
        b.mutableOrderedSetValue(forKey: shape.inverse).insert(all[2], at: 1)
        b.mutableOrderedSetValue(forKey: shape.inverse).add(all[3])
        try stack.context.save()
        #expect(try stored(b, shape.inverse, stack) == ["a1", "a2", "a0", "a3"])
        stack.context.refreshAllObjects()
        #expect(members(b, shape.inverse) == ["a1", "a2", "a0", "a3"])
    }

    @Test(arguments: Shape.allCases) func additionsToAnUnreadSideKeepTheirOrder(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(object: all[1]), forKey: shape.inverse)
        try stack.context.save()
        stack.context.refreshAllObjects()
        for index in [3, 0, 2] { b.mutableOrderedSetValue(forKey: shape.inverse).add(all[index]) }
        try stack.context.save()
        #expect(try stored(b, shape.inverse, stack) == ["a1", "a3", "a0", "a2"])
    }

    @Test(arguments: Shape.allCases) func eachSideKeepsItsOwnOrder(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        let c = insert(shape.other, "c", stack.context)
        b.setValue(NSOrderedSet(array: [all[1], all[0]]), forKey: shape.inverse)
        c.setValue(NSOrderedSet(array: [all[0], all[1]]), forKey: shape.inverse)
        all[0].mutableOrderedSetValue(forKey: "bs").moveObjects(at: [1], to: 0)
        try stack.context.save()
        #expect(try stored(b, shape.inverse, stack) == ["a1", "a0"])
        #expect(try stored(c, shape.inverse, stack) == ["a0", "a1"])
        #expect(try stored(all[0], "bs", stack) == ["c", "b"])
        #expect(try stored(all[1], "bs", stack) == ["b", "c"])
    }

    @Test(arguments: Shape.allCases) func aRemovalFromEitherSideLeavesTheOrder(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(array: all.reversed()), forKey: shape.inverse)
        try stack.context.save()
        b.mutableOrderedSetValue(forKey: shape.inverse).remove(all[2])
        all[1].mutableOrderedSetValue(forKey: "bs").remove(b)
        try stack.context.save()
        #expect(try stored(b, shape.inverse, stack) == ["a3", "a0"])
        #expect(try stored(all[2], "bs", stack) == [])
        #expect(try stored(all[1], "bs", stack) == [])
    }

    @Test(arguments: Shape.allCases) func aChildsOrderComesToItsParent(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(object: all[0]), forKey: shape.inverse)
        try stack.context.save()
        let child = stack.context.newChild()
        let (mine, other) = (child.object(with: b.objectID), child.object(with: all[1].objectID))
        let new = insert("A", "new", child)
        mine.mutableOrderedSetValue(forKey: shape.inverse).insert(new, at: 0)
        mine.mutableOrderedSetValue(forKey: shape.inverse).insert(other, at: 1)
        try child.save()
        #expect(members(b, shape.inverse) == ["new", "a1", "a0"])
        try stack.context.save()
        #expect(try stored(b, shape.inverse, stack) == ["new", "a1", "a0"])
    }

    @Test(arguments: Shape.allCases) func aNewObjectOfAChildKeepsItsOrder(_ shape: Shape) throws {
        let (stack, all, _) = try stack(shape)
        try stack.context.save()
        let child = stack.context.newChild()
        let new = insert(shape.other, "new", child)
        let mine = all.map { child.object(with: $0.objectID) }
        mine[1].mutableOrderedSetValue(forKey: "bs").add(new)
        new.mutableOrderedSetValue(forKey: shape.inverse).insert(mine[3], at: 0)
        new.mutableOrderedSetValue(forKey: shape.inverse).add(mine[0])
        try child.save()
        let parents = stack.context.object(with: new.objectID)
        #expect(members(parents, shape.inverse) == ["a3", "a1", "a0"])
        try stack.context.save()
        #expect(try stored(parents, shape.inverse, stack) == ["a3", "a1", "a0"])
    }

    @Test(arguments: Shape.allCases) func undoBringsBackBothOrders(_ shape: Shape) throws {
        let (stack, all, b) = try stack(shape)
        b.setValue(NSOrderedSet(array: [all[2], all[0]]), forKey: shape.inverse)
        try stack.context.save()
        stack.context.undoManager = UndoManager()
        stack.context.undoManager?.groupsByEvent = false
        stack.context.undoManager?.beginUndoGrouping()
        b.mutableOrderedSetValue(forKey: shape.inverse).insert(all[1], at: 0)
        b.mutableOrderedSetValue(forKey: shape.inverse).remove(all[2])
        stack.context.processPendingChanges()
        stack.context.undoManager?.endUndoGrouping()
        try stack.context.save()
        stack.context.undo()
        try stack.context.save()
        #expect(members(b, shape.inverse) == ["a2", "a0"])
        #expect(try stored(b, shape.inverse, stack) == ["a2", "a0"])
        #expect(try stored(all[2], "bs", stack) == ["b"])
        stack.context.redo()
        try stack.context.save()
        #expect(members(b, shape.inverse) == ["a1", "a0"])
        #expect(try stored(b, shape.inverse, stack) == ["a1", "a0"])
        #expect(try stored(all[2], "bs", stack) == [])
    }

    @Test(arguments: Shape.allCases) func theOrderOfManyMembersIsKept(_ shape: Shape) throws {
        let (stack, _, b) = try stack(shape)
        let many = (0..<200).map { insert("A", "m\($0)", stack.context) }
        var generator = SeededGenerator(seed: 7)
        let mixed = many.shuffled(using: &generator)
        b.setValue(NSOrderedSet(array: mixed), forKey: shape.inverse)
        try stack.context.save()
        let wanted = mixed.map { $0.value(forKey: "name") as? String ?? "nil" }
        #expect(try stored(b, shape.inverse, stack) == wanted)
    }
}
