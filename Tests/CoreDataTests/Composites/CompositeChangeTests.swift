import CoreData
import TestSupport
import Testing

/// Composite attributes in the life of objects: changes, validation, conflicts, dictionary results.
struct CompositeChangeTests {
    private static func entities() -> [NSEntityDescription] {
        let count = NSAttributeDescription("count", .integer32AttributeType, optional: false, default: 1)
        count.setValidationPredicates([NSPredicate(format: "SELF <= 10")], withValidationWarnings: ["too many"])
        let inner = NSCompositeAttributeDescription(
            "inner", .init("code", .stringAttributeType), .init("weight", .decimalAttributeType))
        return [
            NSEntityDescription(
                "Box", class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSCompositeAttributeDescription("pack", .init("label", .stringAttributeType), count, inner),
                    NSCompositeAttributeDescription(
                        "seal", .init("mark", .stringAttributeType, optional: false),
                        .init("date", .dateAttributeType)),
                ])
        ]
    }

    private let stack: TestStack
    private let box: NSManagedObject

    init() throws {
        stack = try TestStack(Self.entities())
        box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: stack.context)
        box.setValue("first", forKey: "name")
        box.setValue(["label": "a", "count": 2, "inner": ["code": "x"]], forKey: "pack")
        try stack.context.save()
    }

    private func fetched(_ format: String = "TRUEPREDICATE", in context: NSManagedObjectContext) throws
        -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    @Test func aNewObjectHasTheDefaultsOfElements() {
        let new = NSEntityDescription.insertNewObject(forEntityName: "Box", into: stack.context)
        #expect(new.value(forKeyPath: "pack.count") as? Int == 1)
        #expect(new.value(forKey: "seal") == nil)
        #expect(new.changedValues().isEmpty)
    }

    @Test func changesSpeakOfTheCompositeAttribute() throws {
        box.setValue("b", forKeyPath: "pack.label")
        box.setValue(NSDecimalNumber(string: "1.5"), forKeyPath: "pack.inner.weight")
        let changed = try #require(box.changedValues()["pack"] as? [String: Any])
        #expect(box.changedValues().count == 1)
        #expect(changed["label"] as? String == "b")
        #expect(changed["count"] as? Int == 2)
        let committed = try #require(box.committedValues(forKeys: ["pack"])["pack"] as? [String: Any])
        #expect(committed["label"] as? String == "a")
        #expect(box.committedValues(forKeys: nil).keys.sorted() == ["name", "pack", "seal"])
        #expect(box.dictionaryWithValues(forKeys: ["pack"])["pack"] is [String: Any])
    }

    @Test func anElementOfACompositeThatIsNilIsSetByItsPath() throws {
        box.setValue("m", forKeyPath: "seal.mark")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZMARK, ZDATE FROM ZBOX") == [["m", nil]])
        box.setValue(nil, forKeyPath: "pack.inner")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZLABEL, ZCOUNT, ZCODE, ZWEIGHT FROM ZBOX") == [["a", "2", nil, nil]])
    }

    @Test func anEqualDictionaryIsNoChange() throws {
        box.setValue(["label": "a", "count": 2, "inner": ["code": "x"]], forKey: "pack")
        #expect(!box.hasPersistentChangedValues)
        #expect(box.changedValues().isEmpty)
        try stack.context.save()
        #expect(stack.file.value("SELECT Z_OPT FROM ZBOX") == "1")
    }

    @Test func refreshingDropsChangedElements() {
        box.setValue("b", forKeyPath: "pack.label")
        stack.context.refresh(box, mergeChanges: false)
        #expect(box.value(forKeyPath: "pack.label") as? String == "a")
    }

    @Test func elementsAreValidatedAsPartsOfTheirAttribute() throws {
        box.setValue(20, forKeyPath: "pack.count")
        box.setValue(Date(timeIntervalSinceReferenceDate: 0), forKeyPath: "seal.date")
        let error = errorThrown { try stack.context.save() }
        #expect(error?.validationKeys == ["pack", "seal"])
        let texts = error?.singleErrors.map(\.localizedDescription) ?? []
        #expect(texts.contains { $0.contains("seal.mark is required") }, "\(texts)")
        #expect(texts.contains { $0.contains("too many") }, "\(texts)")
    }

    @Test func valuesAreCheckedBeforeTheyAreSet() throws {
        for (value, part) in [
            (["colour": "red"] as [String: Any], "no element 'colour'"), (["count": "many"], "count"),
            (["count": 11], "too many"),
        ] {
            var object: AnyObject? = value as NSDictionary
            let error = errorThrown { try box.validateValue(&object, forKey: "pack") }
            #expect(error?.localizedDescription.contains(part) == true, "\(String(describing: error))")
        }
    }

    @Test func conflictsOfDifferentElementsAreMergedAndSpeakOfTheAttribute() throws {
        let other = stack.newContext()
        let twin = try fetched(in: other)[0]
        twin.setValue(5, forKeyPath: "pack.count")
        box.setValue("mine", forKeyPath: "pack.label")
        try other.save()
        let error = errorThrown { try stack.context.save() }
        let conflict = try #require(
            (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
        #expect(conflict.objectSnapshot?.keys.sorted() == ["name", "pack", "seal"])
        #expect((conflict.cachedSnapshot?["pack"] as? [String: Any])?["count"] as? Int == 5)
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZLABEL, ZCOUNT, ZCODE FROM ZBOX") == [["mine", "5", "x"]])
    }

    @Test func unsavedElementsCountInFetches() throws {
        box.setValue("z", forKeyPath: "pack.inner.code")
        #expect(try fetched("pack.inner.code == 'z'", in: stack.context).count == 1)
        #expect(try fetched("pack.inner.code == 'x'", in: stack.context).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func dictionaryResultsHaveCompositesAndElements(_ kind: StoreKind) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(Self.entities()))
        let folder = try TemporaryFolder()
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        let context = coordinator.newContext()
        for (name, label) in [("a", "x"), ("b", "x"), ("c", "y")] {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            box.setValue(name, forKey: "name")
            box.setValue(["label": label, "count": 3], forKey: "pack")
        }
        try context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Box")
        request.resultType = .dictionaryResultType
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let all = try context.fetch(request)
        #expect(all.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(all.map { ($0["pack"] as? [String: Any])?["label"] as? String } == ["x", "x", "y"])
        #expect(all.allSatisfy { $0["seal"] == nil && $0["pack.label"] == nil })
        request.propertiesToFetch = ["pack", "pack.count"]
        #expect(try context.fetch(request).map { $0["pack.count"] as? Int } == [3, 3, 3])
        request.propertiesToFetch = ["pack.label"]
        request.propertiesToGroupBy = ["pack.label"]
        request.sortDescriptors = [NSSortDescriptor(key: "pack.label", ascending: false)]
        #expect(try context.fetch(request) == [["pack.label": "y"], ["pack.label": "x"]])
        request.propertiesToFetch = ["pack"]
        request.propertiesToGroupBy = ["pack"]
        request.sortDescriptors = []
        #expect(
            try context.fetch(request).compactMap { ($0["pack"] as? [String: Any])?["label"] as? String }.sorted() == [
                "x", "y",
            ])
    }

    @Test(arguments: StoreKind.allCases) func compositesEqualDictionaries(_ kind: StoreKind) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(Self.entities()))
        let folder = try TemporaryFolder()
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        let context = coordinator.newContext()
        for number in 1...3 {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            box.setValue("\(number)", forKey: "name")
            box.setValue(["label": "a", "count": number], forKey: "pack")
        }
        try context.save()
        func names(_ format: String, _ value: NSDictionary) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
            request.predicate = NSPredicate(format: format, argumentArray: [value])
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
        #expect(try names("pack == %@", ["label": "a", "count": 2]) == ["2"])
        #expect(try names("pack != %@", ["label": "a", "count": 2]) == ["1", "3"])
        #expect(try names("pack == %@", ["label": "a"]) == [])
    }

    @Test(arguments: StoreKind.allCases) func elementsAreUniqueWhereTheModelSaysSo(_ kind: StoreKind) throws {
        let entities = Self.entities()
        entities[0].uniquenessConstraints = [["seal.mark"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities))
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(url))
        if kind == .sqlite {
            let index = "CREATE UNIQUE INDEX \"Z_Box_UNIQUE_seal.mark\" ON ZBOX (ZMARK COLLATE BINARY ASC)"
            #expect(SQLiteFile(url).column("SELECT sql FROM sqlite_master WHERE type = 'index'").contains(index))
        }
        let context = coordinator.newContext()
        for _ in 1...2 {
            NSEntityDescription.insertNewObject(forEntityName: "Box", into: context).setValue(
                ["mark": "m"], forKey: "seal")
        }
        let error = errorThrown { try context.save() }
        #expect(error?.code == CocoaError.managedObjectConstraintMerge.rawValue, "\(String(describing: error))")
    }

    @Test func elementsAreIndexedAndTheIndexIsUsed() throws {
        let entities = Self.entities()
        let path = NSExpressionDescription("label", NSExpression(forKeyPath: "pack.label"), .stringAttributeType)
        let whole = try #require(entities[0].propertiesByName["seal"])
        entities[0].indexes = [
            NSFetchIndexDescription(name: "byLabel", elements: [.init(property: path, collationType: .binary)]),
            NSFetchIndexDescription(name: "bySeal", elements: [.init(property: whole, collationType: .binary)]),
        ]
        let stack = try TestStack(entities)
        let statements = stack.file.column("SELECT sql FROM sqlite_master WHERE type = 'index'")
        #expect(statements.contains("CREATE INDEX Z_Box_byLabel ON ZBOX (ZLABEL COLLATE BINARY ASC)"), "\(statements)")
        #expect(
            statements.contains(
                "CREATE INDEX Z_Box_bySeal ON ZBOX (ZMARK COLLATE BINARY ASC, ZDATE COLLATE BINARY ASC)"))
        let plan = stack.file.rows("EXPLAIN QUERY PLAN SELECT * FROM ZBOX t0 WHERE t0.ZLABEL = 'a'").joined().compactMap
        { $0 }
        #expect(plan.contains { $0.contains("Z_Box_byLabel") }, "\(plan)")
    }

    @Test func oneListOfElementsMayMakeSeveralComposites() throws {
        let elements = [NSAttributeDescription("city", .stringAttributeType)]
        let home = NSCompositeAttributeDescription("home")
        let work = NSCompositeAttributeDescription("work")
        home.elements = elements
        work.elements = elements
        let stack = try TestStack([NSEntityDescription("Person", class: "NSManagedObject", [home, work])])
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: stack.context)
        person.setValue(["city": "Vienna"], forKey: "home")
        person.setValue(["city": "Graz"], forKey: "work")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZCITY, ZCITY1 FROM ZPERSON") == [["Vienna", "Graz"]])
    }

    @Test func subentitiesInheritTheColumnsOfElements() throws {
        let entities = Self.entities()
        let crate = NSEntityDescription(
            "Crate", class: "NSManagedObject",
            [
                NSCompositeAttributeDescription(
                    "lid", .init("label", .stringAttributeType), .init("depth", .integer16AttributeType))
            ])
        entities[0].subentities = [crate]
        let stack = try TestStack(entities + [crate])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Crate", into: stack.context)
        object.setValue(["label": "p", "count": 4], forKey: "pack")
        object.setValue(["label": "l", "depth": 9], forKey: "lid")
        try stack.context.save()
        #expect(stack.file.rows("SELECT ZLABEL, ZLABEL1, ZDEPTH, ZCOUNT FROM ZBOX") == [["p", "l", "9", "4"]])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        request.predicate = NSPredicate(format: "pack.label == 'p' AND lid.depth == 9")
        #expect(try stack.newContext().fetch(request).map { $0.value(forKeyPath: "lid.label") as? String } == ["l"])
    }

    @Test func rowsAreReachedThroughRelationships() throws {
        let entities = Self.entities()
        let shelf = NSEntityDescription(
            "Shelf", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(shelf, "boxes", toMany: true, entities[0], inverse: "shelf")
        let stack = try TestStack(entities + [shelf])
        let object = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: stack.context)
        let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: stack.context)
        box.setValue(object, forKey: "shelf")
        box.setValue(["label": "q", "count": 1], forKey: "pack")
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
        request.predicate = NSPredicate(format: "ANY boxes.pack.label == 'q' AND boxes.@sum.pack.count == 1")
        #expect(try stack.newContext().fetch(request).count == 1)
    }
}
