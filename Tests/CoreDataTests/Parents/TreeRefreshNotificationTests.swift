import CoreData
import TestSupport
import Testing

/// Notifications of a level of a tree of contexts when its objects are refreshed, and when it is
/// reset.
struct TreeRefreshNotificationTests {
    typealias Level = NotifyingTree.Level

    enum Refresh: CaseIterable {
        case merging, discarding, all

        func callAsFunction(_ object: NSManagedObject) {
            guard let context = object.managedObjectContext else { return }
            switch self {
            case .merging: context.refresh(object, mergeChanges: true)
            case .discarding: context.refresh(object, mergeChanges: false)
            case .all: context.refreshAllObjects()
            }
        }
    }

    /// A level and a way to refresh.
    struct Place: CustomStringConvertible {
        let level: Level
        let refresh: Refresh
        var description: String { "\(level), \(refresh)" }
        static let all = Level.allCases.flatMap { level in Refresh.allCases.map { Place(level: level, refresh: $0) } }
    }

    @Test(
        "162: a refresh is posted as a refresh by its level alone, and is nothing to save",
        arguments: StoreKind.allCases, Place.all)
    func aRefreshIsPostedByItsLevelAlone(kind: StoreKind, place: Place) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let authors = try tree.authors("Ada")
        let context = tree[place.level]
        place.refresh(authors[place.level.rawValue])
        context.processPendingChanges()
        #expect(tree.posting == [place.level])
        #expect(tree.posts(place.level) == [.didChange])
        #expect(tree.changes(place.level) == [[NSRefreshedObjectsKey: [authors[place.level.rawValue]]]])
        #expect(!context.hasChanges)
        tree.forget()
        try context.save()
        #expect(tree.posting == [place.level])
        #expect(tree.posts(place.level) == [.willSave, .didSave])
        #expect(tree.saves(place.level) == [[:]])
        #expect(tree.savedIDs(place.level) == [[:]])
    }

    @Test(
        "132, 133, 134: a refresh of a changed object is one as well, and its changes are saved where they were kept",
        arguments: StoreKind.allCases, Place.all)
    func aRefreshOfAChangedObjectIsPosted(kind: StoreKind, place: Place) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let authors = try tree.authors("Ada")
        let (context, own) = (tree[place.level], authors[place.level.rawValue])
        own.born = 7
        context.processPendingChanges()
        #expect(tree.changes(place.level) == [[NSUpdatedObjectsKey: [own]]])
        tree.forget()
        place.refresh(own)
        context.processPendingChanges()
        #expect(tree.posting == [place.level])
        #expect(tree.posts(place.level) == [.didChange])
        #expect(tree.changes(place.level).first?[NSRefreshedObjectsKey] == [own])
        let isKept = place.refresh != .discarding
        #expect(own.born == (isKept ? 7 : 0))
        #expect(context.updatedObjects == (isKept ? [own] : []))
        try context.save()
        #expect(tree.saves(place.level) == [isKept ? [NSUpdatedObjectsKey: [own]] : [:]])
        #expect(tree.savedIDs(place.level) == [isKept ? [NSUpdatedObjectIDsKey: [own.objectID]] : [:]])
    }

    @Test(
        "112, 154: a refreshed object of a child has what its parent has not saved; the parent posts nothing of it",
        arguments: StoreKind.allCases)
    func aRefreshReadsWhatTheParentHasNotSaved(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada"])
        let authors = try tree.authors("Ada")
        authors[0].name = "Ida"
        tree[.root].processPendingChanges()
        tree.forget()
        #expect(authors[1].name == "Ada")
        #expect(authors[2].name == "Ada")
        for level in [Level.child, .grandchild] {
            tree[level].refresh(authors[level.rawValue], mergeChanges: false)
            #expect(authors[level.rawValue].name == "Ida")
            tree[level].processPendingChanges()
            #expect(tree.changes(level) == [[NSRefreshedObjectsKey: [authors[level.rawValue]]]])
        }
        #expect(tree.posting == [.child, .grandchild])
        #expect(tree[.root].updatedObjects == [authors[0]])
    }

    @Test(
        "137: a reset is posted by its level alone, with the IDs of what it had", arguments: StoreKind.allCases,
        Level.allCases)
    func aResetIsPostedByItsLevelAlone(kind: StoreKind, level: Level) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob"])
        let held = try tree.authors("Ada") + tree.authors("Bob")
        let new = tree[level].author("New")
        tree[level].processPendingChanges()
        let objectIDs = Set([held[0].objectID, held[3].objectID, new.objectID])
        tree.forget()
        tree[level].reset()
        tree.wait()
        #expect(tree.posting == [level])
        #expect(tree.posts(level) == [.didChange])
        let posted = try #require(tree.all(level).first)
        #expect(posted.object as? NSManagedObjectContext === tree[level])
        #expect(posted.userInfo?.keys.map { $0 as? String } == [NSInvalidatedAllObjectsKey])
        let invalidated = try #require(posted.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID])
        #expect(invalidated.count == 3)
        #expect(Set(invalidated) == objectIDs)
        // The other levels have theirs.
        for (index, author) in held.enumerated() {
            let other = try #require(Level(rawValue: index % 3))
            #expect((author.managedObjectContext == nil) == (other == level))
            if other != level { #expect(author.name == (index < 3 ? "Ada" : "Bob")) }
        }
    }

    @Test("172: each level posts those of its own objects that lose their store", arguments: StoreKind.allCases)
    func eachLevelPostsWhatARemovedStoreInvalidates(kind: StoreKind) throws {
        let tree = try NotifyingTree(kind, ["Ada", "Bob"])
        let (ada, bob) = (try tree.authors("Ada"), try tree.authors("Bob"))
        try tree.library.coordinator.remove(tree.library.store)
        tree.wait()
        for level in Level.allCases {
            #expect(tree.posts(level) == [.didChange], "\(level)")
            #expect(
                tree.changes(level) == [[NSInvalidatedObjectsKey: [ada[level.rawValue], bob[level.rawValue]]]],
                "\(level)")
        }
    }
}
