import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Shelves and their books in a schema of their own on the tests' server: a store that goes from
/// one version of its model to another.
final class VersionedShelves {
    /// How the later version differs.
    enum Change: String, CaseIterable, Sendable {
        /// By the columns of tables that stay.
        case altered
        /// Rows are copied into new tables, and a table is dropped.
        case copied
    }

    static let count = 40

    let change: Change
    let schema: String
    /// Past whatever else leads to the server.
    let url: URL
    let tables: PostgreSQLTables
    /// Everything that the former version has.
    private let before: [String: [[String?]]]

    init(_ change: Change) throws {
        let server = try WireConnection.server()
        self.change = change
        schema = server.newSchemaName()
        url = server.url(schema: schema)
        tables = PostgreSQLTables(url)
        try Self.fill(url)
        before = tables.content
    }

    private static func fill(_ url: URL) throws {
        let context = try open(former(), at: url)
        try context.performAndWait {
            let shelf = context.insert("Shelf", ["name": "main"])
            for number in 0..<count {
                let book = context.insert("Book", ["title": "book \(number)", "pages": number, "shelf": shelf])
                if number % 2 == 0 { book.setValue("even", forKey: "note") }
                if number % 10 == 0 { book.setValue(NSSet(object: shelf), forKey: "markers") }
            }
            _ = context.insert("Loan", ["reader": "Ada"])
            try context.save()
        }
        try close(context)
    }

    // MARK: Models

    private static func entity(_ name: String, was former: String? = nil, _ attributes: [NSAttributeDescription])
        -> NSEntityDescription
    {
        let entity = NSEntityDescription(name, class: "NSManagedObject", attributes)
        if let former { entity.renamingIdentifier = former }
        return entity
    }

    private static func text(_ name: String, was former: String? = nil, default value: String? = nil)
        -> NSAttributeDescription
    {
        let text = NSAttributeDescription(name, .stringAttributeType, optional: value == nil, default: value)
        if let former { text.renamingIdentifier = former }
        return text
    }

    private static func pages() -> NSAttributeDescription {
        NSAttributeDescription("pages", .integer64AttributeType, optional: false, default: 1)
    }

    static func former() -> NSManagedObjectModel {
        let shelf = entity("Shelf", [text("name")])
        let book = entity("Book", [text("title"), text("note", default: "none"), pages()])
        relate(shelf, "books", toMany: true, book, inverse: "shelf")
        relate(shelf, "marks", toMany: true, book, inverse: "markers", inverseToMany: true)
        return NSManagedObjectModel([shelf, book, entity("Loan", [text("reader")])])
    }

    static func later(_ change: Change) -> NSManagedObjectModel {
        switch change {
        case .altered:
            let shelf = entity("Shelf", [text("name")])
            let book = entity(
                "Book",
                [
                    text("heading", was: "title"), text("note"), pages(), text("format", default: "paper"),
                    text("remark"),
                ])
            relate(shelf, "books", toMany: true, book, inverse: "shelf")
            relate(shelf, "marks", toMany: true, book, inverse: "markers", inverseToMany: true)
            return NSManagedObjectModel([shelf, book, entity("Loan", [text("reader")])])
        case .copied:
            let shelf = entity("Shelf", [text("label", was: "name")])
            let volume = entity("Volume", was: "Book", [text("title"), text("note"), pages()])
            relate(shelf, "books", toMany: true, ordered: true, volume, inverse: "shelf", inverseToMany: true)
            relate(shelf, "marks", toMany: true, volume, inverse: "markers", inverseToMany: true)
            return NSManagedObjectModel([shelf, volume])
        }
    }

    // MARK: Opening

