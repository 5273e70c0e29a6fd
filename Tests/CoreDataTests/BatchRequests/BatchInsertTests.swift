import CoreData
import TestSupport
import Testing

struct BatchInsertTests {
    /// A request for authors with names.
    private func authors(_ names: [String]) -> NSBatchInsertRequest {
        NSBatchInsertRequest(entityName: "Author", objects: names.map { ["name": $0, "born": 1900 + $0.count] })
    }

    private func names(_ library: Library) throws -> [String?] {
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try library.newContext().fetch(request).map(\.name)
    }

    @Test(arguments: StoreKind.allCases) func dictionariesBecomeObjects(kind: StoreKind) throws {
        let library = try Library(kind)
        let result = try library.context.execute(authors(["B", "A"]))
        #expect((result as? NSBatchInsertResult)?.result as? Bool == true)
        #expect(try names(library) == ["A", "B"])
        // Saves go on where the batch ended.
        library.context.author("C")
        try library.context.save()
        #expect(try names(library) == ["A", "B", "C"])
    }

    @Test func aBatchForWhichNoKeysAreLeftIsRefused() throws {
        let store = try MigratedStore()
        func items() -> NSManagedObjectModel { model(entity("Item", text("name"))) }
        try store.open(items()) { $0.insert("Item") }
        let highest = Int64.max - 1
        #expect(store.file.execute("UPDATE ZITEM SET Z_PK = \(highest); UPDATE Z_PRIMARYKEY SET Z_MAX = \(highest)"))
        let error = errorThrown {
            try store.open(items()) { context in
                _ = try context.execute(
                    NSBatchInsertRequest(entityName: "Item", objects: [["name": "a"], ["name": "b"]]))
            }
        }
        #expect(error?.localizedDescription.contains("no keys left") == true)
        #expect(store.file.integer("SELECT count(*) FROM ZITEM") == 1)
    }

    @Test("234: The result is a status unless IDs or a number are asked for", arguments: StoreKind.allCases)
    func resultTypes(kind: StoreKind) throws {
        let library = try Library(kind)
        let request = authors(["A", "B"])
        #expect(request.resultType == .statusOnly)
        #expect(request.entityName == "Author")
        request.resultType = .count
        let counted = try #require(library.context.execute(request) as? NSBatchInsertResult)
        #expect(counted.resultType == .count)
        #expect(counted.result as? Int == 2)
        #expect(request.entity?.name == "Author")
        request.resultType = .objectIDs
        let identified = try #require(library.context.execute(request) as? NSBatchInsertResult)
        let objectIDs = try #require(identified.result as? [NSManagedObjectID])
        let context = library.newContext()
        #expect(Set(objectIDs.map { (context.object(with: $0) as? LibraryAuthor)?.name }) == ["A", "B"])
    }

    @Test(arguments: StoreKind.allCases) func theCoordinatorExecutesItForAContext(kind: StoreKind) throws {
        let library = try Library(kind)
        let request = authors(["A"])
        #expect(request.requestType == .batchInsertRequestType)
        let result = try library.coordinator.execute(request, with: library.context)
        #expect((result as? NSBatchInsertResult)?.result as? Bool == true)
        #expect(try names(library) == ["A"])
    }

    @Test(
        "236: A handler is called until it returns true, and that call inserts nothing", arguments: StoreKind.allCases)
    func dictionaryHandler(kind: StoreKind) throws {
        let library = try Library(kind)
        var calls = 0
        let request = NSBatchInsertRequest(
            entityName: "Author",
            dictionaryHandler: { dictionary in
                #expect(dictionary.count == 0)
                dictionary["name"] = "\(calls)"
                calls += 1
                return calls == 4
            })
        try library.context.execute(request)
        #expect(calls == 4)
        #expect(try names(library) == ["0", "1", "2"])
    }

    @Test("236: as dictionaries, objects are handed out until the handler returns true", arguments: StoreKind.allCases)
    func managedObjectHandler(kind: StoreKind) throws {
        let library = try Library(kind)
        var number = 0
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"])
        let request = NSBatchInsertRequest(
            entity: entity,
            managedObjectHandler: { object in
                guard number < 2, let author = object as? LibraryAuthor else { return true }
                #expect(author.managedObjectContext == nil)
                author.name = "\(number)"
                number += 1
                return false
            })
        try library.context.execute(request)
        #expect(try names(library) == ["0", "1"])
    }

