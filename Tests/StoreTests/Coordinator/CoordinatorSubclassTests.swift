import CoreData
import Foundation
import TestSupport
import Testing

/// A coordinator that notes what it is asked for.
private final class NotingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    // Sendable: used on one thread.
    var calls: [String] = []

    override func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        calls.append("add")
        return try super.addPersistentStore(
            ofType: storeType, configurationName: configuration, at: storeURL, options: options)
    }

    override func remove(_ store: NSPersistentStore) throws {
        calls.append("remove")
        try super.remove(store)
    }

    override func metadata(for store: NSPersistentStore) -> [String: Any] {
        calls.append("metadata")
        return super.metadata(for: store)
    }

    override func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        calls.append("ID")
        return super.managedObjectID(forURIRepresentation: url)
    }

    override func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil)
        throws
    {
        calls.append("destroy")
        try super.destroyPersistentStore(at: url, ofType: storeType, options: options)
    }
}

struct CoordinatorSubclassTests {
    @Test func whatASubclassOverridesIsCalled() throws {
        let folder = try TemporaryFolder()
        let coordinator = NotingCoordinator(managedObjectModel: Library.model())
        let url = folder.file("library.sqlite")
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == store.identifier)
        let context = coordinator.newContext()
        let author = context.author("Ada")
        try context.save()
        #expect(coordinator.managedObjectID(for: author.objectID.uriRepresentation().absoluteString) == author.objectID)
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(coordinator.calls == ["add", "metadata", "ID", "destroy", "remove"])
        #expect(coordinator.persistentStores.isEmpty)
    }
}
