import CoreData
import TestSupport

/// The content of a library as plain dictionaries: the reference for random operations.
struct LibraryModel: Equatable {
    struct Author: Equatable {
        var born: Int16 = 0
    }

    struct Book: Equatable {
        var pages: Int32 = 0
        var rating: Double = 0
        var genre: String?
        var isNovel = false
        var author: String?
        var tags: Set<String> = []
    }

    /// By name.
    var authors: [String: Author] = [:]
    /// By title.
    var books: [String: Book] = [:]
    var tags: Set<String> = []

    init() {}

    /// Everything that a context sees.
    init(_ context: NSManagedObjectContext) throws {
        for author in try context.authors() { authors[author.name ?? "nil"] = Author(born: author.born) }
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.relationshipKeyPathsForPrefetching = ["author", "tags"]
        for book in try context.fetch(request) {
            books[book.title ?? "nil"] = Book(
                pages: book.pages, rating: book.rating, genre: (book as? LibraryNovel)?.genre,
                isNovel: book is LibraryNovel,
                author: book.author?.name, tags: Set(book.tags.map { $0.label ?? "nil" }))
        }
        for tag in try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")) { tags.insert(tag.label ?? "nil") }
    }

    mutating func removeAuthor(_ name: String) {
        authors[name] = nil
        for (title, book) in books where book.author == name { books[title]?.author = nil }
    }

    mutating func removeTag(_ label: String) {
        tags.remove(label)
        for title in books.keys { books[title]?.tags.remove(label) }
    }

    /// The differences from another library, in words.
    func difference(from other: LibraryModel) -> String {
        var parts: [String] = []
        for title in Set(books.keys).union(other.books.keys).sorted() where books[title] != other.books[title] {
            parts.append("\(title) is \(describe(other.books[title])) instead of \(describe(books[title]))")
        }
        for name in Set(authors.keys).union(other.authors.keys).sorted() where authors[name] != other.authors[name] {
            parts.append("\(name) is \(describe(other.authors[name])) instead of \(describe(authors[name]))")
        }
        if tags != other.tags { parts.append("the tags are \(other.tags.sorted()) instead of \(tags.sorted())") }
        return parts.joined(separator: "; ")
    }

    private func describe(_ value: Any?) -> String { value.map { "\($0)" } ?? "missing" }
}
