import Foundation

// Batches over rows in memory: each becomes a `SaveBatch`.
extension MemoryRows: BatchRows {
    /// Nil for atomic stores, as on other platforms.
    var batchRows: (any BatchRows)? { isAtomic ? nil : self }

    func insert(_ insertion: RowInsertion) throws -> BatchOutcome {
        // Outside the save: the program's closure that supplies the values may read the store.
        let rows = try insertion.allRows()
        return try saving(insertion.author) { tables in
            var planner = try MemoryInsertion(insertion, tables)
            for row in rows { try planner.add(row) }
            let first = try reserveKeys(planner.newCount, for: insertion.layout)
            return (planner.batch(firstKey: first), planner.outcome(firstKey: first))
        }
    }

    func update(_ update: RowUpdate) throws -> BatchOutcome {
        try saving(update.author) { tables in try MemoryUpdate(update, tables, store).run() }
    }

    func delete(_ deletion: RowDeletion) throws -> BatchOutcome {
        try saving(deletion.author) { tables in
            var planner = MemoryDeletion(deletion, tables)
            try planner.run(store)
            return (planner.batch, planner.outcome)
        }
    }

    /// Runs a function on the current tables and saves the batch that it returns.
    private func saving(
        _ author: ChangeAuthor, _ body: (MemoryTables) throws -> (SaveBatch, BatchOutcome)
    ) throws -> BatchOutcome {
        try withSaving {
            var (batch, outcome) = try body(current)
            batch.author = author
            do { _ = try save(batch) } catch let conflicts as SaveConflicts {
                guard let violation = conflicts.violations.first else { throw conflicts }
                throw UniquenessFailure(
                    constraint: violation.constraint, values: violation.values, layout: violation.layout,
                    existing: violation.existing.map { RowReference(key: $0.key, layoutIndex: $0.layout.index) })
            }
            return outcome
        }
    }
}

/// New rows, and existing rows that already have the unique values of inserted ones.
private struct MemoryInsertion {
    private enum Place: Equatable {
        case new(Int)
        case existing(RowReference)
        /// A row that is neither of the entity nor of a subentity.
        case foreign(RowReference)
    }

    private let insertion: RowInsertion
    private let layout: EntityLayout
    private let tables: MemoryTables
    private var new: [(values: RowValues, version: Int64)] = []
    private var changed: [RowReference: RowValues] = [:]
    private var changedOrder: [RowReference] = []
    private var versions: [RowReference: Int] = [:]
    /// The owner of each set of unique values among the batch's rows, by the constraint's number.
    private var owners: [Int: [UniqueValues: Place]] = [:]
    /// The number of changes to rows.
    private var updatedCount = 0

    init(_ insertion: RowInsertion, _ tables: MemoryTables) throws {
        self.insertion = insertion
        layout = insertion.layout
        self.tables = tables
        guard let wanted = insertion.constraint else { return }
        guard tables.constraints.byLayout[layout.index].contains(where: { $0.names == layout.constrainedPaths(wanted) })
        else {
            throw CoreDataErrors.noConstraint(on: wanted, of: layout.name)
        }
    }

    var newCount: Int { new.count }

    mutating func add(_ given: RowValues) throws {
        let complete = given.copy()
        for (slot, value) in try layout.storedDefaults().enumerated()
        where !given.has(slot) && !layout.slots[slot].isDerived {
            complete[slot] = value
        }
        guard let (place, constraint, unique) = meeting(complete) else {
            try insertion.required?.requireAll(in: given)
            note(.new(new.count), insteadOf: [], uniqueValues { complete[$0] })
            new.append((complete, 1))
            return
        }
        let isMeant = insertion.constraint.map { layout.constrainedPaths($0) == constraint.names } ?? true
        switch isMeant ? insertion.rule : .refuse {
        case .keepExisting: return
        case .refuse:
            throw failure(constraint, unique, place)
        case .updateGivenValues, .replaceValues:
            func isWritten(_ slot: Int) -> Bool {
                complete.has(slot) && insertion.replaces(slot, isGiven: given.has(slot))
            }
            switch place {
            case .foreign: throw failure(constraint, unique, place)
            case .new(let index):
                let values = new[index].values
                let former = uniqueValues { values[$0] }
                for slot in 0..<layout.storedCount where isWritten(slot) { values[slot] = complete[slot] }
                new[index].version += 1
                note(place, insteadOf: former, uniqueValues { values[$0] })
            case .existing(let reference):
                let owner = layout.model.layouts[reference.layoutIndex]
                let values = changed[reference] ?? RowValues.make(slotCount: owner.slots.count)
                let row = tables.row(reference)
                func value(_ slot: Int) -> StoredValue {
                    let slot = owner.slot(slot, ofAncestor: layout.index)
                    return values.has(slot) ? values[slot] : row?.value(slot) ?? .null
                }
                let former = uniqueValues(value)
                for slot in 0..<layout.storedCount where isWritten(slot) {
                    values[owner.slot(slot, ofAncestor: layout.index)] = complete[slot]
                }
                if changed.updateValue(values, forKey: reference) == nil { changedOrder.append(reference) }
                note(place, insteadOf: former, uniqueValues(value))
            }
            updatedCount += 1
        }
    }

