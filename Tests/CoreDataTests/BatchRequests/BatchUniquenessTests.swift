import CoreData
import TestSupport
import Testing

/// Rows whose unique values others have, under each merge policy.
struct BatchUniquenessTests {
    private static var rows: [[String: Any]] {
        [["sku": "a", "name": "Mallet"], ["sku": "x", "name": "Drill", "stock": 1], ["sku": "x", "stock": 2]]
    }

    private func execute(
        _ policy: NSMergePolicy, _ stack: BatchStack, _ rows: [[String: Any]] = rows, entity: String = "Item"
    ) throws -> [NSManagedObjectID] {
        stack.context.mergePolicy = policy
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = .objectIDs
        return try #require((stack.context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    }

    @Test("238: With an object-trump policy rows that are there get the given values", arguments: StoreKind.allCases)
    func objectTrump(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let hammer = try stack.objectIDs(of: "Item", by: "sku")[0]
        let objectIDs = try execute(.mergeByPropertyObjectTrump, stack)
        #expect(objectIDs.contains(hammer))
        #expect(Set(objectIDs).count == 2)
        #expect(try stack.values("name", of: "Item", by: "sku") == ["Mallet", "Saw", "Rope", "Vase", "Bulb", "Drill"])
        #expect(try stack.values("price", of: "Item", by: "sku").first == "2")
        if StoreKind.foldTexts { #expect(try stack.values("upperName", of: "Item", by: "sku").first == "MALLET") }
        #expect(try stack.values("stock", of: "Item", by: "sku").last == "2")
        #expect(try stack.values("category.title", of: "Item", by: "sku").first == "Tools")
    }

    @Test func aRowThatIsChangedGetsANewVersion() throws {
        let stack = try Warehouse.stack(.sqlite)
        _ = try execute(.mergeByPropertyObjectTrump, stack)
        #expect(
            stack.file.rows("SELECT ZSKU, Z_OPT FROM ZITEM WHERE ZSKU IN ('a', 'b') ORDER BY ZSKU") == [
                ["a", "2"], ["b", "1"],
            ])
    }

    @Test(arguments: StoreKind.allCases) func withTheOverwritePolicyTheyGetAllValues(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        _ = try execute(.overwrite, stack, [["sku": "a", "name": "Mallet"]])
        #expect(try stack.values("name", of: "Item", by: "sku").first == "Mallet")
        #expect(try stack.values("price", of: "Item", by: "sku").first == "nil")
    }

    /// The certificate's end stands in a row of its own, which the insertion does not write.
    @Test(arguments: StoreKind.allCases) func withTheOverwritePolicyRelationshipsThatAreNotGivenStay(kind: StoreKind)
        throws
    {
        let stack = try Warehouse.stack(kind)
        _ = try execute(.overwrite, stack, [["sku": "a", "name": "Mallet"]])
        try expectCertificate(stack)
        #expect(try stack.values("category.title", of: "Item", by: "sku").first == "Tools")
        _ = try execute(.overwrite, stack, [["sku": "a", "name": "Mallet", "category": NSNull()]])
        try expectCertificate(stack)
        #expect(try stack.values("category.title", of: "Item", by: "sku").first == "nil")
    }

    @Test(arguments: StoreKind.allCases) func aRelationshipThatNoObjectHasStaysWhereItIsAmongTheUpdated(
        kind: StoreKind
    ) throws {
        let stack = try Warehouse.stack(kind)
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
        var skus = ["a"]
        let counts = try stack.context.insertRows(of: "Item", updatingBy: ["sku"], ["name", "certificate"]) {
            guard let sku = skus.popLast() else { return nil }
            let object = NSManagedObject(entity: entity, insertInto: nil)
            object.setValuesForKeys(["sku": sku, "name": "Mallet"])
            return object
        }
        #expect(counts.updated == 1)
        #expect(try stack.values("name", of: "Item", by: "sku").first == "Mallet")
        try expectCertificate(stack)
    }

    private func expectCertificate(_ stack: BatchStack) throws {
        let context = stack.newContext()
        let item = try context.existingObject(with: stack.objectIDs(of: "Item", by: "sku")[0])
        #expect(item.value(forKey: "certificate") != nil)
        #expect(try RelationshipEnds.problems(in: context) == [])
        if stack.store.type == NSSQLiteStoreType {
            #expect(try RelationshipEnds.problems(in: stack.file, of: stack.coordinator.managedObjectModel) == [])
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType])
    func withTheOtherPoliciesTheyStayAsTheyAre(kind: StoreKind, type: NSMergePolicyType) throws {
        let stack = try Warehouse.stack(kind)
        let objectIDs = try execute(NSMergePolicy(merge: type), stack)
        #expect(objectIDs.count == 1)
        #expect(try stack.values("name", of: "Item", by: "sku") == ["Hammer", "Saw", "Rope", "Vase", "Bulb", "Drill"])
        #expect(try stack.values("stock", of: "Item", by: "sku").last == "1")
    }

    @Test(arguments: StoreKind.allCases) func theErrorPolicyRefusesTheWholeBatch(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let error = #expect(throws: NSError.self) {
            try execute(.error, stack, [["sku": "y", "name": "New"], ["sku": "a", "name": "Mallet"]])
        }
        #expect(error?.code == 133021)
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["sku"])
        #expect(conflict?.constraintValues["sku"] as? String == "a")
        #expect(conflict?.databaseObject?.value(forKey: "name") as? String == "Hammer")
        #expect(try stack.values("name", of: "Item", by: "sku") == ["Hammer", "Saw", "Rope", "Vase", "Bulb"])
    }

    @Test(arguments: StoreKind.allCases) func rowsOfOneBatchMeetEachOther(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let error = #expect(throws: NSError.self) {
            try execute(.error, stack, [["sku": "y", "name": "New"], ["sku": "y", "name": "Newer"]])
        }
        #expect(error?.code == 133021)
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.databaseObject == nil)
    }

    @Test(arguments: StoreKind.allCases) func aRowOfASubentityGetsTheGivenValues(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        #expect(
            try execute(.mergeByPropertyObjectTrump, stack, [["sku": "d", "name": "Mug"]]).map(\.entity.name) == [
                "Fragile"
            ])
        #expect(try stack.values("name", of: "Fragile", by: "sku") == ["Mug", "Bulb"])
    }

    @Test(arguments: StoreKind.allCases) func rowsWithoutAUniqueValueAreAllInserted(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        _ = try execute(.mergeByPropertyObjectTrump, stack, [["name": "One"], ["name": "Two"]])
        #expect(try stack.values("name", of: "Item", by: "sku").prefix(2).sorted() == ["One", "Two"])
    }

    @Test(arguments: StoreKind.allCases) func anExternalFileIsReplaced(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        for byte in UInt8(1)...2 {
            _ = try execute(
                .mergeByPropertyObjectTrump, stack, [["sku": "a", "photo": Data(repeating: byte, count: 200_000)]])
        }
        let item = try #require(
            stack.newContext().object(with: stack.objectIDs(of: "Item", by: "sku")[0]) as NSManagedObject?)
        #expect(item.value(forKey: "photo") as? Data == Data(repeating: 2, count: 200_000))
        guard kind == .sqlite else { return }
        let folder = stack.folder.file(".batch_SUPPORT/_EXTERNAL_DATA")
        try stack.coordinator.remove(stack.store)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test(arguments: StoreKind.allCases) func anUpdateThatWouldRepeatAUniqueValueIsRefusedUnderEveryPolicy(
        kind: StoreKind
    ) throws {
        let stack = try Warehouse.stack(kind)
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["sku": "z"]
        let error = #expect(throws: NSError.self) { try stack.context.execute(request) }
        #expect(error?.code == 133021)
        #expect(try stack.values("sku", of: "Item", by: "sku") == ["a", "b", "c", "d", "e"])
    }
}
