import CoreData
import TestSupport
import Testing

/// A context with an undo manager: that of the store, or a child of it.
final class UndoDesk {
    let library: Library
    let context: NSManagedObjectContext
    let manager = UndoManager()

    init(_ kind: StoreKind, isChild: Bool = false) throws {
        library = try Library(kind)
        if isChild {
            context = library.context.newChild()
        } else {
            context = library.context
        }
        manager.groupsByEvent = false
    }

    /// Saves what a test has set up, and has everything from here on registered.
    func begin() throws {
        try save()
        context.undoManager = manager
    }

    func save() throws {
        try context.save()
        if context !== library.context { try library.context.save() }
    }

    func group(_ body: () throws -> Void) rethrows {
        manager.beginUndoGrouping()
        try body()
        context.processPendingChanges()
        manager.endUndoGrouping()
    }

    /// Changes rows past the contexts, and has these take it over.
    func update(_ format: String, _ values: [AnyHashable: Any]) throws {
        let request = NSBatchUpdateRequest(entityName: "Author")
        request.predicate = NSPredicate(format: format)
        request.propertiesToUpdate = values
        request.resultType = .updatedObjectIDsResultType
        let result = try library.newContext().execute(request) as? NSBatchUpdateResult
        let objectIDs = try #require(result?.result as? [NSManagedObjectID])
        #expect(!objectIDs.isEmpty)
        merge(NSUpdatedObjectsKey, objectIDs)
    }

    func delete(_ format: String, of entity: String = "Author", isMerged: Bool = true) throws {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = NSPredicate(format: format)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try library.newContext().execute(request) as? NSBatchDeleteResult
        let objectIDs = try #require(result?.result as? [NSManagedObjectID])
        #expect(!objectIDs.isEmpty)
        if isMerged { merge(NSDeletedObjectsKey, objectIDs) }
    }

    private func merge(_ key: String, _ objectIDs: [NSManagedObjectID]) {
        let contexts = context === library.context ? [context] : [library.context, context]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: objectIDs], into: contexts)
    }

    /// The authors of the store and the years of their birth, as a context that knows nothing reads
    /// them.
    func stored() throws -> [String] {
        let lines = try library.newContext().authors().map { "\($0.name ?? "-") \($0.born)" }
        if library.store.type == NSSQLiteStoreType {
            #expect(library.file.column("SELECT ZNAME || ' ' || ZBORN FROM ZAUTHOR ORDER BY ZNAME") == lines)
        }
        return lines
    }
}
