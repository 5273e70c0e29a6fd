import CoreData
import TestSupport
import Testing

/// Notifications of each level of a tree when it merges a save of another coordinator's context.
struct RemoteMergeNotificationTests {
    typealias Level = NotifyingTree.Level

    /// In which form the changes are given.
    enum Form: CaseIterable {
        case objectIDs, urls, objectIDKeys, notificationOfIDs, notificationOfObjects
    }

    /// A tree, and a context of another coordinator on the same store, which saves.
    private final class Pair {
        let tree: NotifyingTree
        let writer: NSManagedObjectContext
        private let log: NotificationLog

        init(_ kind: StoreKind, _ names: [String]) throws {
            tree = try NotifyingTree(kind, names)
            writer = try tree.library.newStackContext()
            log = NotificationLog(
                [
                    NSManagedObjectContext.didSaveObjectsNotification,
                    NSManagedObjectContext.didSaveObjectIDsNotification,
                ], from: writer)
        }

        func theirs(_ name: String) throws -> LibraryAuthor {
            try #require(try writer.authors("name == %@", [name]).first)
        }

        /// Has the writer save, and gives its changes in a form.
        func save(_ form: Form = .notificationOfIDs) throws -> [AnyHashable: Any] {
            log.clear()
            try writer.save()
            let saved = try #require(log.all.first { $0.name == NSManagedObjectContext.didSaveObjectIDsNotification })
            let lists = NotifyingTree.savedIDKeys.map { Array(saved.objectIDs($0)) }
            func dictionary(_ keys: [String], _ value: ([NSManagedObjectID]) -> Any) -> [AnyHashable: Any] {
                Dictionary(uniqueKeysWithValues: zip(keys, lists).map { (AnyHashable($0), value($1)) })
            }
            switch form {
            case .objectIDs: return dictionary(NotifyingTree.savedKeys) { $0 }
            case .urls: return dictionary(NotifyingTree.savedKeys) { $0.map { $0.uriRepresentation() } }
            case .objectIDKeys: return dictionary(NotifyingTree.savedIDKeys) { $0 }
            case .notificationOfIDs: return saved.userInfo ?? [:]
            case .notificationOfObjects:
                return log.all.first { $0.name == NSManagedObjectContext.didSaveObjectsNotification }?.userInfo ?? [:]
            }
        }
    }

