import CoreData

/// The objects that an edit inserts, changes and deletes, collected from a context before its save.
struct ObjectChanges {
    /// A change of one value.
    enum ValueChange: Equatable {
        case value(old: CellValue, new: CellValue)
        /// The members that a to-many relationship gets and loses; neither if only the order
        /// differs.
        case members(added: [String], removed: [String])
    }

    struct Change {
        /// The identity; that of a new object says only its entity.
        let name: String
        let label: String?
        let values: [(key: String, change: ValueChange)]
        /// Whether the object is deleted because another one is.
        var isConsequence = false
    }

    let inserted: [Change]
    let changed: [Change]
    let deleted: [Change]

    var isEmpty: Bool { inserted.isEmpty && changed.isEmpty && deleted.isEmpty }

    /// The changes without their new values, to compare those of two contexts.
    var outline: [String] {
        func outline(_ kind: String, _ changes: [Change]) -> [String] {
            changes.map { "\(kind) \($0.name) \($0.values.map(\.key))" }
        }
        return outline("inserted", inserted) + outline("changed", changed) + outline("deleted", deleted)
    }

    /// - Parameter requested: the URIs of objects whose deletion was asked for.
    init(in context: NSManagedObjectContext, _ model: StoreModel, requested: Set<URL> = []) {
        let collector = Collector(model: model)
        inserted = collector.sorted(context.insertedObjects).map(collector.insertion)
        changed = collector.sorted(context.updatedObjects).map(collector.update).filter { !$0.values.isEmpty }
        let deletions = collector.sorted(context.deletedObjects).map { object in
            Change(
                name: collector.name(of: object), label: ObjectDetails.label(of: object), values: [],
                isConsequence: !requested.contains(object.objectID.uriRepresentation()))
        }
        deleted = deletions.filter { !$0.isConsequence } + deletions.filter(\.isConsequence)
    }

    private struct Collector {
        let model: StoreModel

        func sorted(_ objects: Set<NSManagedObject>) -> [NSManagedObject] {
            let keyed = objects.map { (object: $0, name: ObjectName($0.objectID)) }
            return keyed.sorted {
                ($0.object.entity.name ?? "", $0.name.key ?? .max, $0.name.text)
                    < ($1.object.entity.name ?? "", $1.name.key ?? .max, $1.name.text)
            }.map(\.object)
        }

        func name(of object: NSManagedObject) -> String {
            object.objectID.isTemporaryID
                ? "\(object.entity.name ?? "") (new)" : ObjectName(object.objectID).text
        }

        func insertion(_ object: NSManagedObject) -> Change {
            let values = columns(of: object).compactMap { column -> (key: String, change: ValueChange)? in
                let change = change(column, nil, object.value(forKey: column.name))
                return change == .value(old: .null, new: .null) || change == .members(added: [], removed: [])
                    ? nil : (column.name, change)
            }
            return Change(name: name(of: object), label: nil, values: values)
        }

        func update(_ object: NSManagedObject) -> Change {
            let new = object.changedValues()
            let old = object.committedValues(forKeys: Array(new.keys))
            let values = columns(of: object).filter { new[$0.name] != nil }.map { column in
                (column.name, change(column, old[column.name], new[column.name]))
            }
            return Change(name: name(of: object), label: ObjectDetails.label(of: object), values: values)
        }

        private func columns(of object: NSManagedObject) -> [QueryColumn] {
            QueryColumn.all(of: object.entity, model: model).filter { column in
                if case .object = column.source { false } else { true }
            }
        }

        private func change(_ column: QueryColumn, _ old: Any?, _ new: Any?) -> ValueChange {
            switch column.source {
            case .toMany:
                let (former, present) = (members(old), members(new))
                return .members(
                    added: present.filter { !former.contains($0) }, removed: former.filter { !present.contains($0) })
            case .toOne:
                return .value(old: reference(old), new: reference(new))
            default:
                return .value(
                    old: column.value(old is NSNull ? nil : old), new: column.value(new is NSNull ? nil : new))
            }
        }

        private func reference(_ value: Any?) -> CellValue {
            (value as? NSManagedObject).map { .text(name(of: $0)) } ?? .null
        }

        private func members(_ value: Any?) -> [String] {
            switch value {
            case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }.map(name)
            case let set as NSSet: sorted(Set(set.allObjects.compactMap { $0 as? NSManagedObject })).map(name)
            default: []
            }
        }
    }
}