    private func failure(_ constraint: MemoryConstraints.Constraint, _ values: [StoredValue], _ place: Place)
        -> UniquenessFailure
    {
        var existing: RowReference?
        switch place {
        case .existing(let reference), .foreign(let reference): existing = reference
        case .new: break
        }
        return UniquenessFailure(
            constraint: constraint.names, values: values, layout: layout.model.layouts[constraint.layoutIndex],
            existing: existing)
    }

    private func unique(_ constraint: MemoryConstraints.Constraint, _ values: RowValues) -> [StoredValue] {
        constraint.names.map { layout.slotByPath[$0].map { values[$0] } ?? .null }
    }

    private func meeting(_ values: RowValues) -> (Place, MemoryConstraints.Constraint, [StoredValue])? {
        for constraint in tables.constraints.byLayout[layout.index] {
            let list = unique(constraint, values)
            guard let unique = UniqueValues(list) else { continue }
            if let place = owners[constraint.number]?[unique] { return (place, constraint, list) }
            guard let owner = tables.owner(of: unique, constraint) else { continue }
            // The batch may have changed these values of the row.
            let slots = layout.model.layouts[owner.layoutIndex].slotByPath
            if let changed = changed[owner], constraint.names.contains(where: { slots[$0].map(changed.has) ?? false }) {
                continue
            }
            return (
                layout.familyIndexes.contains(owner.layoutIndex) ? .existing(owner) : .foreign(owner), constraint, list
            )
        }
        return nil
    }

    /// The unique values of a row, one element per constraint; nil where a value of the constraint
    /// is nil.
    private func uniqueValues(_ value: (Int) -> StoredValue) -> [UniqueValues?] {
        tables.constraints.byLayout[layout.index].map { constraint in
            UniqueValues(constraint.names.map { layout.slotByPath[$0].map(value) ?? .null })
        }
    }

    /// - Parameter former: the row's previous values, which become available to other rows.
    private mutating func note(_ place: Place, insteadOf former: [UniqueValues?], _ values: [UniqueValues?]) {
        for (index, constraint) in tables.constraints.byLayout[layout.index].enumerated() {
            if index < former.count, let former = former[index], owners[constraint.number]?[former] == place {
                owners[constraint.number]?[former] = nil
            }
            if let unique = values[index] { owners[constraint.number, default: [:]][unique] = place }
        }
    }

    func batch(firstKey: Int64) -> SaveBatch {
        var batch = SaveBatch()
        for (index, row) in new.enumerated() {
            var change = RowChange(layout: layout, key: firstKey + Int64(index), base: nil, values: row.values)
            change.insertedVersion = row.version
            batch.inserts.append(change)
        }
        for reference in changedOrder {
            batch.updates.append(
                RowChange(
                    layout: layout.model.layouts[reference.layoutIndex], key: reference.key,
                    base: tables.row(reference),
                    values: changed[reference]))
        }
        return batch
    }

    func outcome(firstKey: Int64) -> BatchOutcome {
        var outcome = BatchOutcome()
        outcome.insertedCount = new.count
        outcome.updatedCount = updatedCount
        if insertion.wantsReferences {
            outcome.inserted = new.indices.map { RowReference(key: firstKey + Int64($0), layoutIndex: layout.index) }
            outcome.updated = changedOrder
        }
        return outcome
    }
}

/// A batch update of rows in memory.
private struct MemoryUpdate {
    private let update: RowUpdate
    private let tables: MemoryTables
    private let store: NSPersistentStore

    init(_ update: RowUpdate, _ tables: MemoryTables, _ store: NSPersistentStore) {
        self.update = update
        self.tables = tables
        self.store = store
    }

    func run() throws -> (SaveBatch, BatchOutcome) {
        var batch = SaveBatch()
        var outcome = BatchOutcome()
        guard case .rows(let rows) = try MemoryFetch(plan: update.rows, tables: tables, store: store).run() else {
            return (batch, outcome)
        }
        for pointer in rows.rows {
            let row = Snapshot(retaining: pointer)
            let layout = row.layout
            let values = RowValues.make(slotCount: layout.slots.count)
            for (slot, assignment) in update.assignments {
                let slot = layout.slot(slot, ofAncestor: update.rows.entity.index)
                values[slot] = try value(of: assignment, layout.slots[slot], row)
            }
            batch.updates.append(RowChange(layout: layout, key: row.key, base: row, values: values))
            if update.wantsReferences { outcome.updated.append(RowReference(key: row.key, layoutIndex: layout.index)) }
        }
        outcome.updatedCount = batch.updates.count
        withExtendedLifetime(rows) {}
        return (batch, outcome)
    }

