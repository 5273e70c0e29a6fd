import CoreData
import TestSupport
import Testing

/// Contexts that fetch from and save to another context.
struct ParentContextTests {
    /// A store, a context that saves to it, and contexts below that.
    final class Family {
        let library: Library
        let parent: NSManagedObjectContext
        let child: NSManagedObjectContext

        init(_ kind: StoreKind = .sqlite) throws {
            library = try Library(kind)
            parent = library.context
            child = parent.newChild()
        }

    }

    @Test("154: a save moves changes one level up", arguments: StoreKind.allCases)
    func aSaveMovesChangesOneLevelUp(kind: StoreKind) throws {
        let family = try Family(kind)
        let other = family.library.newContext()
        #expect(family.child.persistentStoreCoordinator === family.library.coordinator)
        let ada = family.child.author("Ada", born: 1815)
        family.child.book("Notes", pages: 60, by: ada)
        try family.child.save()
        #expect(!family.child.hasChanges)
        #expect(family.parent.hasChanges)
        #expect(family.parent.insertedObjects.count == 2)
        #expect(try other.names() == [])
        #expect(try family.parent.names() == ["Ada"])
        #expect(try family.parent.authors().first?.books.map(\.title) == ["Notes"])
        try family.parent.save()
        #expect(try other.names() == ["Ada"])
        #expect(try other.books().first?.author?.name == "Ada")
        withExtendedLifetime(family) {}
    }

    @Test("155: a fetch sees what is unsaved above", arguments: StoreKind.allCases)
    func aFetchSeesWhatIsUnsavedAbove(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada")
        family.parent.author("Bob")
        try family.parent.save()
        ada.name = "Zoe"
        family.parent.author("Cid")
        family.child.author("Dan")
        #expect(try family.child.names() == ["Bob", "Cid", "Dan", "Zoe"])
        #expect(try family.child.names("name == 'Ada'") == [])
        #expect(try family.child.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) == 4)
        let limited = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        limited.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        limited.fetchOffset = 1
        limited.fetchLimit = 2
        #expect(try family.child.fetch(limited).map(\.name) == ["Cid", "Dan"])
        withExtendedLifetime(family) {}
    }

    @Test(arguments: StoreKind.allCases)
    func objectsOfTwoLevelsAreDifferentAndHaveTheSameID(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada")
        try family.parent.save()
        let mine = try #require(family.child.object(with: ada.objectID) as? LibraryAuthor)
        #expect(mine !== ada)
        #expect(mine.isFault)
        #expect(mine.name == "Ada")
        #expect(mine.objectID == ada.objectID)
        #expect(mine.managedObjectContext === family.child)
        withExtendedLifetime(family) {}
    }

