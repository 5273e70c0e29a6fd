import CoreData
import TestSupport
import Testing

/// Models, predicates and orders of unusual size.
struct UnusualSizesTests {
    @Test func aModelMayHaveAThousandEntities() throws {
        let entities = (0..<1000).map { number in
            NSEntityDescription(
                "Entity\(number)", class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSAttributeDescription("number", .integer32AttributeType),
                ])
        }
        for number in stride(from: 0, to: 1000, by: 10) {
            relate(entities[number], "members", toMany: true, entities[number + 1], inverse: "owner")
            entities[number + 2].subentities = [entities[number + 3]]
        }
        // A subentity has the properties of its superentity.
        for number in stride(from: 3, to: 1000, by: 10) { entities[number].properties = [] }
        let stack = try TestStack(entities)
        for number in [0, 1, 3, 500, 999] {
            let object = NSManagedObject(entity: stack.entity("Entity\(number)"), insertInto: stack.context)
            object.setValue("name \(number)", forKey: "name")
        }
        try stack.context.save()
        #expect(stack.file.integer("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") == 1000)
        let reader = try TestStack(
            try #require(stack.coordinator.managedObjectModel.copy() as? NSManagedObjectModel), url: stack.url)
        for number in [0, 1, 3, 500, 999] {
            let found = try reader.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entity\(number)"))
            #expect(found.map { $0.value(forKey: "name") as? String } == ["name \(number)"])
        }
        #expect(try reader.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Entity2")) == 1)
    }

    private func wide(_ count: Int) -> NSEntityDescription {
        let types: [NSAttributeType] = [
            .stringAttributeType, .integer64AttributeType, .doubleAttributeType, .dateAttributeType,
        ]
        return NSEntityDescription(
            "Wide", class: "NSManagedObject",
            (0..<count).map { NSAttributeDescription("a\($0)", types[$0 % types.count]) })
    }

    private func value(_ index: Int, _ seed: Int) -> Any? {
        switch index % 4 {
        case _ where (index + seed) % 7 == 0: nil
        case 0: "text \(index * seed)"
        case 1: Int64(index * seed)
        case 2: Double(index * seed) / 3
        default: Date(timeIntervalSinceReferenceDate: Double(index * seed))
        }
    }

