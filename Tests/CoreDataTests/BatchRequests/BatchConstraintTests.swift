import CoreData
import TestSupport
import Testing

/// Batches under several uniqueness constraints, and constraints of several attributes.
struct BatchConstraintTests {
    private func stack(
        _ kind: StoreKind, _ constraints: [[String]], _ rows: [[String: Any]] = [], options: [AnyHashable: Any]? = nil
    ) throws -> BatchStack {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let entry = NSEntityDescription(
            "Entry", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType),
                NSAttributeDescription("key", .integer32AttributeType),
                NSAttributeDescription("code", .stringAttributeType),
                NSAttributeDescription("list", .stringAttributeType), photo,
            ])
        entry.uniquenessConstraints = constraints
        let stack = try BatchStack(kind, NSManagedObjectModel([entry]), options: options)
        if !rows.isEmpty { try stack.context.execute(NSBatchInsertRequest(entityName: "Entry", objects: rows)) }
        return stack
    }

    private func rows(_ stack: BatchStack) throws -> [String] {
        zip(try stack.values("key", of: "Entry", by: "number"), try stack.values("code", of: "Entry", by: "number")).map
        { "\($0) \($1)" }
    }

    private static var pairs: [[String: Any]] {
        [
            ["number": 0, "key": 1, "code": "A"], ["number": 1, "key": 1, "code": "B"],
            ["number": 2, "key": 2, "code": "A"],
        ]
    }

    @Test(arguments: StoreKind.allCases)
    func aValueThatARowOfTheBatchHasGivenUpIsFree(kind: StoreKind) throws {
        let stack = try stack(kind, [["key"], ["code"]])
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.execute(NSBatchInsertRequest(entityName: "Entry", objects: Self.pairs))
        #expect(try rows(stack) == ["1 B", "2 A"])
    }

    @Test(arguments: StoreKind.allCases)
    func aValueThatARowOfTheStoreHasGivenUpIsFree(kind: StoreKind) throws {
        let stack = try stack(kind, [["key"], ["code"]], [["number": 0, "key": 1, "code": "A"]])
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.execute(NSBatchInsertRequest(entityName: "Entry", objects: Array(Self.pairs.dropFirst())))
        #expect(try rows(stack) == ["1 B", "2 A"])
    }

    @Test(arguments: StoreKind.allCases)
    func aRowIsMetByAConstraintOfWhichOnlyAPartWasChanged(kind: StoreKind) throws {
        let stack = try stack(kind, [["key"], ["list", "code"]], [["number": 0, "key": 1, "list": "L", "code": "A"]])
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let insert = NSBatchInsertRequest(
            entityName: "Entry",
            objects: [
                ["key": 1, "code": "B"], ["number": 5, "list": "L", "code": "B"],
                ["number": 6, "list": "L", "code": "A"],
            ])
        insert.resultType = .count
        try stack.context.execute(insert)
        #expect(try stack.values("number", of: "Entry", by: "number") == ["5", "6"])
        #expect(try rows(stack) == ["1 B", "nil A"])
    }

    // MARK: What errors name

    @Test(arguments: StoreKind.allCases)
    func anErrorDoesNotNameValuesThatNobodyKnows(kind: StoreKind) throws {
        let stack = try stack(kind, [["list", "key"]], (1...2).map { ["number": $0, "list": "L", "key": $0] })
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["key": NSExpression(format: "number * 0")]
        let error = try #require(#expect(throws: NSError.self) { try stack.context.execute(update) })
        #expect(error.code == 133021)
        #expect(!error.localizedDescription.contains("nil"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("list"))
        #expect(error.localizedDescription.contains("key"))
        let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["list", "key"])
    }

    @Test(arguments: StoreKind.allCases)
    func anErrorNamesTheConstraintThatFails(kind: StoreKind) throws {
        let stack = try stack(kind, [["key"], ["code"]], (1...2).map { ["number": $0, "key": $0, "code": "\($0)"] })
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["key": NSExpression(format: "number + 5"), "code": "x"]
        let error = try #require(#expect(throws: NSError.self) { try stack.context.execute(update) })
        #expect(error.code == 133021)
        let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["code"])
        #expect(conflict?.constraintValues["code"] as? String == "x")
        #expect(try rows(stack) == ["1 1", "2 2"])
    }

    // MARK: Files

    @Test func aFileForAPropertyThatTheUpdateLeavesOutIsNotKept() throws {
        let data = Data(repeating: 1, count: 200_000)
        let stack = try stack(.sqlite, [["key"]], [["number": 0, "key": 1, "code": "A", "photo": data]])
        let folder = stack.folder.file(".batch_SUPPORT/_EXTERNAL_DATA")
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(before.count == 1)
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Entry"])
        var keys = [1, 2]
        let counts = try stack.context.insertRows(of: "Entry", updatingBy: ["key"], ["code"]) {
            guard let key = keys.popLast() else { return nil }
            let object = NSManagedObject(entity: entity, insertInto: nil)
            object.setValuesForKeys([
                "number": key, "key": key, "code": "B", "photo": Data(repeating: 2, count: 200_000),
            ])
            return object
        }
        #expect(counts.inserted == 1)
        #expect(counts.updated == 1)
        let after = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(after.count == 2)
        #expect(after.contains(before[0]))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
        #expect(try stack.newContext().fetch(request).map { ($0.value(forKey: "photo") as? Data)?.first } == [1, 2])
    }

    // MARK: Reading meanwhile

    @Test(arguments: [
        [NSSQLitePragmasOption: ["journal_mode": "DELETE"]] as [String: any Sendable],
        [NSPersistentStoreConnectionPoolMaxSizeKey: 1],
    ])
    func aHandlerMayReadTheStoreThatItsRowsGoTo(options: [String: any Sendable]) throws {
        let stack = try stack(.sqlite, [["key"]], [["number": 0, "key": 1, "code": "A"]], options: options)
        var key = 1
        let insert = NSBatchInsertRequest(entityName: "Entry") { (row: NSMutableDictionary) in
            key += 1
            if key > 3 { return true }
            let found = try? stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry"))
            row["number"] = key
            row["key"] = key
            row["code"] = "\(found?.count ?? -1) \(found?.first?.value(forKey: "code") ?? "nil")"
            return false
        }
        try stack.context.execute(insert)
        // What it reads is what was there before.
        #expect(try rows(stack) == ["1 A", "2 1 A", "3 1 A"])
    }
}
