import CoreData
import TestSupport
import Testing

/// Deletions that a refresh without merging has taken back before they are undone, and that are
/// done again.
@Suite(.everyStore) struct RefreshedDeletionUndoTests {
    struct Way: CustomTestStringConvertible {
        var deleted: [String]
        var refreshed: [String]
        var level: Atlas.Level
        var isSplit = false

        var testDescription: String {
            "\(deleted.joined(separator: ", ")) deleted, \(refreshed.joined(separator: ", ")) refreshed in the \(level)"
        }
    }

    /// A country in the middle of its order; a continent with what its rule deletes; and objects of
    /// two stores.
    static let ways: [Way] = Atlas.Level.allCases.flatMap { level in
        [
            Way(deleted: ["Spain"], refreshed: ["Spain"], level: level),
            Way(deleted: ["Spain", "Japan"], refreshed: ["Spain"], level: level),
            Way(deleted: ["Europe"], refreshed: ["Europe"], level: level),
            Way(deleted: ["Europe"], refreshed: ["Spain"], level: level),
            Way(deleted: ["Europe"], refreshed: ["Europe", "France", "Spain", "Italy"], level: level),
            Way(deleted: ["Europe"], refreshed: ["Italy", "Spain", "Europe"], level: level),
            Way(deleted: ["Rhine", "Spain"], refreshed: ["Rhine", "Spain"], level: level),
            Way(deleted: ["Europe", "map"], refreshed: ["map"], level: level, isSplit: true),
            Way(deleted: ["Europe", "map"], refreshed: ["Europe", "Spain"], level: level, isSplit: true),
            Way(deleted: ["Spain", "key"], refreshed: ["key", "Spain"], level: level, isSplit: true),
        ]
    }

    /// An atlas in which things were deleted, and some of them refreshed.
    private struct Scene {
        let atlas: Atlas
        let before: [String]
        let after: [String]
        /// Keeps the objects alive.
        let objects: [NSManagedObject]

        init(_ way: Way) throws {
            let atlas = try Atlas(way.level, isSplit: way.isSplit)
            let before = try Atlas.lines(atlas.context)
            let deleted = try way.deleted.map { try atlas.find($0) }
            let refreshed = try way.refreshed.map { try atlas.find($0) }
            atlas.group { for object in deleted { atlas.context.delete(object) } }
            let after = try Atlas.lines(atlas.context)
            #expect(after != before)
            atlas.group { for object in refreshed { atlas.context.refresh(object, mergeChanges: false) } }
            (self.atlas, self.before, self.after) = (atlas, before, after)
            objects = deleted + refreshed
        }
    }

    @Test(arguments: LongTests.some(8, of: ways), [true, false])
    func undoAndRedoMakeWhatTheyWouldHaveMadeWithoutTheRefresh(way: Way, isSaved: Bool) throws {
        let scene = try Scene(way)
        let atlas = scene.atlas
        atlas.undoAll()
        try atlas.expect(scene.before, "undone")
        #expect(atlas.context.insertedObjects.isEmpty)
        #expect(atlas.context.deletedObjects.isEmpty)
        for round in 0..<2 {
            if isSaved {
                try atlas.saveUp()
                try atlas.expectStored(scene.before, "before redo \(round)")
            }
            atlas.redoAll()
            try atlas.expect(scene.after, "redo \(round)")
            if isSaved {
                try atlas.saveUp()
                try atlas.expectStored(scene.after, "redo \(round)")
            }
            atlas.undoAll()
            try atlas.expect(scene.before, "undo \(round)")
        }
        try atlas.saveUp()
        try atlas.expectStored(scene.before, "at last")
        withExtendedLifetime(scene) {}
    }

    @Test(arguments: Atlas.Level.allCases) func whatIsChangedAfterTheRefreshIsUndoneToo(level: Atlas.Level) throws {
        let atlas = try Atlas(level)
        let before = try Atlas.lines(atlas.context)
        let (spain, asia) = (try atlas.find("Spain"), try atlas.find("Asia"))
        atlas.group { atlas.context.delete(spain) }
        atlas.group { atlas.context.refresh(spain, mergeChanges: false) }
        atlas.group {
            spain.setValue(41, forKey: "people")
            spain.setValue(asia, forKey: "continent")
        }
        atlas.undoAll()
        try atlas.expect(before)
        try atlas.saveUp()
        try atlas.expectStored(before)
    }

    // MARK: Below

