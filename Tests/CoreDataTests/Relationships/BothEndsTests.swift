import CoreData
import TestSupport
import Testing

/// Two contexts that change one relationship from different ends.
struct BothEndsTests {
    static let policies: [NSMergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// A store with a1, a2, b1, b2 and b3, and the relationship between A and B that a test is
    /// about.
    private final class Pairs {
        let stack: TestStack
        let here: NSManagedObjectContext
        let there: NSManagedObjectContext

        init(
            _ kind: StoreKind, _ policy: NSMergePolicy = .error, aToMany: Bool = false, bToMany: Bool = false,
            ordered: Bool = false
        )
            throws
        {
            let a = NSEntityDescription(
                "A", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("text", .stringAttributeType)])
            let b = NSEntityDescription(
                "B", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("text", .stringAttributeType)])
            relate(
                a, "b", toMany: aToMany, ordered: ordered && aToMany, b, inverse: "a", inverseToMany: bToMany,
                inverseOrdered: ordered && bToMany)
            stack = try TestStack([a, b], kind: kind)
            for name in ["a1", "a2", "b1", "b2", "b3"] {
                stack.context.insert(name.hasPrefix("a") ? "A" : "B", ["name": name])
            }
            try stack.context.save()
            here = stack.newContext()
            there = stack.newContext()
            here.mergePolicy = policy
            here.retainsRegisteredObjects = true
        }

