import CoreData
import TestSupport
import Testing

/// Objects that enter and leave contexts in random ways, compared with a plain list of what is to
/// be in the stores.
struct RandomEntryTests {
    enum Arena: CaseIterable {
        case file, memory, files
        var kind: StoreKind { self == .memory ? .inMemory : .sqlite }
    }

    @Test(arguments: Arena.allCases, 1...(LongTests.areEnabled ? 100 : 2))
    func whatEntersIsSavedUnderAPermanentID(_ arena: Arena, _ seed: Int) throws {
        let run = try EntryRun(arena, seed: UInt64(seed))
        for step in 0..<120 {
            let move = try run.doSomething()
            if let problem = try run.problem() {
                Issue.record("\(arena), seed \(seed), step \(step) (\(move)): \(problem)")
                return
            }
        }
        try run.saveAll()
        if let problem = try run.problem() { Issue.record("\(arena), seed \(seed), at the end: \(problem)") }
    }
}

private final class EntryRun {
    /// An object with what is known of it.
    private final class Entry {
        let author: LibraryAuthor
        let name: String
        /// The place of the context that it is to be saved by; nil outside of all.
        var home: Int?
        /// The place of the context that it is to leave with the next save.
        var former: Int?
        /// Where it is to be saved; nil for the first store.
        var store: NSPersistentStore?
        var hasPermanentID = false
        /// The ID that it was asked for since it has the context that it has, or has had none.
        var known: NSManagedObjectID?

        init(_ author: LibraryAuthor, _ name: String, home: Int?) {
            (self.author, self.name, self.home) = (author, name, home)
        }
    }

    private var generator: SeededGenerator
    private let library: Library
    private let second: NSPersistentStore?
    /// A root, its child, and another root.
    private let contexts: [NSManagedObjectContext]
    private var serial = 0
    /// Entries that are in no store.
    private var entries: [Entry] = []
    /// Entries that the child has saved and its parent has not.
    private var passedOn: [Entry] = []
    private var saved: [Entry] = []

