import CoreData
import TestSupport
import Testing

/// A root, a child and a grandchild over a library, and what each of them posts.
final class NotifyingTree {
    enum Level: Int, CaseIterable {
        case root, child, grandchild
    }

    /// The kinds of notifications.
    enum Post: CaseIterable {
        case didChange, willSave, didSave, didSaveIDs, didMerge

        var name: Notification.Name {
            switch self {
            case .didChange: NSManagedObjectContext.didChangeObjectsNotification
            case .willSave: NSManagedObjectContext.willSaveObjectsNotification
            case .didSave: NSManagedObjectContext.didSaveObjectsNotification
            case .didSaveIDs: NSManagedObjectContext.didSaveObjectIDsNotification
            case .didMerge: NSManagedObjectContext.didMergeChangesObjectIDsNotification
            }
        }
    }

    static let savedKeys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
    static let changedKeys = savedKeys + [NSRefreshedObjectsKey, NSInvalidatedObjectsKey]
    static let savedIDKeys = [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey]
    static let mergedIDKeys = savedIDKeys + [NSRefreshedObjectIDsKey, NSInvalidatedObjectIDsKey]

    let library: Library
    /// By level.
    let contexts: [NSManagedObjectContext]
    private let logs: [NotificationLog]

    /// - Parameter names: the names of authors that are saved.
    init(_ kind: StoreKind, _ names: [String] = []) throws {
        library = try Library(kind)
        let first = library.newContext()
        for name in names { first.author(name) }
        try first.save()
        let child = library.context.newChild()
        contexts = [library.context, child, child.newChild()]
        logs = contexts.map { NotificationLog(Post.allCases.map(\.name), from: $0) }
    }

    subscript(level: Level) -> NSManagedObjectContext { contexts[level.rawValue] }

    /// The author of a name at each level, complete.
    func authors(_ name: String) throws -> [LibraryAuthor] {
        try contexts.map { context in
            let author = try #require(try context.authors("name == %@", [name]).first)
            #expect(author.name == name)
            #expect(author.books.isEmpty)
            return author
        }
    }

    /// Waits for what the contexts have to do on their queues, each after the one above it.
    func wait() { for context in contexts { context.performAndWait {} } }

    /// Forgets what was posted.
    func forget() { for log in logs { log.clear() } }

    // MARK: What was posted

    func all(_ level: Level) -> [Notification] { logs[level.rawValue].all }

    /// The notifications of a level, in order. Without the one of a save that has object IDs: its
    /// place relative to the one with objects is not documented.
    func posts(_ level: Level) -> [Post] {
        all(level).compactMap { notification in Post.allCases.first { $0.name == notification.name } }.filter {
            $0 != .didSaveIDs
        }
    }

    /// The levels that have posted anything.
    var posting: Set<Level> { Set(Level.allCases.filter { !all($0).isEmpty }) }

    /// The objects of each notification about changes, by the keys that have any.
    func changes(_ level: Level) -> [[String: Set<NSManagedObject>]] { sets(.didChange, level, Self.changedKeys) }

    /// The objects of each notification after a save.
    func saves(_ level: Level) -> [[String: Set<NSManagedObject>]] { sets(.didSave, level, Self.savedKeys) }

    /// The IDs of each notification after a save.
    func savedIDs(_ level: Level) -> [[String: Set<NSManagedObjectID>]] { sets(.didSaveIDs, level, Self.savedIDKeys) }

    /// The IDs of each notification after a merge.
    func mergedIDs(_ level: Level) -> [[String: Set<NSManagedObjectID>]] { sets(.didMerge, level, Self.mergedIDKeys) }

    /// The sets of a level's notifications of a kind. Checks that they name the level's context,
    /// and have no other keys with sets.
    private func sets<Element: Hashable>(_ post: Post, _ level: Level, _ keys: [String]) -> [[String: Set<Element>]] {
        let others = Set(Self.changedKeys + Self.mergedIDKeys + [NSInvalidatedAllObjectsKey]).subtracting(keys)
        return all(level).filter { $0.name == post.name }.map { notification in
            #expect(notification.object as? NSManagedObjectContext === self[level])
            let info = notification.userInfo ?? [:]
            #expect(
                info[NSManagedObjectContext.NotificationKey.sourceContext.rawValue] as? NSManagedObjectContext
                    === self[level])
            for key in others { #expect(info[key] == nil, "\(post) has \(key)") }
            var sets: [String: Set<Element>] = [:]
            for key in keys {
                guard let value = info[key] else { continue }
                guard let set = value as? Set<Element> else {
                    Issue.record("\(post) has a \(type(of: value)) for \(key)")
                    continue
                }
                if !set.isEmpty { sets[key] = set }
            }
            return sets
        }
    }
}
