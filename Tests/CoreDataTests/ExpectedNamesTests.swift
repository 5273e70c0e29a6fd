import CoreData.CoreDataDefines
import TestSupport
import Testing

/// Names of Core Data and Foundation that code of other platforms takes for granted.
struct ExpectedNamesTests {
    private final class Stranger: NSManagedObject {}

    @Test func anIndexPathHasItemRowAndSection() {
        var path = IndexPath(item: 3, section: 1)
        #expect(path == IndexPath(row: 3, section: 1))
        #expect((path.section, path.item, path.row) == (1, 3, 3))
        path.row = 4
        path.section = 2
        #expect(path == IndexPath(indexes: [2, 4]))
    }

    @Test func aDictionaryIsAskedForTheValueOfAKey() {
        let dictionary = NSDictionary(dictionary: ["a": 1])
        #expect(dictionary.value(forKey: "a") as? Int == 1)
        #expect(dictionary.value(forKey: "b") == nil)
        #expect(dictionary.value(forKeyPath: "a") as? Int == 1)
    }

    @Test func theStandardTransformersAreFoundByTheirNames() throws {
        let negate = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
        #expect(negate.transformedValue(NSNumber(value: true)) as? Bool == false)
        #expect(negate.reverseTransformedValue(NSNumber(value: false)) as? Bool == true)
        let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
        #expect(isNil.transformedValue(nil) as? Bool == true)
        #expect(isNil.transformedValue("") as? Bool == false)
        let isNotNil = try #require(ValueTransformer(forName: .isNotNilTransformerName))
        #expect(isNotNil.transformedValue(nil) as? Bool == false)
        for name in [NSValueTransformerName.unarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName] {
            let transformer = try #require(ValueTransformer(forName: name))
            let data = transformer.reverseTransformedValue(["a", "b"])
            #expect(transformer.transformedValue(data) as? [String] == ["a", "b"])
        }
    }

    @Test func aConstantNullStaysOneAndMeansNil() {
        let null = NSExpression(forConstantValue: NSNull())
        #expect(null.constantValue is NSNull)
        #expect(null.expressionValue(with: nil, context: nil) == nil)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"), rightExpression: null, modifier: .direct, type: .equalTo)
        #expect(predicate.predicateFormat == "name == <null>")
        #expect(predicate.evaluate(with: ["name": NSNull()]))
        #expect(!predicate.evaluate(with: ["name": "x"]))
    }

    @Test(arguments: StoreKind.allCases) func aConstantNullIsNilInFetches(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.author("A")
        library.context.author(nil)
        try library.context.save()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: NSNull()),
            modifier: .direct, type: .equalTo)
        #expect(try library.newContext().count(for: request) == 1)
    }

    @Test func namesOfPropertiesBecomeDescriptionsOnceTheEntityIsKnown() throws {
        let library = try Library()
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "author.name"]
        request.propertiesToGroupBy = ["title", "author.name"]
        #expect(request.propertiesToFetch as? [String] == ["title", "author.name"])
        _ = try library.context.fetch(request)
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName["Book"])
        for properties in [request.propertiesToFetch, request.propertiesToGroupBy] {
            #expect(properties?.first as? NSPropertyDescription === entity.propertiesByName["title"])
            #expect(properties?.last as? String == "author.name")
        }
    }

    @Test func aClassWithoutAnEntityGivesOneWithoutAName() {
        #expect(Stranger.entity().name == nil)
        #expect(Stranger.entity().managedObjectClassName?.contains("Stranger") == true)
    }

    @Test func aContextIsMadeWithoutAQueue() throws {
        let library = try Library()
        let context = NSManagedObjectContext()
        context.persistentStoreCoordinator = library.coordinator
        context.author("A")
        try context.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["A"])
    }

    @Test func notificationsAreWaitedFor() async {
        let center = NotificationCenter()
        let name = Notification.Name("ExpectedNamesTests")
        let sender = NSObject()
        var iterator = center.notifications(named: name, object: sender).makeAsyncIterator()
        center.post(name: name, object: nil)
        center.post(name: name, object: sender, userInfo: ["number": 1])
        center.post(name: name, object: sender, userInfo: ["number": 2])
        #expect(await iterator.next()?.userInfo?["number"] as? Int == 1)
        #expect(await iterator.next()?.userInfo?["number"] as? Int == 2)
    }
}
