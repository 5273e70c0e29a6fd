import CoreData
import TestSupport
import Testing

/// Undo below the root of what has been given permanent IDs before it was in a store.
@Suite(.everyStore) struct PermanentIDUndoTests {
    /// The time when new objects get their permanent IDs.
    enum Moment: CaseIterable { case beforeTheSave, afterTheSave, above, withTheRootsSave }

    private func obtain(_ objects: [NSManagedObject], _ moment: Moment, in context: NSManagedObjectContext) throws {
        switch moment {
        case .withTheRootsSave: return
        case .beforeTheSave, .afterTheSave: try context.obtainPermanentIDs(for: objects)
        case .above:
            let parent = try #require(context.parent)
            let above = objects.compactMap { parent.registeredObject(for: $0.objectID) }
            #expect(above.count == objects.count)
            try parent.obtainPermanentIDs(for: above)
        }
    }

    /// A country with a place in an order and a river.
    private func insertMalta(_ atlas: Atlas) throws -> NSManagedObject {
        let (europe, rhine) = (try atlas.find("Europe"), try atlas.find("Rhine"))
        let malta = Atlas.new("Country", "Malta", in: atlas.context)
        europe.mutableOrderedSetValue(forKey: "countries").insert(malta, at: 1)
        malta.setValue(NSSet(object: rhine), forKey: "rivers")
        return malta
    }

    @Test(arguments: LongTests.some(1, of: [Atlas.Level.child, .grandchild]), Moment.allCases)
    func whatAChildSavedIsUndoneAndRedoneAndInTheStoreOnce(level: Atlas.Level, moment: Moment) throws {
        for savesUp in [false, true] {
            let atlas = try Atlas(level)
            let context = atlas.context
            let before = try Atlas.lines(context)
            var made: NSManagedObject?
            try atlas.group { made = try insertMalta(atlas) }
            let malta = try #require(made)
            if moment == .beforeTheSave { try obtain([malta], moment, in: context) }
            try context.save()
            if moment != .beforeTheSave { try obtain([malta], moment, in: context) }
            let after = try Atlas.lines(context)
            for round in 0..<2 {
                atlas.undoAll()
                try atlas.expect(before, "undo \(round)")
                if savesUp { try atlas.saveUp() } else { try context.save() }
                for level in atlas.levels {
                    try atlas.expect(before, in: atlas.newContext(below: level), "undo \(round)")
                }
                try atlas.expectStored(before, "undo \(round)")
                atlas.redoAll()
                try atlas.expect(after, "redo \(round)")
                if savesUp { try atlas.saveUp() } else { try context.save() }
                let parent = try #require(context.parent)
                try atlas.expect(after, in: atlas.newContext(below: parent), "redo \(round)")
            }
            try atlas.saveUp()
            try atlas.expectStored(after)
            #expect(!malta.objectID.isTemporaryID)
            let (stored, mine) = (try Atlas.find("Malta", in: atlas.newContext()), try atlas.find("Malta"))
            #expect(stored.objectID == malta.objectID)
            #expect(mine === malta)
        }
    }

    /// The parent's deletion is pending, or it was saved; what comes back leads elsewhere by then.
    @Test(arguments: [Atlas.Level.child, .grandchild], [false, true])
    func whatAChildHasDeletedComesBackToWhereItLeadsThen(level: Atlas.Level, savesUp: Bool) throws {
        let atlas = try Atlas(level)
        let context = atlas.context
        let before = try Atlas.lines(context)
        let (spain, rhine, asia) = (try atlas.find("Spain"), try atlas.find("Rhine"), try atlas.find("Asia"))
        atlas.group { context.delete(spain) }
        if savesUp { try atlas.saveUp() } else { try context.save() }
        atlas.undoAll()
        try atlas.expect(before, "undone")
        atlas.group {
            spain.setValue(NSSet(object: rhine), forKey: "rivers")
            spain.setValue(asia, forKey: "continent")
        }
        let after = try Atlas.lines(context)
        try context.save()
        try atlas.expect(after, in: atlas.newContext(below: atlas.levels[level.rawValue - 1]), "saved below")
        try atlas.saveUp()
        for level in atlas.levels { try atlas.expect(after, in: level) }
        try atlas.expectStored(after)
    }

