import SafeCoreData

// Author and Book come from Library.xcdatamodeld: the plug-in GenerateEntities writes them while
// the target is built.

let container = NSPersistentContainer(
    name: "Library", managedObjectModel: NSManagedObjectModel(entities: Author.self, Book.self))
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { description, error in
    if let error { fatalError("\(description): \(error)") }
}

let context = container.viewContext
let austen = Author(context: context, name: "Jane Austen")
_ = Book(context: context, pages: 474, title: "Emma", author: austen)
_ = Book(context: context, isLent: true, pages: 432, title: "Pride and Prejudice", author: austen)
try context.save()

for book in austen.books.sorted(by: { $0.title < $1.title }) {
    print("\(book.author.name): \(book.title), \(book.pages) pages" + (book.isLent ? ", lent" : ""))
}
