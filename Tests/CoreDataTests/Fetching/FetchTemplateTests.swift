import CoreData
import TestSupport
import Testing

/// A model keeps every setting of a fetch request, in templates and in fetched properties.
struct FetchTemplateTests {
    private let folder: TemporaryFolder
    private let model: NSManagedObjectModel
    private let total: NSExpressionDescription

    init() throws {
        folder = try TemporaryFolder()
        model = Library.model()
        total = NSExpressionDescription(
            "total", NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")]),
            .integer64AttributeType)
    }

    /// Sums of pages by author, where they are greater than `$least`.
    private func sums() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["author.name", total]
        request.propertiesToGroupBy = ["author.name"]
        request.havingPredicate = NSPredicate(format: "sum:(pages) > $least")
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        return request
    }

    private func context(_ model: NSManagedObjectModel, _ kind: StoreKind) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
        let context = coordinator.newContext()
        for (name, pages) in [("Ada", [10, 20]), ("Bea", [5])] {
            let author = context.author(name)
            for pages in pages { context.book("\(pages)", by: author).pages = Int32(pages) }
        }
        try context.save()
        return context
    }

    @Test func aTemplateKeepsAllOfARequest() throws {
        let request = sums()
        request.relationshipKeyPathsForPrefetching = ["author", "author.books"]
        request.shouldRefreshRefetchedObjects = true
        let library = try Library()
        request.affectedStores = [library.store]
        model.setFetchRequestTemplate(request, forName: "sums")
        for model in [model, try #require(model.copy() as? NSManagedObjectModel)] {
            let stored = try #require(model.fetchRequestTemplate(forName: "sums"))
            #expect(stored.propertiesToFetch?.first as? String == "author.name")
            let column = stored.propertiesToFetch?.last as? NSExpressionDescription
            #expect(column?.name == "total")
            #expect(column?.expression == total.expression)
            #expect(column?.expressionResultType == .integer64AttributeType)
            #expect(stored.propertiesToGroupBy as? [String] == ["author.name"])
            #expect(stored.havingPredicate == request.havingPredicate)
            #expect(stored.relationshipKeyPathsForPrefetching == ["author", "author.books"])
            #expect(stored.shouldRefreshRefetchedObjects)
            #expect(stored.affectedStores == [library.store])
        }
    }

    @Test func aTemplateHasItsOwnColumns() throws {
        let request = sums()
        model.setFetchRequestTemplate(request, forName: "sums")
        total.name = "changed"
        let stored = try #require(
            model.fetchRequestTemplate(forName: "sums")?.propertiesToFetch?.last as? NSExpressionDescription)
        #expect(stored.name == "total")
        stored.name = "changed, too"
        let again = model.fetchRequestTemplate(forName: "sums")?.propertiesToFetch?.last as? NSExpressionDescription
        #expect(again?.name == "total")
    }

    @Test func propertiesOfATemplateAreThoseOfTheModelThatHasIt() throws {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Book"]
        request.propertiesToFetch = [try #require(model.entitiesByName["Book"]?.propertiesByName["title"])]
        model.setFetchRequestTemplate(request, forName: "titles")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let stored = try #require(copy.fetchRequestTemplate(forName: "titles"))
        stored.entity = copy.entitiesByName["Book"]
        let property = try #require(stored.propertiesToFetch?.first as? NSPropertyDescription)
        #expect(property === copy.entitiesByName["Book"]?.propertiesByName["title"])
    }

    @Test(arguments: StoreKind.allCases) func aTemplateIsFetchedWithAllOfIt(kind: StoreKind) throws {
        model.setFetchRequestTemplate(sums(), forName: "sums")
        let context = try context(model, kind)
        let request = try #require(
            model.fetchRequestFromTemplate(withName: "sums", substitutionVariables: ["least": 5]))
        let rows = try #require(try context.fetch(request) as? [NSDictionary])
        #expect(rows.map { $0["author.name"] as? String } == ["Ada"])
        #expect(rows.map { ($0["total"] as? NSNumber)?.intValue } == [30])
        // The template itself keeps its variable.
        #expect(
            model.fetchRequestTemplate(forName: "sums")?.havingPredicate?.predicateFormat.contains("$least") == true)
    }

    @Test(arguments: StoreKind.allCases) func aTemplatePrefetches(kind: StoreKind) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = ["books"]
        model.setFetchRequestTemplate(request, forName: "authors")
        let coordinator = try #require(try context(model, kind).persistentStoreCoordinator)
        let reader = coordinator.newContext()
        let template = try #require(model.fetchRequestTemplate(forName: "authors"))
        let authors = try #require(try reader.fetch(template) as? [LibraryAuthor])
        #expect(authors.map { $0.hasFault(forRelationshipNamed: "books") } == [false, false])
    }

    @Test(arguments: StoreKind.allCases) func aFetchedPropertyKeepsAllOfItsRequest(kind: StoreKind) throws {
        let request = sums()
        request.predicate = NSPredicate(format: "author == $FETCH_SOURCE")
        request.havingPredicate = NSPredicate(format: "sum:(pages) > $FETCH_SOURCE.born")
        let property = NSFetchedPropertyDescription()
        property.name = "sums"
        property.fetchRequest = request
        model.entitiesByName["Author"]?.properties.append(property)
        let context = try context(model, kind)
        let ada = try #require(try context.authors().first { $0.name == "Ada" })
        let rows = ada.value(forKey: "sums") as? [NSDictionary]
        #expect(rows?.map { ($0["total"] as? NSNumber)?.intValue } == [30])
        ada.born = 100
        try context.save()
        context.refresh(ada, mergeChanges: false)
        #expect((ada.value(forKey: "sums") as? [NSDictionary])?.isEmpty == true)
    }
}
