import CoreData
import TestSupport
import Testing

/// New objects that win against the rows which have their unique values.
struct WinningObjectTests {
    private static let policies = [NSMergePolicy.mergeByPropertyObjectTrump, NSMergePolicy.overwrite]

    @Test(arguments: StoreKind.allCases, policies)
    func aNewObjectTakesThePlaceOfARowThatNobodyHolds(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let new = stock.context.new("Item", ["name": "Bolt", "colour": "red"])
        try stock.context.save()
        #expect(new.objectID == stock.bolt)
        #expect(new.managedObjectContext === stock.context)
        #expect(!new.hasChanges)
        #expect(try stock.context.existingObject(with: new.objectID) === new)
        #expect(stock.context.registeredObject(for: stock.bolt) === new)
        #expect(try stock.items() == ["Bolt nil red nil nil first one"])
        #expect(try stock.otherSides() == ["Old: ", "first: Bolt", "B: ", "one: Bolt"])
        new.setValue(9, forKey: "size")
        try stock.context.save()
        #expect(try stock.items() == ["Bolt 9 red nil nil first one"])
        stock.context.delete(new)
        try stock.context.save()
        #expect(try stock.items() == [])
    }

    @Test(arguments: StoreKind.allCases, policies)
    func itBringsItsRelationships(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let context = stock.context
        let new = context.new("Item", ["name": "Bolt", "size": 1])
        let (owner, badge) = (context.new("Owner", ["name": "New"]), context.new("Badge", ["name": "C"]))
        let (tag, note) = (context.new("Tag", ["name": "second"]), context.new("Note", ["name": "two"]))
        owner.mutableSetValue(forKey: "items").add(new)
        badge.setValue(new, forKey: "item")
        tag.mutableSetValue(forKey: "items").add(new)
        note.setValue(new, forKey: "item")
        try context.save()
        #expect(new.objectID == stock.bolt)
        #expect(try stock.items() == ["Bolt 1 grey New C first+second one+two"])
        #expect(
            try stock.otherSides() == [
                "New: Bolt, Old: ", "first: Bolt, second: Bolt", "B: , C: Bolt", "one: Bolt, two: Bolt",
            ])
        #expect(new.mutableSetValue(forKey: "tags").count == 2)
        #expect(new.mutableOrderedSetValue(forKey: "notes").count == 2)
        #expect(badge.value(forKey: "item") as? NSManagedObject === new)
        #expect(!context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func theObjectThatTheProgramHoldsStays(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let context = stock.context
        let held = context.object(with: stock.bolt)
        let new = context.new("Item", ["name": "Bolt", "colour": "red"])
        let tag = context.new("Tag", ["name": "second"])
        tag.mutableSetValue(forKey: "items").add(new)
        try context.save()
        #expect(held.objectID == stock.bolt)
        #expect(held.value(forKey: "size") == nil)
        #expect(held.value(forKey: "colour") as? String == "red")
        #expect(held.value(forKey: "owner") == nil)
        #expect(new.managedObjectContext == nil)
        #expect(!new.isInserted)
        #expect(!new.isDeleted)
        #expect(!context.registeredObjects.contains(new))
        #expect(try stock.items() == ["Bolt nil red nil nil first+second one"])
        #expect(try stock.otherSides() == ["Old: ", "first: Bolt, second: Bolt", "B: ", "one: Bolt"])
        new.setValue("blue", forKey: "colour")
        #expect(!context.hasChanges)
        held.setValue("green", forKey: "colour")
        try context.save()
        #expect(try stock.items() == ["Bolt nil green nil nil first+second one"])
    }

    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func whatGivesWayLeavesTheContext(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let new = stock.context.new("Item", ["name": "Bolt", "size": 1])
        try stock.context.save()
        #expect(new.managedObjectContext == nil)
        #expect(!stock.context.registeredObjects.contains(new))
        #expect(!stock.context.hasChanges)
        #expect(try stock.items() == ["Bolt 7 grey Old B first one"])
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            (NSMergePolicy.mergeByPropertyObjectTrump, true), (.overwrite, true), (.mergeByPropertyStoreTrump, true),
            (.rollback, false),
        ])
    func relationshipsWithoutAnInverseLeadToWhatStays(kind: StoreKind, outcome: (NSMergePolicy, Bool)) throws {
        let stock = try WinningStock(kind, outcome.0)
        let held = stock.context.object(with: stock.bolt)
        let new = stock.context.new("Item", ["name": "Bolt", "size": 1])
        let order = stock.context.new("Order", ["first": new, "others": NSSet(array: [new])])
        try stock.context.save()
        let expected = outcome.1 ? [held] : []
        #expect([order.value(forKey: "first") as? NSManagedObject].compactMap { $0 } == expected)
        #expect(order.mutableSetValue(forKey: "others").allObjects as? [NSManagedObject] == expected)
        let reader = stock.coordinator.newContext()
        let read = try reader.existingObject(with: order.objectID)
        #expect((read.value(forKey: "first") as? NSManagedObject)?.objectID == (outcome.1 ? stock.bolt : nil))
        #expect(read.mutableSetValue(forKey: "others").count == expected.count)
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func ofSeveralDuplicatesTheFirstTakesThePlace(kind: StoreKind, isHeld: Bool) throws {
        let stock = try WinningStock(kind, .mergeByPropertyObjectTrump)
        let context = stock.context
        let held = isHeld ? context.object(with: stock.bolt) : nil
        let new = (1...3).map { context.new("Item", ["name": "Bolt", "size": $0]) }
        for (index, object) in new.enumerated() {
            context.new("Tag", ["name": "t\(index)"]).mutableSetValue(forKey: "items").add(object)
        }
        try context.save()
        #expect(try stock.items() == ["Bolt 1 grey nil nil first+t0+t1+t2 one"])
        #expect(new.dropFirst().allSatisfy { $0.managedObjectContext == nil })
        let survivor = held ?? new[0]
        #expect(survivor.objectID == stock.bolt)
        survivor.setValue(5, forKey: "size")
        try context.save()
        #expect(try stock.items() == ["Bolt 5 grey nil nil first+t0+t1+t2 one"])
    }

    @Test(arguments: StoreKind.allCases, policies)
    func theRowOfAnotherEntityIsDeleted(kind: StoreKind, policy: NSMergePolicy) throws {
        let stock = try WinningStock(kind, policy)
        let new = stock.context.new("Part", ["name": "Bolt", "grade": 3])
        new.setValue(stock.context.new("Owner", ["name": "New"]), forKey: "owner")
        try stock.context.save()
        #expect(new.managedObjectContext === stock.context)
        #expect(new.objectID != stock.bolt)
        #expect(try stock.items() == ["Bolt nil grey New nil  "])
        #expect(try stock.otherSides() == ["New: Bolt, Old: ", "first: ", "B: ", "one: "])
        #expect(throws: NSError.self) { try stock.context.existingObject(with: stock.bolt) }
    }

    // MARK: Together with other features

    /// A policy that keeps the conflicts and gives new objects what they lack before its parent
    /// settles.
    private final class FillingPolicy: NSMergePolicy, @unchecked Sendable {
        var conflicts: [NSConstraintConflict] = []

        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            conflicts += list
            for conflict in list {
                for object in conflict.conflictingObjects where object.value(forKey: "size") == nil {
                    object.setValue(conflict.databaseSnapshot?["size"], forKey: "size")
                }
            }
            try super.resolve(constraintConflicts: list)
            for conflict in list { conflict.databaseObject?.setValue("after", forKey: "colour") }
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func aPolicyOfTheProgramsOwnMayFillInAndGoOn(kind: StoreKind, isHeld: Bool) throws {
        let policy = FillingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let stock = try WinningStock(kind, policy)
        let held = isHeld ? stock.context.object(with: stock.bolt) : nil
        let new = stock.context.new("Item", ["name": "Bolt"])
        try stock.context.save()
        #expect(try stock.items() == ["Bolt 7 after nil nil first one"])
        #expect(policy.conflicts.count == 1)
        // It is the object of the conflict that stays.
        let stays = try #require(policy.conflicts.first?.databaseObject)
        #expect(stays !== new)
        #expect(new.managedObjectContext == nil)
        #expect(stays.objectID == stock.bolt)
        #expect(stays.value(forKey: "size") as? Int == 7)
        #expect(stock.context.registeredObject(for: stock.bolt) === stays)
        stays.setValue("last", forKey: "colour")
        try stock.context.save()
        #expect(try stock.items() == ["Bolt 7 last nil nil first one"])
        withExtendedLifetime(held) {}
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func aNewObjectOfAChildGoesOnInTheChild(kind: StoreKind, isHeld: Bool) throws {
        let stock = try WinningStock(kind, .mergeByPropertyObjectTrump)
        let held = isHeld ? stock.context.object(with: stock.bolt) : nil
        let child = stock.context.newChild()
        let new = child.new("Item", ["name": "Bolt", "size": 1])
        try child.save()
        try stock.context.save()
        #expect(try stock.items() == ["Bolt 1 grey nil nil first one"])
        child.performAndWait {}
        #expect(new.objectID == stock.bolt)
        new.setValue(2, forKey: "size")
        try child.save()
        try stock.context.save()
        #expect(try stock.items() == ["Bolt 2 grey nil nil first one"])
        withExtendedLifetime(held) {}
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsChangedAfterwardsCanBeUndone(kind: StoreKind) throws {
        let stock = try WinningStock(kind, .mergeByPropertyObjectTrump)
        let context = stock.context
        context.undoManager = UndoManager()
        let new = context.new("Item", ["name": "Bolt", "size": 1])
        try context.save()
        #expect(new.objectID == stock.bolt)
        context.undoManager?.removeAllActions()
        new.setValue(2, forKey: "size")
        context.processPendingChanges()
        context.undo()
        #expect(new.value(forKey: "size") as? Int == 1)
        try context.save()
        #expect(try stock.items() == ["Bolt 1 grey nil nil first one"])
    }

    @Test(arguments: StoreKind.allCases)
    func aPermanentIDThatWasHandedOutEndsWithTheConflict(kind: StoreKind) throws {
        let stock = try WinningStock(kind, .mergeByPropertyObjectTrump)
        let new = stock.context.new("Item", ["name": "Bolt", "size": 1])
        try stock.context.obtainPermanentIDs(for: [new])
        let former = new.objectID
        try stock.context.save()
        #expect(new.objectID == stock.bolt)
        #expect(stock.context.registeredObject(for: former) == nil)
        #expect(stock.context.registeredObject(for: stock.bolt) === new)
        #expect(try stock.items() == ["Bolt 1 grey nil nil first one"])
    }
}
