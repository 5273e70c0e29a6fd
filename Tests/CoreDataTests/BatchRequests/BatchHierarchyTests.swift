import CoreData
import TestSupport
import Testing

/// Rows of a batch insertion whose unique values an object of another entity of the hierarchy has.
struct BatchHierarchyTests {
    /// Wares, some of them fragile, of which some are antique; and bulky ones. The fragile ones'
    /// properties stand before and behind the others in order.
    private static func model() -> NSManagedObjectModel {
        let photo = NSAttributeDescription("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let upper = NSDerivedAttributeDescription("upperName", .stringAttributeType, from: "uppercase:(name)")
        let ware = NSEntityDescription(
            "Ware", class: "NSManagedObject",
            [
                NSAttributeDescription("code", .integer64AttributeType),
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("sku", .stringAttributeType),
                NSAttributeDescription("stock", .integer32AttributeType, default: 5),
                photo,
            ] + (StoreKind.foldTexts ? [upper] : []))
        ware.uniquenessConstraints = [["sku"], ["code"]]
        let fragile = NSEntityDescription(
            "Fragile", class: "NSManagedObject",
            [
                NSAttributeDescription("care", .stringAttributeType),
                NSAttributeDescription("weight", .doubleAttributeType),
            ])
        fragile.uniquenessConstraints = [["name", "care"]]
        let antique = NSEntityDescription(
            "Antique", class: "NSManagedObject", [NSAttributeDescription("age", .integer32AttributeType)])
        let bulky = NSEntityDescription(
            "Bulky", class: "NSManagedObject", [NSAttributeDescription("length", .doubleAttributeType)])
        fragile.subentities = [antique]
        ware.subentities = [fragile, bulky]
        return NSManagedObjectModel([ware, fragile, antique, bulky])
    }

    private static func stack(_ kind: StoreKind, options: [AnyHashable: Any]? = nil) throws -> BatchStack {
        let stack = try BatchStack(kind, model(), options: options)
        let rows: [(String, [String: Any])] = [
            ("Ware", ["sku": "a", "code": 1, "name": "Hammer"]),
            ("Fragile", ["sku": "b", "code": 2, "name": "Vase", "care": "soft"]),
            ("Antique", ["sku": "c", "code": 3, "name": "Clock", "care": "dry", "age": 90, "weight": 2.5]),
            ("Bulky", ["sku": "d", "code": 4, "name": "Beam", "length": 6.0]),
        ]
        for (entity, values) in rows {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context).setValuesForKeys(values)
        }
        try stack.context.save()
        return stack
    }

