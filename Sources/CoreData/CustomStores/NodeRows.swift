import Foundation

/// Translates between the nodes of an atomic store and rows.
enum NodeRows {
    /// The rows of freshly loaded nodes, as one save.
    static func batch(from nodes: Set<NSAtomicStoreCacheNode>) throws -> SaveBatch {
        var batch = SaveBatch()
        for node in nodes {
            guard let key = node.objectID.key else { continue }
            let layout = node.objectID.layout
            let values = RowValues.make(slotCount: layout.slots.count)
            for slot in layout.slots where !slot.isTransient {
                let value = node.value(forKey: slot.name)
                if slot.kind.isToMany {
                    let references = NodeValue.elements(of: value).compactMap(NodeValue.reference)
                    guard !references.isEmpty else { continue }
                    var change = RelationshipChange(layout: layout, slot: slot.index, ownerKey: key)
                    change.added = references
                    if slot.kind == .orderedToMany { change.order = references }
                    batch.relationshipChanges.append(change)
                } else if slot.kind == .toOne {
                    if let reference = NodeValue.reference(value) { values[slot.index] = .reference(reference) }
                } else if slot.isStored {
                    values[slot.index] = try attribute(value, slot, node)
                }
            }
            batch.inserts.append(RowChange(layout: layout, key: key, base: nil, values: values))
        }
        // Nodes have no order, but rows must have one.
        batch.inserts.sort { $0.key < $1.key }
        return batch
    }

    private static func attribute(
        _ value: Any?, _ slot: PropertySlot, _ node: NSAtomicStoreCacheNode
    ) throws -> StoredValue {
        guard let converted = PropertyConversion.value(from: value, kind: slot.kind) else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "The record \(node.objectID) has a value of the type \(value.map { "\(type(of: $0))" } ?? "nil") "
                    + "for the "
                    + "attribute '\(slot.name)', which is of the type "
                    + (slot.attribute?.attributeType ?? .undefinedAttributeType).displayName + ".")
        }
        return try PropertyConversion.storeValue(converted, slot: slot)
    }

    static func nodes(changedBy batch: SaveBatch, of store: NSAtomicStore) -> [NSAtomicStoreCacheNode] {
        var references = Set(batch.updates.map { RowReference(key: $0.key, layoutIndex: $0.layout.index) })
        for change in batch.inserts + batch.updates {
            for slot in change.layout.slots where slot.kind == .toOne {
                if case .reference(let reference)? = change.values?[slot.index] { references.insert(reference) }
            }
        }
        for change in batch.relationshipChanges {
            references.insert(RowReference(key: change.ownerKey, layoutIndex: change.layout.index))
            references.formUnion(change.added + change.removed)
        }
        return references.compactMap { node($0, store) }
    }

    // MARK: - Changes without objects

    static func addNodes(for changes: [RowChange], to store: NSAtomicStore) {
        for change in changes {
            let id = NSManagedObjectID(key: change.key, layout: change.layout, store: store)
            store.addCacheNodes([NSAtomicStoreCacheNode(objectID: id)])
        }
        updateNodes(for: changes, of: store)
    }

    static func updateNodes(for changes: [RowChange], of store: NSAtomicStore) {
        for change in changes {
            let id = NSManagedObjectID(key: change.key, layout: change.layout, store: store)
            guard let values = change.values, let node = store.cacheNode(for: id) else { continue }
            for slot in change.layout.slots where slot.isStored && values.has(slot.index) {
                node.setValue(nodeValue(values[slot.index], slot, store), forKey: slot.name)
                if slot.kind == .toOne { addToInverse(node, values[slot.index], slot, store) }
            }
        }
    }

    private static func nodeValue(_ value: StoredValue, _ slot: PropertySlot, _ store: NSAtomicStore) -> Any? {
        if case .reference(let reference) = value { return node(reference, store) }
        if slot.kind == .transformable, case .data(let data) = value, let attribute = slot.attribute {
            return Transformation.value(from: data, attribute: attribute)
        }
        return PropertyConversion.object(from: value, kind: slot.kind)
    }

    private static func node(_ reference: RowReference, _ store: NSAtomicStore) -> NSAtomicStoreCacheNode? {
        guard let layouts = store.modelLayout?.layouts, layouts.indices.contains(reference.layoutIndex) else {
            return nil
        }
        return store.cacheNode(
            for: NSManagedObjectID(key: reference.key, layout: layouts[reference.layoutIndex], store: store))
    }

    private static func addToInverse(
        _ node: NSAtomicStoreCacheNode, _ value: StoredValue, _ slot: PropertySlot, _ store: NSAtomicStore
    ) {
        guard slot.inverseIsToMany, case .reference(let reference) = value, let owner = self.node(reference, store),
            let inverse = slot.relationship?.inverseRelationship
        else { return }
        add([node], to: owner, inverse)
    }

    /// Applies additions, and then orders: the inverse may already have added members of an ordered
    /// relationship.
    static func apply(_ changes: [RelationshipChange], to store: NSAtomicStore) {
        func nodes(_ references: [RowReference]) -> [NSAtomicStoreCacheNode] {
            references.compactMap { node($0, store) }
        }
        for change in changes {
            guard let (owner, relationship) = end(change, store) else { continue }
            add(nodes(change.added), to: owner, relationship)
            guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
            for destination in nodes(change.added) { add([owner], to: destination, inverse) }
        }
        for change in changes {
            guard let (owner, relationship) = end(change, store), relationship.isOrdered else { continue }
            if let order = change.order {
                owner.setValue(NSOrderedSet(array: nodes(order)), forKey: relationship.name)
            } else {
                let last = NSMutableOrderedSet(array: NodeValue.elements(of: owner.value(forKey: relationship.name)))
                let added = nodes(change.added)
                last.removeObjects(in: added)
                last.addObjects(from: added)
                owner.setValue(last, forKey: relationship.name)
            }
        }
    }

    private static func end(
        _ change: RelationshipChange, _ store: NSAtomicStore
    ) -> (owner: NSAtomicStoreCacheNode, relationship: NSRelationshipDescription)? {
        let reference = RowReference(key: change.ownerKey, layoutIndex: change.layout.index)
        guard let owner = node(reference, store), let relationship = change.layout.slots[change.slot].relationship
        else { return nil }
        return (owner, relationship)
    }

    private static func add(
        _ nodes: [NSAtomicStoreCacheNode], to owner: NSAtomicStoreCacheNode, _ relationship: NSRelationshipDescription
    ) {
        if nodes.isEmpty { return }
        let all = NodeValue.elements(of: owner.value(forKey: relationship.name)) + nodes
        owner.setValue(
            relationship.isOrdered ? NSOrderedSet(array: all) : NSSet(array: all), forKey: relationship.name)
    }
}

