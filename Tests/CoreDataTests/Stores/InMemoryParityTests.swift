import CoreData
import TestSupport
import Testing

/// Behaviour of the store in memory that equals that of the SQLite store.
struct InMemoryParityTests {
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada", born: 1815)
        library.context.book("Notes", pages: 10, by: ada)
        library.context.novel("Sketches", pages: 20, genre: "crime", by: ada)
        try library.context.save()
        return library
    }

    // MARK: Unknown keys

    @Test(
        arguments: StoreKind.allCases,
        [
            "nothing == 1", "author.nothing == 1", "ANY tags.nothing == 'a'", "title == nothing",
            "SUBQUERY(tags, $t, $t.nothing == 1).@count > 0", "tags.@max.nothing > 1", "NOT (pages > 3 OR nothing < 1)",
            "pages + nothing > 3", "author.books.nothing == 1", "pages IN {nothing, 2}",
        ])
    func unknownKeysInPredicatesAreErrors(_ kind: StoreKind, _ format: String) throws {
        let library = try library(kind)
        let error = errorThrown { _ = try library.newContext().books(format) }
        #expect(error?.code == CocoaError.coreData.rawValue)
        #expect(error?.localizedDescription.contains("no property 'nothing'") == true, "\(String(describing: error))")
        #expect(error?.userInfo["NSPredicateFormat"] is String)
    }

    @Test(arguments: StoreKind.allCases, ["nothing", "author.nothing"])
    func unknownKeysInSortDescriptorsAreErrors(_ kind: StoreKind, _ key: String) throws {
        let library = try library(kind)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let error = errorThrown { _ = try library.newContext().fetch(request) }
        #expect(error?.code == CocoaError.coreData.rawValue)
        #expect(error?.localizedDescription.contains("no property 'nothing'") == true, "\(String(describing: error))")
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            "genre == 'crime'", "author.name == 'Ada' AND genre != nil", "SELF.title == 'Sketches'",
            "author.books.@count == 2 AND pages > 15",
            "SUBQUERY(author.books, $b, $b.title == 'Notes' AND $b.author.born > 0).@count == 1 AND pages == 20",
        ])
    func knownKeysOfAllKindsAreFound(_ kind: StoreKind, _ format: String) throws {
        let library = try library(kind)
        #expect(try library.newContext().titles(format) == ["Sketches"])
    }

    // MARK: Uniqueness constraints

    private func uniqueAuthors(_ kind: StoreKind) throws -> (NSPersistentStoreCoordinator, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(uniqueNames: true))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        return (coordinator, folder)
    }

    private func rows(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = coordinator.newContext()
        return try context.authors().map { "\($0.name ?? "nil") \($0.born)" }
    }

    @Test(arguments: StoreKind.allCases)
    func aDuplicateOfARowIsRefusedWithTheConflict(_ kind: StoreKind) throws {  // 219, 221, 222
        let (coordinator, folder) = try uniqueAuthors(kind)
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        let old = context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        let new = other.author("Ada", born: 2)
        let error = #expect(throws: CocoaError.self) { try other.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(conflicts?.first?.constraint == ["name"])
        #expect(conflicts?.first?.constraintValues["name"] as? String == "Ada")
        #expect(conflicts?.first?.conflictingObjects == [new])
        #expect(conflicts?.first?.databaseObject?.objectID == old.objectID)
        #expect(try rows(coordinator) == ["Ada 1"])
        new.name = "Ida"
        try other.save()
        #expect(try rows(coordinator) == ["Ada 1", "Ida 2"])
    }

    @Test(arguments: StoreKind.allCases)
    func twoNewObjectsWithTheSameValuesAreAConflictOfBoth(_ kind: StoreKind) throws {  // 219
        let (coordinator, folder) = try uniqueAuthors(kind)
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        let objects: Set<NSManagedObject> = [context.author("Ada", born: 1), context.author("Ada", born: 2)]
        let error = #expect(throws: CocoaError.self) { try context.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.count == 1)
        #expect(Set(conflicts?.first?.conflictingObjects ?? []) == objects)
        #expect(try rows(coordinator).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func uniqueValuesMayMoveWithinOneSave(_ kind: StoreKind) throws {  // 220
        let (coordinator, folder) = try uniqueAuthors(kind)
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        let first = context.author("Ada", born: 1)
        let second = context.author("Ben", born: 2)
        let third = context.author("Cid", born: 3)
        context.author(nil, born: 4)
        context.author(nil, born: 5)
        try context.save()
        (first.name, second.name) = ("Ben", "Ada")
        context.delete(third)
        context.author("Cid", born: 6)
        try context.save()
        #expect(try rows(coordinator).sorted() == ["Ada 2", "Ben 1", "Cid 6", "nil 4", "nil 5"])
        first.name = "Dan"
        try context.save()
        context.author("Ben", born: 7)
        try context.save()
        second.name = "Ben"
        #expect(throws: CocoaError.self) { try context.save() }
    }

    @Test(arguments: StoreKind.allCases)
    func mergePoliciesResolveConstraintConflicts(_ kind: StoreKind) throws {  // 220
        let (coordinator, folder) = try uniqueAuthors(kind)
        defer { withExtendedLifetime(folder) {} }
        let context = coordinator.newContext()
        context.author("Ada", born: 1)
        try context.save()
        let other = coordinator.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        other.author("Ada", born: 2)
        try other.save()
        #expect(try rows(coordinator) == ["Ada 2"])
    }

    // MARK: Derived attributes

    private func derivedModel() -> NSManagedObjectModel {
        func derived(_ name: String, _ type: NSAttributeType, _ expression: NSExpression)
            -> NSDerivedAttributeDescription
        {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            attribute.derivationExpression = expression
            return attribute
        }
        let model = Library.model()
        let author = model.entitiesByName["Author"]
        author?.properties += [
            derived("bookCount", .integer64AttributeType, NSExpression(format: "books.@count")),
            derived("pageSum", .integer64AttributeType, NSExpression(format: "books.@sum.pages")),
            derived("plainName", .stringAttributeType, NSExpression(format: "canonical:(name)")),
            derived("changed", .dateAttributeType, NSExpression(format: "now()")),
        ]
        model.entitiesByName["Book"]?.properties += [
            derived("authorName", .stringAttributeType, NSExpression(format: "uppercase:(author.name)"))
        ]
        model.entitiesByName["Tag"]?.properties += [
            derived("bookCount", .integer32AttributeType, NSExpression(format: "books.@count"))
        ]
        return model
    }

    @Test(.foldsTexts, arguments: StoreKind.allCases)
    func derivedAttributesAreComputedByTheSave(_ kind: StoreKind) throws {  // 328, 329
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: derivedModel())
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("store.sqlite")))
        let context = coordinator.newContext()
        func values(_ object: NSManagedObject, _ keys: String...) throws -> [String] {
            let fresh = coordinator.newContext()
            fresh.stalenessInterval = 0
            let twin = try fresh.existingObject(with: object.objectID)
            return keys.map { twin.value(forKey: $0).map { "\($0)" } ?? "nil" }
        }
        let ada = context.author("\u{c4}da")
        let ben = context.author("Ben")
        let red = context.tag("red")
        let notes = context.book("Notes", pages: 10, by: ada, tags: [red])
        let sketches = context.novel("Sketches", pages: 20, by: ada)
        try context.save()
        #expect(ada.value(forKey: "plainName") as? String == "ada")
        #expect(ada.value(forKey: "bookCount") as? Int == 2)
        #expect(try values(ada, "bookCount", "pageSum", "plainName") == ["2", "30", "ada"])
        #expect(try values(ben, "bookCount", "pageSum") == ["0", "0"])
        #expect(try values(sketches, "authorName") == ["\u{c4}DA"])
        #expect(try values(red, "bookCount") == ["1"])
        let time = try #require(ben.value(forKey: "changed") as? Date)
        #expect(abs(time.timeIntervalSinceNow) < 3600)

        notes.author = ben
        sketches.pages = 50
        sketches.tags = [red]
        try context.save()
        #expect(try values(ada, "bookCount", "pageSum") == ["1", "50"])
        #expect(try values(ben, "bookCount", "pageSum") == ["1", "10"])
        #expect(try values(notes, "authorName") == ["BEN"])
        #expect(try values(red, "bookCount") == ["2"])

        ada.name = "Ida"
        context.delete(notes)
        try context.save()
        #expect(try values(sketches, "authorName") == ["IDA"])
        #expect(try values(ben, "bookCount", "pageSum") == ["0", "0"])
        #expect(try values(red, "bookCount") == ["1"])
        #expect(try values(ada, "plainName") == ["ida"])
        let reader = coordinator.newContext()
        let found = try reader.names("bookCount == 1 AND plainName == 'ida'")
        #expect(found == ["Ida"])
        withExtendedLifetime(folder) {}
    }

    // MARK: Aggregates over several stores

    private func column(_ name: String, _ function: String, _ argument: String) -> NSExpressionDescription {
        NSExpressionDescription(
            name, NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: argument)]))
    }

    private func aggregates(_ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil) throws -> [NSDictionary]
    {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.predicate = predicate
        request.propertiesToFetch = [
            column("count", "count:", "pages"), column("sum", "sum:", "pages"), column("least", "min:", "pages"),
            column("most", "max:", "pages"), column("mean", "average:", "pages"), column("last", "max:", "title"),
            column("rating", "sum:", "rating"),
        ]
        return try context.fetch(request)
    }

    @Test(arguments: [[StoreKind.sqlite, .sqlite], [.inMemory, .inMemory], [.sqlite, .inMemory]])
    func aggregatesOverSeveralStoresAreOne(_ kinds: [StoreKind]) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let context = coordinator.newContext()
        for (number, kind) in kinds.enumerated() {
            let store = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil,
                at: kind.url(folder.file("store\(number).sqlite")))
            // Unequal counts, so that the mean of means would be wrong.
            for book in 0...(number * 2) {
                context.assign(
                    context.book("\(number)\(book)", pages: Int32(10 * (number * 2 + book + 1)), rating: 0.5), to: store
                )
            }
        }
        try context.save()
        let rows = try aggregates(context)
        #expect(rows.count == 1)
        // 10 in the first store; 30, 40 and 50 in the second.
        let row = try #require(rows.first)
        func number(_ key: String) -> Double? { (row[key] as? NSNumber)?.doubleValue }
        #expect(number("count") == 4)
        #expect(number("sum") == 130)
        #expect(number("least") == 10)
        #expect(number("most") == 50)
        #expect(number("mean") == 32.5)
        #expect(number("rating") == 2)
        #expect(row["last"] as? String == "12")
        #expect(row.count == 7)
        let none = try aggregates(context, NSPredicate(format: "pages > 1000"))
        #expect(none.count == 1)
        #expect((none.first?["count"] as? NSNumber)?.intValue == 0)
        #expect(none.first?["mean"] == nil)
        withExtendedLifetime(folder) {}
    }
}