    private func insert(
        _ stack: BatchStack, _ rows: [[String: Any]], _ entity: String = "Ware",
        _ policy: NSMergePolicy = .mergeByPropertyObjectTrump
    ) throws -> [NSManagedObjectID] {
        stack.context.mergePolicy = policy
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = .objectIDs
        return try #require((stack.context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    }

    private func names(_ stack: BatchStack) throws -> [String] { try stack.values("name", of: "Ware", by: "sku") }

    @Test(arguments: StoreKind.allCases) func rowsOfSubentitiesGetTheGivenValues(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let before = try stack.objectIDs(of: "Ware", by: "sku")
        let objectIDs = try insert(
            stack,
            [
                ["sku": "b", "name": "Mug"], ["sku": "x", "name": "New"], ["sku": "c", "name": "Watch", "stock": 8],
                ["sku": "b", "stock": 7], ["sku": "a", "name": "Mallet"],
            ])
        #expect(try names(stack) == ["Mallet", "Mug", "Watch", "Beam", "New"])
        if StoreKind.foldTexts {
            #expect(try stack.values("upperName", of: "Ware", by: "sku") == ["MALLET", "MUG", "WATCH", "BEAM", "NEW"])
        }
        #expect(try stack.values("stock", of: "Ware", by: "sku") == ["5", "7", "8", "5", "5"])
        #expect(try stack.values("care", of: "Fragile", by: "sku") == ["soft", "dry"])
        #expect(try stack.values("age", of: "Antique", by: "sku") == ["90"])
        #expect(try stack.objectIDs(of: "Ware", by: "sku").prefix(4) == before.prefix(4))
        #expect(Set(objectIDs).subtracting(before).map(\.entity.name) == ["Ware"])
        #expect(Set(objectIDs.filter(before.contains).map(\.entity.name)) == ["Ware", "Fragile", "Antique"])
        let antique = try #require(objectIDs.first { $0.entity.name == "Antique" })
        #expect(try stack.newContext().existingObject(with: antique).value(forKey: "name") as? String == "Watch")
    }

    @Test(arguments: StoreKind.allCases) func withTheOverwritePolicyTheyGetAllValuesOfTheEntity(kind: StoreKind) throws
    {
        let stack = try Self.stack(kind)
        #expect(try insert(stack, [["sku": "c", "stock": 9]], "Fragile", .overwrite).map(\.entity.name) == ["Antique"])
        #expect(try names(stack) == ["Hammer", "Vase", "nil", "Beam"])
        #expect(try stack.values("care", of: "Antique", by: "sku") == ["nil"])
        #expect(try stack.values("age", of: "Antique", by: "sku") == ["90"])
        #expect(try stack.values("code", of: "Antique", by: "sku") == ["nil"])
    }

    @Test(arguments: StoreKind.allCases) func aRowThatIsChangedIsCounted(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let request = NSBatchInsertRequest(entityName: "Ware", objects: [["sku": "b", "name": "Mug"], ["sku": "x"]])
        request.resultType = .count
        #expect((try stack.context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
        #expect(try names(stack) == ["Hammer", "Mug", "Clock", "Beam", "nil"])
    }

    @Test(arguments: StoreKind.allCases) func anUpsertMergesWhatItHasChanged(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let vase = try stack.context.existingObject(with: stack.objectIDs(of: "Fragile", by: "sku")[0])
        #expect(vase.value(forKey: "name") as? String == "Vase")
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Ware"])
        var rows = [("b", "Mug"), ("x", "New")]
        let counts = try stack.context.insertRows(of: "Ware", updatingBy: ["sku"], ["name"]) {
            guard let (sku, name) = rows.popLast() else { return nil }
            let object = NSManagedObject(entity: entity, insertInto: nil)
            object.setValuesForKeys(["sku": sku, "name": name, "stock": 1])
            return object
        }
        #expect(counts.inserted == 1)
        #expect(counts.updated == 1)
        #expect(vase.value(forKey: "name") as? String == "Mug")
        #expect(vase.value(forKey: "stock") as? Int == 5)
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType])
    func rowsOfOtherEntitiesAreARefusal(kind: StoreKind, type: NSMergePolicyType) throws {
        let stack = try Self.stack(kind)
        // A superentity's, and one of the same superentity.
        for (sku, name, owner) in [("a", "Hammer", "Ware"), ("d", "Beam", "Bulky")] {
            let error = try #require(
                #expect(throws: NSError.self) {
                    try insert(
                        stack,
                        [
                            ["sku": "y", "name": "New"], ["sku": "c", "name": "Watch"], ["sku": sku, "name": "Mallet"],
                        ], "Fragile",
                        NSMergePolicy(merge: type))
                })
            #expect(error.code == 133021)
            let text = error.localizedDescription
            #expect(text.contains("'\(owner)'"), "\(text)")
            #expect(text.contains("'Fragile'"), "\(text)")
            #expect(text.contains("sku = \(sku)"), "\(text)")
            let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
            #expect(conflict?.constraint == ["sku"])
            #expect(conflict?.constraintValues["sku"] as? String == sku)
            #expect(conflict?.databaseObject?.value(forKey: "name") as? String == name)
            #expect(try names(stack) == ["Hammer", "Vase", "Clock", "Beam"])
        }
    }

    @Test(arguments: StoreKind.allCases) func theConstraintOfTheOtherRowIsNamed(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let error = #expect(throws: NSError.self) { try insert(stack, [["code": 4, "name": "Mug"]], "Fragile") }
        #expect(error?.code == 133021)
        #expect(error?.localizedDescription.contains("code = 4") == true, "\(error as Any)")
        #expect(try names(stack) == ["Hammer", "Vase", "Clock", "Beam"])
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType])
    func policiesThatDropGivenValuesLeaveAllRowsAsTheyAre(kind: StoreKind, type: NSMergePolicyType) throws {
        let stack = try Self.stack(kind)
        for (entity, sku) in [("Ware", "b"), ("Fragile", "a"), ("Fragile", "d")] {
            #expect(try insert(stack, [["sku": sku, "name": "Mug"]], entity, NSMergePolicy(merge: type)).isEmpty)
        }
        #expect(try names(stack) == ["Hammer", "Vase", "Clock", "Beam"])
    }

    @Test(arguments: StoreKind.allCases) func theErrorPolicyRefusesRowsOfSubentitiesToo(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        for (entity, sku) in [("Ware", "b"), ("Fragile", "a")] {
            let error = #expect(throws: NSError.self) {
                try insert(stack, [["sku": sku, "name": "Mug"]], entity, .error)
            }
            #expect(error?.code == 133021)
        }
        #expect(try names(stack) == ["Hammer", "Vase", "Clock", "Beam"])
    }

    @Test(arguments: StoreKind.allCases) func aSubentitysOwnConstraintIsKept(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        _ = try insert(stack, [["sku": "e", "name": "Bulb", "care": "soft"]], "Fragile")
        let error = #expect(throws: NSError.self) { try insert(stack, [["sku": "e", "name": "Vase"]]) }
        #expect(error?.code == 133021, "\(error as Any)")
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["name", "care"])
        #expect(try names(stack) == ["Hammer", "Vase", "Clock", "Beam", "Bulb"])
    }

    @Test(arguments: StoreKind.allCases) func aValueThatARowOfASubentityHasGivenUpIsFree(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let objectIDs = try insert(stack, [["sku": "b", "code": 20], ["sku": "x", "code": 2]])
        #expect(Set(objectIDs.map(\.entity.name)) == ["Fragile", "Ware"])
        #expect(try stack.values("code", of: "Ware", by: "sku") == ["1", "20", "3", "4", "2"])
    }

    @Test func historyNamesTheEntityOfTheRow() throws {
        let stack = try Self.stack(.sqlite, options: [NSPersistentHistoryTrackingKey: true])
        _ = try insert(stack, [["sku": "b", "name": "Mug"]])
        let number = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Fragile'"
        #expect(
            stack.file.rows(
                "SELECT ZENTITY = (\(number)), ZCHANGETYPE, ZENTITYPK = (SELECT Z_PK FROM ZWARE WHERE ZSKU = 'b') "
                    + "FROM ACHANGE "
                    + "ORDER BY Z_PK DESC LIMIT 1") == [["1", "1", "1"]])
    }

    @Test func anExternalFileOfASubentitysRowIsReplaced() throws {
        let stack = try Self.stack(.sqlite)
        for byte in UInt8(1)...2 {
            _ = try insert(stack, [["sku": "b", "photo": Data(repeating: byte, count: 200_000)]])
        }
        let vase = try stack.newContext().existingObject(with: stack.objectIDs(of: "Fragile", by: "sku")[0])
        #expect(vase.value(forKey: "photo") as? Data == Data(repeating: 2, count: 200_000))
        let folder = stack.folder.file(".batch_SUPPORT/_EXTERNAL_DATA")
        try stack.coordinator.remove(stack.store)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }
}
