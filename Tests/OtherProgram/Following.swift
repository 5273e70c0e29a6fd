import CoreData
import TestSupport

/// Changes a library for some time while other processes do the same, and follows what they do by
/// the store's history alone.
final class Following {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let author: String
    private var generator: SeededGenerator
    private var token: NSPersistentHistoryToken?
    /// All authors, with their values read: nothing but the history tells what changes.
    private var objects: [NSManagedObjectID: LibraryAuthor] = [:]
    private(set) var saves = 0

    init(_ place: StorePlace, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        author = "process \(seed)"
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            ofType: place.type, configurationName: nil, at: place.url, options: [NSPersistentHistoryTrackingKey: true])
        context = coordinator.newContext()
        context.transactionAuthor = author
        // Before the first fetch, so that nothing is missed in between.
        token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        for author in try context.authors() { take(author) }
    }

    /// Prints when the work has begun and when it has ended. What it knows in the end it prints
    /// when its input ends: others have ended their work then.
    static func run(_ place: StorePlace, seed: UInt64, seconds: Double) throws {
        let follower = try Following(place, seed: seed)
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end { try follower.step() }
        FileHandle.standardOutput.write(Data("saved \(follower.saves)\n".utf8))
        while readLine() != nil {}
        try follower.follow()
        print(follower.text)
    }

    private func take(_ author: LibraryAuthor) {
        _ = (author.name, author.born)
        objects[author.objectID] = author
    }

    private func step() throws {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1:
            let new = context.author("\(author) \(saves)", born: Int16.random(in: 0...999, using: &generator))
            try save()
            if !new.objectID.isTemporaryID { take(new) }
        case 2, 3:
            for one in objects.values.shuffled(using: &generator).prefix(2) {
                one.born = Int16.random(in: 0...999, using: &generator)
            }
            try save()
        case 4 where objects.count > 20:
            if let one = objects.values.randomElement(using: &generator) {
                let id = one.objectID
                context.delete(one)
                if try save() { objects[id] = nil }
            }
        default: try follow()
        }
    }

    /// Saves, or takes the changes back where another process was faster.
    @discardableResult
    private func save() throws -> Bool {
        do {
            try context.save()
            saves += 1
            return true
        } catch is CocoaError {
            context.rollback()
            try follow()
            return false
        }
    }

    /// Merges the transactions of others. Each follows the one before: none is missed or seen
    /// twice.
    private func follow() throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            let number = transaction.transactionNumber
            if let last, number != last + 1 { throw Gap(after: last, number) }
            last = number
            token = transaction.token
            if transaction.author != author {
                context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            for change in transaction.changes ?? [] {
                let id = change.changedObjectID
                objects[id] = nil
                // A merged deletion stays in the context until the next save.
                if let object = try? context.existingObject(with: id) as? LibraryAuthor, !object.isDeleted {
                    take(object)
                }
            }
        }
        if context.hasChanges { try save() }
    }

    private var last: Int64?

    private struct Gap: Error {
        let last: Int64
        let number: Int64

        init(after last: Int64, _ number: Int64) { (self.last, self.number) = (last, number) }
    }

    /// What this process has, without asking the store again.
    var text: String {
        objects.map { id, author in
            "\(id.uriRepresentation().lastPathComponent) \(author.name ?? "nil") \(author.born)"
        }.sorted().joined(separator: "\n")
    }
}
