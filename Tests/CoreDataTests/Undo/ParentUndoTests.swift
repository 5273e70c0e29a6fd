import CoreData
import TestSupport
import Testing

/// The undo manager of a parent into which children save.
@Suite(.everyStore) struct ParentUndoTests {
    /// Changes of each kind: an order, a new member in the middle of it, a deletion with what its
    /// rule reaches, values, both sides of a many-to-many relationship.
    private func changeEverything(in context: NSManagedObjectContext) throws {
        let (europe, rhine) = (try Atlas.find("Europe", in: context), try Atlas.find("Rhine", in: context))
        let members = europe.mutableOrderedSetValue(forKey: "countries")
        members.moveObjects(at: IndexSet(integer: 2), to: 0)
        members.insert(Atlas.new("Country", "Malta", in: context), at: 1)
        try Atlas.find("Spain", in: context).setValue(41, forKey: "people")
        try Atlas.find("Spain", in: context).setValue(NSSet(object: rhine), forKey: "rivers")
        context.delete(try Atlas.find("Asia", in: context))
        context.delete(try Atlas.find("map", in: context))
    }

    @Test(arguments: [false, true]) func aSaveOfAChildIsUndoneAndRedoneAsOneGroup(isSplit: Bool) throws {
        let atlas = try Atlas(.root, isSplit: isSplit)
        let before = try Atlas.lines(atlas.root)
        try changeEverything(in: atlas.child)
        let after = try Atlas.lines(atlas.child)
        try atlas.group { try atlas.child.save() }
        try atlas.expect(after)
        for round in 0..<2 {
            atlas.root.undo()
            try atlas.expect(before, "undo \(round)")
            let child = atlas.newContext(below: atlas.root)
            try atlas.expect(before, in: child, "undo \(round)")
            try atlas.expect(before, in: atlas.newContext(below: child), "undo \(round)")
            atlas.root.redo()
            try atlas.expect(after, "redo \(round)")
            try atlas.expect(after, in: atlas.newContext(below: atlas.root), "redo \(round)")
        }
        try atlas.expectStored(before)
        try atlas.root.save()
        try atlas.expectStored(after)
        atlas.root.undo()
        try atlas.expect(before, in: atlas.newContext(below: atlas.root), "undone after the root's save")
        try atlas.root.save()
        try atlas.expectStored(before)
        atlas.root.redo()
        try atlas.root.save()
        try atlas.expectStored(after)
    }

    @Test func whatAGrandchildSavedUpIsUndoneAndRedone() throws {
        let atlas = try Atlas(.root)
        let before = try Atlas.lines(atlas.root)
        try changeEverything(in: atlas.grandchild)
        let after = try Atlas.lines(atlas.grandchild)
        try atlas.grandchild.save()
        try atlas.group { try atlas.child.save() }
        atlas.root.undo()
        for level in [atlas.child, atlas.grandchild] {
            level.refreshAllObjects()
            try atlas.expect(before, in: level)
        }
        atlas.root.redo()
        for level in [atlas.child, atlas.grandchild] {
            level.refreshAllObjects()
            try atlas.expect(after, in: level)
        }
        try atlas.root.save()
        try atlas.expectStored(after)
    }

    @Test func savesThatOpenTheirGroupsThemselvesAreUndoneAndRedone() throws {
        let atlas = try Atlas(.root)
        atlas.manager.groupsByEvent = true
        let before = try Atlas.lines(atlas.root)
        try changeEverything(in: atlas.child)
        try atlas.child.save()
        try Atlas.find("Malta", in: atlas.child).setValue(1, forKey: "people")
        try atlas.child.save()
        let after = try Atlas.lines(atlas.child)
        try atlas.expect(after)
        atlas.undoAll()
        try atlas.expect(before)
        try atlas.expect(before, in: atlas.newContext(below: atlas.root))
        atlas.redoAll()
        try atlas.expect(after)
        try atlas.root.save()
        try atlas.expectStored(after)
    }

    /// The child does not hear of the undo, and its policy settles the conflict.
    @Test func unsavedChangesOfAChildGoOnOverWhatTheParentTookBack() throws {
        let atlas = try Atlas(.root)
        let held = try atlas.hold()
        let spain = try Atlas.find("Spain", in: atlas.child)
        spain.setValue(41, forKey: "people")
        try atlas.group { try atlas.child.save() }
        spain.setValue("Iberia", forKey: "name")
        atlas.root.undo()
        atlas.child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try atlas.group { try atlas.child.save() }
        let shown = try Atlas.lines(atlas.root)
        #expect(shown.contains("Europe: France 60 (Rhine), Iberia 40 (Ebro), Italy 50 (Rhine)"))
        atlas.child.refreshAllObjects()
        try atlas.expect(shown, in: atlas.child)
        try atlas.root.save()
        try atlas.expectStored(shown)
        withExtendedLifetime(held) {}
    }

    /// Whether the child's save is refused or brings the object back: all levels agree afterwards.
    @Test(arguments: [NSMergePolicyType.errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType])
    func aChildThatGoesOnWithWhatTheParentTookBackEndsWithWhatTheParentHas(policy: NSMergePolicyType) throws {
        let atlas = try Atlas(.root)
        let before = try Atlas.lines(atlas.root)
        let europe = try Atlas.find("Europe", in: atlas.child)
        let malta = Atlas.new("Country", "Malta", in: atlas.child)
        europe.mutableOrderedSetValue(forKey: "countries").insert(malta, at: 1)
        try atlas.group { try atlas.child.save() }
        atlas.root.undo()
        malta.setValue(1, forKey: "people")
        atlas.child.mergePolicy = NSMergePolicy(merge: policy)
        let error = errorThrown { try atlas.group { try atlas.child.save() } }
        if error != nil {
            atlas.child.rollback()
            try atlas.expect(before)
        }
        try Atlas.expectConsistent(atlas.root)
        let shown = try Atlas.lines(atlas.root)
        try atlas.root.save()
        try atlas.expectStored(shown)
        atlas.wait()
        atlas.child.refreshAllObjects()
        try atlas.expect(shown, in: atlas.child)
    }

    @Test func aChildThatFollowsItsParentSeesWhatTheParentTookBackAndSaved() throws {
        let atlas = try Atlas(.root)
        let held = try atlas.hold()
        let before = try Atlas.lines(atlas.root)
        atlas.child.automaticallyMergesChangesFromParent = true
        try changeEverything(in: atlas.child)
        let after = try Atlas.lines(atlas.child)
        try atlas.group { try atlas.child.save() }
        try atlas.root.save()
        atlas.wait()
        try atlas.expect(after, in: atlas.child)
        atlas.root.undo()
        try atlas.root.save()
        atlas.wait()
        try atlas.expect(before, in: atlas.child, "undone")
        #expect(!atlas.child.hasChanges)
        atlas.root.redo()
        try atlas.root.save()
        atlas.wait()
        try atlas.expect(after, in: atlas.child, "redone")
        #expect(!atlas.child.hasChanges)
        try atlas.expectStored(after)
        withExtendedLifetime(held) {}
    }
}
