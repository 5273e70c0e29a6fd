import CoreData
import TestSupport
import Testing

extension LibraryAuthor {
    @Managed(key: "books") fileprivate var mutableBooks: NSMutableSet?
}

/// The set of a to-many relationship is made once and used again until the relationship changes.
@Suite(.everyStore) struct MemberSetTests {
    let library: Library
    let author: LibraryAuthor

    init() throws {
        library = try Library()
        let ada = library.context.author("Ada")
        for number in 1...30 { library.context.book("\(number)", by: ada) }
        try library.context.save()
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = ["books"]
        author = try #require(try library.newContext().fetch(request).first)
    }

    private var titles: Set<String> { Set(author.books.compactMap(\.title)) }

    @Test func aReadSetIsNotChangedByLaterChanges() throws {
        let before = author.books
        let first = try #require(before.first { $0.title == "1" })
        first.author = nil
        #expect(before.count == 30)
        #expect(before.contains(first))
        #expect(author.books.count == 29)
        #expect(!author.books.contains(first))
    }

    @Test func aRelationshipMayBeDeclaredAsAMutableSetWhoseChangesAreNoticed() throws {
        let first = try #require(author.books.first { $0.title == "1" })
        #expect(author.mutableBooks?.count == 30)
        author.mutableBooks?.remove(first)
        #expect(first.author == nil)
        #expect(author.books.count == 29)
        author.mutableBooks = NSMutableSet(object: first)
        #expect(author.books == [first])
        #expect(author.hasChanges)
    }

    @Test func theSetFollowsEveryKindOfChange() throws {
        let context = try #require(author.managedObjectContext)
        #expect(author.books.count == 30)
        let added = context.book("added", by: author)
        #expect(titles.contains("added"))
        author.books.remove(added)
        #expect(!titles.contains("added"))
        author.mutableSetValue(forKey: "books").add(added)
        #expect(titles.contains("added"))
        author.books = [added]
        #expect(titles == ["added"])
        context.rollback()
        #expect(author.books.count == 30)
    }

    @Test func aSetIsChangedAtTheEndOfAPath() throws {
        let context = try #require(author.managedObjectContext)
        let first = try #require(author.books.first)
        let added = context.book("added")
        first.mutableSetValue(forKeyPath: "author.books").add(added)
        #expect(added.author === author)
        author.mutableSetValue(forKeyPath: "books").remove(added)
        #expect(added.author == nil)
    }

    @Test func deletedMembersLeaveTheSet() throws {
        let context = try #require(author.managedObjectContext)
        let first = try #require(author.books.first { $0.title == "1" })
        context.delete(first)
        context.processPendingChanges()
        #expect(author.books.count == 29)
        try context.save()
        #expect(library.stored("author", of: "Book").compactMap(\.self).count == 29)
    }

    @Test func aRefreshReadsTheSetAgain() throws {
        #expect(author.books.count == 30)
        let other = library.newContext()
        let same = try #require(try other.existingObject(with: author.objectID) as? LibraryAuthor)
        other.book("of another context", by: same)
        try other.save()
        author.managedObjectContext?.refresh(author, mergeChanges: false)
        #expect(author.books.count == 31)
    }

    @Test func membersOfSubentitiesAreInTheSet() throws {
        let context = try #require(author.managedObjectContext)
        let novel = LibraryNovel(context: context)
        novel.author = author
        #expect(author.books.count == 31)
        #expect(author.books.contains(novel))
        #expect(author.books.contains { $0 is LibraryNovel })
    }
}
