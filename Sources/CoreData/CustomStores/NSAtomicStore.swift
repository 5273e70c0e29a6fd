import Foundation
import Synchronization

/// The base class of stores that read their whole content at once and write it at once.
///
/// A subclass overrides `load()`, which makes a node for each record and passes the nodes to
/// `addCacheNodes(_:)`, and `save()`, which writes all of `cacheNodes()`. It may also override the
/// methods between these two, and `loadMetadata()`.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsatomicstore>
///
/// The content is kept in memory twice, as nodes and as rows. A save costs what `save()` does,
/// however little has changed.
///
/// ```swift
/// final class ListStore: NSAtomicStore, @unchecked Sendable {
///     override func loadMetadata() throws {
///         metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "list"]
///     }
///     override func load() throws { addCacheNodes(try readNodes()) }
///     override func save() throws { try write(cacheNodes()) }
/// }
/// NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: "List")
/// ```
open class NSAtomicStore: NSPersistentStore, CustomStore, @unchecked Sendable {
    // Sendable: nodes and rows are behind mutexes; a subclass guards its own state.

    private struct TableKey: Hashable {
        let rootIndex: Int
        let key: Int64

        init?(_ objectID: NSManagedObjectID) {
            guard let key = objectID.key else { return nil }
            rootIndex = objectID.layout.rootIndex
            self.key = key
        }
    }

    // Guards the nodes.
    private let nodes = Mutex<[TableKey: NSAtomicStoreCacheNode]>([:])
    let referenceTable = ReferenceTable()
    // Guards the rows, which are made once.
    private let storedRows = Mutex<MemoryRows?>(nil)

    // MARK: - For subclasses to override

    /// Keeps the metadata that an initializer or an override of `metadata` has set, and adds the
    /// store's type.
    ///
    /// Other missing entries, such as the UUID, are made when the store is added. To make an entry
    /// last, `save()` must write it.
    open override func loadMetadata() throws {
        var metadata: [String: Any] = self.metadata ?? [:]
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = type }
        self.metadata = metadata
    }

    /// Reads the store's file and passes a node for each record to `addCacheNodes(_:)`. Called
    /// once, after `loadMetadata()`.
    ///
    /// ```swift
    /// override func load() throws {
    ///     let book = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Book"]!
    ///     for (number, title) in try titles() {
    ///         let node = NSAtomicStoreCacheNode(
    ///             objectID: objectID(for: book, withReferenceObject: number))
    ///         node.setValue(title, forKey: "title")
    ///         addCacheNodes([node])
    ///     }
    /// }
    /// ```
    ///
    /// - Throws: the error that prevents opening the store; code 134080 without an override.
    open func load() throws {
        throw missing("load()", .persistentStoreOpen)
    }

    /// Writes all nodes and the metadata. Called at the end of each save; if it throws, the save
    /// did not take place.
    ///
    /// ```swift
    /// override func save() throws {
    ///     let titles = cacheNodes().compactMap { $0.value(forKey: "title") as? String }
    ///     try JSONEncoder().encode(titles).write(to: url!, options: .atomic)
    /// }
    /// ```
    ///
    /// - Throws: the error that prevents writing the save; code 134030 without an override.
    open func save() throws {
        throw missing("save()", .persistentStoreSave)
    }

    /// Makes a node for an object that is saved for the first time, with the object's values.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Writes an object's values into its node.
    ///
    /// For new objects it is called a second time once all new nodes are known, so that
    /// relationships among them can be set.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for slot in managedObject.layout.slots where !slot.isTransient && slot.kind != .fetched {
            let value = managedObject.value(forKey: slot.name)
            switch slot.kind {
            case .toOne:
                node.setValue((value as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) }, forKey: slot.name)
            case .toMany, .orderedToMany:
                let destinations = NodeValue.elements(of: value).compactMap { element in
                    (element as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) }
                }
                node.setValue(
                    slot.kind == .toMany ? NSSet(array: destinations) : NSOrderedSet(array: destinations),
                    forKey: slot.name)
            default: node.setValue(value, forKey: slot.name)
            }
        }
    }

    /// Returns a value that permanently identifies a new object's record in the store.
    ///
    /// It is a number, string or UUID that no other object of the entity's hierarchy has.
    ///
    /// ```swift
    /// override func newReferenceObject(for managedObject: NSManagedObject) -> Any { nextNumber() }
    /// ```
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        UUID().uuidString
    }

    /// Called before nodes of deleted objects are removed.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: - Nodes

    /// All nodes of the store.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> {
        nodes.withLock { Set($0.values) }
    }

    /// Adds nodes, replacing those of the same objects.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        nodes.withLock { nodes in
            for node in cacheNodes {
                if let key = TableKey(node.objectID) { nodes[key] = node }
            }
        }
    }

    /// The node of an object; nil if the store has none. O(1).
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        guard let key = TableKey(objectID) else { return nil }
        return nodes.withLock { $0[key] }
    }

    // MARK: - Object IDs

    /// The ID of the object whose record a reference object identifies.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        let layout = layout(of: entity)
        let key = referenceTable.key(for: data, of: layout)
        storedRows.withLock { $0 }?.noteKey(key, for: layout)
        return NSManagedObjectID(key: key, layout: layout, store: self)
    }

    /// The reference object that identifies an object's record.
    ///
    /// - Precondition: the ID belongs to this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        reference(of: objectID)
    }

    override var namesRowsByKey: Bool { false }

    override func referenceText(forKey key: Int64, of entity: EntityLayout) -> String {
        referenceTable.uriText(for: key, of: entity)
    }

    override func key(forReferenceText text: String, of entity: EntityLayout) -> Int64? {
        referenceTable.key(forURIText: text, of: entity)
    }

    // MARK: - For the coordinator

    override class func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] {
        AtomicFeatures.unsupported(of: entities)
    }

    override var snapshotStore: (any SnapshotStore)? { storedRows.withLock { $0 } }

    override func prepareForRequests() throws {
        guard let modelLayout else { return }
        let rows = MemoryRows(layouts: modelLayout, store: self, writer: self)
        storedRows.withLock { $0 = rows }
        try load()
        try rows.fill(NodeRows.batch(from: cacheNodes()))
    }
}

