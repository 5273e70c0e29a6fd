import CoreData
import TestSupport

/// Records in dictionaries, as a service has them: an incremental store of any model, for tests of
/// what contexts make of its answers.
///
/// Values and destinations are kept by property name. It filters, sorts and cuts as it is asked.
final class ShelfService: NSIncrementalStore, @unchecked Sendable {
    // Sendable: used by one thread at a time.
    static let storeType = NSPersistentStore.StoreType(rawValue: "ShelfService")

    /// By the reference that names a record.
    private(set) var records: [Int: (entity: NSEntityDescription, values: [String: Any], version: UInt64)] = [:]
    private var last = 0

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            last += 1
            return newObjectID(for: object.entity, referenceObject: last)
        }
    }

    private func number(_ id: NSManagedObjectID) -> Int { (referenceObject(for: id) as? NSNumber)?.intValue ?? -1 }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            for object in save.insertedObjects ?? [] { write(object, 1) }
            for object in save.updatedObjects ?? [] {
                write(object, (records[number(object.objectID)]?.version ?? 0) + 1)
            }
            for object in save.deletedObjects ?? [] { records[number(object.objectID)] = nil }
            return [Any]()
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else {
            return [Any]()
        }
        var found = records.filter {
            fetch.includesSubentities ? $0.value.entity.isKindOf(entity: entity) : $0.value.entity == entity
        }
        .sorted { $0.key < $1.key }
        .map { (id: newObjectID(for: $0.value.entity, referenceObject: $0.key), values: shown($0.value.values)) }
        if let predicate = fetch.predicate { found = found.filter { predicate.evaluate(with: $0.values) } }
        for descriptor in (fetch.sortDescriptors ?? []).reversed() {
            found = found.enumerated().sorted { left, right in
                switch descriptor.compare(left.element.values, to: right.element.values) {
                case .orderedAscending: true
                case .orderedDescending: false
                case .orderedSame: left.offset < right.offset
                }
            }.map(\.element)
        }
        let rest = found.dropFirst(fetch.fetchOffset)
        let cut = fetch.fetchLimit > 0 ? Array(rest.prefix(fetch.fetchLimit)) : Array(rest)
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: cut.count)]
        case .managedObjectIDResultType: return cut.map(\.id)
        case .dictionaryResultType: return cut.map { NSDictionary(dictionary: $0.values) }
        default: return cut.map { context?.object(with: $0.id) as Any }
        }
    }

    /// The values of a record with those of the records that it leads to in the place of their IDs.
    private func shown(_ values: [String: Any]) -> [String: Any] {
        values.mapValues { value in
            guard let id = value as? NSManagedObjectID else { return value }
            return records[number(id)]?.values ?? value
        }
    }

    private func write(_ object: NSManagedObject, _ version: UInt64) {
        var values: [String: Any] = [:]
        for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
            values[name] = object.value(forKey: name)
        }
        for (name, relationship) in object.entity.relationshipsByName {
            let ids = object.objectIDs(forRelationshipNamed: name)
            values[name] = relationship.isToMany ? ids : ids.first
        }
        records[number(object.objectID)] = (object.entity, values, version)
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let record = records[number(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        let attributes = record.values.filter { record.entity.attributesByName[$0.key] != nil }
        return NSIncrementalStoreNode(objectID: objectID, withValues: attributes, version: record.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        records[number(objectID)]?.values[relationship.name]
            ?? (relationship.isToMany ? [NSManagedObjectID]() : NSNull())
    }
}

/// Nodes that are kept as long as the store is open: an atomic store of any model.
final class NodeShelf: NSAtomicStore, @unchecked Sendable {
    // Sendable: used by one thread at a time.
    static let storeType = NSPersistentStore.StoreType(rawValue: "NodeShelf")
    private var last = 0

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func load() throws {}

    override func save() throws {}

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        last += 1
        return last
    }
}
