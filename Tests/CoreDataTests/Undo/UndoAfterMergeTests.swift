import CoreData
import TestSupport
import Testing

/// What is taken back of changes that were made on values of others.
@Suite struct UndoAfterMergeTests {
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
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Zoe")
        try desk.save()
        #expect(try desk.stored() == ["Zoe 1"])
    }

    @Test(arguments: StoreKind.allCases) func aChangeOfWhatAFetchReadAgainGivesBackWhatWasRead(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        desk.context.undo()
        let other = desk.library.newContext()
        try #require(try other.authors().first).name = "Zoe"
        try other.save()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.shouldRefreshRefetchedObjects = true
        #expect(try desk.context.fetch(request) == [ada])
        #expect(ada.name == "Zoe")
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Zoe")
        try desk.save()
        #expect(try desk.stored() == ["Zoe 1"])
    }

    @Test(arguments: StoreKind.allCases) func aPrimitiveValueIsThereAfterUndoThoughAFetchReadTheObjectAgain(kind: StoreKind) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        ada.setPrimitiveValue("Primitive", forKey: "name")
        let other = desk.library.newContext()
        try #require(try other.authors().first).born = 9
        try other.save()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.shouldRefreshRefetchedObjects = true
        #expect(try desk.context.fetch(request) == [ada])
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
        let other = desk.library.newContext()
        try #require(try other.authors().first).name = "Zoe"
        try other.save()
        desk.context.mergePolicy = NSMergePolicy.rollback
        try desk.save()
        #expect(ada.name == "Zoe")
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Zoe")
        try desk.save()
        #expect(try desk.stored() == ["Zoe 1"])
    }

    @Test(arguments: StoreKind.allCases, [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
    func whatAPolicyDiscardedInASaveThatFailedDoesNotComeBack(kind: StoreKind, type: NSMergePolicyType) throws {
        let desk = try UndoDesk(kind)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        desk.group { ada.name = "Ida" }
        let other = desk.library.newContext()
        try #require(try other.authors().first).name = "Zoe"
        try other.save()
        let policy = InterruptedPolicy(merge: type)
        policy.interruption = { throw CocoaError(.userCancelled) }
        desk.context.mergePolicy = policy
        #expect(throws: CocoaError.self) { try desk.save() }
        #expect(ada.name == "Zoe")
        desk.group { ada.name = "Max" }
        desk.context.undo()
        #expect(ada.name == "Zoe")
        try desk.save()
        #expect(try desk.stored() == ["Zoe 1"])
    }
}
