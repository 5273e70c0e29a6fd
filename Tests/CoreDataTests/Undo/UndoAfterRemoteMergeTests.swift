import CoreData
import TestSupport
import Testing

/// Results of batch requests, merged into a parent that has an undo manager, and into the children
/// that hold its objects.
@Suite(.stores(StoreKind.complete)) struct UndoAfterRemoteMergeTests {
    /// An atlas whose levels hold everything, with a group of changes in the root and unsaved
    /// changes below.
    private struct Scene {
        let atlas: Atlas
        let held: [NSManagedObject]

        init(_ group: (NSManagedObjectContext) throws -> Void) throws {
            let atlas = try Atlas(.root)
            held = try atlas.hold()
            self.atlas = atlas
            try atlas.group { try group(atlas.root) }
            try Atlas.find("Spain", in: atlas.child).setValue(41, forKey: "people")
            try Atlas.find("Italy", in: atlas.grandchild).setValue("Latium", forKey: "name")
            for level in [atlas.child, atlas.grandchild] { level.processPendingChanges() }
        }

        /// Executes a batch request past the tree, and merges its result into all levels.
        func merge(_ key: String, _ execute: (NSManagedObjectContext) throws -> [NSManagedObjectID]) throws {
            let objectIDs = try execute(atlas.newContext())
            #expect(!objectIDs.isEmpty)
            atlas.group {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: objectIDs], into: atlas.levels)
            }
        }

        /// Expects that unsaved changes below are still there, to be saved.
        func expectUnsavedChanges(_ location: SourceLocation = #_sourceLocation) throws {
            let spain = try Atlas.find("Spain", in: atlas.child)
            #expect(Atlas.people(spain) == 41, sourceLocation: location)
            #expect(atlas.child.updatedObjects.contains(spain), sourceLocation: location)
            #expect(atlas.grandchild.updatedObjects.map(Atlas.name) == ["Latium"], sourceLocation: location)
            for level in [atlas.child, atlas.grandchild] {
                #expect(level.insertedObjects.isEmpty, sourceLocation: location)
                #expect(level.deletedObjects.isEmpty, sourceLocation: location)
            }
        }

        /// Saves all levels, and expects that all show what is stored then.
        ///
        /// - Returns: what that is.
        func saveAll(_ location: SourceLocation = #_sourceLocation) throws -> [String] {
            try atlas.grandchild.save()
            try atlas.group { try atlas.child.save() }
            try atlas.root.save()
            atlas.wait()
            let lines = try Atlas.lines(atlas.root)
            for level in atlas.levels {
                level.refreshAllObjects()
                #expect(!level.hasChanges, sourceLocation: location)
                try atlas.expect(lines, in: level, "saved", location)
            }
            try atlas.expectStored(lines, "", location)
            return lines
        }
    }

    private static func delete(_ entity: String, _ name: String, in context: NSManagedObjectContext) throws
        -> [NSManagedObjectID]
    {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = NSPredicate(format: "name == %@", name)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        return try #require(result?.result as? [NSManagedObjectID])
    }

    @Test func aMergedUpdateStaysWhenWhatTheRootChangedIsUndone() throws {
        let scene = try Scene { try Atlas.find("France", in: $0).setValue("Gaul", forKey: "name") }
        let atlas = scene.atlas
        try scene.merge(NSUpdatedObjectsKey) { context in
            let request = NSBatchUpdateRequest(entityName: "Country")
            request.predicate = NSPredicate(format: "name == 'France' OR name == 'Japan'")
            request.propertiesToUpdate = ["people": 7]
            request.resultType = .updatedObjectIDsResultType
            let result = try context.execute(request) as? NSBatchUpdateResult
            return try #require(result?.result as? [NSManagedObjectID])
        }
        for level in atlas.levels {
            let (gaul, japan) = (try Atlas.find("Gaul", in: level), try Atlas.find("Japan", in: level))
            #expect(Atlas.people(gaul) == 7)
            #expect(Atlas.people(japan) == 7)
        }
        try scene.expectUnsavedChanges()
        atlas.undoAll()
        let undone = try Atlas.lines(atlas.root)
        #expect(undone.contains("Europe: France 7 (Rhine), Spain 40 (Ebro), Italy 50 (Rhine)"))
        #expect(undone.contains("Asia: India 1000 (Indus), Japan 7 ()"))
        #expect(!atlas.root.hasChanges)
        atlas.redoAll()
        let redone = try Atlas.lines(atlas.root)
        #expect(redone.contains("Europe: Gaul 7 (Rhine), Spain 40 (Ebro), Italy 50 (Rhine)"))
        atlas.undoAll()
        try scene.expectUnsavedChanges()
        let saved = try scene.saveAll()
        #expect(saved.contains("Europe: France 7 (Rhine), Spain 41 (Ebro), Latium 50 (Rhine)"))
    }

    @Test func aMergedInsertionStaysWhenWhatTheRootInsertedIsUndone() throws {
        let scene = try Scene { Atlas.new("Country", "Malta", in: $0) }
        let atlas = scene.atlas
        try scene.merge(NSInsertedObjectsKey) { context in
            let rows: [[String: Any]] = [["name": "Chad", "people": 3], ["name": "Mali", "people": 4]]
            let request = NSBatchInsertRequest(entityName: "Country", objects: rows)
            request.resultType = .objectIDs
            let result = try context.execute(request) as? NSBatchInsertResult
            return try #require(result?.result as? [NSManagedObjectID])
        }
        func free(_ context: NSManagedObjectContext) throws -> [String] {
            try Atlas.all("Country", in: context).filter { Atlas.home(of: $0) == nil }.map(Atlas.name)
        }
        try scene.expectUnsavedChanges()
        for level in atlas.levels {
            let names = try free(level)
            #expect(names == ["Chad", "Mali", "Malta"])
        }
        atlas.undoAll()
        #expect(!atlas.root.hasChanges)
        for level in atlas.levels {
            let names = try free(level)
            #expect(names == ["Chad", "Mali"])
        }
        try scene.expectUnsavedChanges()
        atlas.redoAll()
        for level in atlas.levels {
            let names = try free(level)
            #expect(names == ["Chad", "Mali", "Malta"])
        }
        let saved = try scene.saveAll()
        #expect(saved.filter { $0.hasPrefix("M") || $0.hasPrefix("C") } == ["Chad 3 ()", "Mali 4 ()", "Malta 0 ()"])
    }

    @Test func whatAMergedDeletionTookIsNotBroughtBackIntoItsOrder() throws {
        let scene = try Scene { root in
            let japan = try Atlas.find("Japan", in: root)
            japan.setValue(101, forKey: "people")
            let members = try Atlas.find("Asia", in: root).mutableOrderedSetValue(forKey: "countries")
            members.moveObjects(at: IndexSet(integer: 1), to: 0)
        }
        let atlas = scene.atlas
        try scene.merge(NSDeletedObjectsKey) { try Self.delete("Country", "Japan", in: $0) }
        for level in atlas.levels { try Atlas.expectConsistent(level) }
        try scene.expectUnsavedChanges()
        atlas.undoAll()
        try Atlas.expectConsistent(atlas.root)
        let undone = try Atlas.lines(atlas.root)
        #expect(undone.contains("Asia: India 1000 (Indus)"))
        atlas.redoAll()
        try Atlas.expectConsistent(atlas.root)
        try scene.expectUnsavedChanges()
        let saved = try scene.saveAll()
        #expect(saved.contains("Asia: India 1000 (Indus)"))
        #expect(saved.contains("Europe: France 60 (Rhine), Spain 41 (Ebro), Latium 50 (Rhine)"))
    }

    @Test(arguments: [false, true]) func whatTheRulesOfAMergedDeletionReachedIsNotBroughtBack(isRedone: Bool) throws {
        let scene = try Scene { root in
            let ganges = Atlas.new("River", "Ganges", in: root)
            let (india, spain) = (try Atlas.find("India", in: root), try Atlas.find("Spain", in: root))
            ganges.setValue(NSSet(array: [india, spain]), forKey: "countries")
            try Atlas.find("Asia", in: root).setValue("Orient", forKey: "name")
        }
        let atlas = scene.atlas
        try scene.merge(NSDeletedObjectsKey) { try Self.delete("Continent", "Asia", in: $0) }
        atlas.undoAll()
        try Atlas.expectConsistent(atlas.root)
        if isRedone {
            atlas.redoAll()
            try Atlas.expectConsistent(atlas.root)
        }
        let saved = try scene.saveAll()
        #expect(saved.count == 3)
        let spain = isRedone ? "Spain 41 (Ebro+Ganges)" : "Spain 41 (Ebro)"
        #expect(saved.first == "Europe: France 60 (Rhine), \(spain), Latium 50 (Rhine)")
        #expect(saved.contains(isRedone ? "River: Ebro, Ganges, Indus, Rhine" : "River: Ebro, Indus, Rhine"))
    }
}
