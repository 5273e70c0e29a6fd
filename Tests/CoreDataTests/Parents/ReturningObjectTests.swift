import CoreData
import TestSupport
import Testing

/// Objects that a child saves although its parent, or another context, has deleted them: they come
/// back in the parent.
@Suite(.everyStore) struct ReturningObjectTests {
    /// A key with a gate, and another key without, which the stack's context has saved.
    private struct Ring {
        let stack: TestStack
        let keys: [NSManagedObject]
        let gate: NSManagedObject
        var parent: NSManagedObjectContext { stack.context }

        /// - Parameters:
        ///   - sharesGates: Whether a gate has several keys.
        ///   - deleteRule: What the deletion of a gate does to its keys.
        init(sharesGates: Bool = false, deleteRule: NSDeleteRule = .nullifyDeleteRule) throws {
            let key = NSEntityDescription("Latchkey", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            let gate = NSEntityDescription("Gate", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            relate(
                key, "gate", gate, inverse: "openedBy", inverseToMany: sharesGates, inverseDeleteRule: deleteRule)
            stack = try TestStack([key, gate])
            let context = stack.context
            keys = ["Front", "Back"].map { Self.new("Latchkey", $0, in: context) }
            self.gate = Self.new("Gate", "Door", in: context)
            keys[0].setValue(self.gate, forKey: "gate")
            try context.save()
        }

        static func new(_ entity: String, _ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(name, forKey: "name")
            return object
        }

        /// Expects that both ends of all relationships agree, and that the store has what the
        /// parent shows.
        func expectSaved(_ location: SourceLocation = #_sourceLocation) throws {
            #expect(!parent.hasChanges, sourceLocation: location)
            let fresh = stack.newContext()
            #expect(try RelationshipEnds.problems(in: parent) == [], sourceLocation: location)
            #expect(try RelationshipEnds.problems(in: fresh) == [], sourceLocation: location)
            #expect(try lines(parent) == lines(fresh), sourceLocation: location)
        }

        /// The keys with their gates, then the gates with their keys.
        func lines(_ context: NSManagedObjectContext) throws -> [String] {
            try ["Latchkey", "Gate"].flatMap { entity in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                    let ends = RelationshipEnds.destinations(of: object, entity == "Latchkey" ? "gate" : "openedBy")
                    let names = ends.map { $0.value(forKey: "name") as? String ?? "nil" }.sorted()
                    return "\(entity) \(object.value(forKey: "name") ?? "nil"): \(names.joined(separator: ", "))"
                }.sorted()
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func aRelationshipThatTheChildEndedStaysEndedAfterTheParentsSave(sharesGates: Bool, endsInKey: Bool) throws {
        let ring = try Ring(sharesGates: sharesGates, deleteRule: .cascadeDeleteRule)
        let child = ring.parent.newChild()
        child.mergePolicy = NSMergePolicy.overwrite
        let (key, gate) = (child.object(with: ring.keys[0].objectID), child.object(with: ring.gate.objectID))
        #expect(gate.value(forKey: "name") as? String == "Door")
        if endsInKey {
            key.setValue(nil, forKey: "gate")
        } else {
            gate.setValue(sharesGates ? NSSet() : nil, forKey: "openedBy")
        }
        gate.setValue("Wide", forKey: "name")
        ring.parent.delete(ring.gate)
        ring.parent.processPendingChanges()
        #expect(ring.keys[0].isDeleted)
        try child.save()
        #expect(ring.keys[0].value(forKey: "gate") == nil)
        try ring.parent.save()
        #expect(ring.keys[0].value(forKey: "gate") == nil)
        #expect(ring.stack.stored("gate", of: "Latchkey") == [nil, nil])
        #expect(try ring.lines(ring.parent) == ["Latchkey Back: ", "Latchkey Front: ", "Gate Wide: "])
        try ring.expectSaved()
    }

    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite], [true, false])
    func whatAnotherContextHasDeletedComesBackThoughTheParentHoldsAFaultOfIt(
        policy: NSMergePolicy, parentKnows: Bool
    ) throws {
        let ring = try Ring()
        ring.parent.refreshAllObjects()
        let child = ring.parent.newChild()
        child.mergePolicy = policy
        let keys = ring.keys.map { child.object(with: $0.objectID) }
        #expect(keys[0].value(forKey: "name") as? String == "Front")
        let other = ring.stack.newContext()
        other.delete(other.object(with: ring.keys[0].objectID))
        try other.save()
        if parentKnows { #expect(ring.keys[0].value(forKey: "name") == nil) }
        #expect(ring.keys[0].isFault == !parentKnows)
        keys[0].setValue("Side", forKey: "name")
        keys[1].setValue(Ring.new("Gate", "Safe", in: child), forKey: "gate")
        try child.save()
        #expect(!child.hasChanges)
        #expect(ring.keys[0].isInserted)
        #expect(ring.keys[0].objectID == keys[0].objectID)
        #expect(!ring.keys[0].objectID.isTemporaryID)
        try ring.parent.save()
        #expect(ring.parent.registeredObject(for: keys[0].objectID) === ring.keys[0])
        let lines = try ring.lines(ring.parent)
        #expect(lines.filter { $0.hasPrefix("Latchkey") } == ["Latchkey Back: Safe", "Latchkey Side: Door"])
        #expect(try ring.lines(child) == lines)
        try ring.expectSaved()
        // It has a row again like any other object.
        keys[0].setValue("Cellar", forKey: "name")
        try child.save()
        #expect(ring.keys[0].isUpdated)
        try ring.parent.save()
        ring.parent.delete(ring.keys[0])
        try ring.parent.save()
        #expect(ring.stack.stored("name", of: "Latchkey") == ["Back"])
        try ring.expectSaved()
    }

    @Test(arguments: [true, false])
    func aParentThatLooksUpAnIDOfAChildsNewObjectGetsTheObject(fires: Bool) throws {
        let ring = try Ring()
        let child = ring.parent.newChild()
        let new = Ring.new("Latchkey", "New", in: child)
        try child.obtainPermanentIDs(for: [new])
        let mine = ring.parent.object(with: new.objectID)
        if fires { #expect(mine.value(forKey: "name") == nil) }
        try child.save()
        #expect(mine.value(forKey: "name") as? String == "New")
        #expect(mine.objectID == new.objectID)
        try ring.parent.save()
        #expect(mine.objectID == new.objectID)
        #expect(ring.stack.stored("name", of: "Latchkey") == ["Back", "Front", "New"])
        try ring.expectSaved()
    }

    @Test func whatAParentDeletesAsSoonAsItIsSavedIsSavedForTheChild() throws {
        let ring = try Ring()
        let child = ring.parent.newChild()
        let new = Ring.new("Latchkey", "New", in: child)
        let front = child.object(with: ring.keys[0].objectID)
        front.setValue("Side", forKey: "name")
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: ring.parent, queue: nil
        ) { notification in
            guard let parent = notification.object as? NSManagedObjectContext else { return }
            for object in parent.insertedObjects.union(parent.updatedObjects)
            where object.entity.name == "Latchkey" {
                parent.delete(object)
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try child.save()
        #expect(!child.hasChanges)
        #expect(new.value(forKey: "name") as? String == "New")
        #expect(front.value(forKey: "name") as? String == "Side")
        #expect(ring.keys[0].isDeleted)
        #expect(try ring.lines(child) == ["Latchkey Back: ", "Gate Door: "])
        try ring.parent.save()
        try ring.expectSaved()
        #expect(ring.stack.stored("name", of: "Latchkey") == ["Back"])
    }

    @Test(arguments: [true, false], [true, false])
    func whatAGrandchildSavesAgainIsNewInAChildThatKnowsItAsGone(isSaved: Bool, isProcessed: Bool) throws {
        let ring = try Ring()
        let child = ring.parent.newChild()
        let grandchild = child.newChild()
        for context in [child, grandchild] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        let below = grandchild.object(with: ring.gate.objectID)
        let keys = [child, grandchild].map { $0.object(with: ring.keys[0].objectID) }
        #expect(below.value(forKey: "name") as? String == "Door")
        #expect(keys.map { $0.value(forKey: "name") as? String } == ["Front", "Front"])
        ring.parent.delete(ring.gate)
        if isSaved { try ring.parent.save() } else { ring.parent.processPendingChanges() }
        let gone = child.object(with: ring.gate.objectID)
        keys[0].setValue(nil, forKey: "gate")
        if isProcessed { child.processPendingChanges() }
        #expect(gone.value(forKey: "name") == nil)
        #expect(gone.isDeleted)
        keys[1].setValue(nil, forKey: "gate")
        below.setValue("Wide", forKey: "name")
        try grandchild.save()
        #expect(gone.isInserted)
        #expect(gone.objectID == below.objectID)
        #expect(gone.value(forKey: "name") as? String == "Wide")
        try child.save()
        #expect(!child.hasChanges)
        try ring.parent.save()
        for context in [ring.parent, child, grandchild] {
            #expect(try ring.lines(context) == ["Latchkey Back: ", "Latchkey Front: ", "Gate Wide: "])
        }
        try ring.expectSaved()
    }

    @Test func whatTheProgramInsertsAgainAfterItsRowWentIsNew() throws {
        let ring = try Ring()
        let other = ring.stack.newContext()
        other.delete(other.object(with: ring.keys[0].objectID))
        try other.save()
        ring.parent.refreshAllObjects()
        #expect(ring.keys[0].value(forKey: "name") == nil)
        #expect(ring.keys[0].isDeleted)
        ring.parent.insert(ring.keys[0])
        #expect(ring.keys[0].isInserted)
        ring.keys[0].setValue("Again", forKey: "name")
        try ring.parent.save()
        #expect(ring.stack.stored("name", of: "Latchkey") == ["Again", "Back"])
        try ring.expectSaved()
    }
}
