import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The blocks of keys that a store takes of the counter in its schema.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct KeyBlockTests {
    private let warehouse: Warehouse
    private let context: NSManagedObjectContext

    init() throws {
        warehouse = try Warehouse()
        context = warehouse.context
    }

    private static func keys(_ objects: [NSManagedObject]) -> [Int64] {
        objects.compactMap {
            $0.objectID.isTemporaryID ? nil : Int64($0.objectID.uriRepresentation().lastPathComponent.dropFirst())
        }
    }

    /// The last key of an entity's table that somebody has taken, as the server has it.
    private func lastKey(_ entity: String = "Tag") throws -> Int64 {
        let found = try warehouse.texts("SELECT last_key FROM ocd_entity WHERE name = '\(entity)'")
        return try #require(found.compactMap { $0 }.compactMap { Int64($0) }.first)
    }

    /// Saves so many new tags.
    ///
    /// - Returns: their keys, in order.
    private static func save(_ count: Int, in context: NSManagedObjectContext) throws -> [Int64] {
        try context.performAndWait {
            let tags = (0..<count).map { context.insert("Tag", ["label": "\($0)"]) }
            try context.save()
            return keys(tags).sorted()
        }
    }

    /// Has keys handed out to so many new tags, which are not saved.
    ///
    /// - Returns: the keys, in order.
    private static func handOut(_ count: Int, in context: NSManagedObjectContext) throws -> [Int64] {
        try context.performAndWait {
            let tags = (0..<count).map { context.insert("Tag", ["label": "\($0)"]) }
            try context.obtainPermanentIDs(for: tags)
            return keys(tags).sorted()
        }
    }

    // MARK: Sizes

    @Test func aStoreThatOnlyReadsTakesNone() throws {
        let tags = try context.performAndWait { try context.all("Tag") }
        #expect(tags.isEmpty)
        #expect(try lastKey() == 0)
    }

    @Test func blocksGrowFrom32To1024() throws {
        var taken: Int64 = 0
        for size: Int64 in [32, 64, 128, 256, 512, 1024, 1024] {
            // The first key needs a block, the others are those of it.
            #expect(try Self.save(1, in: context) == [taken + 1])
            #expect(try lastKey() == taken + size)
            #expect(try Self.save(Int(size) - 1, in: context) == Array(taken + 2...taken + size))
            taken += size
            #expect(try lastKey() == taken)
        }
    }

    @Test func savesOfAnySizeHaveConsecutiveKeys() throws {
        var all: Set<Int64> = []
        for count in [1, 2, 10, 1000, 5000, 1, 2, 10] {
            let keys = try Self.save(count, in: context)
            let first = try #require(keys.first)
            #expect(keys == Array(first..<first + Int64(count)))
            #expect(all.isDisjoint(with: keys))
            all.formUnion(keys)
            let last = try lastKey()
            #expect(last >= all.max() ?? 0)
            // Nothing but one block lies idle.
            #expect(last - Int64(all.count) <= 1024, "\(count)")
        }
        #expect(try warehouse.texts("SELECT count(*) || ' ' || max(id) FROM tag") == ["6026 \(all.max() ?? 0)"])
    }

    @Test func whatIsLeftOfABlockIsUsedLater() throws {
        #expect(try Self.save(1, in: context) == [1])
        let large = try Self.save(1000, in: context)
        #expect(large.first == 33)
        let taken = try lastKey()
        #expect(try Self.save(31, in: context) == Array(2...32))
        #expect(try lastKey() == taken)
    }

    @Test func eachHierarchyHasACounterOfItsOwn() throws {
        let (items, kits, tags) = try context.performAndWait {
            let items = (0..<20).map { context.insert("Item", ["name": "\($0)"]) }
            let kits = (0..<20).map { context.insert("Kit", ["name": "\($0)"]) }
            let tags = (0..<20).map { context.insert("Tag", ["label": "\($0)"]) }
            try context.save()
            return (Self.keys(items), Self.keys(kits), Self.keys(tags))
        }
        // Items and kits are in one table.
        #expect(Set(items + kits).count == 40)
        #expect(Set(tags) == Set(1...20))
        #expect(try lastKey("Item") >= 40)
        #expect(try lastKey("Kit") == 0)
        #expect(try lastKey("Maker") == 0)
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["40"])
    }

    // MARK: Several at once

    @Test func coordinatorsNeverHandOutTheSameKey() throws {
        let contexts = try (0..<8).map { _ in try warehouse.otherProgram() }
        let handedOut = Mutex<[[Int64]]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            do {
                for round in 0..<12 {
                    let count = [1, 3, 40, 700][(index + round) % 4]
                    // Every other time the objects are not saved.
                    let isSaved = round.isMultiple(of: 2)
                    let keys =
                        try isSaved ? Self.save(count, in: contexts[index]) : Self.handOut(count, in: contexts[index])
                    #expect(keys.count == count)
                    handedOut.withLock { $0.append(keys) }
                    contexts[index].performAndWait { contexts[index].reset() }
                }
            } catch {
                Issue.record(error)
            }
        }
        let all = handedOut.withLock { $0 }.flatMap { $0 }
        #expect(all.count == 8 * 3 * (1 + 3 + 40 + 700))
        #expect(Set(all).count == all.count)
        #expect(try lastKey() >= all.max() ?? .max)
    }

    @Test func contextsOfOneCoordinatorNeverGetTheSameKey() throws {
        let contexts = (0..<8).map { _ in
            let context = warehouse.coordinator.newContext()
            return context
        }
        let handedOut = Mutex<[[Int64]]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            do {
                for round in 0..<20 {
                    let keys = try Self.handOut(1 + (index + round) % 50, in: contexts[index])
                    handedOut.withLock { $0.append(keys) }
                }
            } catch {
                Issue.record(error)
            }
        }
        let all = handedOut.withLock { $0 }.flatMap { $0 }
        #expect(Set(all).count == all.count)
        #expect(all.count > 8 * 20)
        #expect(try lastKey() >= all.max() ?? .max)
    }

    // MARK: Keys that are not used

    @Test func keysThatWereHandedOutAreNotHandedOutAfterReopening() throws {
        let unused = try Self.handOut(5, in: context)
        context.performAndWait { context.rollback() }
        let former = try unused + Self.save(3, in: context)
        let taken = try lastKey()
        #expect(Set(former).count == 8)
        try warehouse.coordinator.remove(warehouse.store)
        let reopened = try warehouse.otherProgram()
        let later = try Self.save(10, in: reopened)
        #expect(later.allSatisfy { $0 > taken })
        #expect(try lastKey() > taken)
    }

    @Test func keysOfDeletedRowsAreNotHandedOutAgain() throws {
        let former = try Self.save(3, in: context)
        try context.performAndWait {
            for tag in try context.all("Tag") { context.delete(tag) }
            try context.save()
        }
        #expect(try warehouse.texts("SELECT count(*) FROM tag") == ["0"])
        #expect(try Set(Self.save(3, in: context)).isDisjoint(with: former))
        #expect(try Set(Self.save(3, in: warehouse.otherProgram())).isDisjoint(with: former))
    }

    @Test func keysOfObjectsThatAreRolledBackAreNotHandedOutAgain() throws {
        let former = try Self.handOut(5, in: context)
        let taken = try lastKey()
        context.performAndWait { context.rollback() }
        let later = try Self.save(20, in: context)
        #expect(Set(later).isDisjoint(with: former))
        // The block goes on behind them.
        #expect(try lastKey() == taken)
        #expect(try warehouse.texts("SELECT id FROM tag ORDER BY id") == later.map { "\($0)" })
    }

    /// The counter goes on, whatever becomes of the save.
    @Test(arguments: [3, 100]) func keysOfASaveThatFailedAreNotHandedOutAgain(count: Int) throws {
        try warehouse.run("ALTER TABLE tag ADD CONSTRAINT refused CHECK (label <> '0')")
        let former = try context.performAndWait {
            let tags = (0..<count).map { context.insert("Tag", ["label": "\($0)"]) }
            try context.obtainPermanentIDs(for: tags)
            let keys = Self.keys(tags)
            #expect(throws: NSError.self) { try context.save() }
            #expect(Self.keys(tags) == keys)
            context.rollback()
            return keys
        }
        #expect(try warehouse.texts("SELECT count(*) FROM tag") == ["0"])
        try warehouse.run("ALTER TABLE tag DROP CONSTRAINT refused")
        let later = try Self.save(count, in: context)
        #expect(later.count == count)
        #expect(Set(later).isDisjoint(with: former))
        #expect(try Set(Self.save(count, in: warehouse.otherProgram())).isDisjoint(with: former + later))
    }

    /// Changes that are saved again after a failure keep the keys that they have.
    @Test func aSaveThatIsTriedAgainKeepsItsKeys() throws {
        try warehouse.run("ALTER TABLE tag ADD CONSTRAINT refused CHECK (label <> '0')")
        try context.performAndWait {
            let tags = (0..<3).map { context.insert("Tag", ["label": "\($0)"]) }
            try context.obtainPermanentIDs(for: tags)
            let former = Self.keys(tags)
            #expect(throws: NSError.self) { try context.save() }
            tags[0].setValue("other", forKey: "label")
            try context.save()
            #expect(Self.keys(tags) == former)
            #expect(try warehouse.texts("SELECT id FROM tag ORDER BY id") == former.sorted().map { "\($0)" })
        }
    }
}
