import Foundation

/// Translates between the objects of a file and rows.
enum FileRows {
    /// The rows of the objects of a file, as one save.
    ///
    /// A file holds both ends of each relationship. Where they disagree, the to-one end counts, of
    /// two to-one ends one that leads elsewhere, else the one of the lower number, and of two
    /// to-many ends both. Numbers of objects that do not exist are left out: a relationship without
    /// an inverse may lead to a deleted object.
    static func batch(of objects: [FileObject], _ model: ModelLayout) throws -> SaveBatch {
        let objects = objects.sorted { $0.key < $1.key }
        var places: [Int64: Int] = [:]
        places.reserveCapacity(objects.count)
        for (place, object) in objects.enumerated() {
            try checkKey(object.key)
            guard places.updateValue(place, forKey: object.key) == nil else {
                throw StoreFileProblem(text: "has two objects with the number \(object.key).")
            }
        }
        var batch = SaveBatch()
        batch.inserts.reserveCapacity(objects.count)
        for object in objects {
            for (number, keys) in object.related {
                let slot = object.layout.slots[number]
                let references = try keys.compactMap { key in
                    try places[key].map { try reference(to: objects[$0], slot, object, model) }
                }
                if slot.kind == .toOne {
                    object.values[number] = references.first.map(StoredValue.reference) ?? .null
                } else if !references.isEmpty, slot.kind == .orderedToMany || !slot.inverseIsToOne {
                    var change = RelationshipChange(layout: object.layout, slot: number, ownerKey: object.key)
                    change.added = references
                    if slot.kind == .orderedToMany { change.order = references }
                    batch.relationshipChanges.append(change)
                }
            }
        }
        for object in objects { settleEnds(of: object) { places[$0].map { objects[$0] } } }
        batch.inserts += objects.map { RowChange(layout: $0.layout, key: $0.key, base: nil, values: $0.values) }
        return batch
    }

    /// Refuses numbers that would leave none for new objects.
    static func checkKey(_ key: Int64) throws {
        guard key > 0, key <= Int64.max / 2 else {
            throw StoreFileProblem(text: "numbers an object \(key), which is out of range.")
        }
    }

    private static func reference(
        to object: FileObject, _ slot: PropertySlot, _ owner: FileObject, _ model: ModelLayout
    ) throws -> RowReference {
        guard object.layout.isKind(of: model.layouts[slot.destinationIndex]) else {
            throw StoreFileProblem(
                text: "relates the object \(owner.key) of entity '\(owner.layout.name)' by '\(slot.name)' to the "
                    + "object \(object.key), which is of the entity '\(object.layout.name)'.")
        }
        return RowReference(key: object.key, layoutIndex: object.layout.index)
    }

    /// Makes the other ends of an object's one-to-one relationships agree.
    private static func settleEnds(of object: FileObject, _ find: (Int64) -> FileObject?) {
        for number in object.layout.oneToOneSlots {
            guard case .reference(let reference) = object.values[number], let other = find(reference.key) else {
                continue
            }
            let inverse = object.layout.slots[number].inverseSlot(in: other.layout)
            let own = StoredValue.reference(RowReference(key: object.key, layoutIndex: object.layout.index))
            if other.values[inverse].isNull {
                other.values[inverse] = own
            } else if other.values[inverse] != own {
                object.values[number] = .null
            }
        }
    }

    /// The objects of all rows, in order of their numbers.
    static func objects(of tables: MemoryTables, _ entities: [FileEntity]) -> [FileObject] {
        var objects: [FileObject] = []
        for (entity, table) in zip(entities, tables.tables) {
            for case let row? in table.rows {
                var object = FileObject(entity.layout, key: row.key)
                for slot in entity.attributes where !row.isNull(slot.index) {
                    object.values[slot.index] = row.value(slot.index)
                }
                for slot in entity.relationships {
                    let keys: [Int64] =
                        if slot.kind == .toOne {
                            row.isNull(slot.index) ? [] : [row.reference(slot.index).key]
                        } else {
                            tables.destinations(of: row.key, through: slot, of: entity.layout).map(\.key)
                        }
                    if !keys.isEmpty { object.related.append((slot.index, keys)) }
                }
                objects.append(object)
            }
        }
        return objects.sorted { $0.key < $1.key }
    }
}
