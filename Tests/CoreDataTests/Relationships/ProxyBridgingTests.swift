import CoreData
import Foundation
import TestSupport
import Testing

/// Proxies of to-many relationships as values of Swift.
@Suite(.everyStore) struct ProxyBridgingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func proxiesDescribeThemselvesAndAreEqualToSets() throws {
        let library = try Library()
        let context = library.context
        let (new, old) = (context.tag("new"), context.tag("old"))
        let book = context.book("Notes", tags: [new, old])
        let proxy = book.mutableSetValue(forKey: "tags")
        #expect(proxy.count == 2)
        #expect(Set(proxy.allObjects as? [LibraryTag] ?? []) == [new, old])
        #expect(Set(proxy.compactMap { $0 as? LibraryTag }) == [new, old])
        for text in [proxy.description, "\(proxy)", proxy.debugDescription, proxy.description(withLocale: nil)] {
            #expect(text.contains("new"))
            #expect(text.contains("old"))
        }
        #expect(proxy.copy() as? Set<LibraryTag> == [new, old])
        #expect((proxy.mutableCopy() as? NSMutableSet)?.count == 2)
        let isEqual = proxy.isEqual(to: [new, old])
        #expect(isEqual)
        let plain = NSSet(objects: new, old)
        #expect(plain.isEqual(to: Set(proxy.compactMap { $0 as? LibraryTag })))
        // What key-value coding gives is one of Foundation's own sets.
        #expect(book.value(forKey: "tags") as? Set<LibraryTag> == [new, old])
    }

    /// An author, and two books that are not yet the author's.
    private func author(isOrdered: Bool) throws -> (TestStack, NSManagedObject, books: [NSManagedObject]) {
        let model = Library.model()
        model.entitiesByName["Author"]?.relationshipsByName["books"]?.isOrdered = isOrdered
        let stack = try TestStack(model, url: folder.file("store.sqlite"), kind: .current)
        let context = stack.context
        let books = ["Notes", "Letters"].map { title in
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue(title, forKey: "title")
            return book
        }
        return (stack, NSEntityDescription.insertNewObject(forEntityName: "Author", into: context), books)
    }

    @Test func proxiesOfOrderedRelationshipsDescribeThemselves() throws {
        let (stack, ada, books) = try author(isOrdered: true)
        defer { withExtendedLifetime(stack) {} }
        let set = ada.mutableOrderedSetValue(forKey: "books")
        let array = ada.mutableArrayValue(forKey: "books")
        for book in books { set.add(book) }
        for text in [set.description, "\(set)", array.description, "\(array)"] {
            #expect(text.contains("Notes"))
            #expect(text.contains("Letters"))
        }
        #expect((set.array as? [NSManagedObject])?.count == 2)
        #expect((array as? [NSManagedObject])?.count == 2)
    }

    /// Accessors written by hand set one side by a primitive setter, and then the other.
    @Test(arguments: [true, false]) func aMemberThatWasSetPrimitivelyIsListedOnce(isOrdered: Bool) throws {
        let (stack, ada, books) = try author(isOrdered: isOrdered)
        let context = stack.context
        let members: Any = isOrdered ? NSOrderedSet(array: books) : NSSet(array: books)
        ada.willChangeValue(forKey: "books")
        ada.setPrimitiveValue(members, forKey: "books")
        ada.didChangeValue(forKey: "books")
        for book in books { book.setValue(ada, forKey: "author") }
        #expect(ada.mutableArrayOrSet("books").count == 2)
        try context.save()
        context.refreshAllObjects()
        #expect(ada.mutableArrayOrSet("books").count == 2)
        #expect(books.allSatisfy { $0.value(forKey: "author") as? NSManagedObject === ada })
    }
}

extension NSManagedObject {
    fileprivate func mutableArrayOrSet(_ key: String) -> [Any] {
        entity.relationshipsByName[key]?.isOrdered == true
            ? mutableOrderedSetValue(forKey: key).array : mutableSetValue(forKey: key).allObjects
    }
}
