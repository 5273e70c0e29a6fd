import CoreData
import TestSupport
import Testing

/// One of the stores that are made of SQL texts, opened with the program's model.
final class OpenedStore {
    let folder: TemporaryFolder
    let url: URL
    let stack: Stack

    var context: NSManagedObjectContext { stack.context }
    /// The file, read with the sqlite3 library.
    var file: SQLiteFile { SQLiteFile(url) }

    init(_ store: OwnStore, isTracked: Bool = false) throws {
        folder = try TemporaryFolder()
        url = try store.make(in: folder)
        stack = try Stack(store.model(), url, options: isTracked ? [NSPersistentHistoryTrackingKey: true] : nil)
    }

    /// The object of a row.
    func object(_ entity: String, _ key: Int64) throws -> NSManagedObject {
        let description = try #require(stack.model.entitiesByName[entity])
        return try #require(try stack.objects(description).first { $0.key == key }, "\(entity)/p\(key)")
    }

    func insert(_ entity: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
        let object = NSManagedObject(entity: try #require(stack.model.entitiesByName[entity]), insertInto: context)
        for (name, value) in values { object.setValue(value, forKey: name) }
        return object
    }

    /// The keys of the objects of an entity and its subentities that match, in ascending order.
    func keys(_ entity: String, where format: String? = nil) throws -> [Int64] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: []) }
        return try context.fetch(request).map(\.key).sorted()
    }
}

extension NSManagedObject {
    func text(_ name: String) -> String? { value(forKey: name) as? String }

    func number(_ name: String) -> Double? { (value(forKey: name) as? NSNumber)?.doubleValue }

    func date(_ name: String) -> Double? { (value(forKey: name) as? Date)?.timeIntervalSinceReferenceDate }

    /// The place that a to-one relationship leads to.
    func one(_ name: String) -> String? { (value(forKey: name) as? NSManagedObject)?.place }

    /// The keys that a to-many relationship leads to: in its order, or in ascending order where it
    /// has none.
    func many(_ name: String) -> [Int64] {
        switch value(forKey: name) {
        case let ordered as NSOrderedSet: ordered.array.compactMap { ($0 as? NSManagedObject)?.key }
        case let set as NSSet: set.allObjects.compactMap { ($0 as? NSManagedObject)?.key }.sorted()
        default: []
        }
    }
}