    init(_ arena: RandomEntryTests.Arena, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        library = try Library(arena.kind, uniqueNames: true)
        second =
            arena == .files
            ? try library.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: library.folder.file("second.sqlite")) : nil
        let child = library.context.newChild()
        contexts = [library.context, child, library.newContext()]
        let taken = Entry(library.context.author("taken"), "taken", home: 0)
        try library.context.save()
        saved = [taken]
    }

    private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private func nextName() -> String {
        serial += 1
        return "a\(serial)"
    }

    /// Asks an object for its ID, sometimes.
    private func ask(_ entry: Entry) { if random(2) == 0 { entry.known = entry.author.objectID } }

    private func anyEntry(isIn: Bool) -> Entry? {
        let candidates = entries.filter { ($0.home != nil) == isIn }
        return candidates.isEmpty ? nil : candidates[random(candidates.count)]
    }

    // MARK: Moves

    /// - Returns: what it has done.
    func doSomething() throws -> String {
        switch random(16) {
        case 0, 1: return make()
        case 2, 3: return makeOutside()
        case 4, 5, 6: return insertOneOutside()
        case 7: return delete()
        case 8: return deleteAndInsert()
        case 9: return try obtain()
        case 10: return try failToSave(random(2) * 2)
        case 11: return assign()
        case 12: return rollBack(random(3))
        case 13: return try save(1)
        case 14: return try save(0)
        default: return try save(2)
        }
    }

    private func make() -> String {
        let (home, name) = (random(3), nextName())
        let entry = Entry(contexts[home].author(name), name, home: home)
        entries.append(entry)
        ask(entry)
        return "make"
    }

    private func makeOutside() -> String {
        guard let entity = library.coordinator.managedObjectModel.entitiesByName["Author"] else { return "no entity" }
        let entry = Entry(LibraryAuthor(entity: entity, insertInto: nil), nextName(), home: nil)
        entry.author.name = entry.name
        entries.append(entry)
        ask(entry)
        return "make outside"
    }

    private func insertOneOutside() -> String {
        guard let entry = anyEntry(isIn: false) else { return "nothing outside" }
        let home = entry.former ?? random(3)
        (entry.home, entry.former) = (home, nil)
        let before = entry.known
        contexts[home].insert(entry.author)
        // One of another tree has another temporary ID here.
        entry.known = nil
        if let before, before == entry.author.objectID { entry.known = before }
        ask(entry)
        return "insert into \(home)"
    }

    private func leave(_ entry: Entry) {
        entry.home = nil
        if !entry.hasPermanentID { entry.store = nil }
    }

    private func delete() -> String {
        guard let entry = anyEntry(isIn: true), let home = entry.home else { return "nothing to delete" }
        contexts[home].delete(entry.author)
        contexts[home].processPendingChanges()
        leave(entry)
        entry.former = home
        ask(entry)
        return "delete from \(home)"
    }

    private func deleteAndInsert() -> String {
        guard let entry = anyEntry(isIn: true), let home = entry.home else { return "nothing to delete" }
        contexts[home].delete(entry.author)
        ask(entry)
        contexts[home].insert(entry.author)
        return "delete from \(home) and insert"
    }

    private func obtain() throws -> String {
        guard let entry = anyEntry(isIn: true), let home = entry.home else { return "nothing to obtain an ID for" }
        try contexts[home].obtainPermanentIDs(for: [entry.author])
        (entry.hasPermanentID, entry.known) = (true, entry.author.objectID)
        return "obtain an ID in \(home)"
    }

    private func failToSave(_ home: Int) throws -> String {
        let refused = contexts[home].author("taken")
        let error = errorThrown { try contexts[home].save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        contexts[home].delete(refused)
        if random(2) == 0 { contexts[home].processPendingChanges() }
        return "fail to save \(home)"
    }

    private func assign() -> String {
        guard let second, let entry = anyEntry(isIn: true), let home = entry.home, !entry.hasPermanentID else {
            return "nothing to assign"
        }
        contexts[home].assign(entry.author, to: second)
        entry.store = second
        return "assign in \(home)"
    }

    private func rollBack(_ home: Int) -> String {
        // What a child has passed on would be lost.
        if home == 0, !passedOn.isEmpty { return "no rollback" }
        contexts[home].rollback()
        for entry in entries where entry.home == home { leave(entry) }
        for entry in entries where entry.former == home { entry.former = nil }
        return "roll back \(home)"
    }

    private func save(_ home: Int) throws -> String {
        try contexts[home].save()
        for entry in entries where entry.former == home { entry.former = nil }
        let own = entries.filter { $0.home == home }
        entries.removeAll { $0.home == home }
        if home == 1 {
            passedOn += own
        } else {
            saved += own
            if home == 0 {
                saved += passedOn
                passedOn = []
                contexts[1].performAndWait {}
            }
        }
        return "save \(home)"
    }

    func saveAll() throws {
        for entry in entries where entry.home == nil {
            let home = entry.former ?? 1
            contexts[home].insert(entry.author)
            (entry.home, entry.former, entry.known) = (home, nil, nil)
        }
        for home in [1, 0, 2] { _ = try save(home) }
    }

    // MARK: Checks

    /// How what there is differs from what is to be; nil where it does not.
    func problem() throws -> String? {
        for entry in entries {
            let home = entry.home
            if let home, !contexts[home].insertedObjects.contains(entry.author) {
                return "\(entry.name) is not inserted in \(home)"
            }
            if let former = entry.former {
                guard entry.author.isDeleted, contexts[former].deletedObjects.contains(entry.author) else {
                    return "\(entry.name) is not deleted in \(former)"
                }
            } else if home == nil, entry.author.managedObjectContext != nil {
                return "\(entry.name) has a context"
            }
            if let known = entry.known {
                if entry.author.objectID != known {
                    return "\(entry.name) has changed its ID \(known) to \(entry.author.objectID)"
                }
                if let home, contexts[home].registeredObject(for: known) !== entry.author {
                    return "\(entry.name) is not found in \(home) by \(known)"
                }
            }
        }
        let fresh = library.coordinator.newContext()
        let (names, expected) = (try fresh.names().map { $0 ?? "nil" }, saved.map(\.name).sorted())
        if names != expected { return "saved are \(names), not \(expected)" }
        var found: Set<NSManagedObjectID> = []
        for entry in saved {
            let objectID = entry.author.objectID
            if objectID.isTemporaryID { return "\(entry.name) has a temporary ID after the save" }
            if let known = entry.known, !known.isTemporaryID, known != objectID {
                return "\(entry.name) has not kept \(known)"
            }
            if !found.insert(objectID).inserted { return "\(entry.name) shares its ID" }
            if objectID.persistentStore !== entry.store ?? library.store {
                return "\(entry.name) is in the wrong store"
            }
            guard let byURI = library.coordinator.managedObjectID(forURIRepresentation: objectID.uriRepresentation()),
                try fresh.existingObject(with: byURI).value(forKey: "name") as? String == entry.name
            else { return "\(entry.name) is not found by its URI" }
        }
        return nil
    }
}