    @Test("237: What a dictionary leaves out gets its default value", arguments: StoreKind.allCases)
    func defaults(kind: StoreKind) throws {
        let stack = try BatchStack(kind, Warehouse.model())
        try stack.context.execute(
            NSBatchInsertRequest(
                entityName: "Item",
                objects: [["sku": "a", "name": "A"], ["sku": "b", "name": "B", "stock": NSNull()]]))
        #expect(try stack.values("stock", of: "Item", by: "sku") == ["5", "nil"])
    }

    @Test(arguments: StoreKind.allCases) func everyKindOfValueIsKept(kind: StoreKind) throws {
        let stack = try BatchStack(kind, Warehouse.model())
        let (id, date) = (UUID(), Date(timeIntervalSinceReferenceDate: 12.5))
        let photo = Data(repeating: 7, count: 200_000)
        try stack.context.execute(
            NSBatchInsertRequest(
                entityName: "Fragile",
                objects: [
                    [
                        "sku": "a", "name": "A", "stock": Int16(3), "price": NSDecimalNumber(string: "1.25"),
                        "added": date, "code": id,
                        "photo": photo, "care": "soft",
                    ]
                ]))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "price == 1.25" + (StoreKind.foldTexts ? " AND upperName == 'A'" : ""))
        let item = try #require(stack.newContext().fetch(request).first)
        #expect(item.entity.name == "Fragile")
        #expect(item.value(forKey: "stock") as? Int == 3)
        #expect(item.value(forKey: "added") as? Date == date)
        #expect(item.value(forKey: "code") as? UUID == id)
        #expect(item.value(forKey: "photo") as? Data == photo)
        #expect(item.value(forKey: "care") as? String == "soft")
    }

    @Test("342: A row without a required value is refused, and nothing is inserted", arguments: StoreKind.allCases)
    func requiredValues(kind: StoreKind) throws {
        let entity = NSEntityDescription(
            "Note", class: "NSManagedObject",
            [
                .init("title", .stringAttributeType, optional: false),
                .init("stars", .integer32AttributeType, optional: false, default: 3),
                .init("mark", .stringAttributeType),
            ])
        entity.uniquenessConstraints = [["title"]]
        let stack = try BatchStack(kind, NSManagedObjectModel([entity]))
        let requests: [NSBatchInsertRequest] = [
            NSBatchInsertRequest(entityName: "Note", objects: [["title": "a"], ["mark": "x"]]),
            NSBatchInsertRequest(entityName: "Note", objects: [["title": "a"], ["title": NSNull()]]),
            NSBatchInsertRequest(
                entityName: "Note",
                dictionaryHandler: { row in
                    row["mark"] = "x"
                    return false
                }),
            NSBatchInsertRequest(
                entityName: "Note",
                managedObjectHandler: { object in
                    object.setValue("x", forKey: "mark")
                    return false
                }),
        ]
        for request in requests {
            for policy in [NSMergePolicy.error, .overwrite] {
                stack.context.mergePolicy = policy
                let error = errorThrown { try stack.context.execute(request) } as NSError?
                #expect(error?.code == NSValidationMissingMandatoryPropertyError)
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "title")
                #expect(error?.localizedDescription.contains("Note.title") == true)
            }
        }
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 0)
        try stack.context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["title": "a"]]))
        stack.context.mergePolicy = NSMergePolicy.error
        let error =
            errorThrown {
                try stack.context.execute(
                    NSBatchInsertRequest(entityName: "Note", objects: [["title": "b", "stars": NSNull()]]))
            } as NSError?
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "stars")
        // Of rows that may change others, or give way to them, the new ones need all values; and
        // nothing is replaced by nothing.
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback] {
            stack.context.mergePolicy = policy
            for rows in [
                [["mark": "x"]], [["title": "a"], ["mark": "x"]], [["title": "c"], ["title": "d", "stars": NSNull()]],
            ] {
                let error =
                    errorThrown { try stack.context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows)) }
                    as NSError?
                #expect(error?.code == NSValidationMissingMandatoryPropertyError, "\(rows)")
            }
        }
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let nothing =
            errorThrown {
                try stack.context.execute(
                    NSBatchInsertRequest(entityName: "Note", objects: [["title": "a", "stars": NSNull()]]))
            } as NSError?
        #expect(nothing?.userInfo[NSValidationKeyErrorKey] as? String == "stars")
        // One that changes another row keeps what that has.
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["title": "a", "mark": "y"]]))
        let note = try #require(try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(note.value(forKey: "mark") as? String == "y")
        #expect(note.value(forKey: "stars") as? Int == 3)
    }

    @Test(
        "342: What a save refuses of composite attributes is refused, too", arguments: StoreKind.allCases,
        [false, true])
    func requiredElements(kind: StoreKind, isOptional: Bool) throws {
        func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription {
            let composite = NSCompositeAttributeDescription()
            (composite.name, composite.elements, composite.isOptional) = (name, elements, isOptional)
            return composite
        }
        let place = composite(
            "place", [.init("x", .integer32AttributeType, optional: false), .init("y", .integer32AttributeType)])
        let address = composite("address", [.init("city", .stringAttributeType, optional: false), place])
        let stack = try BatchStack(
            kind,
            NSManagedObjectModel([
                NSEntityDescription("Note", class: "NSManagedObject", [.init("mark", .stringAttributeType), address])
            ]))
        let rows: [(value: [String: Any]?, missing: String?)] = [
            (nil, isOptional ? nil : "address"), (["city": "a"], isOptional ? nil : "address.place"),
            (["city": "a", "place": ["x": 1]], nil), (["place": ["x": 1]], "address.city"),
            (["city": "a", "place": ["y": 1]], "address.place.x"),
        ]
        for (value, missing) in rows {
            let row: [String: Any] = ["mark": "m", "address": value ?? NSNull()]
            let error =
                errorThrown { try stack.context.execute(NSBatchInsertRequest(entityName: "Note", objects: [row])) }
                as NSError?
            #expect(error?.code == missing.map { _ in NSValidationMissingMandatoryPropertyError })
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == missing)
            // The second path: a save.
            let note = stack.context.new("Note", ["mark": "m"])
            note.setValue(value, forKey: "address")
            let refusal = errorThrown { try stack.context.save() } as NSError?
            #expect((refusal == nil) == (missing == nil), "\(row)")
            stack.context.rollback()
        }
    }

    @Test("342: a row that changes another one takes no required element from it", arguments: StoreKind.allCases)
    func requiredElementsOfOtherRows(kind: StoreKind) throws {
        func composite(_ name: String, _ elements: [NSAttributeDescription], isOptional: Bool)
            -> NSCompositeAttributeDescription
        {
            let composite = NSCompositeAttributeDescription()
            (composite.name, composite.elements, composite.isOptional) = (name, elements, isOptional)
            return composite
        }
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject",
            [
                .init("mark", .stringAttributeType),
                composite(
                    "address",
                    [.init("city", .stringAttributeType, optional: false), .init("street", .stringAttributeType)],
                    isOptional: false),
                composite("place", [.init("x", .integer32AttributeType, optional: false)], isOptional: true),
            ])
        note.uniquenessConstraints = [["mark"]]
        let stack = try BatchStack(kind, NSManagedObjectModel([note]))
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        func insert(_ values: [String: Any]) -> NSError? {
            let row = values.merging(["mark": "m"]) { value, _ in value }
            return errorThrown { try stack.context.execute(NSBatchInsertRequest(entityName: "Note", objects: [row])) }
                as NSError?
        }
        #expect(insert(["address": ["city": "a", "street": "s"], "place": ["x": 1]]) == nil)
        for address: Any in [["city": NSNull(), "street": "t"] as [String: Any], ["street": "t"], NSNull()] {
            let error = insert(["address": address])
            #expect(error?.code == NSValidationMissingMandatoryPropertyError, "\(address)")
            #expect((error?.userInfo[NSValidationKeyErrorKey] as? String)?.hasPrefix("address") == true)
        }
        #expect(insert(["place": NSNull()]) == nil)
        let found = try #require(try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect((found.value(forKey: "address") as? [String: Any])?["city"] as? String == "a")
        #expect(found.value(forKey: "place") == nil)
        try found.validateForUpdate()
    }

    @Test("233: Nothing that is registered or posted changes with a batch insertion", arguments: StoreKind.allCases)
    func nothingIsPosted(kind: StoreKind) throws {
        let library = try Library(kind)
        let log = NotificationLog(
            [.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave], from: library.context)
        try library.context.execute(authors(["A"]))
        #expect(log.names.isEmpty)
        #expect(library.context.registeredObjects.isEmpty)
    }

    @Test func rowsHaveTheFirstVersionTheirEntityAndKeysOfTheirOwn() throws {
        let library = try Library()
        library.context.book("Saved")
        try library.context.save()
        try library.context.execute(
            NSBatchInsertRequest(entityName: "Novel", objects: [["title": "N", "genre": "g"], ["title": "M"]]))
        let rows = library.file.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZGENRE FROM ZBOOK ORDER BY Z_PK")
        let number = library.file.value("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Novel'")
        #expect(Array(rows.dropFirst()) == [["2", number, "1", "N", "g"], ["3", number, "1", "M", nil]])
        #expect(library.file.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "3")
    }

    @Test(arguments: StoreKind.allCases) func aToOneRelationshipTakesTheIDOfASavedObject(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("A")
        try library.context.save()
        try library.context.execute(
            NSBatchInsertRequest(
                entityName: "Book",
                objects: [["title": "T", "author": author.objectID], ["title": "U", "author": NSNull()]]))
        let context = library.newContext()
        let found = try #require(context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author")).first)
        #expect(found.books.map(\.title) == ["T"])
    }

    @Test(arguments: StoreKind.allCases) func derivedAttributesFollow(kind: StoreKind) throws {
        let stack = try Warehouse.stack(kind)
        let tools = try stack.objectIDs(of: "Category", by: "title")[1]
        try stack.context.execute(
            NSBatchInsertRequest(entityName: "Item", objects: [["sku": "x", "name": "Drill", "category": tools]]))
        #expect(try stack.values("itemCount", of: "Category", by: "title") == ["2", "3"])
        if StoreKind.foldTexts { #expect(try stack.values("upperName", of: "Item", by: "sku").last == "DRILL") }
    }

    static func refused(_ index: Int) -> (values: [String: Any], message: String) {
        switch index {
        case 0: (["tags": NSSet()], "it is a to-many relationship")
        case 1: (["nonsense": 1], "has no property 'nonsense'")
        case 2: (["pages": "many"], "Unacceptable type of value for Book.pages")
        case 3: (["author": "A"], "it takes the ID of a saved object")
        default: (["mark": "m"], "it is transient")
        }
    }

    @Test(arguments: StoreKind.allCases, Array(0...4)) func whatCannotBeSetIsRefusedAndNothingInserted(
        kind: StoreKind, index: Int
    ) throws {
        let (values, message) = Self.refused(index)
        let library = try Library(kind)
        let request = NSBatchInsertRequest(entityName: "Book", objects: [["title": "T"], values])
        let error = #expect(throws: NSError.self) { try library.context.execute(request) }
        #expect(error?.localizedDescription.contains(message) == true, "\(error as Any)")
        #expect(try library.newContext().count(for: NSFetchRequest<LibraryBook>(entityName: "Book")) == 0)
    }

    @Test func anAbstractEntityAnUnknownOneAndNoneAreRefused() throws {
        let shape = NSEntityDescription(
            "Shape", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        shape.isAbstract = true
        let stack = try BatchStack(.sqlite, NSManagedObjectModel([shape]))
        for (request, message) in [
            (NSBatchInsertRequest(entityName: "Shape", objects: [[:]]), "it is abstract"),
            (NSBatchInsertRequest(entityName: "Form", objects: [[:]]), "no entity named \"Form\""),
            (NSBatchInsertRequest(), "has no entity"),
        ] {
            let error = #expect(throws: NSError.self) { try stack.context.execute(request) }
            #expect(error?.localizedDescription.contains(message) == true, "\(error as Any)")
        }
    }

    @Test func aReadOnlyStoreIsRefused() throws {
        let stack = try BatchStack(.sqlite, Warehouse.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let context = coordinator.newContext()
        let update = NSBatchUpdateRequest(entityName: "Item")
        update.propertiesToUpdate = ["stock": 1]
        let requests: [NSPersistentStoreRequest] = [
            NSBatchInsertRequest(entityName: "Item", objects: [["name": "A"]]), update,
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")),
        ]
        for request in requests {
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            #expect(error?.localizedDescription.contains("read-only") == true, "\(error as Any)")
        }
    }

    @Test func anEmptyBatchWritesNothing() throws {
        let stack = try BatchStack(.sqlite, Warehouse.model(), options: [NSPersistentHistoryTrackingKey: true])
        let request = NSBatchInsertRequest(entityName: "Item", objects: [])
        request.resultType = .count
        #expect((try stack.context.execute(request) as? NSBatchInsertResult)?.result as? Int == 0)
        #expect(stack.file.value("SELECT count(*) FROM ATRANSACTION") == "0")
    }
}