extension NSAtomicStore: MemoryObjectsWriter {
    /// A save of objects alone writes metadata.
    var hasChangedMetadata: Bool { false }

    func newKeys(for origin: AnyObject) -> [Int64] {
        ((origin as? NewObjects)?.objects ?? []).map { object in
            let key = referenceTable.key(for: newReferenceObject(for: object), of: object.layout)
            storedRows.withLock { $0 }?.noteKey(key, for: object.layout)
            return key
        }
    }

    func write(_ batch: SaveBatch, _ tables: MemoryTables, beforeCommit others: () throws -> Void) throws {
        try others()
        let before = nodes.withLock { $0 }
        let changed = NodeRows.nodes(changedBy: batch, of: self).map(FormerNode.init)
        do {
            addNodes(of: batch)
            removeNodes(of: batch)
            try save()
        } catch {
            nodes.withLock { $0 = before }
            for node in changed { node.restore() }
            throw error
        }
    }

    private func addNodes(of batch: SaveBatch) {
        let origin = batch.origin as? SaveOrigin
        let insertedObjects = origin?.insertedObjects ?? []
        let updatedObjects = origin?.updatedObjects ?? []
        if insertedObjects.count == batch.inserts.count {
            let added = insertedObjects.map { object in
                let node = newCacheNode(for: object)
                addCacheNodes([node])
                return (node, object)
            }
            for (node, object) in added { updateCacheNode(node, from: object) }
        } else {
            NodeRows.addNodes(for: batch.inserts, to: self)
        }
        if updatedObjects.count == batch.updates.count {
            for object in updatedObjects {
                if let node = cacheNode(for: object.objectID) { updateCacheNode(node, from: object) }
            }
        } else {
            NodeRows.updateNodes(for: batch.updates, of: self)
        }
        if insertedObjects.isEmpty, updatedObjects.isEmpty {
            NodeRows.apply(batch.relationshipChanges, to: self)
        }
    }

    private func removeNodes(of batch: SaveBatch) {
        let removed = batch.deletes.compactMap { change in
            cacheNode(for: NSManagedObjectID(key: change.key, layout: change.layout, store: self))
        }
        guard !removed.isEmpty else { return }
        willRemoveCacheNodes(Set(removed))
        nodes.withLock { nodes in
            for node in removed {
                if let key = TableKey(node.objectID) { nodes[key] = nil }
            }
        }
    }
}

/// Finds the features of a model that stores with all rows in memory do not support.
enum AtomicFeatures {
    static func unsupported(of entities: [NSEntityDescription]) -> [String] {
        var features: [String] = []
        let constraints = entities.filter { !$0.uniquenessConstraintNames.isEmpty }.map { entity in
            "\(entity.name ?? "")("
                + entity.uniquenessConstraintNames.map { $0.joined(separator: "+") }
                .joined(separator: ", ") + ")"
        }
        if !constraints.isEmpty {
            features.append("uniqueness constraints: \(constraints.sorted().joined(separator: ", "))")
        }
        let composites = entities.flatMap { entity in
            entity.attributesByName.values.filter { $0 is NSCompositeAttributeDescription }
                .map { "\(entity.name ?? "").\($0.name)" }
        }
        if !composites.isEmpty {
            features.append("composite attributes: \(composites.sorted().joined(separator: ", "))")
        }
        return features
    }
}
