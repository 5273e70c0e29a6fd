import CoreData
import TestSupport
import Testing

/// The token of the query generation in what contexts post:
/// `NSManagedObjectContextQueryGenerationKey`.
struct GenerationKeyTests {
    private static let names = [
        NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.willSaveObjectsNotification,
        NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
        NSManagedObjectContext.didMergeChangesObjectIDsNotification,
    ]
    private static let saveNames = names[2...3]

    private let library: Library
    /// A context that is pinned by some tests, and what it posts.
    private let context: NSManagedObjectContext
    private let log: NotificationLog

    init() throws {
        library = try Library()
        context = library.context
        context.author("Ada")
        try context.save()
        log = NotificationLog(Self.names, from: context)
    }

    private func token(_ notification: Notification) -> NSQueryGenerationToken? {
        notification.userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
    }

    /// Saves another author, and gives the token that is posted with that.
    private func tokenOfSave(_ name: String) throws -> NSQueryGenerationToken {
        log.clear()
        context.author(name)
        try context.save()
        return try #require(
            log.all.first { $0.name == NSManagedObjectContext.didSaveObjectsNotification }.flatMap(token))
    }

    @Test("226: an unpinned context posts no token", arguments: StoreKind.allCases)
    func anUnpinnedContextPostsNoToken(kind: StoreKind) throws {
        let library = try Library(kind)
        let (writer, reader) = (library.context, library.newContext())
        let logs = [writer, reader].map { NotificationLog(Self.names, from: $0) }
        let ada = writer.author("Ada")
        try writer.save()
        let mine = try reader.authors()
        #expect(mine.map(\.name) == ["Ada"])
        ada.name = "Ida"
        try writer.save()
        reader.mergeChanges(fromContextDidSave: try #require(logs[0].all.last { $0.name == Self.names[2] }))
        #expect(Set(logs[0].names) == Set(Self.names[..<4]))
        #expect(Set(logs[1].names) == [Self.names[0], Self.names[4]])
        for notification in logs.flatMap(\.all) {
            #expect(notification.userInfo?[NSManagedObjectContextQueryGenerationKey] == nil, "\(notification.name)")
        }
    }

    @Test(
        "226: only what a pinned context posts after a save has the token that it has then", arguments: [false, true])
    func aPinnedContextPostsItsTokenAfterASave(hasRead: Bool) throws {
        #expect(
            NSManagedObjectContext.NotificationKey.queryGeneration.rawValue == NSManagedObjectContextQueryGenerationKey)
        try context.setQueryGenerationFrom(.current)
        if hasRead { #expect(try context.names() == ["Ada"]) }
        context.author("Bob")
        try context.save()
        #expect(Set(log.names) == Set(Self.names[..<4]))
        for notification in log.all {
            let token = token(notification)
            #expect((token != nil) == Self.saveNames.contains(notification.name), "\(notification.name)")
            if let token { #expect(token == context.queryGenerationToken) }
        }
    }

    @Test func aSaveOfNothingHasATokenToo() throws {  // 131
        try context.setQueryGenerationFrom(.current)
        #expect(try context.names() == ["Ada"])
        try context.save()
        for name in Self.saveNames { #expect(log.all.first { $0.name == name }.flatMap(token) != nil, "\(name)") }
    }

    @Test func theTokenOfASaveIsNotThatOfTheStateBefore() throws {  // 229
        try context.setQueryGenerationFrom(.current)
        #expect(try context.names() == ["Ada"])
        let before = try #require(context.queryGenerationToken)
        let reader = library.newContext()
        try reader.setQueryGenerationFrom(before)
        #expect(try tokenOfSave("Bob") != before)
        #expect(try reader.names() == ["Ada"])
        #expect(try context.names() == ["Ada", "Bob"])
    }

    @Test func aContextWithTheTokenOfASaveReadsWhatThatHasSaved() throws {  // 228
        try context.setQueryGenerationFrom(.current)
        let token = try tokenOfSave("Bob")
        let reader = library.newContext()
        try reader.setQueryGenerationFrom(token)
        #expect(try reader.names() == ["Ada", "Bob"])
        #expect(reader.queryGenerationToken == context.queryGenerationToken)
        let writer = library.newContext()
        writer.author("Cyd")
        try writer.save()
        #expect(try reader.names() == ["Ada", "Bob"])
        #expect(try context.names() == ["Ada", "Bob"])
    }

    @Test func noTokenIsPostedOnceAContextIsUnpinned() throws {  // 226
        try context.setQueryGenerationFrom(.current)
        _ = try tokenOfSave("Bob")
        try context.setQueryGenerationFrom(nil)
        log.clear()
        context.author("Cyd")
        try context.save()
        #expect(log.all.filter { Self.saveNames.contains($0.name) }.count == 2)
        #expect(log.all.allSatisfy { token($0) == nil })
    }

    @Test("158: a child of a pinned context posts no token, and its parent's save does") func aChildPostsNoToken()
        throws
    {
        try context.setQueryGenerationFrom(.current)
        #expect(try context.names() == ["Ada"])
        let child = context.newChild()
        let below = NotificationLog(Self.names, from: child)
        child.author("Bob")
        try child.save()
        #expect(Set(below.names) == Set(Self.names[..<4]))
        #expect(below.all.allSatisfy { $0.userInfo?[NSManagedObjectContextQueryGenerationKey] == nil })
        // Its save is no save of the parent's.
        #expect(log.names == [Self.names[0]])
        #expect(log.all.allSatisfy { token($0) == nil })
        try context.save()
        for name in Self.saveNames { #expect(log.all.first { $0.name == name }.flatMap(token) != nil, "\(name)") }
    }
}
