import CoreData
import TestSupport
import Testing

/// Notifications of each level of a tree of contexts about changes and saves.
struct TreeNotificationTests {
    typealias Level = NotifyingTree.Level

    enum Change: CaseIterable {
        case insertion, update, deletion

        var key: String { NotifyingTree.savedKeys[index] }
        var idKey: String { NotifyingTree.savedIDKeys[index] }
        private var index: Int {
            switch self {
            case .insertion: 0
            case .update: 1
            case .deletion: 2
            }
        }
    }

    // MARK: Saving up

    @Test(
        "154, 160, 161, 162: a change is posted by the level that saves it, and by the one above as its own",
        arguments: StoreKind.allCases,
        Change.allCases)
    func aChangeClimbsLevelByLevel(kind: StoreKind, change: Change) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        var objects = try tree.authors("Ada")
        let bottom = tree[.grandchild]
        switch change {
        case .insertion: objects[2] = bottom.author("Bob")
        case .update: objects[2].name = "Ida"
        case .deletion: bottom.delete(objects[2])
        }
        let objectID = objects[2].objectID
        #expect(objectID.isTemporaryID == (change == .insertion))
        tree.forget()
        for level in [Level.grandchild, .child] {
            let above = level == .grandchild ? Level.child : .root
            try tree[level].save()
            // The bottom's own changes are an event that ends with its save; what came from below
            // is one that has ended.
            #expect(
                tree.posts(level)
                    == (level == .grandchild ? [.didChange, .willSave, .didSave] : [.willSave, .didSave]))
            #expect(tree.posts(above) == [.didChange])
            #expect(tree.posting == [level, above])
            if change == .insertion {
                objects[above.rawValue] = try #require(tree[above].registeredObject(for: objectID) as? LibraryAuthor)
            }
            if level == .grandchild { #expect(tree.changes(level) == [[change.key: [objects[level.rawValue]]]]) }
            #expect(tree.changes(above) == [[change.key: [objects[above.rawValue]]]])
            #expect(tree.saves(level) == [[change.key: [objects[level.rawValue]]]])
            // No store has given an ID yet.
            #expect(tree.savedIDs(level) == [[change.idKey: [objectID]]])
            tree.forget()
        }
        try tree[.root].save()
        tree.wait()
        #expect(tree.posting == [.root])
        #expect(tree.posts(.root) == [.willSave, .didSave])
        #expect(tree.saves(.root) == [[change.key: [objects[0]]]])
        let savedID = try #require(tree.savedIDs(.root).first?[change.idKey]?.first)
        #expect(!savedID.isTemporaryID)
        #expect(change == .insertion ? savedID == objects[0].objectID : savedID == objectID)
        #expect(tree.savedIDs(.root) == [[change.idKey: [savedID]]])
        let stored = ["insertion": ["Ada", "Bob"], "update": ["Ida"], "deletion": []]
        #expect(try tree.library.newContext().names() == stored["\(change)"])
    }

    @Test(
        "160: before its save a level posts its context, and nothing of what is to be saved",
        arguments: StoreKind.allCases)
    func beforeASaveALevelPostsItsContext(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind)
        tree[.grandchild].author("Ada")
        for level in [Level.grandchild, .child, .root] {
            try tree[level].save()
            let posted = tree.all(level).filter { $0.name == NSManagedObjectContext.willSaveObjectsNotification }
            #expect(posted.count == 1)
            #expect(posted.first?.object as? NSManagedObjectContext === tree[level])
            #expect(posted.first?.userInfo?.isEmpty ?? true)
        }
    }

    @Test(
        "89, 161, 162: one save has all kinds of changes, and objects whose inverse changed",
        arguments: StoreKind.allCases)
    func oneSaveHasAllKindsOfChanges(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob", "Cid"])
        let (ada, bob, cid) = (try tree.authors("Ada"), try tree.authors("Bob"), try tree.authors("Cid"))
        var books = [tree[.grandchild].book("Notes", by: ada[2])]
        let bookID = books[0].objectID
        bob[2].born = 7
        tree[.grandchild].delete(cid[2])
        func expected(_ level: Level, _ book: LibraryBook) -> [String: Set<NSManagedObject>] {
            let index = level.rawValue
            return [
                NSInsertedObjectsKey: [book], NSUpdatedObjectsKey: [ada[index], bob[index]],
                NSDeletedObjectsKey: [cid[index]],
            ]
        }
        for level in [Level.grandchild, .child] {
            try tree[level].save()
            let above = level == .grandchild ? Level.child : .root
            let book = try #require(tree[above].registeredObject(for: bookID) as? LibraryBook)
            books.insert(book, at: 0)
            #expect(tree.changes(above) == [expected(above, book)])
            #expect(tree.saves(level) == [expected(level, books[1])])
            #expect(
                tree.savedIDs(level).first?.mapValues(\.count)
                    == Dictionary(uniqueKeysWithValues: zip(NotifyingTree.savedIDKeys, [1, 2, 1])))
        }
        #expect(tree.saves(.root) == [])
        try tree[.root].save()
        #expect(tree.saves(.root) == [expected(.root, books[0])])
    }

    /// Saves of other contexts of a coordinator, and of a child, change nothing in contexts that do
    /// not merge.
    @Test("157, 163: several saves from below are several events above, and one save", arguments: StoreKind.allCases)
    func severalSavesFromBelowAreSeveralEventsAbove(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob"])
        let (ada, bob) = (try tree.authors("Ada"), try tree.authors("Bob"))
        let sibling = tree[.root].newChild()
        let child = tree[.child]
        ada[1].born = 1
        try child.save()
        child.delete(bob[1])
        try child.save()
        let cid = sibling.author("Cid")
        try sibling.save()
        let above = try #require(tree[.root].registeredObject(for: cid.objectID))
        #expect(
            tree.changes(.root) == [
                [NSUpdatedObjectsKey: [ada[0]]], [NSDeletedObjectsKey: [bob[0]]], [NSInsertedObjectsKey: [above]],
            ])
        try tree[.root].save()
        #expect(tree.changes(.root).count == 3)
        #expect(
            tree.saves(.root)
                == [[NSInsertedObjectsKey: [above], NSUpdatedObjectsKey: [ada[0]], NSDeletedObjectsKey: [bob[0]]]])
        #expect(tree.saves(.child).count == 2)
        #expect(tree.posting == [.root, .child])
    }

    @Test(
        "131: a save of nothing is posted with empty sets, and is nothing to the levels above",
        arguments: StoreKind.allCases,
        Level.allCases)
    func aSaveOfNothingIsPostedByItsLevelAlone(kind: StoreKind, level: Level) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let authors = try tree.authors("Ada")
        try tree[level].save()
        tree.wait()
        #expect(tree.posting == [level])
        #expect(tree.posts(level) == [.willSave, .didSave])
        #expect(tree.saves(level) == [[:]])
        #expect(tree.savedIDs(level) == [[:]])
        withExtendedLifetime(authors) {}
    }

    @Test(
        "97: what is deleted before it has reached a level is in none of that level's sets",
        arguments: StoreKind.allCases)
    func whatNeverReachedALevelIsNotPostedThere(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind)
        let ada = tree[.grandchild].author("Ada")
        let objectID = ada.objectID
        try tree[.grandchild].save()
        let middle = try #require(tree[.child].registeredObject(for: objectID))
        tree.forget()
        // For the grandchild it is saved, for the child it is new.
        tree[.grandchild].delete(ada)
        try tree[.grandchild].save()
        #expect(tree.saves(.grandchild) == [[NSDeletedObjectsKey: [ada]]])
        #expect(tree.savedIDs(.grandchild) == [[NSDeletedObjectIDsKey: [objectID]]])
        #expect(tree.changes(.child) == [[NSDeletedObjectsKey: [middle]]])
        #expect(tree[.child].insertedObjects.isEmpty)
        try tree[.child].save()
        #expect(tree.saves(.child) == [[:]])
        #expect(tree.savedIDs(.child) == [[:]])
        #expect(tree.all(.root).isEmpty)
        #expect(!tree[.root].hasChanges)
    }

    @Test("126: an ID that was obtained before is the one that every level posts", arguments: StoreKind.allCases)
    func anIDThatWasObtainedIsPostedByEveryLevel(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind)
        let ada = tree[.grandchild].author("Ada")
        try tree[.grandchild].obtainPermanentIDs(for: [ada])
        let objectID = ada.objectID
        #expect(!objectID.isTemporaryID)
        for level in [Level.grandchild, .child, .root] {
            try tree[level].save()
            #expect(tree.savedIDs(level) == [[NSInsertedObjectIDsKey: [objectID]]])
            #expect(tree.saves(level).first?[NSInsertedObjectsKey]?.map(\.objectID) == [objectID])
        }
    }

    @Test(
        "163: a level whose save is refused posts no save, and the level above no change", arguments: StoreKind.allCases
    )
    func aRefusedSaveIsNotPosted(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let ada = try tree.authors("Ada")
        ada[1].name = "Ida"
        ada[0].name = "Eda"
        tree[.root].processPendingChanges()
        tree.forget()
        // The child's object is not what its parent has any more.
        #expect(throws: (any Error).self) { try tree[.child].save() }
        #expect(tree.posts(.child) == [.didChange, .willSave])
        #expect(tree.savedIDs(.child) == [])
        #expect(tree.posting == [.child])
        #expect(ada[0].name == "Eda")
        #expect(ada[1].name == "Ida")
    }
}
