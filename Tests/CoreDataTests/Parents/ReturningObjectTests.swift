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
