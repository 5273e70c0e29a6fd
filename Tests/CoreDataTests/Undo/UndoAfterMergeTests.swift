import CoreData
import TestSupport
import Testing

/// Undo of changes that were made on top of merged values.
struct UndoAfterMergeTests {
    static let desks = UndoAfterBatchTests.desks

    @Test(arguments: desks) func aChangeAfterAnUndoAndAMergeGivesBackWhatWasMerged(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        desk.context.undo()
        try desk.update("name == 'Ada'", ["name": "Zoe"])
        #expect(ada.name == "Zoe")
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Zoe")
        #expect(!desk.context.hasChanges)
        try desk.save()
        #expect(try desk.stored() == ["Zoe 1"])
        desk.context.redo()
        try desk.save()
        #expect(try desk.stored() == ["Max 1"])
    }

    @Test(arguments: desks) func aChangeOfWhatWasSetBackByHandGivesBackWhatWasMerged(desk: (StoreKind, Bool)) throws {
        let desk = try UndoDesk(desk.0, isChild: desk.1)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        desk.group { ada.name = "Ada" }
        try desk.update("name == 'Ada'", ["name": "Zoe"])
        #expect(ada.name == "Zoe")
        try desk.expectUndoGivesBackZoe(to: ada)
    }

    @Test(arguments: StoreKind.allCases) func aChangeOfWhatAFetchReadAgainGivesBackWhatWasRead(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        desk.context.undo()
        try desk.changeElsewhere { $0.name = "Zoe" }
        #expect(try desk.refetched() == [ada])
        #expect(ada.name == "Zoe")
        try desk.expectUndoGivesBackZoe(to: ada)
    }

    @Test(arguments: StoreKind.allCases) func aPrimitiveValueIsThereAfterUndoThoughAFetchReadTheObjectAgain(
        kind: StoreKind
    ) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        ada.setPrimitiveValue("Primitive", forKey: "name")
        try desk.changeElsewhere { $0.born = 9 }
        #expect(try desk.refetched() == [ada])
        #expect(ada.born == 9)
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Primitive")
    }

    // MARK: Values that a merge policy brings

    @Test(arguments: StoreKind.allCases) func whatARollbackPolicyDiscardedDoesNotComeBack(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        try desk.changeElsewhere { $0.name = "Zoe" }
        desk.context.mergePolicy = NSMergePolicy.rollback
        try desk.save()
        #expect(ada.name == "Zoe")
        try desk.expectUndoGivesBackZoe(to: ada)
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
    func whatAPolicyDiscardedInASaveThatFailedDoesNotComeBack(kind: StoreKind, type: NSMergePolicyType) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        try desk.changeElsewhere { $0.name = "Zoe" }
        let policy = InterruptedPolicy(merge: type)
        policy.interruption = { throw CocoaError(.userCancelled) }
        desk.context.mergePolicy = policy
        #expect(throws: CocoaError.self) { try desk.save() }
        #expect(ada.name == "Zoe")
        try desk.expectUndoGivesBackZoe(to: ada)
    }

    // MARK: What others led to a new object

    @Test(arguments: StoreKind.allCases) func undoingASavedInsertionEndsWhatOthersLedToIt(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let notes = desk.context.book("Notes")
        try desk.begin()
        var author: LibraryAuthor?
        desk.group { author = desk.context.author("Ada", born: 1) }
        let ada = try #require(author)
        try desk.save()
        let other = desk.library.newContext()
        try #require(try other.books().first).author = try other.authors().first
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        desk.context.mergeChanges(fromContextDidSave: try #require(saves.all.last))
        #expect(notes.author === ada)
        desk.context.undo()
        #expect(notes.author == nil)
        try desk.save()
        #expect(try desk.library.newContext().books().map(\.author) == [nil])
        if kind.isDatabase {
            #expect(desk.library.tables.value("SELECT count(*) FROM {book} WHERE {author_id} IS NOT NULL") == "0")
        }
        desk.context.redo()
        #expect(notes.author === ada)
        try desk.save()
        #expect(try desk.library.newContext().books().map { $0.author?.name } == ["Ada"])
    }

    @Test(arguments: StoreKind.allCases) func undoingASavedInsertionEndsMembershipsThatOthersGaveIt(kind: StoreKind)
        throws
    {
        let desk = try UndoDesk(kind)
        let (notes, maps) = (desk.context.book("Notes"), desk.context.book("Maps"))
        try desk.begin()
        var made: LibraryTag?
        desk.group {
            made = desk.context.tag("rare")
            maps.tags = Set([made].compactMap(\.self))
        }
        let tag = try #require(made)
        try desk.save()
        let other = desk.library.newContext()
        try #require(try other.books("title == 'Notes'").first).tags = [
            try #require(try other.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).first)
        ]
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        desk.context.mergeChanges(fromContextDidSave: try #require(saves.all.last))
        #expect(notes.tags == [tag])
        desk.context.undo()
        #expect(notes.tags == [])
        #expect(maps.tags == [])
        try desk.save()
        #expect(try desk.library.newContext().books().allSatisfy(\.tags.isEmpty))
        desk.context.redo()
        #expect(notes.tags == [tag])
        #expect(maps.tags == [tag])
        try desk.save()
        #expect(try desk.library.newContext().books().allSatisfy { $0.tags.count == 1 })
    }

    /// Only the relationships that the group itself has led to the new object are led back.
    @Test(arguments: StoreKind.allCases) func undoingASavedInsertionLeavesWhatItsGroupTookBack(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let notes = desk.context.book("Notes", by: desk.context.author("Bob", born: 2))
        try desk.begin()
        desk.group { notes.author = desk.context.author("Ada", born: 1) }
        try desk.save()
        desk.context.undo()
        #expect(notes.author?.name == "Bob")
        try desk.save()
        #expect(try desk.library.newContext().books().map { $0.author?.name } == ["Bob"])
        #expect(try desk.stored() == ["Bob 2"])
    }

    @Test func undoingAnInsertionEndsWhatWasLedToItWithoutRegistration() throws {
        let desk = try UndoDesk(.sqlite)
        let notes = desk.context.book("Notes")
        try desk.begin()
        var author: LibraryAuthor?
        desk.group { author = desk.context.author("Ada", born: 1) }
        desk.manager.disableUndoRegistration()
        notes.author = author
        desk.context.processPendingChanges()
        desk.manager.enableUndoRegistration()
        desk.context.undo()
        #expect(notes.author == nil)
        try desk.save()
        #expect(try desk.stored() == [])
    }
}

extension UndoDesk {
    /// Another context changes the author and saves; nobody merges that.
    fileprivate func changeElsewhere(_ change: (LibraryAuthor) -> Void) throws {
        let other = library.newContext()
        change(try #require(try other.authors().first))
        try other.save()
    }

    /// The authors, whose rows are read again.
    fileprivate func refetched() throws -> [LibraryAuthor] {
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.shouldRefreshRefetchedObjects = true
        return try context.fetch(request)
    }

    /// A change that is made now is undone to the values of others, here and in the store.
    fileprivate func expectUndoGivesBackZoe(to ada: LibraryAuthor, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        group { ada.name = "Max" }
        context.undo()
        #expect(ada.name == "Zoe", sourceLocation: sourceLocation)
        try save()
        #expect(try stored() == ["Zoe 1"], sourceLocation: sourceLocation)
    }
}