/// Reads the values of nodes, which may be in any kind of collection.
enum NodeValue {
    /// The members of any collection; empty for any other value.
    static func elements(of value: Any?) -> [Any] {
        switch value {
        case let set as NSSet: set.allObjects
        case let ordered as NSOrderedSet: ordered.array
        case let array as NSArray: (0..<array.count).map { array.object(at: $0) }
        case let set as Set<AnyHashable>: set.map(\.base)
        case let array as [Any]: array
        default: []
        }
    }

    static func reference(_ value: Any?) -> RowReference? {
        let objectID: NSManagedObjectID? =
            switch value {
            case let node as NSAtomicStoreCacheNode: node.objectID
            case let objectID as NSManagedObjectID: objectID
            case let object as NSManagedObject: object.objectID
            case let hashable as AnyHashable: hashable.base as? NSManagedObjectID
            default: nil
            }
        guard let objectID, let key = objectID.key else { return nil }
        return RowReference(key: key, layoutIndex: objectID.layout.index)
    }
}

/// The values of a node before a save, to restore them if the save fails.
struct FormerNode {
    private let node: NSAtomicStoreCacheNode
    private let cache: NSMutableDictionary?
    /// The values of a node of a subclass, which may keep them elsewhere.
    private let values: [(name: String, value: Any?)]

    init(_ node: NSAtomicStoreCacheNode) {
        self.node = node
        cache = node.propertyCache?.mutableCopy() as? NSMutableDictionary
        let isPlain = type(of: node) == NSAtomicStoreCacheNode.self
        values =
            isPlain
            ? [] : node.objectID.layout.slots.filter { !$0.isTransient }.map { ($0.name, node.value(forKey: $0.name)) }
    }

    func restore() {
        for (name, value) in values { node.setValue(value, forKey: name) }
        node.propertyCache = cache
    }
}
