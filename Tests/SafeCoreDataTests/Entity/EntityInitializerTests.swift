import SafeCoreData
import Testing

@Entity
final class Ticket: NSManagedObject {
    private(set) var number: Int64 = SerialNumbers.next()
    private var code: Int = 7
    var title: String

    init(title: String, in context: NSManagedObjectContext) {
        super.init(entity: Self.entity(in: context), insertInto: context)
        self.title = title
    }
}

/// Its initializer takes the name only.
@Entity
public class SealedLetter: NSManagedObject {
    public var name: String
    var written: Date = Date(timeIntervalSinceReferenceDate: 5)
    private var serial: Int64 = SerialNumbers.next()
    private(set) var seenWhenInserted: Int64 = 0

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        seenWhenInserted = serial
    }
}

@Entity
public final class RegisteredLetter: SealedLetter {
    private var code: UUID = UUID()
}

/// Sets its date itself, unless it is told one.
@Entity
class Consignment: NSManagedObject {
    var name: String
    private(set) var sent: Date = .distantPast
    private(set) var state: String = "new"
    private(set) var note: String? = nil
    private(set) var stateWhenInserted: String?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        stateWhenInserted = state
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 9), forKey: "sent")
        setPrimitiveValue("noted", forKey: "note")
    }
}

@Entity
final class HeavyConsignment: Consignment {
    var weight: Double
}

