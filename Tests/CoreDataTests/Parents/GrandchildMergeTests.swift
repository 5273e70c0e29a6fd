import CoreData
import TestSupport
import Testing

/// A child and a grandchild that merge automatically what is saved above them, while both hold
/// everything.
@Suite(.everyStore) struct GrandchildMergeTests {
    private let atlas: Atlas
    private let held: [NSManagedObject]

    init() throws {
        let atlas = try Atlas(.root)
        held = try atlas.hold()
        for level in atlas.levels.dropFirst() { level.automaticallyMergesChangesFromParent = true }
        self.atlas = atlas
    }

    /// Saves a group of changes of the root, and waits until all levels have merged it.
    private func changeRoot(_ change: () throws -> Void) throws {
        try atlas.group(change)
        try saveRoot()
    }

    private func saveRoot() throws {
        try atlas.root.save()
        atlas.wait()
    }

    /// Expects that both levels below agree with the root, as they are and when they read anew, and
    /// have nothing to save.
    private func expectAgreement(_ comment: String = "", _ location: SourceLocation = #_sourceLocation) throws {
        let lines = try Atlas.lines(atlas.root)
        for level in atlas.levels { try atlas.expect(lines, in: level, "\(comment), merged", location) }
        for level in atlas.levels.dropFirst() {
            #expect(!level.hasChanges, "\(comment)", sourceLocation: location)
            level.refreshAllObjects()
            try atlas.expect(lines, in: level, "\(comment), read anew", location)
        }
        try atlas.expectStored(lines, comment, location)
    }

    @Test func aDeletionInTheRootEndsRelationshipsAtAllLevels() throws {
        try changeRoot { atlas.root.delete(try atlas.find("Europe")) }
        try expectAgreement("Europe")
        try changeRoot { atlas.root.delete(try atlas.find("Indus")) }
        try expectAgreement("Indus")
    }

    @Test func relationshipsFollowAtAllLevels() throws {
        try changeRoot {
            let members = try atlas.find("Asia").mutableOrderedSetValue(forKey: "countries")
            members.insert(try atlas.find("Spain"), at: 1)
            members.insert(Atlas.new("Country", "Nepal", in: atlas.root), at: 0)
            try atlas.find("Italy").setValue(NSSet(object: try atlas.find("Ebro")), forKey: "rivers")
        }
        try expectAgreement("moved")
        try changeRoot {
            let members = try atlas.find("Asia").mutableOrderedSetValue(forKey: "countries")
            members.moveObjects(at: IndexSet(integer: 3), to: 0)
            atlas.root.delete(try atlas.find("India"))
        }
        try expectAgreement("in another order")
    }

    @Test func aDeletionThatTheRootUndoesComesBackIntoItsPlaceAtAllLevels() throws {
        try changeRoot { atlas.root.delete(try atlas.find("Spain")) }
        try expectAgreement("deleted")
        try changeRoot { atlas.root.delete(try atlas.find("Asia")) }
        try expectAgreement("deleted with what the rule reaches")
        for count in 1...2 {
            atlas.root.undo()
            try saveRoot()
            try expectAgreement("undone \(count)")
        }
        let lines = try Atlas.lines(atlas.grandchild)
        #expect(lines.contains("Europe: France 60 (Rhine), Spain 40 (Ebro), Italy 50 (Rhine)"))
        atlas.redoAll()
        try saveRoot()
        try expectAgreement("redone")
    }

    @Test func unsavedValuesOfAGrandchildStayWhileTheRootLeadsTheObjectElsewhere() throws {
        try Atlas.find("Spain", in: atlas.grandchild).setValue("Iberia", forKey: "name")
        try Atlas.find("Japan", in: atlas.child).setValue(101, forKey: "people")
        for level in [atlas.child, atlas.grandchild] { level.processPendingChanges() }
        try changeRoot {
            let members = try atlas.find("Asia").mutableOrderedSetValue(forKey: "countries")
            members.insert(try atlas.find("Spain"), at: 0)
            atlas.root.delete(try atlas.find("Rhine"))
        }
        for level in atlas.levels { try Atlas.expectConsistent(level) }
        let iberia = try Atlas.find("Iberia", in: atlas.grandchild)
        #expect(Atlas.home(of: iberia).map(Atlas.name) == "Asia")
        #expect(atlas.grandchild.updatedObjects == [iberia])
        try atlas.grandchild.save()
        try changeRoot { try atlas.child.save() }
        try expectAgreement("saved")
        let lines = try Atlas.lines(atlas.root)
        #expect(
            lines.prefix(2) == [
                "Asia: Iberia 40 (Ebro), India 1000 (Indus), Japan 101 ()", "Europe: France 60 (), Italy 50 ()",
            ])
    }

    /// Whether the saves are refused or not: nothing leads to what is gone, and all levels agree in
    /// the end.
    @Test(arguments: ["Asia", "Indus"]) func whatAGrandchildLeadsToADeletedObjectLeadsNowhereInTheEnd(deleted: String)
        throws
    {
        let below = try Atlas.find("Spain", in: atlas.grandchild)
        below.setValue(try Atlas.find("Asia", in: atlas.grandchild), forKey: "continent")
        below.setValue(NSSet(object: try Atlas.find("Indus", in: atlas.grandchild)), forKey: "rivers")
        atlas.grandchild.processPendingChanges()
        try changeRoot { atlas.root.delete(try atlas.find(deleted)) }
        for level in [atlas.grandchild, atlas.child] {
            let error = errorThrown { try atlas.group { try level.save() } }
            if error == nil { continue }
            level.rollback()
            for level in atlas.levels.dropFirst() { level.refreshAllObjects() }
        }
        try saveRoot()
        try expectAgreement()
        let lines = try Atlas.lines(atlas.newContext())
        #expect(!lines.contains { $0.contains(deleted) })
    }

    @Test func whatAGrandchildHasDeletedStaysDeletedThoughTheRootLedItElsewhere() throws {
        let spain = try Atlas.find("Spain", in: atlas.grandchild)
        atlas.grandchild.delete(spain)
        atlas.grandchild.processPendingChanges()
        try changeRoot {
            let members = try atlas.find("Asia").mutableOrderedSetValue(forKey: "countries")
            members.insert(try atlas.find("Spain"), at: 0)
        }
        try Atlas.expectConsistent(atlas.grandchild)
        #expect(spain.isDeleted)
        try atlas.grandchild.save()
        try changeRoot { try atlas.child.save() }
        try expectAgreement("saved")
        let lines = try Atlas.lines(atlas.root)
        #expect(!lines.contains { $0.contains("Spain") })
    }

    @Test func whatASiblingOfTheirsSavesToTheRootIsMergedBelow() throws {
        let sibling = atlas.newContext(below: atlas.root)
        sibling.delete(try Atlas.find("Asia", in: sibling))
        let members = try Atlas.find("Europe", in: sibling).mutableOrderedSetValue(forKey: "countries")
        members.moveObjects(at: IndexSet(integer: 2), to: 0)
        members.insert(Atlas.new("Country", "Malta", in: sibling), at: 1)
        try Atlas.find("Spain", in: sibling).setValue(
            NSSet(object: try Atlas.find("Rhine", in: sibling)), forKey: "rivers")
        try atlas.group { try sibling.save() }
        atlas.wait()
        let lines = try Atlas.lines(atlas.root)
        for level in atlas.levels { try atlas.expect(lines, in: level, "merged") }
        try saveRoot()
        try expectAgreement("saved")
    }
}
