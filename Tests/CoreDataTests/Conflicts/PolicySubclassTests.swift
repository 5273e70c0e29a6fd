import CoreData
import TestSupport
import Testing

/// A policy that writes down what it is asked.
private final class RecordingPolicy: NSMergePolicy, @unchecked Sendable {
    struct Refusal: Error {}
    var calls: [String] = []
    var refuses = false

    override func resolve(mergeConflicts list: [Any]) throws {
        calls.append("all \(list.count)")
        try super.resolve(mergeConflicts: list)
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        calls.append("versions \(list.count)")
        if refuses { throw Refusal() }
        try super.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        calls.append("constraints \(list.count)")
        if refuses { throw Refusal() }
        try super.resolve(constraintConflicts: list)
    }
}

/// A policy that goes on from what its parent has settled.
private final class CountingPolicy: NSMergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try super.resolve(optimisticLockingConflicts: list)
        for case let author as LibraryAuthor in list.map(\.sourceObject) {
            author.name = "\(author.name ?? "nil") and \(author.books.count) books"
        }
    }
}

/// A policy that does nothing about any conflict.
private final class IdlePolicy: NSMergePolicy, @unchecked Sendable {
    // Sendable: adds no state.
    override func resolve(mergeConflicts list: [Any]) throws {}
}

/// A conflict with a designated initializer of its own.
private final class AnnotatedConflict: NSMergeConflict {
    let note: String

    init(_ object: NSManagedObject, note: String) {
        self.note = note
        super.init(
            source: object, newVersion: 3, oldVersion: 2, cachedSnapshot: ["name": "cached"], persistedSnapshot: nil)
    }
}

struct PolicySubclassTests {
    @Test(
        arguments: StoreKind.persistent,
        [
            (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "Mine"),
            (.mergeByPropertyStoreTrumpMergePolicyType, "Theirs"),
            (.rollbackMergePolicyType, "Theirs"),
        ])
    func whatASubclassLeavesIsSettledAsItsTypeSays(
        kind: StoreKind, outcome: (NSMergePolicyType, String)
    ) throws {  // 217
        let library = try Library(kind)
        let author = library.context.author("Ada")
        try library.context.save()
        #expect(library.tables.execute("UPDATE {author} SET {name} = 'Theirs', {version} = {version} + 1"))
        author.name = "Mine"
        library.context.mergePolicy = IdlePolicy(merge: outcome.0)
        try library.context.save()
        #expect(library.tables.column("SELECT {name} FROM {author}") == [outcome.1])
        #expect(author.name == outcome.1)
    }

    @Test(arguments: StoreKind.persistent)  // 217
    func afterItsParentASubclassSeesTheMergedObjectAndMayChangeIt(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Ada", born: 1)
        try library.context.save()
        let other = library.newContext()
        let theirs = try other.authors()[0]
        theirs.name = "Theirs"
        other.book("Notes", by: theirs)
        try other.save()
        library.context.mergePolicy = CountingPolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        author.name = "Mine"
        author.born = 2
        try library.context.save()
        #expect(library.tables.rows("SELECT {name}, {born} FROM {author}") == [["Theirs and 1 books", "2"]])
        #expect(author.name == "Theirs and 1 books")
    }

    @Test(arguments: StoreKind.persistent)  // 217, 218
    func aSubclassIsAskedAndItsParentSettles(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Ada")
        try library.context.save()
        #expect(library.tables.execute("UPDATE {author} SET {name} = 'Theirs', {version} = {version} + 1"))
        author.name = "Mine"
        let policy = RecordingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        library.context.mergePolicy = policy
        try library.context.save()
        #expect(policy.calls.contains("versions 1"))
        #expect(library.tables.column("SELECT {name} FROM {author}") == ["Mine"])
    }

    @Test(arguments: StoreKind.persistent)  // 218
    func aSubclassMayRefuse(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Ada")
        try library.context.save()
        #expect(library.tables.execute("UPDATE {author} SET {name} = 'Theirs', {version} = {version} + 1"))
        author.name = "Mine"
        let policy = RecordingPolicy(merge: .overwriteMergePolicyType)
        policy.refuses = true
        library.context.mergePolicy = policy
        #expect(throws: RecordingPolicy.Refusal.self) { try library.context.save() }
        #expect(library.tables.column("SELECT {name} FROM {author}") == ["Theirs"])
        #expect(author.name == "Mine")
        #expect(author.isUpdated)
    }

    @Test(arguments: StoreKind.persistent)  // 217
    func resolvingAllConflictsAsksForBothKinds(kind: StoreKind) throws {
        let policy = RecordingPolicy(merge: .overwriteMergePolicyType)
        let library = try Library(kind)
        let author = library.context.author("Ada")
        try library.context.save()
        let version = NSMergeConflict(
            source: author, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
        let constraint = NSConstraintConflict(
            constraint: ["name"], database: nil, databaseSnapshot: nil, conflicting: [author],
            conflictingSnapshots: [[:]])
        policy.refuses = false
        try? policy.resolve(mergeConflicts: [version, constraint])
        #expect(policy.calls == ["all 2", "versions 1", "constraints 1"])
    }

    @Test func aSubclassOfAConflictCallsTheInitializerThatProgramsHave() throws {
        let library = try Library(.inMemory)
        let author = library.context.author("Ada")
        try library.context.save()
        author.name = "Ida"
        let conflict = AnnotatedConflict(author, note: "mine")
        #expect(conflict.note == "mine")
        #expect(conflict.sourceObject === author)
        #expect(conflict.newVersionNumber == 3)
        #expect(conflict.oldVersionNumber == 2)
        #expect(conflict.objectSnapshot?["name"] as? String == "Ada")
        #expect(conflict.cachedSnapshot?["name"] as? String == "cached")
        #expect(conflict.persistedSnapshot == nil)
    }
}
