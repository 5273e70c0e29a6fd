import CoreData
import TestSupport
import Testing

/// Saves of a tree of contexts over two stores of which one refuses.
struct SeveralStoreTreeTests {
    /// The stores of accounts and notes, and their order in the coordinator.
    enum Place: CaseIterable {
        case files, filesOfTheOtherOrder, fileAndMemory, memoryAndFile, fileAndSchema, schemaAndFile, schemas

        static let allCases: [Place] =
            [.files, .filesOfTheOtherOrder, .fileAndMemory, .memoryAndFile]
            + (StoreKind.allCases.contains(.postgreSQL) ? withSchemas : [])
        private static let withSchemas: [Place] = [.fileAndSchema, .schemaAndFile, .schemas]
        static let persistent = allCases.filter { $0.accounts != .inMemory && $0.notes != .inMemory }

        private var kinds: (accounts: StoreKind, notes: StoreKind) {
            switch self {
            case .files, .filesOfTheOtherOrder: (.sqlite, .sqlite)
            case .fileAndMemory: (.sqlite, .inMemory)
            case .memoryAndFile: (.inMemory, .sqlite)
            case .fileAndSchema: (.sqlite, .postgreSQL)
            case .schemaAndFile: (.postgreSQL, .sqlite)
            case .schemas: (.postgreSQL, .postgreSQL)
            }
        }
        var accounts: StoreKind { kinds.accounts }
        var notes: StoreKind { kinds.notes }
        var configurations: [String] { self == .filesOfTheOtherOrder ? ["Notes", "Accounts"] : ["Accounts", "Notes"] }
    }

    private static let changed = ["A 2", "B 7", "m new 1 7"]

    // MARK: - Conflicts with what others saved

    @Test(
        "212 to 214: A conflict in one of two stores is settled, and each row is written once",
        arguments: Place.allCases,
        [
            (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "n theirs 5 2", 3),
            (.mergeByPropertyObjectTrumpMergePolicyType, "n mine 5 2", 3),
            (.overwriteMergePolicyType, "n mine 1 2", 3),
            (.rollbackMergePolicyType, "n theirs 5 1", 2),
        ])
    func aConflictInOneOfTwoStoresIsSettled(place: Place, outcome: (NSMergePolicyType, String, Int)) throws {
        let office = try Office(place)
        try office.changeBelow()
        // The grandchild has something of its own, which is nobody else's business.
        try Office.find("Account", "B", in: office.grandchild).setValue(8, forKey: "amount")
        try office.interfere()
        office.root.mergePolicy = NSMergePolicy(merge: outcome.0)
        try office.root.save()
        #expect(!office.root.hasChanges)
        #expect(try office.stored() == Self.changed + [outcome.1])
        #expect(office.versions == ["A 2", "B 1"] + (place.notes != .inMemory ? ["m 1", "n \(outcome.2)"] : []))
        #expect(office.grandchild.hasChanges)
        try office.grandchild.save()
        try office.child.save()
        try office.root.save()
        try office.expectSettled(["A 2", "B 8", "m new 1 7", outcome.1])
        withExtendedLifetime(office) {}
    }

    @Test(
        "82, 210: With the error policy no store is written and all levels keep their changes",
        arguments: Place.allCases)
    func theErrorPolicyWritesNoStore(place: Place) throws {
        let office = try Office(place)
        try office.changeBelow()
        let account = try Office.find("Account", "B", in: office.grandchild)
        account.setValue(8, forKey: "amount")
        try office.interfere()
        let error = #expect(throws: CocoaError.self) { try office.root.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(error?.persistentStoreSaveConflicts?.map { $0.sourceObject.value(forKey: "name") as? String } == ["n"])
        #expect(try office.stored() == ["A 1", "n theirs 5 1"])
        #expect(office.root.insertedObjects.count == 2)
        #expect(office.root.updatedObjects.count == 2)
        #expect(try Office.lines(office.root) == Self.changed + ["n mine 1 2"])
        #expect(try Office.lines(office.child) == Self.changed + ["n mine 1 2"])
        #expect(try Office.lines(office.grandchild) == ["A 2", "B 8", "m new 1 7", "n mine 1 2"])
        #expect(account.hasChanges)
        withExtendedLifetime(office) {}
    }