    @Test(arguments: [300, 1900]) func anEntityMayHaveManyAttributes(count: Int) throws {
        let stack = try TestStack([wide(count)])
        for seed in 1...3 {
            let object = NSManagedObject(entity: stack.entity("Wide"), insertInto: stack.context)
            for index in 0..<count { object.setValue(value(index, seed), forKey: "a\(index)") }
        }
        try stack.context.save()
        func check(_ object: NSManagedObject, _ seed: Int) -> Bool {
            (0..<count).allSatisfy { index in
                let (wanted, found) = (value(index, seed), object.value(forKey: "a\(index)"))
                switch wanted {
                case let text as String: return found as? String == text
                case let number as Int64: return found as? Int64 == number
                case let number as Double: return found as? Double == number
                case let date as Date: return found as? Date == date
                default: return found == nil
                }
            }
        }
        let reader = stack.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Wide")
        request.sortDescriptors = [NSSortDescriptor(key: "a1", ascending: true)]
        let stored = try reader.fetch(request)
        #expect(stored.count == 3)
        for (index, object) in stored.enumerated() { #expect(check(object, index + 1)) }
        for index in 0..<count { stored[0].setValue(value(index, 9), forKey: "a\(index)") }
        try reader.save()
        let again = try stack.newContext().fetch(request)
        #expect(again.count == 3)
        request.predicate = NSPredicate(format: "a1 == 9 AND a\(count - 4) == 'text \((count - 4) * 9)'")
        let changed = stack.newContext()
        #expect(try changed.fetch(request).first.map { check($0, 9) } == true)
    }

    @Test func moreAttributesThanATableHasColumnsAreRefused() throws {
        let error = try #require(errorThrown { _ = try TestStack([wide(2500)]) })
        #expect(error.localizedDescription.contains("column"))
    }

    private func items(_ kind: StoreKind, _ count: Int) throws -> (NSManagedObjectContext, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let entity = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer32AttributeType),
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("date", .dateAttributeType),
                NSAttributeDescription("price", .decimalAttributeType),
                NSAttributeDescription("code", .UUIDAttributeType),
                NSAttributeDescription("mark", .binaryDataAttributeType),
                NSAttributeDescription("ratio", .doubleAttributeType),
            ] + (0..<10).map { NSAttributeDescription("k\($0)", .integer16AttributeType) })
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("items.sqlite")))
        let context = coordinator.newContext()
        for number in 0..<count {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(number, forKey: "number")
            item.setValue("item '\(number)\"", forKey: "name")
            item.setValue(Date(timeIntervalSinceReferenceDate: Double(number) + 0.1), forKey: "date")
            item.setValue(NSDecimalNumber(mantissa: UInt64(number), exponent: -2, isNegative: false), forKey: "price")
            item.setValue(Self.code(number), forKey: "code")
            item.setValue(Data([UInt8(number % 256), UInt8(number / 256)]), forKey: "mark")
            item.setValue(Double(number) / 3, forKey: "ratio")
            for key in 0..<10 { item.setValue(number >> key & 1, forKey: "k\(key)") }
        }
        try context.save()
        return (context, folder)
    }

    private static func code(_ number: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8 & 255), UInt8(number & 255)))
    }

    @Test(arguments: StoreKind.allCases) func collectionsOfPredicatesMayHaveManyElements(kind: StoreKind) throws {
        let (context, folder) = try items(kind, 60)
        // Every other number, far beyond what is there.
        let numbers = (0..<(LongTests.areEnabled ? 50_000 : 2_000)).map { $0 * 2 }
        let lists: [(String, [Any])] = [
            ("number", numbers), ("name", numbers.map { "item '\($0)\"" }),
            ("date", numbers.map { Date(timeIntervalSinceReferenceDate: Double($0) + 0.1) }),
            ("price", numbers.map { NSDecimalNumber(mantissa: UInt64($0), exponent: -2, isNegative: false) }),
            ("code", numbers.filter { $0 < 60_000 }.map { Self.code($0) }),
            ("mark", numbers.filter { $0 < 60_000 }.map { Data([UInt8($0 % 256), UInt8($0 / 256)]) }),
            ("ratio", numbers.map { Double($0) / 3 }),
        ]
        for (key, list) in lists {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [key, list])
            #expect(
                try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }.sorted()
                    == Array(stride(from: 0, to: 60, by: 2)), "\(key)")
            request.predicate = NSPredicate(format: "NOT %K IN %@", argumentArray: [key, list])
            #expect(try context.count(for: request) == 30, "\(key)")
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [key, list + [NSNull()]])
            #expect(try context.count(for: request) == 30, "\(key)")
        }
        let ids = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map(\.objectID)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "SELF IN %@", (0..<1000).flatMap { _ in ids })
        #expect(try context.count(for: request) == 60)
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: StoreKind.allCases) func anOrderMayHaveManyKeys(kind: StoreKind) throws {
        let (context, folder) = try items(kind, 200)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = (0..<10).map { NSSortDescriptor(key: "k\($0)", ascending: $0.isMultiple(of: 2)) }
        func rank(_ number: Int) -> Int {
            (0..<10).reduce(0) { $0 << 1 | (($1.isMultiple(of: 2) ? number >> $1 : ~(number >> $1)) & 1) }
        }
        let expected = (0..<200).sorted { rank($0) < rank($1) }
        #expect(try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int } == expected)
        for (offset, limit) in [
            (0, 0), (190, 0), (190, 100), (199, 1), (200, 1), (5000, 0), (5000, 10), (0, 1000), (Int.max, 1),
            (0, Int.max),
        ] {
            request.fetchOffset = offset
            request.fetchLimit = limit
            let rest = expected.dropFirst(offset)
            let cut = Array(limit > 0 ? rest.prefix(limit) : rest)
            #expect(
                try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int } == cut,
                "\(offset) \(limit)")
            #expect(try context.count(for: request) == cut.count, "\(offset) \(limit)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: StoreKind.allCases) func predicatesMayHaveManyParts(kind: StoreKind) throws {
        let (context, folder) = try items(kind, 60)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSCompoundPredicate(
            orPredicateWithSubpredicates: (0..<2000).map { NSPredicate(format: "number == %d AND name != 'x'", $0 * 2) }
        )
        #expect(try context.count(for: request) == 30)
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: (0..<2000).map { NSPredicate(format: "number != %d", $0 * 2) })
        #expect(try context.count(for: request) == 30)
        withExtendedLifetime(folder) {}
    }
}
