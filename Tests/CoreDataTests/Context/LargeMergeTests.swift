import CoreData
import Foundation
import TestSupport
import Testing

/// Saves of more objects than are looked for one by one, merged by a context that goes on
/// meanwhile.
struct LargeMergeTests {
    private static let count = LongTests.areEnabled ? 2_500 : 1_200

    /// A step of the receiving context between a save and its merge.
    enum Step: CaseIterable {
        case nothing, reset, refresh, readMore, readAgain, change, delete, letGo, nextSave, deletionBySaver, removal
    }

    private final class World {
        let library: Library
        let receiver: NSManagedObjectContext
        /// Used on the receiver's queue.
        nonisolated(unsafe) var held: [NSManagedObject] = []

        init(_ kind: StoreKind) throws {
            library = try Library(kind)
            receiver = library.newContext()
            receiver.automaticallyMergesChangesFromParent = true
        }

        func items(_ context: NSManagedObjectContext, from first: Int = 0, to last: Int = Int.max) throws
            -> [NSManagedObject]
        {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages >= %ld AND pages < %ld", first, last)
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            return try context.fetch(request)
        }
    }

    @Test(arguments: StoreKind.allCases, Step.allCases) func whatIsHeldShowsTheLastState(kind: StoreKind, step: Step)
        throws
    {
        let world = try World(kind)
        let (writer, receiver) = (world.library.context, world.receiver)
        for number in 0..<Self.count { writer.book("first", pages: Int32(number)) }
        try writer.save()
        // Half of them are faults, and some are not there.
        let half = Self.count / 2
        try receiver.performAndWait {
            world.held = try world.items(receiver, to: Self.count - 200)
            for item in world.held[half...] { receiver.refresh(item, mergeChanges: false) }
            for item in world.held[..<half] { #expect(item.value(forKey: "title") as? String == "first") }
        }
        let (begun, saved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        nonisolated(unsafe) let shared = world
        receiver.perform {
            begun.signal()
            saved.wait()
            do { try Self.take(step, shared) } catch { Issue.record(error) }
        }
        begun.wait()
        for item in try world.items(writer) { item.setValue("second", forKey: "title") }
        try writer.save()
        var last = "second"
        if step == .nextSave {
            for item in try world.items(writer) { item.setValue("third", forKey: "title") }
            try writer.save()
            last = "third"
        }
        if step == .deletionBySaver {
            for item in try world.items(writer, to: 100) { writer.delete(item) }
            try writer.save()
        }
        saved.signal()
        // Behind the block above and all merges.
        receiver.performAndWait {
            for item in world.held where !item.isDeleted && item.managedObjectContext != nil && step != .removal {
                let isMine = step == .change && item.value(forKey: "pages") as? Int == 7
                #expect(item.value(forKey: "title") as? String == (isMine ? "mine" : last))
            }
            if step == .removal { #expect(world.held.allSatisfy { $0.value(forKey: "title") == nil }) }
            if step == .change { #expect(receiver.updatedObjects.count == 1) }
            if step == .deletionBySaver {
                #expect(world.held[..<100].allSatisfy { $0.isDeleted || $0.managedObjectContext == nil })
            }
        }
        if step == .removal { return }
        try receiver.performAndWait {
            let all = try world.items(receiver)
            #expect(all.count == Self.count - (step == .delete ? 10 : step == .deletionBySaver ? 100 : 0))
            #expect(
                Set(all.map { $0.value(forKey: "title") as? String }) == (step == .change ? [last, "mine"] : [last]))
            // What was taken over is what later saves are compared with.
            for item in all.prefix(20) { item.setValue("saved", forKey: "title") }
            try receiver.save()
        }
        let other = world.library.newContext()
        #expect(
            try other.performAndWait {
                try world.items(other).filter { $0.value(forKey: "title") as? String == "saved" }.count
            } == 20)
    }

    private static func take(_ step: Step, _ world: World) throws {
        let receiver = world.receiver
        switch step {
        case .nothing, .nextSave, .deletionBySaver: break
        case .reset:
            receiver.reset()
            world.held = []
        case .refresh: receiver.refreshAllObjects()
        case .readMore: world.held += try world.items(receiver, from: Self.count - 200)
        case .readAgain:
            // Later rows come into objects before the merge of the save that has written them.
            for item in world.held[..<100] { receiver.refresh(item, mergeChanges: false) }
            #expect(world.held[..<100].allSatisfy { $0.value(forKey: "title") as? String == "second" })
        case .change: world.held[7].setValue("mine", forKey: "title")
        case .delete:
            receiver.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for item in world.held[..<10] { receiver.delete(item) }
            try receiver.save()
        case .letGo: world.held.removeLast(world.held.count / 2)
        case .removal:
            for store in world.library.coordinator.persistentStores { try world.library.coordinator.remove(store) }
        }
    }
}
