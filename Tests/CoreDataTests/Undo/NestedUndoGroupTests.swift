import CoreData
import TestSupport
import Testing

/// Groups within groups, and limited levels of undo, where children save and changes are discarded.
@Suite(.everyStore) struct NestedUndoGroupTests {
    @Test(arguments: Atlas.Level.allCases, [false, true])
    func whatIsDiscardedInANestedGroupIsNotUndone(level: Atlas.Level, isReset: Bool) throws {
        let atlas = try Atlas(level)
        let (context, manager) = (atlas.context, atlas.manager)
        let before = try Atlas.lines(context)
        manager.beginUndoGrouping()
        try atlas.find("Spain").setValue(1, forKey: "people")
        context.processPendingChanges()
        manager.beginUndoGrouping()
        context.delete(try atlas.find("Asia"))
        Atlas.new("Country", "Malta", in: context).setValue(try atlas.find("Europe"), forKey: "continent")
        context.processPendingChanges()
        if isReset { context.reset() } else { context.rollback() }
        #expect(!context.hasChanges)
        try atlas.expect(before, "discarded")
        while manager.groupingLevel > 0 { manager.endUndoGrouping() }
        atlas.undoAll()
        atlas.redoAll()
        #expect(!context.hasChanges)
        try atlas.expect(before, "undone")
        // What is changed from here on is undone as ever.
        try atlas.group { try atlas.find("Spain").setValue(2, forKey: "people") }
        let changed = try Atlas.lines(context)
        atlas.undoAll()
        try atlas.expect(before)
        atlas.redoAll()
        try atlas.expect(changed)
        try atlas.saveUp()
        try atlas.expectStored(changed)
    }

    @Test(arguments: [false, true]) func whatAChildDiscardsLeavesTheOpenGroupsOfItsParent(isReset: Bool) throws {
        let atlas = try Atlas(.root)
        let (child, manager) = (atlas.child, atlas.manager)
        let before = try Atlas.lines(atlas.root)
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        try Atlas.find("Spain", in: child).setValue(41, forKey: "people")
        try child.save()
        child.delete(try Atlas.find("Asia", in: child))
        child.processPendingChanges()
        if isReset { child.reset() } else { child.rollback() }
        manager.endUndoGrouping()
        try Atlas.find("France", in: child).setValue(61, forKey: "people")
        try child.save()
        manager.endUndoGrouping()
        let after = try Atlas.lines(atlas.root)
        #expect(after.contains("Europe: France 61 (Rhine), Spain 41 (Ebro), Italy 50 (Rhine)"))
        try atlas.expect(after, in: child)
        atlas.root.undo()
        try atlas.expect(before)
        try atlas.expect(before, in: atlas.newContext(below: atlas.root))
        atlas.root.redo()
        try atlas.expect(after)
        try atlas.root.save()
        try atlas.expectStored(after)
    }

    /// A parent's change, a child's save within it, and another change.
    private func nest(_ atlas: Atlas, _ end: () throws -> Void) throws {
        let manager = atlas.manager
        manager.beginUndoGrouping()
        try atlas.find("Italy").setValue(51, forKey: "people")
        atlas.root.processPendingChanges()
        manager.beginUndoGrouping()
        let (europe, spain) = (try Atlas.find("Europe", in: atlas.child), try Atlas.find("Spain", in: atlas.child))
        spain.setValue(41, forKey: "people")
        europe.mutableOrderedSetValue(forKey: "countries").insert(Atlas.new("Country", "Malta", in: atlas.child), at: 1)
        try atlas.child.save()
        atlas.root.processPendingChanges()
        manager.endUndoGrouping()
        try end()
        atlas.root.processPendingChanges()
        manager.endUndoGrouping()
    }

    @Test func aChildsSaveWithinAGroupIsUndoneWithIt() throws {
        let atlas = try Atlas(.root)
        let before = try Atlas.lines(atlas.root)
        try nest(atlas) { atlas.root.delete(try atlas.find("Asia")) }
        let after = try Atlas.lines(atlas.root)
        for _ in 0..<2 {
            atlas.root.undo()
            try atlas.expect(before)
            atlas.root.redo()
            try atlas.expect(after)
        }
        try atlas.root.save()
        try atlas.expectStored(after)
        atlas.root.undo()
        try atlas.root.save()
        try atlas.expectStored(before)
    }

    @Test func aChildsSaveWithinAnOpenGroupIsUndoneAlone() throws {
        let atlas = try Atlas(.root)
        let before = try Atlas.lines(atlas.root)
        var alone: [String] = []
        try nest(atlas) {
            atlas.manager.undoNestedGroup()
            alone = try Atlas.lines(atlas.root)
        }
        #expect(alone.contains("Europe: France 60 (Rhine), Spain 40 (Ebro), Italy 51 (Rhine)"))
        try atlas.expect(alone)
        try atlas.expect(alone, in: atlas.newContext(below: atlas.root))
        atlas.undoAll()
        try atlas.expect(before)
        try atlas.root.save()
        try atlas.expectStored(before)
    }

    // MARK: Limited levels

    /// Changes of three kinds, one after the other.
    private let steps: [(NSManagedObjectContext) throws -> Void] = [
        { context in
            let members = try Atlas.find("Europe", in: context).mutableOrderedSetValue(forKey: "countries")
            members.insert(Atlas.new("Country", "Malta", in: context), at: 1)
        },
        { context in context.delete(try Atlas.find("Asia", in: context)) },
        { context in try Atlas.find("Malta", in: context).setValue("Gozo", forKey: "name") },
    ]

    /// - Parameter level: the level that has the undo manager; what is changed is changed below it,
    ///   or at it where nothing lies below.
    @Test(arguments: Atlas.Level.allCases, [1, 2]) func savesThatTheLimitHasForgottenStay(
        level: Atlas.Level, limit: Int
    ) throws {
        let atlas = try Atlas(level)
        atlas.manager.levelsOfUndo = limit
        let below = atlas.levels.first { $0.parent === atlas.context }
        var states = [try Atlas.lines(atlas.context)]
        for step in steps {
            try atlas.group {
                try step(below ?? atlas.context)
                try below?.save()
            }
            try atlas.saveUp()
            states.append(try Atlas.lines(atlas.context))
            try atlas.expectStored(states[states.count - 1])
        }
        atlas.undoAll()
        try atlas.expect(states[3 - limit], "undone")
        try atlas.saveUp()
        try atlas.expectStored(states[3 - limit], "undone")
        atlas.redoAll()
        try atlas.expect(states[3], "redone")
        try atlas.saveUp()
        try atlas.expectStored(states[3], "redone")
        for other in atlas.levels {
            other.refreshAllObjects()
            try atlas.expect(states[3], in: other, "redone")
        }
    }
}
