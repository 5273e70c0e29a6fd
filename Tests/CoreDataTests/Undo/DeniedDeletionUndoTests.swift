import CoreData
import TestSupport
import Testing

/// A relationship to a deleted object whose delete rule denies the deletion, ended in an event of
/// its own: undoing that event brings both ends back, and with them the denial.
@Suite(.everyStore) struct DeniedDeletionUndoTests {
    private struct Scene {
        let stack: TestStack
        let context: NSManagedObjectContext
        let page: NSManagedObject
        let folder: NSManagedObject
        let name: String

        /// - Parameter name: The relationship of the folder that denies its deletion.
        init(_ name: String) throws {
            let page = NSEntityDescription("Page", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            let folder = NSEntityDescription("Folder", class: "NSManagedObject", [.init("name", .stringAttributeType)])
            relate(
                folder, name, toMany: name != "page", ordered: name == "orderedPages", deleteRule: .denyDeleteRule,
                page, inverse: "folder")
            stack = try TestStack([page, folder])
            context = stack.context
            self.page = NSManagedObject(entity: stack.entity("Page"), insertInto: context)
            self.folder = NSManagedObject(entity: stack.entity("Folder"), insertInto: context)
            self.name = name
            self.page.setValue(self.folder, forKey: "folder")
            try context.save()
            context.undoManager = UndoManager()
            context.undoManager?.groupsByEvent = false
            context.group { [context, folder = self.folder] in context.delete(folder) }
            context.group { [page = self.page] in page.setValue(nil, forKey: "folder") }
        }

        func expectBothEnds() {
            #expect(page.value(forKey: "folder") as? NSManagedObject === folder)
            #expect(RelationshipEnds.destinations(of: folder, name) == [page])
        }

        func expectNeitherEnd() {
            #expect(page.value(forKey: "folder") == nil)
            #expect(RelationshipEnds.destinations(of: folder, name) == [])
        }

        /// The objects of the store, whose ends agree.
        func expectStored(_ folders: Int) throws {
            #expect(stack.storedCount(of: "Folder") == folders)
            #expect(try RelationshipEnds.problems(in: stack.newContext()) == [])
        }
    }

    static let names = ["page", "pages", "orderedPages"]

    @Test(arguments: names) func theDeletionIsDeniedAgain(name: String) throws {
        let scene = try Scene(name)
        scene.expectNeitherEnd()
        scene.context.undo()
        scene.expectBothEnds()
        #expect(scene.folder.isDeleted)
        let error = #expect(throws: CocoaError.self) { try scene.context.save() }
        #expect(error?.code == .validationRelationshipDeniedDelete)
        scene.expectBothEnds()
        try scene.expectStored(1)
    }

    @Test(arguments: names) func theDeletionIsAllowedWhenTheChangeIsDoneAgain(name: String) throws {
        let scene = try Scene(name)
        scene.context.undo()
        scene.context.redo()
        scene.expectNeitherEnd()
        #expect(scene.folder.isDeleted)
        try scene.context.save()
        try scene.expectStored(0)
    }

    @Test(arguments: names) func bothEndsAreThereWhenTheDeletionIsUndoneToo(name: String) throws {
        let scene = try Scene(name)
        for _ in 0..<2 {
            scene.context.undoAll()
            scene.expectBothEnds()
            #expect(!scene.folder.isDeleted)
            #expect(!scene.context.hasChanges)
            scene.context.redoAll()
            scene.expectNeitherEnd()
            #expect(scene.folder.isDeleted)
        }
        scene.context.undoAll()
        try scene.context.save()
        try scene.expectStored(1)
    }
}
