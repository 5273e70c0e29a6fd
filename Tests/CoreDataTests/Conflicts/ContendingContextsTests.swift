import CoreData
import TestSupport
import Testing

/// Several contexts with all policies change, delete and recreate a few rows, also while others resolve their conflicts.
@Suite struct ContendingContextsTests {
    @Test(arguments: StoreKind.allCases, 1...(LongTests.areEnabled ? 60 : 6))
    func everySaveSucceedsOrReportsAConflictAndTheRowsAreThoseExpected(_ kind: StoreKind, _ seed: Int) throws {
        let contest = try Contest(kind, seed: UInt64(seed))
        for step in 0..<250 {
            try contest.doSomething()
            if let problem = contest.problem {
                Issue.record("seed \(seed), step \(step): \(problem)")
                return
            }
        }
        #expect(contest.saves > 20)
        #expect(contest.interruptions > 0)
    }
}

/// The rows of a library as a fresh context reads them: properties by entity and key. Destinations are keys.
private typealias Rows = [String: [String: String]]

private final class Contest {
    /// A merge policy that lets other contexts save between the resolution of conflicts and the next attempt.
    private final class OpenDoor: NSMergePolicy, @unchecked Sendable {
        // Sendable: used by one thread.
        var visit: (() -> Void)?

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            if !list.isEmpty { visit?() }
        }
    }

    private struct Player {
        let context: NSManagedObjectContext
        let policy: NSMergePolicyType
    }

    private var generator: SeededGenerator
    private let library: Library
    private var players: [Player] = []
    private var serial = 0
    private var isVisiting = false
    /// Whose save is under test.
    private var saving: NSManagedObjectContext?
    private(set) var problem: String?
    private(set) var saves = 0
    private(set) var interruptions = 0
    /// What the store held when the last attempt of the save under test began, and whether there was an earlier one.
    private var rowsBefore: Rows = [:]
    private var wasInterrupted = false

    init(_ kind: StoreKind, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        library = try Library(kind)
        let author = library.context.author("A", born: 1)
        for number in 0..<3 { library.context.book("B\(number)", pages: 1, by: number == 0 ? author : nil) }
        library.context.tag("T")
        try library.context.save()
        let types: [NSMergePolicyType] = [
            .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType,
        ]
        for (index, type) in types.enumerated() {
            // The last two stand for another process.
            let isOther = kind == .sqlite && index >= 5
            let context = try isOther ? library.newStackContext() : library.newContext()
            context.retainsRegisteredObjects = true
            let policy = OpenDoor(merge: type)
            policy.visit = { [unowned self] in visit() }
            context.mergePolicy = policy
            players.append(Player(context: context, policy: type))
        }
    }

    private func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private func name() -> String {
        serial += 1
        return "n\(serial)"
    }

    // MARK: Moves

    func doSomething() throws {
        let player = players[random(0..<players.count)]
        if random(0..<4) == 0 { try save(player) } else { try change(player.context) }
    }

    /// Others change and save while a save resolves its conflicts.
    private func visit() {
        guard !isVisiting else { return }
        isVisiting = true
        defer { isVisiting = false }
        if random(0..<2) == 0 {
            interruptions += 1
            wasInterrupted = true
            let others = players.filter { $0.context !== saving }
            for _ in 0..<3 {
                guard let other = others.randomElement(using: &generator), other.policy != .errorMergePolicyType else { continue }
                try? change(other.context)
                try? other.context.save()
            }
        }
        rowsBefore = rows()
    }

    private func change(_ context: NSManagedObjectContext) throws {
        let books = try context.books().filter { !$0.isDeleted }
        let authors = try context.authors().filter { !$0.isDeleted }
        let tags = try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).filter { !$0.isDeleted }
        let book = books.isEmpty ? nil : books.sorted { $0.objectID < $1.objectID }[random(0..<books.count)]
        switch random(0..<14) {
        case 0..<3: book?.title = name()
        case 3..<5: book?.pages = Int32(random(0..<1000))
        case 5: authors.first?.name = name()
        case 6: book?.author = random(0..<2) == 0 ? nil : authors.first
        case 7: book.map { if let tag = tags.first { $0.tags = $0.tags.isEmpty ? [tag] : [] } }
        case 8: tags.first?.label = name()
        case 9..<11: if let book { context.delete(book) }
        case 11: if random(0..<2) == 0, let author = authors.first { context.delete(author) }
        case 12:
            if books.count < 4 { context.book(name(), pages: 5, by: authors.first) }
            if authors.isEmpty { context.author(name()) }
            if tags.isEmpty { context.tag(name()) }
        default: if random(0..<3) == 0 { context.refreshAllObjects() }
        }
        context.processPendingChanges()
    }

    // MARK: Saves

    /// What a context wants of one row.
    private struct Intention {
        var committed: [String: String]
        var changes: [String: String]
        var isDeletion = false
    }

    private func save(_ player: Player) throws {
        let context = player.context
        var intentions: [String: Intention] = [:]
        for object in context.updatedObjects {
            let names = Self.names(object)
            intentions[Self.name(object)] = Intention(
                committed: object.committedValues(forKeys: names).mapValues(Self.text),
                changes: object.changedValues().filter { names.contains($0.key) }.mapValues(Self.text))
        }
        for object in context.deletedObjects where object.managedObjectContext != nil && !object.isFault {
            intentions[Self.name(object)] = Intention(
                committed: object.committedValues(forKeys: Self.names(object)).mapValues(Self.text), changes: [:], isDeletion: true)
        }
        let new = context.insertedObjects
        rowsBefore = rows()
        wasInterrupted = false
        saving = context
        saves += 1
        do {
            try context.save()
        } catch let error as CocoaError where error.code == .managedObjectMerge && player.policy == .errorMergePolicyType {
            if rows() != rowsBefore { problem = "a refused save changed the store" }
            context.rollback()
            context.refreshAllObjects()
            do { try context.save() } catch { problem = "stuck after a roll back: \(error)" }
            return
        } catch {
            problem = "a save with policy \(player.policy.rawValue) failed: \(error)"
            return
        }
        if context.hasChanges { problem = "changes are left after a save with policy \(player.policy.rawValue)" }
        compare(intentions, new, player.policy)
    }

    private func compare(_ intentions: [String: Intention], _ new: Set<NSManagedObject>, _ policy: NSMergePolicyType) {
        let after = rows()
        for object in new where object.managedObjectContext != nil && object.committedValues(forKeys: nil).isEmpty == false {
            if after[Self.name(object)] == nil { problem = "the new object \(Self.name(object)) has no row" }
        }
        let known = Set(intentions.keys).union(new.map(Self.name))
        for name in Set(after.keys).union(rowsBefore.keys).subtracting(known) where after[name] != rowsBefore[name] {
            problem = "\(name), which was not changed, went from \(rowsBefore[name] ?? [:]) to \(after[name] ?? [:])"
        }
        for (name, intention) in intentions {
            if let difference = difference(intention, rowsBefore[name], after[name], after, policy) {
                problem =
                    "policy \(policy.rawValue)\(wasInterrupted ? ", interrupted" : ""), \(name): \(difference). It was "
                    + "\(rowsBefore[name] ?? [:]), is \(after[name] ?? [:]), committed \(intention.committed), changed \(intention.changes)"
            }
        }
        for (name, row) in after {
            for (key, value) in row where value.hasPrefix("→") && after[String(value.dropFirst())] == nil {
                problem = "\(name).\(key) leads to \(value), which has no row"
            }
        }
        if case .some = problem {
        } else if let count = danglingPairs(), count > 0 {
            problem = "\(count) pairs of a join table lead nowhere"
        }
    }

    private func danglingPairs() -> Int? {
        guard FileManager.default.fileExists(atPath: library.url.path),
            let join = library.file.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        else { return nil }
        let columns = library.file.column("SELECT name FROM pragma_table_info('\(join)')").compactMap { $0 }
        guard let books = columns.first(where: { $0.hasSuffix("BOOKS") }), let tags = columns.first(where: { $0.hasSuffix("TAGS") })
        else { return nil }
        return library.file.integer(
            "SELECT count(*) FROM \(join) WHERE \(books) NOT IN (SELECT Z_PK FROM ZBOOK) OR \(tags) NOT IN (SELECT Z_PK FROM ZTAG)")
    }

    /// How the outcome for one row differs from what the policy promises; nil when it does not.
    private func difference(
        _ intention: Intention, _ before: [String: String]?, _ after: [String: String]?, _ all: Rows, _ policy: NSMergePolicyType
    ) -> String? {
        let isObjectsWin = policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
        if intention.isDeletion {
            if isObjectsWin || before == nil || policy == .errorMergePolicyType { return after == nil ? nil : "it was not deleted" }
            // Others' changes undo the deletion.
            return after == nil || after == before ? nil : "a deletion changed it"
        }
        guard let before else {
            if !isObjectsWin { return after == nil ? nil : "it came back" }
            // A change of nothing is none.
            guard let after else { return intention.changes.isEmpty ? nil : "it was not recreated" }
            // What others wrote before they deleted it was merged first.
            if wasInterrupted { return mismatch(intention.changes, after, all) }
            return mismatch(intention.committed.merging(intention.changes) { $1 }, after, all)
        }
        guard let after else { return "it is gone" }
        var accepted: [[String: String]] = [before.merging(intention.changes) { $1 }]
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType, .errorMergePolicyType: break
        case .overwriteMergePolicyType:
            // Where others only changed relationships to many, there is nothing to overwrite.
            accepted = [intention.committed.merging(intention.changes) { $1 }]
        case .mergeByPropertyStoreTrumpMergePolicyType:
            accepted = [before.merging(intention.changes) { now, mine in now == mine ? now : mine }]
            for (key, value) in before where value != intention.committed[key] { accepted[0][key] = value }
            if wasInterrupted { return between(before, intention, after, all) }
        default:
            accepted = before == intention.committed ? [before, accepted[0]] : [before]
            if wasInterrupted { return between(before, intention, after, all) }
        }
        let mismatches = accepted.map { mismatch($0, after, all) }
        return mismatches.contains(nil) ? nil : mismatches[0] ?? nil
    }

    /// Each property is the store's or the object's: who came when is not told apart.
    private func between(
        _ before: [String: String], _ intention: Intention, _ after: [String: String], _ all: Rows
    ) -> String? {
        for (key, value) in after where value != before[key] && value != intention.changes[key] && value != "nil" {
            return "\(key) is \(value)"
        }
        return nil
    }

    private func mismatch(_ expected: [String: String], _ after: [String: String], _ all: Rows) -> String? {
        for (key, value) in expected where after[key] != value {
            // A destination that is gone is nil.
            if value.hasPrefix("→"), all[String(value.dropFirst())] == nil || wasInterrupted, after[key] == "nil" { continue }
            return "\(key) is \(after[key] ?? "?"), not \(value)"
        }
        return nil
    }

    // MARK: Rows as texts

    private static func names(_ object: NSManagedObject) -> [String] {
        let toOne = object.entity.relationshipsByName.filter { !$0.value.isToMany }.keys
        return object.entity.attributesByName.filter { !$0.value.isTransient }.keys + toOne
    }

    private static func name(_ object: NSManagedObject) -> String {
        "\(object.entity.name ?? "?")/\(object.objectID.uriRepresentation().lastPathComponent)"
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let object as NSManagedObject: "→" + name(object)
        case nil, is NSNull: "nil"
        case let value?: "\(value)"
        }
    }

    private func rows() -> Rows {
        let context = library.coordinator.newContext()
        return withExtendedLifetime(context) {
            var rows: Rows = [:]
            for entity in ["Author", "Book", "Tag"] {
                for object in (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))) ?? [] {
                    rows[Self.name(object)] = Dictionary(
                        uniqueKeysWithValues: Self.names(object).map { ($0, Self.text(object.value(forKey: $0))) })
                }
            }
            return rows
        }
    }
}

extension NSManagedObjectID {
    fileprivate static func < (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool {
        left.uriRepresentation().absoluteString < right.uriRepresentation().absoluteString
    }
}