        func object(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: name.hasPrefix("a") ? "A" : "B")
            request.predicate = NSPredicate(format: "name == %@", name)
            let object = try #require(try context.fetch(request).first)
            _ = object.value(forKey: "text")
            return object
        }

        func set(_ source: String, _ destination: String?, _ context: NSManagedObjectContext) throws {
            let key = source.hasPrefix("a") ? "b" : "a"
            try object(source, context).setValue(try destination.map { try object($0, context) }, forKey: key)
        }

        /// The destinations of an object in a fresh context.
        func stored(_ name: String) throws -> [String] {
            let fresh = stack.newContext()
            return try names(try object(name, fresh))
        }

        func names(_ object: NSManagedObject) throws -> [String] {
            RelationshipEnds.destinations(of: object, object.entity.name == "A" ? "b" : "a").map {
                $0.value(forKey: "name") as? String ?? ""
            }
        }

        /// Relationships in the store whose two ends disagree.
        func problems() throws -> [String] { try RelationshipEnds.problems(in: stack.newContext()) }
    }

    private func storeWins(_ policy: NSMergePolicy) -> Bool {
        [.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType].contains(policy.mergeType)
    }

    // MARK: One-to-one relationships

    @Test(arguments: StoreKind.allCases, policies)
    func whatLosesAConflictAboutAPairIsLedToByNothing(kind: StoreKind, policy: NSMergePolicy) throws {
        let pairs = try Pairs(kind, policy)
        let (a1, b2) = (try pairs.object("a1", pairs.here), try pairs.object("b2", pairs.here))
        let b3 = try pairs.object("b3", pairs.here)
        try pairs.set("a1", "b3", pairs.there)
        try pairs.there.save()
        try pairs.set("a1", "b2", pairs.here)
        try pairs.here.save()
        let winner = storeWins(policy) ? "b3" : "b2"
        #expect(try pairs.stored("a1") == [winner])
        #expect(try pairs.stored("b2") == (winner == "b2" ? ["a1"] : []))
        #expect(try pairs.stored("b3") == (winner == "b3" ? ["a1"] : []))
        #expect(try pairs.problems() == [])
        // As the context shows it, too.
        #expect(try pairs.names(a1) == [winner])
        #expect(try pairs.names(b2) == (winner == "b2" ? ["a1"] : []))
        #expect(try pairs.names(b3) == (winner == "b3" ? ["a1"] : []))
        #expect(!pairs.here.hasChanges)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func whatLosesAConflictAtTheOtherEndIsLedToByNothing(kind: StoreKind, policy: NSMergePolicy) throws {
        let pairs = try Pairs(kind, policy)
        try pairs.set("a1", "b1", pairs.stack.context)
        try pairs.stack.context.save()
        for name in ["a1", "a2", "b1", "b2"] { _ = try pairs.object(name, pairs.here) }
        try pairs.set("a2", "b2", pairs.there)
        try pairs.there.save()
        // b2 is in conflict, a1 and b1 are not.
        try pairs.set("a1", "b2", pairs.here)
        try pairs.here.save()
        #expect(try pairs.stored("b2") == [storeWins(policy) ? "a2" : "a1"])
        #expect(try pairs.problems() == [])
        #expect(!pairs.here.hasChanges)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func aDeletionThatWinsLeavesNothingThatLeadsToTheRow(kind: StoreKind, policy: NSMergePolicy) throws {
        let pairs = try Pairs(kind, policy)
        for name in ["a1", "b2"] { _ = try pairs.object(name, pairs.here) }
        try pairs.set("a1", "b1", pairs.there)
        try pairs.there.save()
        try pairs.set("a1", "b2", pairs.here)
        pairs.here.delete(try pairs.object("a1", pairs.here))
        try pairs.here.save()
        #expect(try pairs.problems() == [])
        #expect(try pairs.stored("b1") == (storeWins(policy) ? ["a1"] : []))
        #expect(try pairs.stored("b2") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func aRequestThatNamesOneObjectOfAPairSavesBoth(kind: StoreKind) throws {
        let pairs = try Pairs(kind)
        try pairs.set("a1", "b1", pairs.here)
        try pairs.here.save()
        try pairs.set("a1", "b2", pairs.here)
        let request = NSSaveChangesRequest(
            inserted: nil, updated: [try pairs.object("a1", pairs.here)], deleted: nil, locked: nil)
        _ = try pairs.stack.coordinator.execute(request, with: pairs.here)
        #expect(try pairs.problems() == [])
        #expect(try pairs.stored("b2") == ["a1"])
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsSetToNilLetsGoOfWhatOthersHaveLedThere(kind: StoreKind) throws {
        let pairs = try Pairs(kind)
        let b1 = try pairs.object("b1", pairs.here)
        try pairs.set("a1", "b1", pairs.there)
        try pairs.there.save()
        // a1 is read after that save, and b1 before it.
        try pairs.set("a1", nil, pairs.here)
        try pairs.here.save()
        #expect(try pairs.problems() == [])
        #expect(try pairs.stored("a1") == [])
        #expect(b1.value(forKey: "a") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func twoDeletedObjectsOfOldRowsEndTheirPairs(kind: StoreKind) throws {
        let pairs = try Pairs(kind, .mergeByPropertyObjectTrump)
        try pairs.set("a1", "b1", pairs.stack.context)
        try pairs.set("a2", "b2", pairs.stack.context)
        try pairs.stack.context.save()
        for name in ["a1", "a2"] { _ = try pairs.object(name, pairs.here) }
        try pairs.set("a1", "b2", pairs.there)
        try pairs.set("a2", "b1", pairs.there)
        try pairs.there.save()
        pairs.here.delete(try pairs.object("a1", pairs.here))
        pairs.here.delete(try pairs.object("a2", pairs.here))
        try pairs.here.save()
        #expect(try pairs.problems() == [])
        #expect(try pairs.stored("b1") == [])
    }

    // MARK: Deletions

    @Test(arguments: StoreKind.allCases, policies)
    func whatIsRolledBackDoesNotLeadToWhatIsDeletedWithIt(kind: StoreKind, policy: NSMergePolicy) throws {
        for bToMany in [false, true] {
            let pairs = try Pairs(kind, policy, bToMany: bToMany)
            try pairs.set("a1", "b1", bToMany ? pairs.there : pairs.stack.context)
            try (bToMany ? pairs.there : pairs.stack.context).save()
            for name in ["a1", "b1"] { _ = try pairs.object(name, pairs.here) }
            try pairs.object("a1", pairs.there).setValue("text", forKey: "text")
            try pairs.there.save()
            try pairs.set("a1", nil, pairs.here)
            pairs.here.delete(try pairs.object("b1", pairs.here))
            try pairs.here.save()
            #expect(try pairs.problems() == [])
            #expect(try pairs.stored("a1") == [])
            #expect(try pairs.stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "B")) == 2)
        }
    }

    @Test(arguments: StoreKind.allCases, policies)
    func aDeletionThatLosesLeavesTheOtherEndsAsOthersHaveThem(kind: StoreKind, policy: NSMergePolicy) throws {
        for ordered in [false, true] {
            let pairs = try Pairs(kind, policy, aToMany: true, bToMany: true, ordered: ordered)
            func set(_ members: [String], _ context: NSManagedObjectContext) throws {
                let objects = try members.map { try pairs.object($0, context) }
                let b1 = try pairs.object("b1", context)
                b1.setValue(ordered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: "a")
            }
            try set(["a2"], pairs.stack.context)
            try pairs.stack.context.save()
            for name in ["a1", "a2", "b1"] { _ = try pairs.names(try pairs.object(name, pairs.here)) }
            try set(["a1"], pairs.there)
            try pairs.there.save()
            pairs.here.delete(try pairs.object("b1", pairs.here))
            try pairs.here.save()
            #expect(try pairs.problems() == [])
            #expect(try pairs.stored("a2") == [])
            #expect(try pairs.stored("a1") == (storeWins(policy) ? ["b1"] : []))
        }
    }

    // MARK: Merging

    enum Taking: CaseIterable { case merging, automatically, refreshing, refreshingAll }

    @Test(arguments: StoreKind.allCases, Taking.allCases)
    func anUnsavedPairStaysOneWhenOthersHaveSavedAnother(kind: StoreKind, taking: Taking) throws {
        let pairs = try Pairs(kind, .mergeByPropertyObjectTrump)
        let objects = try ["a1", "b2", "b3"].map { try pairs.object($0, pairs.here) }
        try pairs.set("a1", "b2", pairs.here)
        try take(taking, pairs) { try pairs.set("a1", "b3", pairs.there) }
        #expect(try objects.map(pairs.names) == [["b2"], ["a1"], []])
        try pairs.here.save()
        #expect(try pairs.problems() == [])
        #expect(try pairs.stored("a1") == ["b2"])
    }

    @Test(arguments: StoreKind.allCases, Taking.allCases)
    func anUnsavedMemberHasOneOwnerWhenOthersHaveGivenItAnother(kind: StoreKind, taking: Taking) throws {
        let pairs = try Pairs(kind, .mergeByPropertyObjectTrump, aToMany: true)
        let objects = try ["b1", "a1", "a2"].map { try pairs.object($0, pairs.here) }
        try pairs.set("b1", "a1", pairs.here)
        try take(taking, pairs) { try pairs.set("b1", "a2", pairs.there) }
        #expect(try objects.map(pairs.names) == [["a1"], ["b1"], []])
        try pairs.here.save()
        #expect(try pairs.problems() == [])
        #expect(try objects.map(pairs.names) == [["a1"], ["b1"], []])
        #expect(try pairs.stored("a1") == ["b1"])
    }

    @Test(arguments: StoreKind.allCases)
    func anUnsavedPairEndsWhenTheDeletionOfOneIsMerged(kind: StoreKind) throws {
        let pairs = try Pairs(kind, .mergeByPropertyObjectTrump)
        let a1 = try pairs.object("a1", pairs.here)
        try pairs.set("a1", "b2", pairs.here)
        try take(.merging, pairs) { pairs.there.delete(try pairs.object("b2", pairs.there)) }
        #expect(a1.value(forKey: "b") == nil)
        try pairs.here.save()
        #expect(try pairs.problems() == [])
    }

    /// Saves a change of the other context, and has the first one take it over.
    private func take(_ taking: Taking, _ pairs: Pairs, _ change: () throws -> Void) throws {
        pairs.here.automaticallyMergesChangesFromParent = taking == .automatically
        let saves = NotificationLog(.NSManagedObjectContextDidSave, from: pairs.there)
        try change()
        try pairs.there.save()
        switch taking {
        case .merging: pairs.here.mergeChanges(fromContextDidSave: try #require(saves.all.first))
        case .automatically: pairs.here.performAndWait {}
        case .refreshing:
            for object in pairs.here.registeredObjects { pairs.here.refresh(object, mergeChanges: true) }
        case .refreshingAll: pairs.here.refreshAllObjects()
        }
    }
}