    @Test("211: After a refresh with merge the save of both stores succeeds", arguments: Place.allCases)
    func afterARefreshTheSaveOfBothStoresSucceeds(place: Place) throws {
        let office = try Office(place)
        try office.changeBelow()
        try office.interfere()
        #expect(throws: CocoaError.self) { try office.root.save() }
        office.root.refresh(try Office.find("Note", "n", in: office.root), mergeChanges: true)
        try office.root.save()
        #expect(office.versions == ["A 2", "B 1"] + (place.notes != .inMemory ? ["m 1", "n 3"] : []))
        try office.expectSettled(Self.changed + ["n mine 5 2"])
        withExtendedLifetime(office) {}
    }

    @Test("211: as it does after a merge of what the others saved", arguments: Place.allCases)
    func afterAMergeTheSaveOfBothStoresSucceeds(place: Place) throws {
        let office = try Office(place)
        try office.changeBelow()
        try office.interfere()
        #expect(throws: CocoaError.self) { try office.root.save() }
        let note = try Office.find("Note", "n", in: office.root)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [note.objectID]],
            into: [office.root, office.child, office.grandchild])
        try office.root.save()
        try office.expectSettled(Self.changed + ["n mine 5 2"])
        withExtendedLifetime(office) {}
    }

    @Test(
        "82: A conflict of a child with its parent in one store moves nothing of the other", arguments: Place.allCases)
    func aConflictWithTheParentMovesNothing(place: Place) throws {
        let office = try Office(place)
        try Office.find("Account", "A", in: office.grandchild).setValue(2, forKey: "amount")
        let note = try Office.find("Note", "n", in: office.grandchild)
        note.setValue("mine", forKey: "body")
        let above = try Office.find("Note", "n", in: office.child)
        above.setValue("above", forKey: "body")
        let error = #expect(throws: CocoaError.self) { try office.grandchild.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(office.child.updatedObjects == [above])
        #expect(try Office.lines(office.child) == ["A 1", "n above 1 1"])
        #expect(office.grandchild.updatedObjects.count == 2)
        office.grandchild.refresh(note, mergeChanges: true)
        try office.grandchild.save()
        try office.child.save()
        try office.root.save()
        try office.expectSettled(["A 2", "n mine 1 1"])
        withExtendedLifetime(office) {}
    }

    @Test("211, 213: Conflicts in both stores are settled one after the other", arguments: Place.persistent)
    func conflictsInBothStoresAreSettled(place: Place) throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
            let office = try Office(place, options: [NSPersistentHistoryTrackingKey: true])
            try office.changeBelow()
            try office.interfere()
            try office.interfereWithAccounts()
            let before = office.transactions
            office.root.mergePolicy = policy
            if policy === NSMergePolicy.error {
                // Each error names the objects of one store.
                for _ in 0..<2 {
                    let error = #expect(throws: CocoaError.self) { try office.root.save() }
                    for conflict in error?.persistentStoreSaveConflicts ?? [] {
                        office.root.refresh(conflict.sourceObject, mergeChanges: true)
                    }
                    #expect(office.transactions == before)
                }
            }
            try office.root.save()
            #expect(office.transactions == before.map { $0 + 1 })
            #expect(office.versions == ["A 3", "B 1", "m 1", "n 3"])
            try office.expectSettled(["A 2", "B 7", "m new 1 7", "n mine 5 2"])
            withExtendedLifetime(office) {}
        }
    }

    // MARK: - Other refusals

    @Test("82: What is invalid in one store keeps the other from being written", arguments: Place.allCases)
    func whatIsInvalidInOneStoreKeepsTheOtherFromBeingWritten(place: Place) throws {
        let office = try Office(place)
        try office.changeBelow()
        let note = try Office.find("Note", "m", in: office.root)
        note.setValue(nil, forKey: "number")
        let error = #expect(throws: CocoaError.self) { try office.root.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
        #expect(try office.stored() == ["A 1", "n old 1 1"])
        #expect(office.root.insertedObjects.count == 2)
        let mine = try Office.find("Note", "m", in: office.child)
        office.child.refresh(mine, mergeChanges: true)
        mine.setValue(4, forKey: "number")
        try office.child.save()
        try office.root.save()
        #expect(office.versions == ["A 2", "B 1"] + (place.notes != .inMemory ? ["m 1", "n 2"] : []))
        try office.expectSettled(["A 2", "B 7", "m new 4 7", "n mine 1 2"])
        withExtendedLifetime(office) {}
    }

    @Test("82, 221: A violated constraint in one store keeps the other from being written", arguments: Place.allCases)
    func aViolatedConstraintKeepsTheOtherStoreFromBeingWritten(place: Place) throws {
        let office = try Office(place)
        try office.changeBelow()
        Office.new("Note", ["name": "m", "body": "theirs", "mark": 3], in: office.theirs)
        try office.theirs.save()
        // By its text: the name will be that of two.
        let mine = try #require(
            try office.child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first {
                $0.value(forKey: "body") as? String == "new"
            })
        let error = #expect(throws: CocoaError.self) { try office.root.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        #expect(try office.stored() == ["A 1", "m theirs 1 3", "n old 1 1"])
        #expect(office.root.insertedObjects.count == 2)
        #expect(office.root.updatedObjects.count == 2)
        mine.setValue("l", forKey: "name")
        try office.child.save()
        try office.root.save()
        #expect(
            office.versions == ["A 2", "B 1"] + (place.notes != .inMemory ? ["l 1", "m 1", "n 2"] : []))
        try office.expectSettled(["A 2", "B 7", "l new 1 7", "m theirs 1 3", "n mine 1 2"])
        withExtendedLifetime(office) {}
    }

    @Test(
        "220: The policy settles it, and each row is written once", arguments: Place.allCases,
        [
            (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "m theirs 1 3"),
            (.mergeByPropertyObjectTrumpMergePolicyType, "m new 1 7"), (.overwriteMergePolicyType, "m new 1 7"),
            (.rollbackMergePolicyType, "m theirs 1 3"),
        ])
    func aViolatedConstraintInOneStoreIsSettled(place: Place, outcome: (NSMergePolicyType, String)) throws {
        let office = try Office(place)
        try office.changeBelow()
        Office.new("Note", ["name": "m", "body": "theirs", "mark": 3], in: office.theirs)
        try office.theirs.save()
        office.root.mergePolicy = NSMergePolicy(merge: outcome.0)
        try office.root.save()
        #expect(office.versions.prefix(2) == ["A 2", "B 1"])
        for context in [office.child, office.grandchild] { context.refreshAllObjects() }
        try office.expectSettled(["A 2", "B 7", outcome.1, "n mine 1 2"])
        withExtendedLifetime(office) {}
    }

    @Test(
        "82, 213: A deletion of what others changed keeps the other store from being written", arguments: Place.allCases
    )
    func aDeletionOfWhatOthersChangedIsSettled(place: Place) throws {
        let office = try Office(place)
        office.child.delete(try Office.find("Note", "n", in: office.child))
        try Office.find("Account", "A", in: office.child).setValue(2, forKey: "amount")
        try office.child.save()
        try office.interfere()
        let error = #expect(throws: CocoaError.self) { try office.root.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(try office.stored() == ["A 1", "n theirs 5 1"])
        #expect(try Office.lines(office.grandchild) == ["A 2"])
        office.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try office.root.save()
        try office.expectSettled(["A 2"])
        withExtendedLifetime(office) {}
    }
}