    /// A context of a coordinator of its own, which migrates the store where that is needed.
    static func open(_ model: NSManagedObjectModel, at url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func close(_ context: NSManagedObjectContext) throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Opens the store with the later version of its model, and closes it.
    ///
    /// - Parameter step: hears how far a migration is.
    /// - Returns: how far it was at each report; nothing where there was none to make.
    @discardableResult
    static func migrate(_ url: URL, _ change: Change, _ step: @escaping @Sendable (Double) -> Void = { _ in }) throws
        -> [Double]
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: later(change))
        let description = NSPersistentStoreDescription(url: url)
        description.type = NSPostgreSQLStoreType
        let noted = ReportList()
        description.migrationProgressHandler = { fraction in
            noted.append(fraction)
            step(fraction)
        }
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        if let failure { throw failure }
        return noted.all
    }

    /// Opens the store with the later version of its model, and closes it.
    ///
    /// - Parameter other: what leads to the server, unless that is the store's own URL.
    func migrate(through other: URL? = nil) throws { try Self.migrate(other ?? url, change) }

    /// The reports of a migration.
    private final class ReportList: Sendable {
        private let reports = Mutex<[Double]>([])
        var all: [Double] { reports.withLock { $0 } }
        func append(_ fraction: Double) { reports.withLock { $0.append(fraction) } }
    }

    /// Ends the server's process that migrates a store, and waits until it is gone.
    static func endMigration(of url: URL) {
        let others = PostgreSQLTables(url)
        let processes = "SELECT pid FROM pg_locks WHERE relation = 'ocd_store'::regclass AND mode = 'ExclusiveLock'"
        _ = others.rows("SELECT pg_terminate_backend(pid, 10000) FROM (\(processes)) AS p")
    }

    // MARK: Looking

    /// Waits until nobody migrates the store, and looks whether all of it is of one version.
    ///
    /// - Returns: whether it is the later one.
    func isLater(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws -> Bool {
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended('OpenCoreData \(schema)', 0))::text"
        #expect(tables.execute(lock), comment, sourceLocation: sourceLocation)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSPostgreSQLStoreType, at: url, options: nil)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(model.entityVersionHashesByName == hashes, comment, sourceLocation: sourceLocation)
        if hashes == Self.former().entityVersionHashesByName {
            #expect(tables.content == before, comment, sourceLocation: sourceLocation)
            return false
        }
        #expect(hashes == Self.later(change).entityVersionHashesByName, comment, sourceLocation: sourceLocation)
        return true
    }

    /// Opens the store with the later version, and looks whether it has what a migration without
    /// troubles leaves, and can be written.
    ///
    /// - Parameter other: what leads to the server, unless that is the store's own URL.
    func expectAllRows(through other: URL? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try migrate(through: other)
        let untroubled = try VersionedShelves(change)
        try untroubled.migrate()
        #expect(tables.structure == untroubled.tables.structure, sourceLocation: sourceLocation)
        let context = try Self.open(Self.later(change), at: other ?? url)
        let lines = try self.lines(context)
        #expect(lines == expected, sourceLocation: sourceLocation)
        try context.performAndWait {
            _ = context.insert(change == .altered ? "Book" : "Volume", ["note": "new"])
            try context.save()
        }
        let count = tables.integer("SELECT count(*) FROM \(change == .altered ? "book" : "volume")")
        #expect(count == Self.count + 1, sourceLocation: sourceLocation)
        try Self.close(context)
    }

    private var expected: [String] {
        (0..<Self.count).map { number in
            "book \(number) \(number % 2 == 0 ? "even" : "none") \(number)\(change == .altered ? " paper" : "") [main] "
                + (number % 10 == 0 ? "1" : "0")
        }
    }

    /// Each book with its values, its shelves, and by how many it is marked.
    private func lines(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            let isAltered = change == .altered
            return try context.all(isAltered ? "Book" : "Volume", by: "pages").map { book in
                let values = (isAltered ? ["heading", "note", "pages", "format"] : ["title", "note", "pages"]).map {
                    key in
                    book.value(forKey: key).map { "\($0)" } ?? "nil"
                }
                let shelf = book.value(forKey: "shelf")
                let shelves = (shelf as? NSManagedObject).map { [$0] } ?? Array(shelf as? Set<NSManagedObject> ?? [])
                let names = shelves.map { $0.value(forKey: isAltered ? "name" : "label") as? String ?? "nil" }
                let markers = book.value(forKey: "markers") as? Set<NSManagedObject> ?? []
                return values.joined(separator: " ") + " [\(names.joined(separator: ", "))] \(markers.count)"
            }
        }
    }
}
