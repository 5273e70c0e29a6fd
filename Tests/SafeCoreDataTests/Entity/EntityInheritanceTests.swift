import SafeCoreData
import Testing

@Entity(isAbstract: true)
class PaperMedium: NSManagedObject {
    var title: String
    var added: Int64 = SerialNumbers.next()
    var summary: String?

    func heading() -> String { title }
}

@Entity
class PaperBook: PaperMedium {
    var author: String
    var pages: Int32 = 100

    override func heading() -> String { "\(author): \(title)" }
}

@Entity
final class PaperNovel: PaperBook {
    var genre: String?
}

struct EntityInheritanceTests {
    @Test func superclassesBecomeSuperentities() {
        let model = NSManagedObjectModel(entities: PaperNovel.self)
        let entities = model.entitiesByName
        #expect(Set(entities.keys) == ["PaperMedium", "PaperBook", "PaperNovel"])
        #expect(entities["PaperNovel"]?.superentity?.name == "PaperBook")
        #expect(entities["PaperBook"]?.superentity?.name == "PaperMedium")
        #expect(entities["PaperMedium"]?.isAbstract == true)
        #expect(
            entities["PaperNovel"]?.properties.map(\.name).sorted() == [
                "added", "author", "genre", "pages", "summary", "title",
            ])
    }

    @Test func aSubclassTakesTheInheritedValuesInOneArgument() throws {
        let stack = try EntityStack(PaperNovel.self)
        let inherited = PaperBook.InitialValues(inheriting: .init(title: "Emma", summary: "A novel"), author: "Austen")
        let novel = PaperNovel(context: stack.context, inheriting: inherited, genre: "comedy")
        let book = PaperBook(
            context: stack.context, inheriting: .init(title: "Elements", added: 7), author: "Euclid", pages: 300)
        try stack.context.save()
        #expect(book.added == 7)
        let fetched = try stack.freshContext().all(PaperMedium.self).sorted { $0.title < $1.title }
        #expect(fetched.map { $0.heading() } == ["Euclid: Elements", "Austen: Emma"])
        let again = try #require(fetched.last as? PaperNovel)
        #expect(again.summary == "A novel")
        #expect(again.pages == 100)
        #expect(again.genre == "comedy")
        #expect(again.added == novel.added)
    }

    @Test func objectsOfSubentitiesHaveTheInheritedInitialValues() throws {
        let stack = try EntityStack(PaperNovel.self)
        let novel = NSEntityDescription.insertNewObject(forEntityName: "PaperNovel", into: stack.context) as? PaperNovel
        #expect(novel?.pages == 100)
        #expect((novel?.added ?? 0) > 0)
    }
}
