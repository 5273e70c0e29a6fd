import CoreData
import TestSupport
import Testing

/// Notifications of a child context when it merges a save of its parent or of a sibling.
struct TreeMergeNotificationTests {
    typealias Level = NotifyingTree.Level

    /// The notification that a root has posted after its save.
    private func save(of tree: NotifyingTree) throws -> Notification {
        try #require(tree.all(.root).last { $0.name == NSManagedObjectContext.didSaveObjectsNotification })
    }

    @Test(
        "157, 165, 166, 168: what the parent saves is posted as a merge, and a child's own changes stay",
        arguments: StoreKind.allCases,
        [true, false])
    func whatTheParentSavesIsPostedAsAMerge(kind: StoreKind, isAutomatic: Bool) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob", "Dan"])
        let (ada, bob, dan) = (try tree.authors("Ada"), try tree.authors("Bob"), try tree.authors("Dan"))
        let child = tree[.child]
        child.automaticallyMergesChangesFromParent = isAutomatic
        let eve = child.author("Eve")
        ada[1].born = 7
        dan[1].name = "Dana"
        child.processPendingChanges()
        tree.forget()
        ada[0].name = "Ida"
        tree[.root].delete(bob[0])
        let cid = tree[.root].author("Cid")
        try tree[.root].save()
        tree.wait()
        if !isAutomatic {
            #expect(tree.posting == [.root])
            child.mergeChanges(fromContextDidSave: try save(of: tree))
            child.processPendingChanges()
        }
        let merged = try #require(child.registeredObject(for: cid.objectID))
        #expect(
            tree.changes(.child) == [
                [NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[1]], NSDeletedObjectsKey: [bob[1]]]
            ])
        #expect(
            tree.mergedIDs(.child) == [
                [
                    NSInsertedObjectIDsKey: [cid.objectID], NSUpdatedObjectIDsKey: [ada[0].objectID],
                    NSDeletedObjectIDsKey: [bob[1].objectID], NSRefreshedObjectIDsKey: [ada[0].objectID],
                ]
            ])
        #expect(Set(tree.posts(.child)) == [.didChange, .didMerge])
        #expect(tree.all(.grandchild).isEmpty)
        #expect(ada[1].name == "Ida")
        #expect(ada[1].born == 7)
        #expect(dan[1].name == "Dana")
        #expect(child.updatedObjects == [ada[1], dan[1]])
        #expect(child.insertedObjects == [eve])
        // What was merged is nothing that the child saves.
        tree.forget()
        try child.save()
        let saved = try #require(tree.saves(.child).first)
        #expect(saved[NSInsertedObjectsKey] == [eve])
        #expect(saved[NSUpdatedObjectsKey] == [ada[1], dan[1]])
        let above = try #require(tree[.root].registeredObject(for: eve.objectID))
        #expect(tree.changes(.root) == [[NSInsertedObjectsKey: [above], NSUpdatedObjectsKey: [ada[0], dan[0]]]])
        try tree[.root].save()
        let stored = try tree.library.newContext().authors()
        #expect(stored.map(\.name) == ["Cid", "Dana", "Eve", "Ida"])
        #expect(stored.map(\.born) == [0, 0, 0, 7])
    }

    @Test(
        "162, 165, 166: what a child has changed itself is posted under its own keys when a merge comes",
        arguments: StoreKind.allCases)
    func theChildsOwnChangesHaveTheirKeysBesideAMerge(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob", "Dan", "Fay"])
        let (ada, bob) = (try tree.authors("Ada"), try tree.authors("Bob"))
        let (dan, fay) = (try tree.authors("Dan"), try tree.authors("Fay"))
        let child = tree[.child]
        child.automaticallyMergesChangesFromParent = true
        ada[0].name = "Ida"
        tree[.root].delete(bob[0])
        let cid = tree[.root].author("Cid")
        // Not processed when the merge comes.
        let eve = child.author("Eve")
        dan[1].born = 7
        child.delete(fay[1])
        try tree[.root].save()
        tree.wait()
        child.processPendingChanges()
        let merged = try #require(child.registeredObject(for: cid.objectID))
        let posted = tree.changes(.child).reduce(into: [:]) { $0.merge($1) { $0.union($1) } }
        #expect(
            posted == [
                NSInsertedObjectsKey: [eve, merged], NSUpdatedObjectsKey: [dan[1]],
                NSDeletedObjectsKey: [bob[1], fay[1]],
                NSRefreshedObjectsKey: [ada[1]],
            ])
        #expect(tree.mergedIDs(.child).count == 1)
        try child.save()
        let saved = try #require(tree.saves(.child).first)
        #expect(saved[NSInsertedObjectsKey] == [eve])
        #expect(saved[NSUpdatedObjectsKey] == [dan[1]])
        #expect(saved[NSDeletedObjectsKey]?.contains(fay[1]) == true)
        try tree[.root].save()
        #expect(try tree.library.newContext().names() == ["Cid", "Dan", "Eve", "Ida"])
    }

    @Test(
        "157, 165, 168: what a sibling saves to the parent is merged, new objects under temporary IDs",
        arguments: StoreKind.allCases)
    func whatASiblingSavesIsPostedAsAMerge(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob", "Dan"])
        let (ada, bob, dan) = (try tree.authors("Ada"), try tree.authors("Bob"), try tree.authors("Dan"))
        let context = tree[.grandchild]
        context.automaticallyMergesChangesFromParent = true
        dan[2].born = 7
        context.processPendingChanges()
        let sibling = tree[.child].newChild()
        let deaf = tree[.child].newChild()
        let deafLog = NotificationLog(NotifyingTree.Post.allCases.map(\.name), from: deaf)
        let unmoved = try deaf.authors()
        #expect(unmoved.map(\.name) == ["Ada", "Bob", "Dan"])
        let theirs = try sibling.authors()
        theirs[0].name = "Ida"
        sibling.delete(theirs[1])
        let cid = sibling.author("Cid")
        tree.forget()
        try sibling.save()
        tree.wait()
        #expect(cid.objectID.isTemporaryID)
        let merged = try #require(context.registeredObject(for: cid.objectID))
        #expect(merged !== cid)
        #expect(merged.managedObjectContext === context)
        #expect(
            tree.changes(.grandchild) == [
                [NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[2]], NSDeletedObjectsKey: [bob[2]]]
            ])
        #expect(
            tree.mergedIDs(.grandchild) == [
                [
                    NSInsertedObjectIDsKey: [cid.objectID], NSUpdatedObjectIDsKey: [ada[0].objectID],
                    NSDeletedObjectIDsKey: [bob[0].objectID], NSRefreshedObjectIDsKey: [ada[0].objectID],
                ]
            ])
        #expect(Set(tree.posts(.grandchild)) == [.didChange, .didMerge])
        // The parent has changed; it has not merged.
        let middle = try #require(tree[.child].registeredObject(for: cid.objectID))
        #expect(tree.posts(.child) == [.didChange])
        #expect(
            tree.changes(.child) == [
                [NSInsertedObjectsKey: [middle], NSUpdatedObjectsKey: [ada[1]], NSDeletedObjectsKey: [bob[1]]]
            ])
        #expect(tree.all(.root).isEmpty)
        #expect(deafLog.count == 0)
        #expect(unmoved.map(\.name) == ["Ada", "Bob", "Dan"])
        #expect(ada[2].name == "Ida")
        #expect(context.updatedObjects == [dan[2]])
        #expect(dan[2].born == 7)
        #expect(context.insertedObjects.isEmpty)
    }

    @Test(
        "157: a context merges nothing of what it has saved itself", arguments: StoreKind.allCases,
        TreeNotificationTests.Change.allCases)
    func aContextDoesNotMergeItsOwnSave(kind: StoreKind, change: TreeNotificationTests.Change) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let authors = try tree.authors("Ada")
        for context in tree.contexts { context.automaticallyMergesChangesFromParent = true }
        let context = tree[.grandchild]
        switch change {
        case .insertion: context.author("Bob")
        case .update: authors[2].name = "Ida"
        case .deletion: context.delete(authors[2])
        }
        try context.save()
        tree.wait()
        // Those above have the changes of a child, not those of others.
        for level in Level.allCases { #expect(tree.mergedIDs(level) == []) }
        #expect(tree.posts(.grandchild) == [.didChange, .willSave, .didSave])
        #expect(tree.posts(.child) == [.didChange])
        #expect(tree.all(.root).isEmpty)
    }

    @Test(
        "167, 168: updates of faults, and of what a child does not have, are merged and no change",
        arguments: StoreKind.allCases)
    func updatesOfFaultsAreNoChange(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob"])
        let child = tree[.child]
        child.automaticallyMergesChangesFromParent = true
        let above = try tree[.root].authors()
        let fault = child.object(with: above[0].objectID)
        #expect(fault.isFault)
        for author in above { author.born = 7 }
        try tree[.root].save()
        tree.wait()
        let objectIDs = Set(above.map(\.objectID))
        #expect(tree.posts(.child) == [.didMerge])
        #expect(tree.mergedIDs(.child) == [[NSUpdatedObjectIDsKey: objectIDs]])
        #expect(fault.isFault)
        #expect(fault.value(forKey: "born") as? Int == 7)
    }

    @Test(
        "165: a child that follows its parent takes over relationships, and posts their owners as refreshed",
        arguments: StoreKind.allCases)
    func ownersOfMergedRelationshipsArePosted(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let ada = try tree.authors("Ada")
        tree[.child].automaticallyMergesChangesFromParent = true
        let notes = tree[.root].book("Notes", by: ada[0])
        try tree[.root].save()
        tree.wait()
        let merged = try #require(tree[.child].registeredObject(for: notes.objectID))
        #expect(tree.saves(.root) == [[NSInsertedObjectsKey: [notes], NSUpdatedObjectsKey: [ada[0]]]])
        #expect(tree.changes(.child) == [[NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[1]]]])
        #expect(ada[1].books == [merged])
        #expect(!tree[.child].hasChanges)
    }
}
