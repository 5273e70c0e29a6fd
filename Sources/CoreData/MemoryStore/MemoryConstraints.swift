import Foundation

/// The uniqueness constraints of a model, for tables in memory.
struct MemoryConstraints: Sendable {
    struct Constraint: Sendable {
        /// The number of the constraint, which identifies it in the tables of `UniqueValues`.
        let number: Int
        let names: [String]
        /// The layout index of the entity that declares the constraint.
        let layoutIndex: Int
    }

    /// The constraints that apply to each entity, by layout index.
    let byLayout: [[Constraint]]
    let count: Int

    init(_ layouts: ModelLayout) {
        var numbers: [Int: [[String]: Int]] = [:]
        var count = 0
        byLayout = layouts.layouts.map { layout in
            layout.uniquenessConstraints.map { constraint in
                let index = constraint.layout.index
                let number = numbers[index]?[constraint.names] ?? count
                if number == count { count += 1 }
                numbers[index, default: [:]][constraint.names] = number
                return Constraint(number: number, names: constraint.paths, layoutIndex: index)
            }
        }
        self.count = count
    }
}

/// The values of one constraint in one row. None is nil: nil never equals nil here.
struct UniqueValues: Hashable {
    private let elements: [StoredValue]

    init?(_ values: [StoredValue]) {
        if values.contains(where: \.isNull) { return nil }
        elements = values
    }
}

extension MemoryTables {
    /// The constraints that a batch would violate.
    ///
    /// A value that one row gives up is available to another row of the same batch.
    func violations(of batch: SaveBatch) -> [SaveConflicts.ConstraintViolation] {
        guard constraints.count > 0 else { return [] }
        var violations: [SaveConflicts.ConstraintViolation] = []
        var changedKeys: Set<RowReference> = []
        for change in batch.updates + batch.deletes { changedKeys.insert(tableKey(change)) }
        /// The owners of the values after the batch, among its rows.
        var owners: [Int: [UniqueValues: (inserts: [Int], updates: [Int])]] = [:]
        func check(_ change: RowChange, insert: Int? = nil, update: Int? = nil) {
            for constraint in constraints.byLayout[change.layout.index] {
                let values = values(of: constraint, in: change)
                guard let unique = UniqueValues(values) else { continue }
                let mine = (inserts: insert.map { [$0] } ?? [], updates: update.map { [$0] } ?? [])
                var violation: SaveConflicts.ConstraintViolation?
                if let other = owners[constraint.number]?[unique] {
                    violation = .init(
                        constraint: constraint.names, values: values, layout: layouts.layouts[constraint.layoutIndex],
                        existing: nil, inserts: other.inserts + mine.inserts, updates: other.updates + mine.updates)
                } else {
                    owners[constraint.number, default: [:]][unique] = mine
                    if let owner = owner(of: unique, constraint), owner.key != change.key,
                        !changedKeys.contains(tableKey(owner))
                    {
                        violation = .init(
                            constraint: constraint.names, values: values,
                            layout: layouts.layouts[constraint.layoutIndex],
                            existing: row(owner), inserts: mine.inserts, updates: mine.updates)
                    }
                }
                if let violation {
                    violations.append(violation)
                    // One conflict for each change, as a database reports it.
                    return
                }
            }
        }
        for (index, change) in batch.updates.enumerated() { check(change, update: index) }
        for (index, change) in batch.inserts.enumerated() { check(change, insert: index) }
        return violations
    }

    private func tableKey(_ change: RowChange) -> RowReference {
        RowReference(key: change.key, layoutIndex: change.layout.rootIndex)
    }

    private func tableKey(_ reference: RowReference) -> RowReference {
        RowReference(key: reference.key, layoutIndex: layouts.layouts[reference.layoutIndex].rootIndex)
    }

    private func values(of constraint: MemoryConstraints.Constraint, in change: RowChange) -> [StoredValue] {
        let base = change.base == nil ? nil : row(change.key, of: change.layout)
        return constraint.names.map { name in
            guard let slot = change.layout.slotByPath[name] else { return .null }
            if let values = change.values, slot < values.slotCount, values.has(slot) { return values[slot] }
            return base?.value(slot) ?? .null
        }
    }

    func uniqueValues(_ constraint: MemoryConstraints.Constraint, in row: Snapshot) -> UniqueValues? {
        UniqueValues(
            constraint.names.map { name in
                row.layout.slotByPath[name].flatMap { $0 < row.layout.storedCount ? row.value($0) : nil } ?? .null
            })
    }
}
