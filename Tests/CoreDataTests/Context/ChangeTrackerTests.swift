import TestSupport
import Testing

@testable import CoreData

/// The lists of pending changes, without any context or store.
struct ChangeTrackerTests {
    let model: NSManagedObjectModel
    let tracker = ChangeTracker()
    let registry = ObjectRegistry(modelLayout: nil)

    init() {
        model = Library.model()
        // Objects of a frozen model only: nothing else in a test changes it.
        _ = model.objectLayouts()
    }

    func makeObject() throws -> NSManagedObject {
        NSManagedObject(entity: try #require(model.entitiesByName["Tag"]), insertInto: nil)
    }

    /// An object that stands for a row, loaded.
    func makeStored(key: Int64) throws -> NSManagedObject {
        let object = try makeObject()
        object.becomeFault(key: key, store: 0, registry: Retained(registry), page: nil)
        object.becomeLoaded()
        return object
    }

    /// Which of the tracker's lists have an object.
    func lists(of object: NSManagedObject) -> [String] {
        [("inserted", tracker.inserted), ("updated", tracker.updated), ("deleted", tracker.deleted)]
            .filter { $0.1.objects.contains { $0 === object } }.map(\.0)
    }

    @Test(arguments: [false, true]) func aNewObjectThatIsDeletedIsDiscardedByTheEndOfTheEvent(isKept: Bool) throws {
        let object = try makeObject()
        tracker.insert(object, in: registry)
        #expect(lists(of: object) == ["inserted"])
        tracker.delete(object, keepsNew: isKept)
        #expect(lists(of: object) == (isKept ? ["deleted"] : []))
        let ended = try #require(tracker.endEvent(keepingProperties: false))
        #expect(ended.discarded.map(ObjectIdentifier.init) == [ObjectIdentifier(object)])
        #expect(ended.inserted.isEmpty)
        #expect(ended.deleted.count == 1)
        #expect(tracker.keepsUntilSave(object) == isKept)
        #expect(tracker.hasChanges == isKept)
        tracker.change(object)
        #expect(tracker.endEvent(keepingProperties: false) == nil)
        tracker.endDiscarding(of: object)
        #expect(!tracker.hasChanges)
    }

    @Test func anEventBeginsOnceAndEndsEmpty() throws {
        let begun = Counter()
        tracker.eventBegins = { begun.increase() }
        let objects = [try makeStored(key: 1), try makeStored(key: 2)]
        for object in objects { tracker.change(object) }
        tracker.change(objects[0])
        #expect(begun.value == 1)
        #expect(try #require(tracker.endEvent(keepingProperties: false)).updated.count == 2)
        #expect(tracker.endEvent(keepingProperties: false) == nil)
        tracker.change(objects[1])
        #expect(begun.value == 2)
        // Pending as before: an event ends, the change does not.
        #expect(tracker.updated.count == 2)
    }

    @Test func changesThatAreTakenBackLeaveTheList() throws {
        let object = try makeStored(key: 1)
        tracker.change(object)
        tracker.takeBackChanges(of: object)
        #expect(!tracker.hasChanges)
        #expect(!object.isUpdated)
        tracker.change(object)
        #expect(lists(of: object) == ["updated"])
    }

    @Test func aDeletionIsPropagatedOnceUnlessItIsAskedForAgain() throws {
        let object = try makeStored(key: 1)
        tracker.delete(object)
        #expect(tracker.nextToPropagate() === object)
        #expect(tracker.nextToPropagate() == nil)
        tracker.propagateAgain(object)
        #expect(tracker.awaitsPropagation)
        #expect(tracker.nextToPropagate() === object)
        tracker.takeBackDeletion(of: object)
        tracker.propagateAgain(object)
        #expect(tracker.nextToPropagate() == nil)
    }

    @Test func theSetsOfTheLastEventHoldWhileNothingJoinsOrLeaves() throws {
        let object = try makeObject()
        tracker.insert(object, in: registry)
        _ = tracker.endEvent(keepingProperties: false)
        tracker.remember(inserted: [object], updated: nil)
        #expect(tracker.takeLastSets().inserted == [object])
        tracker.remember(inserted: [object], updated: nil)
        tracker.insert(try makeObject(), in: registry)
        #expect(tracker.takeLastSets().inserted == nil)
    }

    @Test func rollingBackDiscardsWhatIsNewAndGivesTheRest() throws {
        let (new, changed, deleted) = (try makeObject(), try makeStored(key: 1), try makeStored(key: 2))
        tracker.insert(new, in: registry)
        tracker.change(changed)
        tracker.delete(deleted)
        let discarded = try makeObject()
        tracker.insert(discarded, in: registry)
        tracker.delete(discarded)
        let left = tracker.rollBack()
        #expect(left.map(ObjectIdentifier.init) == [changed, deleted, discarded].map(ObjectIdentifier.init))
        #expect(!tracker.hasChanges)
        #expect(!tracker.hasDeletions)
        #expect([new, changed, deleted].allSatisfy { !$0.hasChanges })
        let ended = try #require(tracker.endEvent(keepingProperties: false))
        #expect(Set(ended.discarded) == [new, discarded])
    }

    /// Every object is in the list that its flags say, after any sequence of changes; debug builds
    /// check the objects' states too.
    @Test(arguments: 0..<(LongTests.areEnabled ? 40 : 10) as Range<UInt64>)
    func randomChangesKeepListsAndFlagsTogether(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var objects: [NSManagedObject] = []
        for key in 1...6 { objects.append(try makeStored(key: Int64(key))) }
        // Whether those that were deleted stay until a save.
        var kept: [ObjectIdentifier: Bool] = [:]
        for _ in 0..<200 {
            let object = objects[Int.random(in: 0..<objects.count, using: &random)]
            let isIdle = object.flags.isDisjoint(with: .known)
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let new = try makeObject()
                tracker.insert(new, in: registry)
                objects.append(new)
            case 1 where object.flags.isDisjoint(with: [.deleted, .discarded]): tracker.change(object)
            case 2 where object.flags.isDisjoint(with: [.deleted, .discarded]):
                tracker.delete(object, keepsNew: Bool.random(using: &random))
                kept[ObjectIdentifier(object)] = tracker.keepsUntilSave(object)
            case 3 where object.flags.contains(.updated): tracker.takeBackChanges(of: object)
            case 4 where object.flags.contains(.deleted) && !object.flags.contains(.discarded):
                tracker.takeBackDeletion(of: object)
            case 5 where object.flags.contains(.deleted) && !object.flags.contains(.discarded): tracker.undelete(object)
            case 6 where isIdle || object.flags.contains(.updated): tracker.markDeletedElsewhere(object)
            case 7 where object.flags.contains(.inserted) && !object.flags.contains(.deleted): tracker.discard(object)
            case 8: tracker.noteRefreshed(object)
            case 9:
                if let ended = tracker.endEvent(keepingProperties: false) {
                    for discarded in ended.discarded where !tracker.keepsUntilSave(discarded) {
                        discarded.leaveContext()
                    }
                    ended.finish()
                    if Bool.random(using: &random) {
                        for discarded in tracker.discarded {
                            tracker.endDiscarding(of: discarded)
                            discarded.leaveContext()
                        }
                    }
                    objects.removeAll { $0.registry == nil }
                }
            case 10 where object.flags.isSuperset(of: [.discarded, .inEvent, .inserted]):
                tracker.takeBackDiscarding(of: object)
            default:
                while let deleted = tracker.nextToPropagate() { #expect(deleted.isDeleted) }
            }
            for object in objects {
                let expected: [String] =
                    if object.flags.contains(.discarded) {
                        object.isDeleted && kept[ObjectIdentifier(object)] == true ? ["deleted"] : []
                    } else if object.flags.contains(.deleted) {
                        ["deleted"]
                    } else {
                        (object.flags.contains(.inserted) ? ["inserted"] : [])
                            + (object.flags.contains(.updated) ? ["updated"] : [])
                    }
                #expect(lists(of: object) == expected)
            }
            #expect(tracker.hasChanges == objects.contains { !lists(of: $0).isEmpty })
        }
    }
}