    @Test(arguments: StoreKind.allCases)
    func temporaryIDsAreTheSameInEachLevelAndBecomePermanentTogether(kind: StoreKind) throws {
        let family = try Family(kind)
        let grandchild = family.child.newChild()
        let new = grandchild.author("Ada")
        let temporaryID = new.objectID
        #expect(temporaryID.isTemporaryID)
        try grandchild.save()
        #expect(new.objectID == temporaryID)
        let middle = try #require(try family.child.authors().first)
        #expect(middle.objectID == temporaryID)
        #expect(family.child.registeredObject(for: temporaryID) === middle)
        try family.child.save()
        let top = try #require(family.parent.registeredObject(for: temporaryID) as? LibraryAuthor)
        #expect(top.name == "Ada")
        try family.parent.save()
        #expect(!top.objectID.isTemporaryID)
        family.child.performAndWait { #expect(middle.objectID == top.objectID) }
        grandchild.performAndWait { #expect(new.objectID == top.objectID) }
        #expect(try grandchild.authors().first === new)
        #expect(family.child.object(with: top.objectID) === middle)
        #expect(grandchild.object(with: top.objectID) === new)
        #expect(family.parent.object(with: temporaryID) === top)
        new.name = "Ida"
        try grandchild.save()
        try family.child.save()
        try family.parent.save()
        #expect(try family.library.newContext().names() == ["Ida"])
        withExtendedLifetime(grandchild) {}
    }

    @Test(arguments: StoreKind.allCases)
    func anUnsavedObjectOfTheParentIsFoundByItsTemporaryID(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada")
        family.parent.book("Notes", by: ada)
        let mine = try #require(family.child.object(with: ada.objectID) as? LibraryAuthor)
        #expect(mine.name == "Ada")
        #expect(mine.books.map(\.title) == ["Notes"])
        #expect(mine.books.first?.author === mine)
        #expect(try family.child.existingObject(with: ada.objectID) === mine)
        withExtendedLifetime(family) {}
    }

    @Test(arguments: StoreKind.allCases)
    func deletionsAndTheirRulesReachTheParent(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada")
        let notes = family.parent.book("Notes", by: ada)
        try family.parent.save()
        let mine = try #require(try family.child.authors().first)
        let book = try #require(mine.books.first)
        family.child.delete(mine)
        try family.child.save()
        #expect(book.author == nil)
        #expect(ada.isDeleted)
        #expect(notes.author == nil)
        #expect(try family.parent.names() == [])
        #expect(try family.library.newContext().names() == ["Ada"])
        try family.parent.save()
        #expect(try family.library.newContext().names() == [])
        #expect(try family.library.newContext().books().first?.author == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func relationshipsOfBothSidesReachTheParent(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada")
        let bob = family.parent.author("Bob")
        let notes = family.parent.book("Notes", by: ada)
        let tag = family.parent.tag("old")
        notes.tags = [tag]
        try family.parent.save()
        let book = try #require(try family.child.books().first)
        let mine = try #require(family.child.object(with: bob.objectID) as? LibraryAuthor)
        book.author = mine
        book.tags = [family.child.tag("new")]
        try family.child.save()
        #expect(notes.author === bob)
        #expect(ada.books.isEmpty)
        #expect(bob.books == [notes])
        #expect(tag.books.isEmpty)
        #expect(notes.tags.map(\.label) == ["new"])
        try family.parent.save()
        let other = family.library.newContext()
        #expect(try other.books().first?.tags.map(\.label) == ["new"])
        #expect(try other.books().first?.author?.name == "Bob")
    }

    @Test func transientValuesAreCarriedUpAndNotDown() throws {  // 156
        let family = try Family()
        let notes = family.parent.book("Notes")
        try family.parent.save()
        notes.mark = "above"
        let mine = try #require(try family.child.books().first)
        #expect(mine.mark == nil)
        mine.mark = "below"
        #expect(family.child.hasChanges)
        try family.child.save()
        #expect(notes.mark == "below")
        #expect(family.parent.hasChanges)
        #expect(!notes.hasPersistentChangedValues)
    }

    @Test("156: transient relationships are carried up as well", arguments: [false, true], [false, true])
    func transientRelationshipsAreCarriedUp(isOrdered: Bool, isSaved: Bool) throws {
        let note = NSEntityDescription("Note", class: "NSManagedObject", [.init("title", .stringAttributeType)])
        let tag = NSEntityDescription("Tag", class: "NSManagedObject", [.init("label", .stringAttributeType)])
        relate(note, "tags", toMany: true, ordered: isOrdered, tag, inverse: "owner")
        for relationship in [note.relationshipsByName["tags"], tag.relationshipsByName["owner"]] {
            relationship?.isTransient = true
        }
        let stack = try TestStack([note, tag])
        let parent = stack.context
        let child = parent.newChild()
        func all(_ name: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.sortDescriptors = [NSSortDescriptor(key: name == "Tag" ? "label" : "title", ascending: true)]
            return try context.fetch(request)
        }
        func labels(_ note: NSManagedObject) -> [String] {
            let members = note.value(forKey: "tags")
            let tags = (members as? NSOrderedSet)?.array ?? Array(members as? Set<NSManagedObject> ?? [])
            let labels = tags.compactMap { ($0 as? NSManagedObject)?.value(forKey: "label") as? String }
            return isOrdered ? labels : labels.sorted()
        }
        func members(_ note: NSManagedObject) -> NSMutableSet { note.mutableSetValue(forKey: "tags") }
        for title in ["a", "b"] { _ = child.new("Note", ["title": title]) }
        for label in ["x", "y", "z"] { _ = child.new("Tag", ["label": label]) }
        if isSaved { try child.save() }
        let (mine, tags) = (try all("Note", child), try all("Tag", child))
        func add(_ tag: Int, to note: Int) {
            if isOrdered {
                mine[note].mutableOrderedSetValue(forKey: "tags").insert(tags[tag], at: 0)
            } else {
                members(mine[note]).add(tags[tag])
            }
        }
        add(0, to: 0)
        add(1, to: 0)
        tags[2].setValue(mine[1], forKey: "owner")
        try child.save()
        let (above, tagsAbove) = (try all("Note", parent), try all("Tag", parent))
        #expect(above.map(labels) == [isOrdered ? ["y", "x"] : ["x", "y"], ["z"]])
        #expect(tagsAbove.map { $0.value(forKey: "owner") as? NSManagedObject } == [above[0], above[0], above[1]])
        #expect(!child.hasChanges)
        #expect(parent.hasChanges)
        // What the parent has, and the child did not touch, stays.
        tags[1].setValue(nil, forKey: "owner")
        try child.save()
        #expect(above.map(labels) == [["x"], ["z"]])
        tags[2].setValue(mine[0], forKey: "owner")
        try child.save()
        #expect(above.map(labels) == [["x", "z"], []])
        try parent.save()
        #expect(above.map(labels) == [["x", "z"], []])
        #expect(stack.file.value("SELECT count(*) FROM ZTAG") == "3")
        // What a child has saved once is not saved with every later change.
        tagsAbove[0].setValue(above[1], forKey: "owner")
        tags[0].setValue("w", forKey: "label")
        try child.save()
        #expect(tagsAbove[0].value(forKey: "owner") as? NSManagedObject === above[1])
        try parent.save()
        #expect(!parent.hasChanges)
        // Nothing but a relationship that is in no row.
        tags[2].setValue(nil, forKey: "owner")
        try child.save()
        #expect(parent.hasChanges)
        try parent.save()
        #expect(!parent.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func aConflictWithTheParentIsReportedAndSettledByTheChildsPolicy(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.parent.author("Ada", born: 1)
        try family.parent.save()
        let mine = try #require(try family.child.authors().first)
        #expect(mine.name == "Ada")
        mine.name = "Ida"
        ada.name = "Zoe"
        ada.born = 2
        let error = #expect(throws: NSError.self) { try family.child.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(ada.name == "Zoe")
        #expect(mine.name == "Ida")
        family.child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try family.child.save()
        #expect(ada.name == "Ida")
        #expect(ada.born == 2)
        #expect(mine.born == 2)
        withExtendedLifetime(family) {}
    }

    @Test func theParentsRollbackDropsWhatAChildSaved() throws {
        let family = try Family()
        let ada = family.parent.author("Ada")
        try family.parent.save()
        let mine = try #require(try family.child.authors().first)
        mine.name = "Ida"
        family.child.author("Bob")
        try family.child.save()
        family.parent.rollback()
        #expect(ada.name == "Ada")
        #expect(try family.parent.names() == ["Ada"])
        #expect(try family.child.names() == ["Ada"] || family.child.names() == ["Ida"])
        family.child.refreshAllObjects()
        #expect(try family.child.names() == ["Ada"])
    }

    @Test func aChildThatMergesAutomaticallyFollowsItsParentAndItsSiblings() throws {  // 157
        let family = try Family()
        let sibling = family.parent.newChild()
        sibling.automaticallyMergesChangesFromParent = true
        let deaf = family.parent.newChild()
        let ada = family.parent.author("Ada", born: 1)
        try family.parent.save()
        let theirs = try #require(try sibling.authors().first)
        let deafs = try #require(try deaf.authors().first)
        #expect(theirs.name == "Ada")
        #expect(deafs.name == "Ada")
        theirs.born = 7
        let mine = try #require(try family.child.authors().first)
        mine.name = "Ida"
        try family.child.save()
        sibling.performAndWait {
            #expect(theirs.name == "Ida")
            #expect(theirs.born == 7)
        }
        ada.name = "Eve"
        try family.parent.save()
        sibling.performAndWait { #expect(theirs.name == "Eve") }
        deaf.performAndWait { #expect(deafs.name == "Ada") }
        withExtendedLifetime(family) {}
    }

    @Test func notificationsArePostedAtEachLevel() throws {
        let family = try Family()
        let childSaves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: family.child)
        let parentSaves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: family.parent)
        let parentChanges = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: family.parent)
        let new = family.child.author("Ada")
        try family.child.save()
        #expect(childSaves.all.last?.objects(NSInsertedObjectsKey) == [new])
        #expect(parentSaves.all.isEmpty)
        #expect(parentChanges.all.last?.objects(NSInsertedObjectsKey).map(\.objectID) == [new.objectID])
        try family.parent.save()
        #expect(parentSaves.all.last?.objects(NSInsertedObjectsKey).count == 1)
        #expect(childSaves.all.count == 1)
    }

    @Test func aChildObtainsPermanentIDs() throws {
        let family = try Family()
        let new = family.child.author("Ada")
        let saved = family.child.author("Bob")
        try family.child.obtainPermanentIDs(for: [new])
        let objectID = new.objectID
        #expect(!objectID.isTemporaryID)
        try family.child.save()
        #expect(family.parent.registeredObject(for: objectID)?.isInserted == true)
        #expect(saved.objectID.isTemporaryID)
        try family.child.obtainPermanentIDs(for: [saved])
        #expect(!saved.objectID.isTemporaryID)
        #expect(family.parent.registeredObject(for: saved.objectID)?.isInserted == true)
        try family.parent.save()
        #expect(Set(try family.library.newContext().authors().map(\.objectID)) == [objectID, saved.objectID])
        #expect(try family.child.authors() == [new, saved])
    }

    @Test func aChildValidatesWhatItSaves() throws {  // 159
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: Library.model(uniqueNames: true, requiredNames: true))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("unique.sqlite"))
        let parent = coordinator.newContext()
        let child = parent.newChild()
        let nameless = child.author(nil)
        let error = #expect(throws: NSError.self) { try child.save() }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(!parent.hasChanges)
        nameless.name = "Ada"
        parent.author("Ada")
        try child.save()
        let conflict = #expect(throws: NSError.self) { try parent.save() }
        #expect(conflict?.code == NSManagedObjectConstraintMergeError)
        withExtendedLifetime(child) {}
    }

    @Test func aParentWithoutACoordinatorIsNamedInTheError() throws {
        let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let child = parent.newChild()
        let error = #expect(throws: NSError.self) { _ = try child.names() }
        #expect(error?.localizedDescription.contains("has no persistent store coordinator") == true)
        let library = try Library()
        parent.persistentStoreCoordinator = library.coordinator
        child.author("Ada")
        try child.save()
        #expect(try parent.names() == ["Ada"])
    }

    @Test func aChildFollowsAParentThatGetsItsCoordinatorLater() throws {
        let library = try Library()
        let known = library.context.author("Ada")
        try library.context.save()
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"])
        let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let children = (0..<3).map { _ in parent.newChild() }
        parent.persistentStoreCoordinator = library.coordinator
        NSEntityDescription.insertNewObject(forEntityName: "Author", into: children[0]).setValue("Bob", forKey: "name")
        LibraryAuthor(entity: entity, insertInto: children[1]).name = "Cid"
        #expect(children[2].object(with: known.objectID).value(forKey: "name") as? String == "Ada")
        for child in children { try child.save() }
        try parent.save()
        #expect(try library.context.names() == ["Ada", "Bob", "Cid"])
    }

    @Test func whatWasInsertedBeforeThereWasACoordinatorIsNotSaved() throws {
        let library = try Library()
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"])
        let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let child = parent.newChild()
        let early = LibraryAuthor(entity: entity, insertInto: child)
        parent.persistentStoreCoordinator = library.coordinator
        let error = #expect(throws: NSError.self) { try child.save() }
        #expect(
            error?.localizedDescription.contains("Author: it was inserted when no context above had a persistent store")
                == true)
        #expect(early.isInserted)
        child.reset()
        child.author("Ada")
        try child.save()
        #expect(try parent.names() == ["Ada"])
    }

    @Test func aChildKeepsItsParentAlive() throws {
        let library = try Library()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        do {
            let parent = library.newContext()
            child.parent = parent
        }
        weak let parent = child.parent
        #expect(parent != nil)
        child.author("Ada")
        try child.save()
        try child.parent?.save()
        #expect(try library.context.names() == ["Ada"])
    }

    @Test func aBranchOfPrivateContextsWorksFromTheMainQueueAndWithinEachOther() throws {
        let family = try Family()
        let grandchild = family.child.newChild()
        try grandchild.performAndWait {
            let ada = grandchild.author("Ada")
            try grandchild.save()
            try family.child.performAndWait {
                #expect(try family.child.names() == ["Ada"])
                try grandchild.performAndWait {
                    ada.name = "Ida"
                    try grandchild.save()
                }
                #expect(try family.child.names() == ["Ida"])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func relatedObjectsOfUnsavedOnesBecomePermanentInTheChild(kind: StoreKind) throws {
        let family = try Family(kind)
        let ada = family.child.author("Ada")
        let notes = family.child.book("Notes", by: ada, tags: [family.child.tag("a"), family.child.tag("b")])
        try family.child.save()
        family.child.refreshAllObjects()
        #expect(notes.author === ada)
        #expect(Set(notes.tags.map(\.label)) == ["a", "b"])
        try family.parent.save()
        family.child.refreshAllObjects()
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        #expect(Set(notes.tags.map(\.label)) == ["a", "b"])
        #expect(!notes.hasChanges)
        notes.author = ada
        try family.child.save()
        #expect(!family.parent.hasChanges)
        #expect(try family.child.titles("author == %@", [ada]) == ["Notes"])
        withExtendedLifetime(family) {}
    }

    /// A row keeps the provisional keys that it was read with.
    @Test(arguments: StoreKind.allCases)
    func anObjectThatWasReadBeforeTheSaveLeadsToThoseWithPermanentIDs(kind: StoreKind) throws {
        let family = try Family(kind)
        let grandchild = family.child.newChild()
        family.parent.book("Notes", pages: 60, by: family.parent.author("Ada"))
        let read = try #require(try family.child.books().first)
        #expect(read.author?.objectID.isTemporaryID == true)
        try family.parent.save()
        let book = try #require(try grandchild.books().first)
        let author = try #require(book.author)
        #expect(author.name == "Ada")
        #expect(!author.objectID.isTemporaryID)
        #expect(try grandchild.authors() == [author])
        withExtendedLifetime((family, read)) {}
    }

    /// Its row, and that which its parent gives for it, may have been made under either key.
    @Test(arguments: StoreKind.allCases)
    func aChangeOfAnObjectThatTheRootHasSavedMeanwhileIsSavedUnderItsPermanentID(kind: StoreKind) throws {
        let family = try Family(kind)
        let grandchild = family.child.newChild()
        family.parent.book("Notes", pages: 60, by: family.parent.author("Ada"))
        let book = try #require(try grandchild.books().first)
        book.pages = 61
        try family.parent.save()
        try grandchild.save()
        #expect(!book.objectID.isTemporaryID)
        #expect(book.author?.objectID.isTemporaryID == false)
        #expect(try grandchild.books() == [book])
        try family.child.save()
        try family.parent.save()
        #expect(try family.library.newContext().books().map(\.pages) == [61])
        #expect(try family.library.newContext().books().first?.author?.name == "Ada")
        withExtendedLifetime(family) {}
    }

    /// Child contexts have the same object, too.
    @Test(arguments: StoreKind.allCases)
    func anObjectWhoseSavedDeletionIsUndoneHasItsTemporaryIDAgain(kind: StoreKind) throws {
        let family = try Family(kind)
        let grandchild = family.child.newChild()
        let manager = UndoManager()
        manager.groupsByEvent = false
        family.child.undoManager = manager
        family.parent.book("Notes", pages: 60)
        let book = try #require(try family.child.books().first)
        let objectID = book.objectID
        manager.beginUndoGrouping()
        family.child.delete(book)
        family.child.processPendingChanges()
        manager.endUndoGrouping()
        try family.child.save()
        #expect(try family.parent.books() == [])
        family.child.undo()
        manager.disableUndoRegistration()
        #expect(book.objectID == objectID)
        let below = try #require(try grandchild.books().first)
        #expect(below.objectID == objectID)
        below.pages = 61
        try family.child.save()
        grandchild.refreshAllObjects()
        #expect(try grandchild.books() == [below])
        #expect(below.pages == 61)
        try grandchild.save()
        try family.child.save()
        try family.parent.save()
        #expect(try family.library.newContext().books().map(\.pages) == [61])
        withExtendedLifetime(family) {}
    }

    @Test func predicatesNameObjectsThatOnlyTheParentHas() throws {
        let family = try Family()
        let ada = family.parent.author("Ada")
        family.parent.book("Notes", by: ada)
        family.parent.book("Other")
        let mine = try #require(try family.child.authors().first)
        #expect(try family.child.titles("author == %@", [mine]) == ["Notes"])
        #expect(try family.child.titles("author == %@", [mine.objectID]) == ["Notes"])
        try family.parent.save()
        #expect(try family.child.titles("author == %@", [mine]) == ["Notes"])
        #expect(try family.child.titles("author.name == 'Ada'") == ["Notes"])
    }
}
