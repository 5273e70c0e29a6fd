import CoreData

// A library: authors write books, some of which are novels; books carry tags.

public final class LibraryAuthor: NSManagedObject {
    @Managed public var name: String?
    @Managed public var born: Int16
    @Managed public var books: Set<LibraryBook>
}

public class LibraryBook: NSManagedObject {
    @Managed public var title: String?
    @Managed public var pages: Int32
    @Managed public var rating: Double
    @Managed public var published: Date?
    /// Transient.
    @Managed public var mark: String?
    @Managed public var author: LibraryAuthor?
    @Managed public var tags: Set<LibraryTag>
}

public final class LibraryNovel: LibraryBook {
    @Managed public var genre: String?
}

public final class LibraryTag: NSManagedObject {
    @Managed public var label: String?
    @Managed public var books: Set<LibraryBook>
}

/// A store of the library's model in a folder of its own, and contexts on it.
public final class Library {
    public let folder: TemporaryFolder
    public let coordinator: NSPersistentStoreCoordinator
    public let store: NSPersistentStore
    public let context: NSManagedObjectContext
    public let kind: StoreKind
    /// Whether no two authors have one name.
    public let uniqueNames: Bool
    /// The file, which only a store of SQLite has.
    public let url: URL

    public init(_ kind: StoreKind = .current, uniqueNames: Bool = false, options: [AnyHashable: Any]? = nil) throws {
        self.kind = kind
        self.uniqueNames = uniqueNames
        folder = try TemporaryFolder()
        url = folder.file("library.sqlite")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(uniqueNames: uniqueNames))
        store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(url), options: options)
        context = coordinator.newContext()
    }

    /// The file as the sqlite3 library sees it.
    public var file: SQLiteFile { SQLiteFile(url) }

    /// The store as its database sees it, which a store in memory does not have.
    public var tables: StoreTables { StoreTables(kind, url) }

    /// The contexts made, which live as long as the library: objects are of no use without their
    /// context.
    private var contexts: [NSManagedObjectContext] = []

    /// Another context on the same coordinator.
    public func newContext() -> NSManagedObjectContext { kept(coordinator.newContext()) }

    /// A context on a coordinator of its own, as another process has it.
    public func newStackContext() throws -> NSManagedObjectContext {
        let other = NSPersistentStoreCoordinator(managedObjectModel: Self.model(uniqueNames: uniqueNames))
        _ = try other.addPersistentStore(ofType: store.type, configurationName: nil, at: store.url)
        return kept(other.newContext())
    }

    private func kept(_ context: NSManagedObjectContext) -> NSManagedObjectContext {
        contexts.append(context)
        return context
    }

    /// The model, whose author's name can be made unique and required.
    public static func model(uniqueNames: Bool = false, requiredNames: Bool = false) -> NSManagedObjectModel {
        let author = NSEntityDescription(
            "Author", class: "LibraryAuthor",
            [
                NSAttributeDescription("name", .stringAttributeType, optional: !requiredNames),
                NSAttributeDescription("born", .integer16AttributeType),
            ])
        if uniqueNames { author.uniquenessConstraints = [["name"]] }
        let mark = NSAttributeDescription("mark", .stringAttributeType)
        mark.isTransient = true
        let book = NSEntityDescription(
            "Book", class: "LibraryBook",
            [
                NSAttributeDescription("title", .stringAttributeType),
                NSAttributeDescription("pages", .integer32AttributeType),
                NSAttributeDescription("rating", .doubleAttributeType),
                NSAttributeDescription("published", .dateAttributeType), mark,
            ])
        let novel = NSEntityDescription(
            "Novel", class: "LibraryNovel", [NSAttributeDescription("genre", .stringAttributeType)])
        book.subentities = [novel]
        let tag = NSEntityDescription(
            "Tag", class: "LibraryTag", [NSAttributeDescription("label", .stringAttributeType)])
        relate(author, "books", toMany: true, book, inverse: "author")
        relate(book, "tags", toMany: true, tag, inverse: "books", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [author, book, novel, tag]
        model.setEntities([author, book, novel], forConfigurationName: "Writing")
        model.setEntities([tag], forConfigurationName: "Labels")
        return model
    }
}

extension NSPersistentStoreCoordinator {
    /// A private-queue context on this coordinator.
    public func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}

extension NSManagedObjectContext {
    /// A private-queue context below this one.
    public func newChild() -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = self
        return child
    }

    @discardableResult
    public func author(_ name: String?, born: Int16 = 0) -> LibraryAuthor {
        let author = LibraryAuthor(context: self)
        author.name = name
        author.born = born
        return author
    }

    @discardableResult
    public func book(
        _ title: String?, pages: Int32 = 0, rating: Double = 0, by author: LibraryAuthor? = nil,
        tags: Set<LibraryTag> = []
    ) -> LibraryBook {
        let book = LibraryBook(context: self)
        fill(book, title, pages: pages, rating: rating, by: author, tags: tags)
        return book
    }

    @discardableResult
    public func novel(_ title: String?, pages: Int32 = 0, genre: String? = nil, by author: LibraryAuthor? = nil)
        -> LibraryNovel
    {
        let novel = LibraryNovel(context: self)
        fill(novel, title, pages: pages, rating: 0, by: author, tags: [])
        novel.genre = genre
        return novel
    }

    @discardableResult
    public func tag(_ label: String?) -> LibraryTag {
        let tag = LibraryTag(context: self)
        tag.label = label
        return tag
    }

    private func fill(
        _ book: LibraryBook, _ title: String?, pages: Int32, rating: Double, by author: LibraryAuthor?,
        tags: Set<LibraryTag>
    ) {
        book.title = title
        book.pages = pages
        book.rating = rating
        book.author = author
        book.tags = tags
    }

    /// The books that match, by title.
    public func books(_ format: String? = nil, _ arguments: [Any] = []) throws -> [LibraryBook] {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try fetch(request)
    }

    /// The titles of the books that match, in order.
    public func titles(_ format: String? = nil, _ arguments: [Any] = []) throws -> [String?] {
        try books(format, arguments).map(\.title)
    }

    /// The names of the authors that match, in order.
    public func names(_ format: String? = nil, _ arguments: [Any] = []) throws -> [String?] {
        try authors(format, arguments).map(\.name)
    }

    /// The authors that match, by name.
    public func authors(_ format: String? = nil, _ arguments: [Any] = []) throws -> [LibraryAuthor] {
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try fetch(request)
    }
}