struct EntityInitializerTests {
    @Test func whatAwakeningSetsStaysUnlessAnArgumentIsGiven() throws {
        let stack = try EntityStack(Consignment.self, HeavyConsignment.self)
        let later = Date(timeIntervalSinceReferenceDate: 20)
        _ = Consignment(context: stack.context, name: "A")
        _ = Consignment(context: stack.context, name: "B", sent: later, state: "old", note: "told")
        _ = HeavyConsignment(context: stack.context, inheriting: .init(name: "C"), weight: 2)
        _ = HeavyConsignment(context: stack.context, inheriting: .init(name: "D", sent: later), weight: 3)
        try stack.context.save()
        #expect(
            stack.file.rows("SELECT ZNAME, ZSENT, ZSTATE, ZNOTE, ZSTATEWHENINSERTED FROM ZCONSIGNMENT ORDER BY ZNAME")
                == [
                    ["A", "9", "new", "noted", "new"], ["B", "20", "old", "told", "new"],
                    ["C", "9", "new", "noted", "new"],
                    ["D", "20", "new", "noted", "new"],
                ])
    }

    @Test func whatTheInitializerDoesNotTakeHasItsInitialValue() throws {
        let stack = try EntityStack(SealedLetter.self, RegisteredLetter.self)
        let letter = SealedLetter(context: stack.context, name: "A")
        let registered = RegisteredLetter(context: stack.context, inheriting: .init(name: "B"))
        #expect(letter.seenWhenInserted > 0)
        #expect(registered.seenWhenInserted > letter.seenWhenInserted)
        try stack.context.save()
        #expect(
            stack.file.rows("SELECT ZNAME, ZWRITTEN FROM ZSEALEDLETTER ORDER BY ZNAME") == [["A", "5"], ["B", "5"]])
        #expect(
            stack.file.rows("SELECT COUNT(ZSERIAL), COUNT(DISTINCT ZSERIAL), COUNT(ZCODE) FROM ZSEALEDLETTER") == [
                ["2", "2", "1"]
            ])
    }

    @Test func aClassMayHaveAnInitializerOfItsOwn() throws {
        let stack = try EntityStack(Ticket.self)
        let ticket = Ticket(title: "First", in: stack.context)
        try stack.context.save()
        let fetched = try #require(try stack.freshContext().all(Ticket.self).first)
        #expect(fetched.title == "First")
        #expect(fetched.number == ticket.number)
        #expect(fetched.number > 0)
        // Private properties are in snapshots, visible where the class's are.
        #expect(String(decoding: try JSONEncoder().encode(fetched.snapshot()), as: UTF8.self).contains(#""code":7"#))
    }

    let stack: EntityStack
    let context: NSManagedObjectContext

    init() throws {
        stack = try EntityStack(Article.self)
        context = stack.context
    }

    @Test func theInitializerSetsWhatItIsGivenAndTheInitialValuesOfTheRest() throws {
        let vendor = Vendor(context: context, name: "ACME")
        let article = Article(context: context, name: "Bolt", unitPrice: 0.12, tags: ["steel"], vendor: vendor)
        try context.save()

        let fetched = try #require(try stack.freshContext().all(Article.self).first)
        #expect(fetched.name == "Bolt")
        #expect(fetched.unitPrice == Decimal(string: "0.12"))
        #expect(fetched.stockCount == 0)
        #expect(fetched.note == nil)
        #expect(fetched.quality == .fair)
        #expect(fetched.unit == nil)
        #expect(fetched.tags == ["steel"])
        #expect(fetched.articleId == article.articleId)
        #expect(UUID(uuidString: fetched.articleId) != nil)
        #expect(fetched.vendor?.name == "ACME")
        #expect(fetched.vendor?.articles == [fetched])
        #expect(
            stack.file.rows("SELECT ZNAME, ZSTOCKCOUNT, ZQUALITY, CAST(ZTAGS AS TEXT) FROM ZARTICLE") == [
                ["Bolt", "0", "1", #"["steel"]"#]
            ])
    }

    @Test func initialValuesAreEvaluatedOnceForEachObject() {
        let first = Article(context: context, name: "A", unitPrice: 1)
        let given = Article(context: context, serial: -5, name: "B", unitPrice: 1)
        let second = Article(context: context, name: "C", unitPrice: 1)
        #expect(given.serial == -5)
        #expect(first.serial != second.serial)
        #expect(first.articleId != second.articleId)
    }

    @Test(arguments: [true, false])
    func objectsMadeByTheFrameworkHaveTheInitialValues(byName: Bool) throws {
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Article", in: context))
        let object =
            byName
            ? NSEntityDescription.insertNewObject(forEntityName: "Article", into: context)
            : NSManagedObject(entity: entity, insertInto: context)
        let article = try #require(object as? Article)
        #expect(article.serial > 0)
        #expect(article.quality == .fair)
        #expect(article.stockCount == 0)
        #expect(article.name == "")
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test func aClassGivesRequestsForItsObjects() throws {
        _ = Article(context: context, name: "Bolt", unitPrice: 1, vendor: Vendor(context: context, name: "ACME"))
        let request = Article.fetchRequest()
        request.predicate = NSPredicate(format: "name == %@", "Bolt")
        let articles: [Article] = try context.fetch(request)
        #expect(articles.map(\.name) == ["Bolt"])
        #expect(try context.fetch(readOnly: Vendor.fetchRequest()).map(\.name) == ["ACME"])
    }

    @Test func fetchedObjectsKeepTheirValuesInsteadOfInitialOnes() throws {
        let article = Article(context: context, name: "Bolt", unitPrice: 1, quality: .good)
        try context.save()
        context.refresh(article, mergeChanges: false)
        #expect(article.quality == .good)
        let fetched = try #require(try stack.freshContext().all(Article.self).first)
        #expect(fetched.serial == article.serial)
        #expect(fetched.articleId == article.articleId)
        #expect(!fetched.hasChanges)
    }

    @Test func orderedRelationshipsKeepTheirOrder() throws {
        let names = ["C", "A", "B"]
        let articles = names.map { Article(context: context, name: $0, unitPrice: 1) }
        _ = Shelf(context: context, label: "top", articles: articles)
        try context.save()
        let shelf = try #require(try stack.freshContext().all(Shelf.self).first)
        #expect(shelf.articles.map(\.name) == names)
        shelf.articles.swapAt(0, 2)
        try shelf.managedObjectContext?.save()
        #expect(try stack.freshContext().all(Shelf.self).first?.articles.map(\.name) == ["B", "A", "C"])
    }

    @Test func aDerivedPropertyIsReadAndATransientOneStaysInMemory() throws {
        let vendor = Vendor(context: context, name: "ACME")
        _ = Article(context: context, name: "Bolt", unitPrice: 1, vendor: vendor)
        #expect(vendor.cache.isEmpty)
        vendor.isSelected = true
        vendor.cache[1] = "one"
        #expect(vendor.isSelected)
        #expect(vendor.cache == [1: "one"])
        try context.save()
        let fetched = try #require(try stack.freshContext().all(Vendor.self).first)
        #expect(fetched.articleCount == 1)
        #expect(!fetched.isSelected)
        #expect(fetched.cache.isEmpty)
    }

    @Test func aViolatedRuleIsReportedWhenSaving() throws {
        let article = Article(context: context, name: "", unitPrice: 1, stockCount: -1)
        let error = try #require(throws: NSError.self) { try context.save() }
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String }) == ["name", "stockCount"])
        article.name = "Bolt"
        article.stockCount = 1
        try context.save()
        _ = Article(context: context, name: "Bolt", unitPrice: 1)
        #expect(throws: NSError.self) { try context.save() }
    }
}
