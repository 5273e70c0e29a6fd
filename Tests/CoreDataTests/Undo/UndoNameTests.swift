import CoreData
import TestSupport
import Testing

/// Names of the changes of a context, which are registered when its event ends.
struct UndoNameTests {
    @MainActor private func nextEvent() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    /// Until the context's changes are processed and the group of the event is closed.
    @MainActor private func endOfEvent() async {
        for _ in 0..<3 { await nextEvent() }
    }

    /// A context of the main queue with an author that was saved.
    @MainActor private func desk() async throws -> (NSManagedObjectContext, UndoManager, LibraryAuthor, Library) {
        let library = try Library()
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        let ada = context.author("Ada")
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        await endOfEvent()
        return (context, manager, ada, library)
    }

    @MainActor @Test func aNameGivenAfterAChangeNamesIt() async throws {
        let (context, manager, ada, library) = try await desk()
        ada.name = "Ida"
        manager.setActionName("First")
        await endOfEvent()
        ada.name = "Eve"
        manager.setActionName("Second")
        #expect(manager.undoMenuItemTitle == "Undo Second")
        await endOfEvent()
        #expect(manager.undoActionName == "Second")
        context.undo()
        #expect(ada.name == "Ida")
        #expect(manager.undoActionName == "First")
        #expect(manager.redoActionName == "Second")
        withExtendedLifetime((context, library)) {}
    }

    @MainActor @Test func aNameGivenBeforeAChangeNamesIt() async throws {
        let (context, manager, ada, library) = try await desk()
        for name in ["First", "Second"] {
            manager.setActionName(name)
            ada.name = name
            await endOfEvent()
            #expect(manager.undoActionName == name)
        }
        context.undo()
        #expect(manager.undoActionName == "First")
        withExtendedLifetime((context, library)) {}
    }

    @MainActor @Test func theNameOfAnEventWithoutChangesIsNotThatOfAnother() async throws {
        let (context, manager, ada, library) = try await desk()
        ada.name = "Ida"
        manager.setActionName("First")
        await endOfEvent()
        manager.setActionName("Nothing")
        await endOfEvent()
        #expect(manager.undoActionName == "First")
        ada.name = "Eve"
        await endOfEvent()
        #expect(manager.undoActionName == "")
        withExtendedLifetime((context, library)) {}
    }

    @MainActor @Test func valuesBesideANameAreThoseOfTheEvent() async throws {
        let (context, manager, ada, library) = try await desk()
        let key = UndoManager.UserInfoKey("icon")
        for icon in ["pen", "brush"] {
            if icon == "pen" { ada.name = icon }
            manager.setActionUserInfoValue(icon, forKey: key)
            if icon == "brush" { ada.name = icon }
            await endOfEvent()
            #expect(manager.undoActionUserInfoValue(forKey: key) as? String == icon)
        }
        manager.undo()
        #expect(manager.undoActionUserInfoValue(forKey: key) as? String == "pen")
        withExtendedLifetime((context, library)) {}
    }

    @Test(arguments: [false, true]) func aBlockOfAPrivateQueueIsNamedBeforeOrAfterItsChange(isBefore: Bool) async throws
    {
        let library = try Library()
        let context = library.context
        // The context's queue alone uses it.
        nonisolated(unsafe) let manager = UndoManager()
        let ada = try await context.perform {
            let ada = context.author("Ada")
            try context.save()
            context.undoManager = manager
            return ada.objectID
        }
        for name in ["First", "Second"] {
            await context.perform {
                if isBefore { manager.setActionName(name) }
                (context.object(with: ada) as? LibraryAuthor)?.name = name
                if !isBefore { manager.setActionName(name) }
            }
            await context.perform { #expect(manager.undoActionName == name) }
        }
        await context.perform { manager.setActionName("Nothing") }
        await context.perform {
            context.undo()
            #expect(manager.undoActionName == "First")
            #expect(manager.redoActionName == "Second")
        }
    }

    @Test func aNameForTheOpenGroupOfTheProgramStaysWithIt() {
        let (manager, target) = (UndoManager(), NSObject())
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: target) { _ in }
        manager.endUndoGrouping()
        manager.setActionName("Last")
        #expect(manager.undoActionName == "Last")
    }
}