    @Test(arguments: [["Europe"], ["Europe", "France", "Spain", "Italy"], ["Spain"]])
    func aChildThatHoldsWhatItsParentTookBackGoesOnWithIt(refreshed: [String]) throws {
        let atlas = try Atlas(.root)
        let held = try atlas.hold()
        let before = try Atlas.lines(atlas.root)
        let objects = try refreshed.map { try atlas.find($0) }
        let europe = try atlas.find("Europe")
        atlas.group { atlas.root.delete(europe) }
        atlas.group { for object in objects { atlas.root.refresh(object, mergeChanges: false) } }
        atlas.undoAll()
        for level in atlas.levels { try atlas.expect(before, in: level) }
        let spain = try Atlas.find("Spain", in: atlas.child)
        spain.setValue(41, forKey: "people")
        let members = try Atlas.find("Europe", in: atlas.child).mutableOrderedSetValue(forKey: "countries")
        members.moveObjects(at: IndexSet(integer: 1), to: 0)
        let changed = try Atlas.lines(atlas.child)
        #expect(changed != before)
        try atlas.group { try atlas.child.save() }
        try atlas.root.save()
        try atlas.expectStored(changed)
        atlas.undoAll()
        try atlas.expect(before)
        try atlas.root.save()
        try atlas.expectStored(before)
        withExtendedLifetime(held) {}
    }

    @Test(arguments: [["Europe"], ["Europe", "France", "Spain", "Italy"], ["Spain"]])
    func aChildThatReadsAnewFollowsARedoneDeletionOfItsParent(refreshed: [String]) throws {
        let atlas = try Atlas(.root)
        let held = try atlas.hold()
        let objects = try refreshed.map { try atlas.find($0) }
        let europe = try atlas.find("Europe")
        atlas.group { atlas.root.delete(europe) }
        let after = try Atlas.lines(atlas.root)
        atlas.group { for object in objects { atlas.root.refresh(object, mergeChanges: false) } }
        atlas.undoAll()
        atlas.redoAll()
        try atlas.expect(after)
        for isSaved in [false, true] {
            if isSaved { try atlas.root.save() }
            for level in [atlas.child, atlas.grandchild] {
                level.refreshAllObjects()
                try atlas.expect(after, in: level, isSaved ? "saved" : "unsaved")
            }
        }
        try atlas.expectStored(after)
        withExtendedLifetime(held) {}
    }

    // MARK: Merges

    /// Whose deletion it is does not matter: what is shown can be saved, and is what is stored
    /// then.
    @Test(arguments: [Atlas.Level.root, .child], [true, false])
    func whatOthersDeletedAsWellIsStoredAsItIsShown(level: Atlas.Level, isMergedFirst: Bool) throws {
        let atlas = try Atlas(level)
        let spain = try atlas.find("Spain")
        atlas.group { atlas.context.delete(spain) }
        let save = try atlas.changeElsewhere { other in other.delete(try Atlas.find("Spain", in: other)) }
        if isMergedFirst { atlas.merge(save) }
        atlas.group { atlas.context.refresh(spain, mergeChanges: false) }
        if !isMergedFirst { atlas.merge(save) }
        for isRedone in [false, true] {
            if isRedone { atlas.redoAll() } else { atlas.undoAll() }
            try Atlas.expectConsistent(atlas.context)
            let shown = try Atlas.lines(atlas.context)
            try atlas.saveUp()
            try atlas.expect(shown, "saved")
            try atlas.expectStored(shown, isRedone ? "redone" : "undone")
            if isRedone { #expect(!shown.contains { $0.contains("Spain") }) }
        }
    }

    @Test(arguments: [Atlas.Level.root, .child]) func whatOthersChangedMeanwhileIsWhatComesBack(level: Atlas.Level)
        throws
    {
        let atlas = try Atlas(level)
        let spain = try atlas.find("Spain")
        let save = try atlas.changeElsewhere { other in
            let spain = try Atlas.find("Spain", in: other)
            spain.setValue("Iberia", forKey: "name")
            spain.setValue(7, forKey: "people")
        }
        atlas.group { atlas.context.delete(spain) }
        let after = try Atlas.lines(atlas.context)
        atlas.group { atlas.context.refresh(spain, mergeChanges: false) }
        atlas.merge(save)
        atlas.undoAll()
        let expected = try Atlas.lines(atlas.newContext())
        #expect(expected.contains { $0.contains("France 60 (Rhine), Iberia 7 (Ebro), Italy 50 (Rhine)") })
        try atlas.expect(expected, "undone")
        atlas.redoAll()
        try atlas.expect(after, "redone")
        atlas.undoAll()
        try atlas.expect(expected, "undone again")
        try atlas.saveUp()
        try atlas.expectStored(expected)
    }
}
