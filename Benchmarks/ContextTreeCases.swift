import CoreData
import Foundation

// What a parent between a context and its stores costs, and what undo costs over the changes
// themselves.

extension Harness {
    func contextTrees() throws {
        try fetchThroughParents()
        try undoChanges()
    }

    private func fetchThroughParents() throws {
        let name = "P1 fetch 50,000 x 10 integers through a parent, read all"
        guard wants(name) else { return }
        let (_, coordinator) = try wideStore(50_000)
        try compare(name, bound: 2) {
            let parent = context(coordinator)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = parent
            return try timeOfReadingAll(child)
        } raw: {
            try timeOfReadingAll(context(coordinator))
        }
        let unsaved = "P2 the same with an unsaved change in the parent"
        guard wants(unsaved) else { return }
        try compare(unsaved, bound: 3) {
            let parent = context(coordinator)
            let request = NSFetchRequest<Wide>(entityName: "Wide")
            request.fetchLimit = 1
            try parent.performAndWait { try parent.fetch(request).first?.b = 1 }
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = parent
            return try timeOfReadingAll(child)
        } raw: {
            try timeOfReadingAll(context(coordinator))
        }
    }

    private func timeOfReadingAll(_ context: NSManagedObjectContext) throws -> Double {
        try context.performAndWait {
            try Self.time {
                for object in try context.fetch(NSFetchRequest<Wide>(entityName: "Wide")) {
                    Self.sink &+= object.a &+ object.b &+ object.c &+ object.d &+ object.e
                    Self.sink &+= object.f &+ object.g &+ object.h &+ object.i &+ object.j
                }
            }
        }
    }

    private func undoChanges() throws {
        let name = "U1 undo a group of 10,000 changes against making them"
        guard wants(name) else { return }
        let (_, coordinator) = try wideStore(10_000)
        let context = context(coordinator)
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let objects = try context.fetch(NSFetchRequest<Wide>(entityName: "Wide"))
        for object in objects { Self.sink &+= object.a }
        func makeChanges() -> Double {
            manager.beginUndoGrouping()
            defer { manager.endUndoGrouping() }
            return Self.time {
                for object in objects { object.b = object.b &+ 1 }
                context.processPendingChanges()
            }
        }
        try compare(name, bound: 3) {
            _ = makeChanges()
            return Self.time { manager.undo() }
        } raw: {
            defer { manager.undo() }
            return makeChanges()
        }
        precondition(objects.allSatisfy { !$0.hasChanges || $0.changedValues().isEmpty }, "An undo left a change.")
    }
}