    @Test(arguments: Moment.allCases) func newObjectsOfWhichOneHasItsIDAreUndoneAndRedoneTogether(moment: Moment) throws
    {
        let atlas = try Atlas(.child)
        let context = atlas.context
        let before = try Atlas.lines(context)
        var made: [NSManagedObject] = []
        atlas.group {
            let africa = Atlas.new("Continent", "Africa", in: context)
            let countries = ["Mali", "Egypt"].map { Atlas.new("Country", $0, in: context) }
            africa.mutableOrderedSetValue(forKey: "countries").addObjects(from: countries)
            let nile = Atlas.new("River", "Nile", in: context)
            nile.setValue(NSSet(object: countries[1]), forKey: "countries")
            made = [africa, nile] + countries
        }
        // Egypt, in the middle of all relationships.
        if moment == .beforeTheSave { try obtain([made[3]], moment, in: context) }
        try context.save()
        if moment != .beforeTheSave { try obtain([made[3]], moment, in: context) }
        let after = try Atlas.lines(context)
        atlas.undoAll()
        try atlas.expect(before)
        try context.save()
        try atlas.expect(before, in: atlas.root)
        atlas.redoAll()
        try atlas.expect(after)
        try atlas.saveUp()
        try atlas.expect(after, in: atlas.root)
        try atlas.expectStored(after)
        let fresh = atlas.newContext()
        let found = try made.map { try fresh.existingObject(with: $0.objectID) }
        #expect(found.map(Atlas.name) == ["Africa", "Nile", "Mali", "Egypt"])
        atlas.undoAll()
        try atlas.saveUp()
        try atlas.expectStored(before)
    }

    @Test(arguments: Moment.allCases) func aDeletionOfWhatNoStoreHasEverHadIsUndoneAndRedone(moment: Moment) throws {
        let atlas = try Atlas(.child)
        let context = atlas.context
        let before = try Atlas.lines(context)
        var made: NSManagedObject?
        try atlas.unregistered { made = try insertMalta(atlas) }
        let malta = try #require(made)
        if moment == .beforeTheSave { try obtain([malta], moment, in: context) }
        try context.save()
        if moment != .beforeTheSave { try obtain([malta], moment, in: context) }
        let after = try Atlas.lines(context)
        atlas.group { context.delete(malta) }
        try context.save()
        try atlas.expect(before, in: atlas.root)
        for round in 0..<2 {
            atlas.undoAll()
            try atlas.expect(after, "undo \(round)")
            // The first time no store has it, the second time one has had it.
            try atlas.saveUp()
            try atlas.expectStored(after, "undo \(round)")
            atlas.redoAll()
            try atlas.expect(before, "redo \(round)")
            try atlas.saveUp()
            try atlas.expectStored(before, "redo \(round)")
        }
    }

    /// The ID is obtained, and then it is undone before anybody has saved.
    @Test(arguments: Atlas.Level.allCases) func anInsertionThatHasAnIDAndWasNeverSavedIsRedone(level: Atlas.Level)
        throws
    {
        let atlas = try Atlas(level)
        let before = try Atlas.lines(atlas.context)
        var made: NSManagedObject?
        try atlas.group { made = try insertMalta(atlas) }
        let malta = try #require(made)
        let after = try Atlas.lines(atlas.context)
        try atlas.context.obtainPermanentIDs(for: [malta])
        for round in 0..<3 {
            atlas.undoAll()
            try atlas.expect(before, "undo \(round)")
            if round == 1 { try atlas.saveUp() }
            try atlas.expectStored(before, "undo \(round)")
            atlas.redoAll()
            try atlas.expect(after, "redo \(round)")
        }
        try atlas.saveUp()
        try atlas.expectStored(after)
        let stored = try Atlas.find("Malta", in: atlas.newContext())
        #expect(stored.objectID == malta.objectID)
    }
}
