import CoreData
import TestSupport
import Testing

/// A store with a history, and contexts on it.
///
/// A person has a name, a day of birth and an address, which deletions preserve, a note, and
/// things; a member is a person with a level, which is preserved too.
final class RecordedStack {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    /// Where the store is; nil for one in memory.
    let url: URL?
    /// A file beside that of a store of SQLite.
    func file(_ name: String) -> URL { folder.file(name) }
    private let folder: TemporaryFolder
    private var contexts: [NSManagedObjectContext] = []

    static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    init(
        _ kind: StoreKind = .current, model: NSManagedObjectModel = model(), options: [AnyHashable: Any] = tracking
    ) throws {
        folder = try TemporaryFolder()
        url = kind.url(folder.file("recorded.sqlite"))
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url, options: options)
        context = coordinator.newContext()
    }

    static func model() -> NSManagedObjectModel {
        func kept<Attribute: NSAttributeDescription>(_ attribute: Attribute) -> Attribute {
            attribute.preservesValueInHistoryOnDeletion = true
            return attribute
        }
        func text(_ name: String) -> NSAttributeDescription { NSAttributeDescription(name, .stringAttributeType) }
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.isOptional = true
        address.elements = [text("city"), text("zip")]
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject",
            [
                kept(text("name")), kept(NSAttributeDescription("born", .dateAttributeType)), kept(address),
                kept(NSAttributeDescription("pay", .decimalAttributeType)),
                kept(NSAttributeDescription("id", .UUIDAttributeType)), text("note"),
            ])
        let member = NSEntityDescription(
            "Member", class: "NSManagedObject", [kept(NSAttributeDescription("level", .integer16AttributeType))])
        person.subentities = [member]
        let thing = NSEntityDescription("Thing", class: "NSManagedObject", [text("name")])
        relate(person, "things", toMany: true, thing, inverse: "owner")
        return NSManagedObjectModel([person, member, thing])
    }

    /// A context on a coordinator of its own, as another process has it.
    func newStackContext(_ options: [AnyHashable: Any] = tracking) throws -> NSManagedObjectContext {
        let other = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        _ = try other.addPersistentStore(ofType: store.type, configurationName: nil, at: url, options: options)
        return kept(other.newContext())
    }

    func newContext() -> NSManagedObjectContext { kept(coordinator.newContext()) }

    private func kept(_ context: NSManagedObjectContext) -> NSManagedObjectContext {
        contexts.append(context)
        return context
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (name, value) in values { object.setValue(value, forKey: name) }
        return object
    }

    /// Saves after some work, as an author.
    func save(as author: String? = nil, _ work: () throws -> Void = {}) throws {
        context.transactionAuthor = author
        try work()
        try context.save()
    }

    var token: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }

    /// The result of a request in a form.
    func result<Result>(
        _ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType? = nil,
        in context: NSManagedObjectContext? = nil
    ) throws -> Result {
        if let type { request.resultType = type }
        let executed = try (context ?? self.context).execute(request)
        let history = try #require(executed as? NSPersistentHistoryResult)
        #expect(history.resultType == request.resultType)
        return try #require(history.result as? Result)
    }

    /// All transactions after a token.
    func transactions(after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        try result(.fetchHistory(after: token))
    }

    /// The transactions that match.
    func transactions(_ format: String, _ arguments: Any...) throws -> [NSPersistentHistoryTransaction] {
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try result(.fetchHistory(withFetch: request))
    }

    /// The changes that match.
    func changes(_ format: String, _ arguments: Any...) throws -> [NSPersistentHistoryChange] {
        let request = try #require(NSPersistentHistoryChange.fetchRequest)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try result(.fetchHistory(withFetch: request))
    }

    /// The changes that match, in words.
    func texts(_ format: String, _ arguments: Any...) throws -> [String] {
        let request = try #require(NSPersistentHistoryChange.fetchRequest)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        let changes: [NSPersistentHistoryChange] = try result(.fetchHistory(withFetch: request))
        return changes.map(\.words)
    }
}

extension NSPersistentHistoryChange {
    /// The change as `2 update Person/p1`: the transaction, the kind, and the object.
    var words: String {
        let uri = changedObjectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/")
        return "\(transaction?.transactionNumber ?? 0) \(changeType) \(uri)"
    }
}