    @Test(
        "165, 168, 169: what another coordinator's context saves is posted as a merge at each level",
        arguments: StoreKind.persistent,
        Form.allCases)
    func aSaveOfAnotherCoordinatorIsPostedAtEachLevel(kind: StoreKind, form: Form) throws {
        let pair = try Pair(kind, ["Ada", "Bob", "Dan"])
        let tree = pair.tree
        let (ada, bob, dan) = (try tree.authors("Ada"), try tree.authors("Bob"), try tree.authors("Dan"))
        try pair.theirs("Ada").name = "Ida"
        pair.writer.delete(try pair.theirs("Bob"))
        let cid = pair.writer.author("Cid")
        let changes = try pair.save(form)
        tree.wait()
        #expect(tree.posting == [])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: tree.contexts)
        tree.wait()
        for level in Level.allCases {
            let context = tree[level]
            let merged = try #require(context.registeredObject(for: cid.objectID))
            #expect(merged.managedObjectContext === context)
            #expect(
                tree.changes(level) == [
                    [
                        NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[level.rawValue]],
                        NSDeletedObjectsKey: [bob[level.rawValue]],
                    ]
                ], "\(level)")
            #expect(
                tree.mergedIDs(level) == [
                    [
                        NSInsertedObjectIDsKey: [cid.objectID], NSUpdatedObjectIDsKey: [ada[0].objectID],
                        NSDeletedObjectIDsKey: [bob[0].objectID], NSRefreshedObjectIDsKey: [ada[0].objectID],
                    ]
                ], "\(level)")
            #expect(Set(tree.posts(level)) == [.didChange, .didMerge], "\(level)")
            // They are IDs of this coordinator's store, whoever has made them.
            let stores = tree.mergedIDs(level).flatMap(\.values).joined().map(\.persistentStore)
            #expect(stores.count == 4, "\(level)")
            #expect(stores.allSatisfy { $0 === tree.library.store }, "\(level)")
            #expect(!context.hasChanges)
            #expect(try context.names() == ["Cid", "Dan", "Ida"])
        }
        withExtendedLifetime(dan) {}
    }

    @Test(
        "157, 169: below a root that has merged, the levels that follow their parents post it, and the others nothing",
        arguments: StoreKind.persistent, [true, false])
    func whatARootMergesReachesTheLevelsThatFollow(kind: StoreKind, follows: Bool) throws {
        let pair = try Pair(kind, ["Ada", "Bob"])
        let tree = pair.tree
        let (ada, bob) = (try tree.authors("Ada"), try tree.authors("Bob"))
        tree[.child].automaticallyMergesChangesFromParent = follows
        try pair.theirs("Ada").name = "Ida"
        pair.writer.delete(try pair.theirs("Bob"))
        let cid = pair.writer.author("Cid")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: try pair.save(), into: [tree[.root]])
        tree.wait()
        #expect(tree.posting == (follows ? [.root, .child] : [.root]))
        for level in follows ? [Level.root, .child] : [.root] {
            let merged = try #require(tree[level].registeredObject(for: cid.objectID))
            #expect(
                tree.changes(level) == [
                    [
                        NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[level.rawValue]],
                        NSDeletedObjectsKey: [bob[level.rawValue]],
                    ]
                ], "\(level)")
            #expect(tree.mergedIDs(level).map { $0[NSRefreshedObjectIDsKey] } == [[ada[0].objectID]], "\(level)")
        }
        #expect(ada.map(\.name) == (follows ? ["Ida", "Ida", "Ada"] : ["Ida", "Ada", "Ada"]))
        // A fetch goes to the store through all parents.
        #expect(try tree[.grandchild].count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) == 2)
    }

    @Test(
        "166, 169: unsaved changes of each level stay, and the objects are posted as refreshed",
        arguments: StoreKind.persistent)
    func unsavedChangesOfEachLevelStay(kind: StoreKind) throws {
        let names = ["Ada", "Bea", "Cleo"]
        let pair = try Pair(kind, names)
        let tree = pair.tree
        let authors = try names.map { try tree.authors($0) }
        for level in Level.allCases {
            authors[level.rawValue][level.rawValue].born = Int16(level.rawValue + 1)
            tree[level].processPendingChanges()
        }
        tree.forget()
        for name in names { try pair.theirs(name).name = name + "!" }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: try pair.save(), into: tree.contexts)
        tree.wait()
        for level in Level.allCases {
            let own = authors.map { $0[level.rawValue] }
            #expect(tree.changes(level) == [[NSRefreshedObjectsKey: Set(own)]], "\(level)")
            #expect(tree.mergedIDs(level).map { $0[NSUpdatedObjectIDsKey] } == [Set(own.map(\.objectID))])
            #expect(own.map(\.name) == ["Ada!", "Bea!", "Cleo!"])
            #expect(own[level.rawValue].born == Int16(level.rawValue + 1))
            #expect(tree[level].updatedObjects == [own[level.rawValue]])
        }
        tree.forget()
        for level in [Level.grandchild, .child, .root] { try tree[level].save() }
        #expect(tree.saves(.root) == [[NSUpdatedObjectsKey: Set(authors.map { $0[0] })]])
        let stored = try tree.library.newStackContext().authors()
        #expect(stored.map(\.name) == ["Ada!", "Bea!", "Cleo!"])
        #expect(stored.map(\.born) == [1, 2, 3])
    }

    @Test("167, 169: faults take no part in the changes of their level", arguments: StoreKind.persistent)
    func updatesOfFaultsAreNoChangeAtAnyLevel(kind: StoreKind) throws {
        let pair = try Pair(kind, ["Ada"])
        let tree = pair.tree
        let objectID = try pair.theirs("Ada").objectID
        let faults = tree.contexts.map { $0.object(with: objectID) }
        #expect(faults.allSatisfy { $0.isFault })
        try pair.theirs("Ada").name = "Ida"
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: try pair.save(), into: tree.contexts)
        tree.wait()
        for level in Level.allCases {
            #expect(tree.posts(level) == [.didMerge], "\(level)")
            #expect(tree.mergedIDs(level) == [[NSUpdatedObjectIDsKey: [objectID]]], "\(level)")
        }
        #expect(faults.allSatisfy { $0.isFault })
        #expect(faults.map { $0.value(forKey: "name") as? String } == ["Ida", "Ida", "Ida"])
    }

    @Test("165, 169: an object with a new member is refreshed at each level", arguments: StoreKind.persistent)
    func ownersOfMergedRelationshipsArePostedAtEachLevel(kind: StoreKind) throws {
        let pair = try Pair(kind, ["Ada"])
        let tree = pair.tree
        let ada = try tree.authors("Ada")
        let notes = pair.writer.book("Notes", by: try pair.theirs("Ada"))
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: try pair.save(), into: tree.contexts)
        tree.wait()
        for level in Level.allCases {
            let merged = try #require(tree[level].registeredObject(for: notes.objectID))
            #expect(
                tree.changes(level) == [
                    [NSInsertedObjectsKey: [merged], NSRefreshedObjectsKey: [ada[level.rawValue]]]
                ], "\(level)")
            #expect(ada[level.rawValue].books == [merged], "\(level)")
            #expect(!tree[level].hasChanges)
        }
    }

    @Test("169: what no level has in its objects is merged, and no change", arguments: StoreKind.persistent)
    func changesOfUnknownRowsAreNoChange(kind: StoreKind) throws {
        let pair = try Pair(kind, ["Ada", "Bob"])
        let tree = pair.tree
        let (ada, bob) = (try pair.theirs("Ada"), try pair.theirs("Bob"))
        let objectIDs = (ada.objectID, bob.objectID)
        ada.name = "Ida"
        pair.writer.delete(bob)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: try pair.save(), into: tree.contexts)
        tree.wait()
        for level in Level.allCases {
            #expect(tree.posts(level) == [.didMerge], "\(level)")
            #expect(
                tree.mergedIDs(level) == [
                    [NSUpdatedObjectIDsKey: [objectIDs.0], NSDeletedObjectIDsKey: [objectIDs.1]]
                ], "\(level)")
            #expect(try tree[level].names() == ["Ida"])
        }
    }
}
