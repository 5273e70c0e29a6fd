import CoreData

/// A comparison of the objects of two stores, entity by entity.
struct StoreDiff {
    /// The number of objects of an entity by what became of them, and what could not be compared.
    struct Summary: Equatable {
        let entity: String
        var added: Int64 = 0
        var removed: Int64 = 0
        var changed: Int64 = 0
        var same: Int64 = 0
        /// The properties that only the first store has, and only the second.
        var onlyFirst: [String] = []
        var onlySecond: [String] = []

        var isEqual: Bool { added + removed + changed == 0 && onlyFirst.isEmpty && onlySecond.isEmpty }
    }

    enum Change {
        case added(String, [(name: String, value: CellValue)])
        case removed(String, [(name: String, value: CellValue)])
        case changed(String, [(name: String, old: CellValue, new: CellValue)])
    }

    let first: ReadableStore
    let second: ReadableStore
    let naming: ObjectNaming

    /// The entities with objects of their own in one of the models, by name.
    ///
    /// - Parameter names: the entities whose objects and those of whose subentities are compared.
    /// - Throws: `ToolError` for an entity that neither store has.
    func entities(named names: [String]?) throws -> [String] {
        func concrete(_ store: ReadableStore) throws -> [String] {
            let chosen = names?.compactMap { try? store.entity(named: $0) }
            return store.model.entities.filter { entity in
                !entity.isAbstract && (chosen?.contains { entity.isKindOf(entity: $0) } ?? true)
            }.compactMap(\.name)
        }
        for name in names ?? [] where (try? second.entity(named: name)) == nil { _ = try first.entity(named: name) }
        return Array(Set(try concrete(first) + concrete(second))).sorted()
    }

    /// Compares the objects of an entity.
    ///
    /// - Parameter body: called with each difference, in the order of names.
    func compare(_ entity: String, _ body: (Change) throws -> Void) throws -> Summary {
        let left = try objects(entity, first), right = try objects(entity, second)
        var summary = Summary(entity: entity)
        let pairs = Self.pairs(left?.names ?? [], right?.names ?? [])
        if left != nil, right != nil {
            summary.onlyFirst = (left?.names ?? []).filter { !pairs.map(\.name).contains($0) }
            summary.onlySecond = (right?.names ?? []).filter { !pairs.map(\.name).contains($0) }
        }
        var old = try left?.objects.next(), new = try right?.objects.next()
        while old != nil || new != nil {
            let order = Self.order(old, new)
            if order == .orderedAscending, let object = old, let left {
                summary.removed += 1
                try body(.removed(object.values[0].plainText, left.named(object)))
                old = try left.objects.next()
            } else if order == .orderedDescending, let object = new, let right {
                summary.added += 1
                try body(.added(object.values[0].plainText, right.named(object)))
                new = try right.objects.next()
            } else if let before = old, let after = new {
                let changes = pairs.filter { before.values[$0.old] != after.values[$0.new] }.map {
                    (name: $0.name, old: before.values[$0.old], new: after.values[$0.new])
                }
                if changes.isEmpty {
                    summary.same += 1
                } else {
                    summary.changed += 1
                    try body(.changed(after.values[0].plainText, changes))
                }
                old = try left?.objects.next()
                new = try right?.objects.next()
            }
        }
        return summary
    }

    /// The objects of an entity in one store.
    private struct Side {
        let names: [String]
        let objects: ObjectReader.Objects

        func named(_ object: ObjectReader.Object) -> [(name: String, value: CellValue)] {
            zip(names, object.values).dropFirst().filter { $0.1 != .null }.map { (name: $0.0, value: $0.1) }
        }
    }

    private func objects(_ entity: String, _ store: ReadableStore) throws -> Side? {
        guard let entity = store.model.entities.first(where: { $0.name == entity && !$0.isAbstract }) else {
            return nil
        }
        let reader = try ObjectReader(entity, in: store, naming: naming)
        return Side(names: reader.columns.map(\.name), objects: try reader.objects())
    }

    /// Returns the places of the properties that both sides have.
    private static func pairs(_ old: [String], _ new: [String]) -> [(name: String, old: Int, new: Int)] {
        let places = Dictionary(new.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return old.enumerated().compactMap { place, name in places[name].map { (name: name, old: place, new: $0) } }
    }

    private static func order(_ old: ObjectReader.Object?, _ new: ObjectReader.Object?) -> ComparisonResult {
        guard let old else { return .orderedDescending }
        guard let new else { return .orderedAscending }
        return old.order.order(to: new.order)
    }
}
