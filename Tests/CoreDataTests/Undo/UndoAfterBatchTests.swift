import CoreData
import TestSupport
import Testing

/// Undo after others changed or deleted the rows, in the stores or in other levels of a tree.
struct UndoAfterBatchTests {
    static let desks: [(StoreKind, Bool)] = StoreKind.complete.flatMap { [($0, false), ($0, true)] }

    @Test(arguments: desks) func aChangeBeforeAMergedBatchUpdateIsUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        try desk.update("name == 'Ada'", ["name": "Zoe", "born": 9])
        #expect(ada.name == "Ida")
        #expect(ada.born == 9)
        desk.context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.born == 9)
        try desk.save()
        #expect(try desk.stored() == ["Ada 9"])
        desk.context.redo()
        #expect(ada.name == "Ida")
        try desk.save()
        #expect(try desk.stored() == ["Ida 9"])
    }

    @Test(arguments: desks) func aSavedChangeBeforeAMergedBatchUpdateIsUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        try desk.save()
        try desk.update("name == 'Ida'", ["name": "Zoe", "born": 9])
        #expect(ada.name == "Zoe")
        desk.context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.born == 9)
        try desk.save()
        #expect(try desk.stored() == ["Ada 9"])
        // What was there before it was undone.
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored() == ["Zoe 9"])
    }

    @Test(arguments: desks) func undoingADeletionBringsBackARowThatABatchChanged(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        let notes = desk.context.book("Notes", by: ada)
        try desk.begin()
        desk.group { desk.context.delete(ada) }
        try desk.update("name == 'Ada'", ["born": 9])
        desk.context.undo()
        #expect(!ada.isDeleted)
        #expect(notes.author === ada)
        desk.context.refresh(ada, mergeChanges: true)
        #expect(ada.born == 9)
        try desk.save()
        #expect(try desk.stored() == ["Ada 9"])
        #expect(try desk.library.newContext().books().first?.author?.name == "Ada")
    }

    @Test(arguments: desks) func aSavedInsertionThatABatchChangedIsUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        try desk.begin()
        var author: LibraryAuthor?
        desk.group { author = desk.context.author("Ada", born: 1) }
        try desk.save()
        try desk.update("name == 'Ada'", ["born": 9])
        let ada = try #require(author)
        #expect(ada.born == 9)
        desk.context.undo()
        #expect(ada.isDeleted)
        try desk.save()
        #expect(try desk.stored() == [])
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored().map { $0.prefix(4) } == ["Ada "])
    }

    @Test(arguments: desks) func whatABatchDeletedDoesNotComeBack(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let (ada, bob) = (desk.context.author("Ada", born: 1), desk.context.author("Bob", born: 2))
        try desk.begin()
        desk.group {
            ada.name = "Ida"
            bob.name = "Rob"
        }
        try desk.delete("name == 'Ada'")
        desk.context.undo()
        #expect(bob.name == "Bob")
        try desk.save()
        #expect(try desk.stored() == ["Bob 2"])
        #expect(try desk.context.names() == ["Bob"])
        desk.context.redo()
        #expect(bob.name == "Rob")
        try desk.save()
        #expect(try desk.stored() == ["Rob 2"])
        #expect(try desk.context.names() == ["Rob"])
    }

    @Test(arguments: desks) func whatWasSavedAndThenDeletedByABatchDoesNotComeBack(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let (ada, bob) = (desk.context.author("Ada", born: 1), desk.context.author("Bob", born: 2))
        try desk.begin()
        desk.group {
            ada.name = "Ida"
            bob.name = "Rob"
        }
        try desk.save()
        try desk.delete("name == 'Ida'")
        desk.context.undo()
        #expect(bob.name == "Bob")
        try desk.save()
        #expect(try desk.stored() == ["Bob 2"])
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored() == ["Rob 2"])
        #expect(try desk.context.names() == ["Rob"])
    }

    /// Undo takes back the program's own deletion alone.
    @Test(arguments: desks) func anUnsavedDeletionOfWhatABatchDeletedIsUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { desk.context.delete(ada) }
        try desk.delete("name == 'Ada'")
        #expect(try desk.context.names() == [])
        desk.context.undo()
        #expect(try desk.context.authors() == [ada])
        try desk.save()
        #expect(try desk.stored() == ["Ada 1"])
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored() == [])
    }

    @Test(arguments: desks) func aSavedInsertionThatABatchDeletedIsNotUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let bob = desk.context.author("Bob", born: 2)
        try desk.begin()
        var ada: LibraryAuthor?
        desk.group {
            ada = desk.context.author("Ada", born: 1)
            bob.born = 3
        }
        try desk.save()
        try desk.delete("name == 'Ada'")
        desk.context.undo()
        #expect(bob.born == 2)
        try desk.save()
        #expect(try desk.stored() == ["Bob 2"])
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored() == ["Bob 3"])
        withExtendedLifetime(ada) {}
    }

    /// The context does not know of it: as ever, the save does.
    @Test("216: Undoing a saved change of a row that is gone is a conflict", arguments: StoreKind.complete)
    func undoingAChangeOfARowThatIsGoneIsAConflict(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        desk.context.author("Bob", born: 2)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        try desk.save()
        try desk.delete("name == 'Ida'", isMerged: false)
        desk.context.undo()
        #expect(ada.name == "Ada")
        let error = #expect(throws: CocoaError.self) { try desk.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(error?.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
        desk.context.rollback()
        #expect(!desk.manager.canUndo)
        #expect(!desk.manager.canRedo)
        #expect(try desk.stored() == ["Bob 2"])
    }

    @Test(arguments: desks) func relationshipsToWhatABatchDeletedAreNotMadeAgain(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let (ada, bob) = (desk.context.author("Ada"), desk.context.author("Bob"))
        let notes = desk.context.book("Notes", by: ada)
        let tag = desk.context.tag("t")
        try desk.begin()
        desk.group {
            notes.author = bob
            notes.tags = [tag]
        }
        try desk.save()
        try desk.delete("name == 'Ada'")
        desk.context.undo()
        #expect(notes.author == nil)
        #expect(notes.tags.isEmpty)
        #expect(bob.books.isEmpty)
        try desk.save()
        #expect(try desk.stored() == ["Bob 0"])
        let book = try #require(try desk.library.newContext().books().first)
        #expect(book.author == nil)
        #expect(book.tags.isEmpty)
        try desk.delete("label == 't'", of: "Tag")
        desk.context.redo()
        #expect(notes.author === bob)
        #expect(notes.tags.isEmpty)
        try desk.save()
        #expect(try desk.library.newContext().books().first?.author?.name == "Bob")
        #expect(try desk.library.newContext().books().first?.tags.isEmpty == true)
    }

    @Test("140: A child takes back what its parent has saved", arguments: StoreKind.allCases)
    func aChildTakesBackWhatItsParentHasSaved(kind: StoreKind) throws {
        let desk = try UndoDesk(kind, isChild: true)
        let child = desk.context
        let ada = child.author("Ada", born: 1)
        try desk.begin()
        var new: LibraryBook?
        desk.group {
            ada.name = "Ida"
            new = child.book("Notes", pages: 60, by: ada, tags: [child.tag("t")])
        }
        let notes = try #require(new)
        try desk.save()
        child.performAndWait {}
        #expect(!notes.objectID.isTemporaryID)
        child.undo()
        #expect(ada.name == "Ada")
        #expect(ada.books.isEmpty)
        #expect(notes.isDeleted)
        #expect(!desk.library.context.hasChanges)
        try child.save()
        #expect(try desk.library.context.titles() == [])
        try desk.library.context.save()
        #expect(try desk.stored() == ["Ada 1"])
        #expect(try desk.library.newContext().titles() == [])
        child.redo()
        #expect(ada.name == "Ida")
        #expect(ada.books == [notes])
        try desk.save()
        #expect(try desk.stored() == ["Ida 1"])
        let stored = try #require(try desk.library.newContext().books().first)
        #expect(stored.pages == 60)
        #expect(stored.author?.name == "Ida")
        #expect(stored.tags.map(\.label) == ["t"])
        #expect(try child.books() == [notes])
    }

    @Test("140: and a deletion that its parent has saved", arguments: StoreKind.allCases)
    func aChildTakesBackADeletionThatItsParentHasSaved(kind: StoreKind) throws {
        let desk = try UndoDesk(kind, isChild: true)
        let child = desk.context
        let ada = child.author("Ada", born: 1)
        let notes = child.book("Notes", pages: 60, by: ada, tags: [child.tag("t")])
        try desk.begin()
        desk.group { child.delete(notes) }
        desk.group { child.delete(ada) }
        try desk.save()
        #expect(try desk.stored() == [])
        child.undo()
        child.undo()
        #expect(notes.author === ada)
        #expect(notes.pages == 60)
        try child.save()
        #expect(try desk.library.context.titles() == ["Notes"])
        try desk.library.context.save()
        #expect(try desk.stored() == ["Ada 1"])
        let stored = try #require(try desk.library.newContext().books().first)
        #expect(stored.author?.name == "Ada")
        #expect(stored.tags.map(\.label) == ["t"])
        #expect(try child.books() == [notes])
        #expect(try child.authors() == [ada])
    }

    @Test("136: After a rollback nothing is undone or done again", arguments: desks)
    func afterARollbackNothingIsDoneAgain(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        desk.group { ada.born = 2 }
        desk.context.undo()
        #expect(desk.manager.canUndo)
        #expect(desk.manager.canRedo)
        desk.context.rollback()
        #expect(!desk.manager.canUndo)
        #expect(!desk.manager.canRedo)
        desk.context.redo()
        desk.context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.born == 1)
        #expect(!desk.context.hasChanges)
    }

    @Test func aParentsRollbackLeavesAChildsActionsWithoutEffect() throws {
        let desk = try UndoDesk(.sqlite, isChild: true)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group {
            ada.name = "Ida"
            desk.context.book("Notes", by: ada)
        }
        try desk.context.save()
        desk.library.context.rollback()
        desk.context.refreshAllObjects()
        desk.context.undo()
        #expect(ada.name == "Ada")
        #expect(try desk.context.titles() == [])
        try desk.save()
        #expect(try desk.stored() == ["Ada 1"])
        #expect(try desk.library.newContext().titles() == [])
    }

    @Test(arguments: desks) func aResetForgetsWhatCouldBeUndone(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        let other = desk.library.newContext()
        other.undoManager = desk.manager
        desk.group { ada.name = "Ida" }
        desk.group { desk.context.delete(ada) }
        desk.context.undo()
        // One manager for two contexts: each forgets its own.
        desk.manager.beginUndoGrouping()
        let bob = other.author("Bob", born: 2)
        other.processPendingChanges()
        desk.manager.endUndoGrouping()
        desk.context.reset()
        #expect(!desk.context.hasChanges)
        #expect(desk.manager.canUndo)
        desk.context.undo()
        #expect(bob.managedObjectContext == nil)
        #expect(!desk.manager.canUndo)
        #expect(try desk.context.names() == ["Ada"])
        try desk.save()
        #expect(try desk.stored() == ["Ada 1"])
    }

    @Test func anOpenGroupIsClosedByUndo() throws {
        let desk = try UndoDesk(.sqlite)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.manager.beginUndoGrouping()
        ada.name = "Ida"
        desk.context.undo()
        #expect(desk.manager.groupingLevel == 0)
        #expect(ada.name == "Ada")
        desk.context.redo()
        #expect(ada.name == "Ida")
    }
}
