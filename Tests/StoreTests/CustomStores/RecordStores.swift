import CoreData

/// A store that can be asked what it holds, apart from all contexts.
protocol RecordKeeping: NSPersistentStore {
    /// A line for each record: its entity, its name, and what it leads to.
    var lines: [String] { get }
    /// How often it was told to save.
    var saves: Int { get }
}

/// Records in a dictionary, with relationships, as a stand-in for a service.
final class RecordStore: NSIncrementalStore, RecordKeeping, @unchecked Sendable {
    // Sendable: the records are guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Records")

    private struct Record {
        var entity: String
        var version: UInt64 = 1
        var values: [String: Any] = [:]
        /// By name of relationship, in order.
        var related: [String: [NSManagedObjectID]] = [:]
    }

    private let lock = NSRecursiveLock()
    private var records: [String: Record] = [:]
    private var lastNumber = 0
    private var saveCount = 0

    var saves: Int { lock.withLock { saveCount } }

    var lines: [String] {
        lock.withLock {
            records.values.map { record in
                let related = record.related.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                    key, objectIDs in
                    let names = objectIDs.map { name(records[reference($0)]) }
                    return key + " " + (key == "tasks" ? names : names.sorted()).joined(separator: ",")
                }
                return ([record.entity, name(record)] + related).joined(separator: " ")
            }.sorted()
        }
    }

    private func name(_ record: Record?) -> String {
        (record?.values["name"] ?? record?.values["title"]) as? String ?? "?"
    }
    private func reference(_ objectID: NSManagedObjectID) -> String { referenceObject(for: objectID) as? String ?? "?" }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            let number = lock.withLock {
                lastNumber += 1
                return lastNumber
            }
            return newObjectID(for: object.entity, referenceObject: "record \(number)")
        }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            lock.withLock { self.save(save) }
            return [Any]()
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else {
            return try super.execute(request, with: context)
        }
        let found = lock.withLock { records.map { ($0.key, $0.value.entity) } }
        let objectIDs = found.compactMap { reference, name -> NSManagedObjectID? in
            guard let own = persistentStoreCoordinator?.managedObjectModel.entitiesByName[name],
                own.isKindOf(entity: entity)
            else {
                return nil
            }
            return newObjectID(for: own, referenceObject: reference)
        }
        var objects = objectIDs.map { context.object(with: $0) }
        if let predicate = fetch.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
        objects = (objects as NSArray).sortedArray(comparator: { first, second in
            for descriptor in fetch.sortDescriptors ?? [] {
                let order = descriptor.compare(first, to: second)
                if order != .orderedSame { return order }
            }
            return .orderedSame
        }).compactMap { $0 as? NSManagedObject }
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: objects.count)]
        case .managedObjectIDResultType: return objects.map(\.objectID)
        default: return objects
        }
    }

    private func save(_ request: NSSaveChangesRequest) {
        saveCount += 1
        for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
            var record = records[reference(object.objectID)] ?? Record(entity: object.entity.name ?? "?", version: 0)
            record.version += 1
            for name in object.entity.attributesByName.keys { record.values[name] = object.value(forKey: name) }
            for name in object.entity.relationshipsByName.keys {
                record.related[name] = object.objectIDs(forRelationshipNamed: name)
            }
            records[reference(object.objectID)] = record
        }
        for object in request.deletedObjects ?? [] { records[reference(object.objectID)] = nil }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let record = lock.withLock({ records[reference(objectID)] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        var values = record.values
        for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
            values[name] = record.related[name]?.first ?? NSNull()
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let related = lock.withLock { records[reference(objectID)]?.related[relationship.name] ?? [] }
        return relationship.isToMany ? related : related.first ?? NSNull()
    }
}

/// Nodes that nothing but memory keeps.
final class NodeStore: NSAtomicStore, RecordKeeping, @unchecked Sendable {
    // Sendable: what was written is guarded by the lock.
    static let storeType = NSPersistentStore.StoreType(rawValue: "Nodes")
    private let lock = NSLock()
    private var written: [String] = []
    private var saveCount = 0

    var lines: [String] { lock.withLock { written } }
    var saves: Int { lock.withLock { saveCount } }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString] }

    override func load() throws {}

    private func name(_ node: Any?) -> String {
        guard let node = node as? NSAtomicStoreCacheNode else { return "?" }
        let key = node.objectID.entity.attributesByName["title"] == nil ? "name" : "title"
        return node.value(forKey: key) as? String ?? "?"
    }

    override func save() throws {
        let lines = cacheNodes().map { node in
            let entity = node.objectID.entity
            let related = entity.relationshipsByName.keys.sorted().compactMap { key -> String? in
                let names: [String]
                switch node.value(forKey: key) {
                case let set as NSOrderedSet: names = set.array.map(name)
                case let set as NSSet: names = set.allObjects.map(name)
                case let other as NSAtomicStoreCacheNode: names = [name(other)]
                default: names = []
                }
                return names.isEmpty
                    ? nil : key + " " + (key == "tasks" ? names : names.sorted()).joined(separator: ",")
            }
            return ([entity.name ?? "?", name(node)] + related).joined(separator: " ")
        }
        lock.withLock {
            written = lines.sorted()
            saveCount += 1
        }
    }
}