    private func value(of assignment: RowUpdate.Assignment, _ property: PropertySlot, _ row: Snapshot) throws
        -> StoredValue
    {
        guard case .expression(let expression) = assignment else {
            if case .constant(let value) = assignment { return value }
            return .null
        }
        let value = PropertyConversion.unwrapped(
            expression.expressionValue(with: RowView(row: row, tables: tables, store: store), context: nil))
        if property.kind == .toOne {
            if value == nil { return .null }
            if let view = value as? RowView,
                view.row.layout.rootIndex == row.layout.model.layouts[property.destinationIndex].rootIndex
            {
                return .reference(RowReference(key: view.row.key, layoutIndex: view.row.layout.index))
            }
        } else if let converted = PropertyConversion.value(from: value, kind: property.kind) {
            return try PropertyConversion.storeValue(converted, slot: property)
        }
        throw CoreDataErrors.unanswerable(
            "\(property.name) = \(expression)", by: "store in memory",
            "the expression does not give what the property takes",
            advice: "Set a constant, or change the objects.")
    }
}

/// Rows to delete, with the effects of delete rules on their relationships.
private struct MemoryDeletion {
    private let deletion: RowDeletion
    private let tables: MemoryTables
    private let layouts: [EntityLayout]
    private var doomed: [RowReference: Bool] = [:]
    private var changed: [RowReference: RowValues] = [:]
    private var touched: Set<RowReference> = []
    private(set) var batch = SaveBatch()
    private(set) var outcome = BatchOutcome()

    init(_ deletion: RowDeletion, _ tables: MemoryTables) {
        self.deletion = deletion
        self.tables = tables
        layouts = tables.layouts.layouts
    }

    mutating func run(_ store: NSPersistentStore) throws {
        var new = try found(store)
        for reference in new { doomed[reference] = true }
        outcome.deletedCount = new.count
        while let reference = new.popLast() {
            for property in layouts[reference.layoutIndex].persistentRelationships
            where property.deletion.deletesDestinations {
                for destination in destinations(of: reference, property) where doomed[destination] == nil {
                    doomed[destination] = false
                    new.append(destination)
                }
            }
        }
        for reference in doomed.keys { try enforceRules(of: reference) }
        for (reference, isAsked) in doomed.sorted(by: {
            ($0.key.layoutIndex, $0.key.key) < ($1.key.layoutIndex, $1.key.key)
        }) {
            batch.deletes.append(
                RowChange(
                    layout: layouts[reference.layoutIndex], key: reference.key, base: tables.row(reference), values: nil
                ))
            if isAsked, deletion.wantsReferences { outcome.deleted.append(reference) }
            if !isAsked, deletion.wantsConsequences { outcome.alsoDeleted.append(reference) }
        }
        for (reference, values) in changed {
            batch.updates.append(
                RowChange(
                    layout: layouts[reference.layoutIndex], key: reference.key, base: tables.row(reference),
                    values: values))
        }
        if deletion.wantsConsequences { outcome.alsoUpdated = touched.filter { doomed[$0] == nil } }
    }

    private func found(_ store: NSPersistentStore) throws -> [RowReference] {
        switch deletion.rows {
        case .keys(let keys, let layout):
            return Set(keys).compactMap { key in
                tables.row(key, of: layout).map { RowReference(key: key, layoutIndex: $0.layout.index) }
            }
        case .fetched(var fetch):
            fetch.shape = .references
            guard case .references(let references) = try MemoryFetch(plan: fetch, tables: tables, store: store).run()
            else { return [] }
            return Array(references)
        }
    }

    private func destinations(of reference: RowReference, _ property: PropertySlot) -> [RowReference] {
        tables.related(to: reference.key, through: property, of: layouts[reference.layoutIndex]).map {
            RowReference(key: $0.key, layoutIndex: $0.layout.index)
        }
    }

    private mutating func enforceRules(of reference: RowReference) throws {
        let layout = layouts[reference.layoutIndex]
        for property in layout.persistentRelationships where property.deletion.isDenied || property.deletion.nullifies {
            let kept = destinations(of: reference, property).filter { doomed[$0] == nil }
            guard let first = kept.first else { continue }
            if deletion.refusesDestinations(of: property) {
                throw RowDeletion.refusal(of: property, layout, keeping: first, layouts)
            }
            touched.formUnion(kept)
            guard property.inverseIsToOne else { continue }
            for destination in kept {
                let other = layouts[destination.layoutIndex]
                let values = changed[destination] ?? RowValues.make(slotCount: other.slots.count)
                values[property.inverseSlot(in: other)] = .null
                changed[destination] = values
            }
        }
    }
}
