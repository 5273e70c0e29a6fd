import CoreData
import TestSupport
import Testing

/// The output of `print(error)`.
struct PrintedErrorTests {
    private let library: Library

    init() throws { library = try Library() }

    private func expectMessage(in error: (any Error)?, _ part: String, location: SourceLocation = #_sourceLocation)
        throws
    {
        let error = try #require(error, sourceLocation: location)
        let message = error.localizedDescription
        #expect(message.contains(part), sourceLocation: location)
        #expect("\(error)".contains(message), sourceLocation: location)
        #expect(String(reflecting: error).contains(message), sourceLocation: location)
        #expect("\(error as NSError)".contains(message), sourceLocation: location)
        if let error = error as? CocoaError { #expect("\(error)".contains(message), sourceLocation: location) }
    }

    @Test func errorsOfValidationShowTheirMessage() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(requiredNames: true))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let writer = coordinator.newContext()
        writer.author(nil)
        try expectMessage(in: errorThrown { try writer.save() }, "Author.name")
        writer.author(nil)
        try expectMessage(in: errorThrown { try writer.save() }, "2 validation errors")
    }

    @Test func errorsOfRequestsShowTheirMessage() throws {
        try expectMessage(in: errorThrown { _ = try library.context.books("nothing == 1") }, "nothing")
    }

    @Test func errorsOfConflictsShowTheirMessage() throws {
        let (first, second) = (library.context, library.newContext())
        let ada = first.author("Ada")
        try first.save()
        let other = try #require(try second.authors().first)
        other.name = "Eda"
        try second.save()
        ada.name = "Ida"
        try expectMessage(in: errorThrown { try first.save() }, "Author")
    }

    @Test func errorsOfFilesShowTheirMessage() throws {
        let url = library.folder.file("text.sqlite")
        try Data("This is no database, but a text that is long enough.".utf8).write(to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = errorThrown {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        }
        try expectMessage(in: error, url.path)
    }
}
