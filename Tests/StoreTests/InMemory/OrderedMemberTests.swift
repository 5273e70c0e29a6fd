import TestSupport
import Testing

@testable import CoreData

/// Whose the members of an ordered relationship are, their rows say, in memory as in a file,
/// whatever else a save says of the relationship.
struct OrderedMemberTests {
    private let folder: TemporaryFolder
    private let file: OpenStore
    private let memory: NSPersistentStoreCoordinator
    private let sources: [any SnapshotStore]

    init() throws {
        folder = try TemporaryFolder()
        file = try OpenStore(model: TestModel.company(), url: folder.file("order.sqlite"))
        memory = NSPersistentStoreCoordinator(managedObjectModel: TestModel.company())
        let store = try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        sources = [file.store, try #require(store.snapshotStore)]
    }

    private func layout(_ name: String, _ source: Int) throws -> EntityLayout {
        source == 0 ? file.layout(name) : try #require(memory.modelLayout.layoutByName[name])
    }

    /// Makes the rows 1 to `count`.
    private func insert(_ entity: String, _ count: Int) throws {
        for (source, store) in sources.enumerated() {
            let layout = try layout(entity, source)
            let first = try store.reserveKeys(count, for: layout)
            var batch = SaveBatch()
            batch.inserts = (0..<Int64(count)).map {
                RowChange(
                    layout: layout, key: first + $0, base: nil, values: RowValues.make(slotCount: layout.slots.count))
            }
            #expect(first == 1)
            _ = try store.save(batch)
        }
    }

    /// A change of one save.
    private struct Change {
        /// New owners by task, 0 for none.
        var owners: [Int64: Int64] = [:]
        var owner: Int64 = 1
        var added: [Int64] = []
        var removed: [Int64] = []
        var order: [Int64]?
    }

    private func save(_ change: Change) throws {
        for (source, store) in sources.enumerated() {
            let (task, employee) = (try layout("Task", source), try layout("Employee", source))
            let slot = try #require(task.slotByName["owner"])
            var batch = SaveBatch()
            for (key, owner) in change.owners.sorted(by: { $0.key < $1.key }) {
                let read = try store.readRows([key], of: task)
                let base = try #require(read.rows.first.map(Snapshot.init(retaining:)))
                let values = RowValues.make(slotCount: task.slots.count)
                values[slot] = owner == 0 ? .null : .reference(RowReference(key: owner, layoutIndex: employee.index))
                batch.updates.append(RowChange(layout: task, key: key, base: base, values: values))
            }
            func references(_ keys: [Int64]) -> [RowReference] {
                keys.map { RowReference(key: $0, layoutIndex: task.index) }
            }
            var relationship = RelationshipChange(
                layout: employee, slot: try #require(employee.slotByName["tasks"]), ownerKey: change.owner)
            relationship.added = references(change.added)
            relationship.removed = references(change.removed)
            relationship.order = change.order.map(references)
            batch.relationshipChanges = [relationship]
            _ = try store.save(batch)
        }
    }

    /// The tasks of an owner, by store, in order.
    private func tasks(_ owner: Int64) throws -> [[Int64]] {
        try sources.enumerated().map { source, store in
            let employee = try layout("Employee", source)
            let slot = employee.slots[try #require(employee.slotByName["tasks"])]
            let related = try store.relatedRows(to: owner, through: slot, of: employee)
            return withExtendedLifetime(related.pages) { related.rows.map(\.rowKey) }
        }
    }

    @Test func whatSavesSayOfOrderIsKept() throws {
        try insert("Employee", 2)
        try insert("Task", 3)
        try save(Change(owners: [1: 1, 2: 1, 3: 1], owner: 1, added: [1, 2, 3], order: [3, 1, 2]))
        #expect(try tasks(1) == [[3, 1, 2], [3, 1, 2]])
        try save(Change(owners: [1: 2], owner: 1, removed: [1], order: [2, 3]))
        #expect(try tasks(1) == [[2, 3], [2, 3]])
        #expect(try tasks(2) == [[1], [1]])
    }

    @Test func whatARowDoesNotSayIsNoMember() throws {
        try insert("Employee", 2)
        try insert("Task", 3)
        try save(Change(owners: [1: 1, 2: 1], owner: 1, added: [1, 2, 3], order: [3, 2, 1]))
        #expect(try tasks(1) == [[2, 1], [2, 1]])
        // Left out of an order, and said to be removed, while the row leads there.
        try save(Change(owner: 1, removed: [1], order: [2]))
        #expect(try tasks(1).map(Set.init) == [[1, 2], [1, 2]])
        try save(Change(owner: 2, added: [1], order: [1, 3]))
        #expect(try tasks(2) == [[], []])
    }

    @Test(arguments: 0..<(LongTests.areEnabled ? 30 : 8) as Range<UInt64>)
    func membersAreThoseOfAFile(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try insert("Employee", 3)
        try insert("Task", 6)
        func some() -> [Int64] {
            (1...6).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.shuffled(using: &random)
        }
        for _ in 0..<25 {
            var change = Change(owner: Int64.random(in: 1...3, using: &random), added: some(), removed: some())
            for task in some() { change.owners[task] = Int64.random(in: 0...3, using: &random) }
            if Bool.random(using: &random) { change.order = some() }
            try save(change)
            for owner in Int64(1)...3 {
                let members = try tasks(owner)
                #expect(Set(members[0]) == Set(members[1]), "seed \(seed), owner \(owner) after \(change)")
                #expect(members[1].count == Set(members[1]).count)
            }
        }
    }
}
