import Foundation

/// Deletes many rows, and does in the database what delete rules say.
///
/// Rules that only take the deleted rows' own columns away cost nothing. Otherwise the keys of all rows are known before the first one is
/// deleted, and each relationship costs a statement.
final class SQLiteDeletion {
    private let deletion: RowDeletion
    private let batch: SQLiteBatch
    private let mapping: SQLMapping
    private let layouts: [EntityLayout]
    /// The rows to delete, by layout index.
    private var doomed: [Int: Set<Int64>] = [:]
    private var outcome = BatchOutcome()

    init(_ deletion: RowDeletion, _ batch: SQLiteBatch) {
        self.deletion = deletion
        self.batch = batch
        mapping = batch.backend.mapping
        layouts = mapping.layouts.layouts
    }

    private var connection: SQLiteConnection { batch.connection }
    private var statements: SaveStatements { batch.statements }
    private var wantsConsequences: Bool { deletion.wantsConsequences || batch.tracksHistory }

    func run() throws -> BatchOutcome {
        let root = try batch.backend.entity(deletion.layout)
        if !batch.tracksHistory, !deletion.wantsReferences, !deletion.wantsConsequences, leavesNoTrace(root) {
            return try deleteAtOnce(root)
        }
        let found = try foundRows(root)
        collect(found)
        let asked = doomed
        try collectCascades(from: found)
        for (index, keys) in doomed.sorted(by: { $0.key < $1.key }) { try enforceRules(of: layouts[index], keys) }
        try deleteRows()
        outcome.deletedCount = asked.values.reduce(0) { $0 + $1.count }
        if deletion.wantsReferences || wantsConsequences {
            for (index, keys) in doomed.sorted(by: { $0.key < $1.key }) {
                for key in keys.sorted() {
                    let reference = RowReference(key: key, layoutIndex: index)
                    if asked[index]?.contains(key) == true {
                        outcome.deleted.append(reference)
                    } else {
                        outcome.alsoDeleted.append(reference)
                    }
                }
            }
        }
        outcome.alsoUpdated.removeAll { isDoomed($0) }
        if batch.tracksHistory { try noteHistory() }
        if !deletion.wantsReferences { outcome.deleted = [] }
        return outcome
    }

    // MARK: Which rows

    private func foundRows(_ entity: SQLEntity) throws -> [RowReference] {
        let references: [RowReference]
        switch deletion.rows {
        case .keys(let keys, _):
            references = try batch.references(statements.references(of: entity), batch.list(keys))
        case .fetched(var fetch):
            fetch.shape = .references
            let generator = SQLGenerator(mapping: mapping, store: batch.store)
            let statement = try generator.fetch(fetch, entity) { batch.backend.selectPlan(entity, includesSubentities: true).columns }
                .statement(mapping.dialect)
            if fetch.isOfOneEntity {
                var keys: [RowReference] = []
                try connection.query(statement.sql, statement.values) { row in
                    keys.append(RowReference(key: row.int64(1), layoutIndex: entity.layout.index))
                }
                return keys
            }
            references = try batch.references(statement.sql, statement.values)
        }
        return references.filter { layouts[$0.layoutIndex].isKind(of: entity.layout) }
    }

    private func isDoomed(_ reference: RowReference) -> Bool { doomed[reference.layoutIndex]?.contains(reference.key) ?? false }

    /// - Returns: those that were not known yet.
    @discardableResult
    private func collect(_ references: [RowReference]) -> [RowReference] {
        references.filter { doomed[$0.layoutIndex, default: []].insert($0.key).inserted }
    }

    private func collectCascades(from first: [RowReference]) throws {
        var new = first
        while !new.isEmpty {
            var keys: [Int: [Int64]] = [:]
            for reference in new { keys[reference.layoutIndex, default: []].append(reference.key) }
            new = []
            for (index, keys) in keys.sorted(by: { $0.key < $1.key }) {
                let layout = layouts[index]
                for slot in layout.relationshipSlots {
                    let property = layout.slots[slot]
                    guard property.deleteRule == .cascadeDeleteRule, !property.isTransient else { continue }
                    new += collect(try destinations(of: keys, through: property, of: layout))
                }
            }
        }
    }

    /// The rows that others lead to through a relationship.
    private func destinations(
        of keys: some Sequence<Int64>, through property: PropertySlot, of layout: EntityLayout
    ) throws -> [RowReference] {
        guard property.destinationIndex >= 0, let destination = mapping.entities[property.destinationIndex] else { return [] }
        let owner = try batch.backend.entity(layout)
        let sql: String
        switch owner.toMany[property.index] {
        case .inverse(let column, let destination, _)?: sql = statements.destinations(holding: column, destination)
        case .join(let join, let isFirst)?: sql = statements.destinations(join, isFirst: isFirst, destination)
        case nil:
            guard let column = owner.columns[property.index] else { return [] }
            sql = statements.destinations(of: column, from: owner, to: destination)
        }
        return try batch.references(sql, batch.list(keys))
    }

    // MARK: Rules

    /// Whether deleting rows of an entity changes nothing but their own table.
    private func leavesNoTrace(_ entity: SQLEntity) -> Bool {
        let family = entity.layout.familyIndexes.map { layouts[$0] }
        if case .fetched = deletion.rows {} else { return false }
        for layout in family {
            guard let entity = mapping.entity(layout) else { return false }
            if entity.columns.contains(where: { $0?.allowsExternalStorage == true }) { return false }
            for slot in layout.relationshipSlots {
                let property = layout.slots[slot]
                if property.isTransient { continue }
                guard property.kind == .toOne, [.nullifyDeleteRule, .noActionDeleteRule].contains(property.deleteRule) else { return false }
                if property.inverseSlot >= 0, !property.inverseIsToMany || deletion.requiresInverse(of: property) { return false }
            }
        }
        return true
    }

    private func deleteAtOnce(_ entity: SQLEntity) throws -> BatchOutcome {
        guard case .fetched(let fetch) = deletion.rows else { return outcome }
        let statement = try SQLGenerator(mapping: mapping, store: batch.store).delete(fetch, entity).statement(mapping.dialect)
        try connection.run(statement.sql, statement.values)
        outcome.deletedCount = Int(connection.changes)
        return outcome
    }

    private func enforceRules(of layout: EntityLayout, _ keys: Set<Int64>) throws {
        for slot in layout.relationshipSlots {
            let property = layout.slots[slot]
            if property.isTransient { continue }
            switch property.deleteRule {
            case .denyDeleteRule: try requireNoDestination(of: keys, through: property, of: layout)
            case .nullifyDeleteRule:
                if deletion.requiresInverse(of: property) { try requireNoDestination(of: keys, through: property, of: layout) }
                try nullify(property, of: layout, keys)
            case .noActionDeleteRule, .cascadeDeleteRule: break
            @unknown default: break
            }
            // What is a part of both rows goes with one of them, whatever the rule.
            if case .join(let join, let isFirst)? = try batch.backend.entity(layout).toMany[slot] {
                try deletePairs(join, isFirst: isFirst, property, keys)
            }
        }
    }

    /// - Throws: code 134050 when a relationship leads to a row that stays.
    private func requireNoDestination(
        of keys: Set<Int64>, through property: PropertySlot, of layout: EntityLayout
    ) throws {
        guard let kept = try destinations(of: keys, through: property, of: layout).first(where: { !isDoomed($0) }) else { return }
        throw RowDeletion.refusal(of: property, layout, keeping: kept, layouts)
    }

    /// Takes deleted rows out of the columns of others.
    private func nullify(_ property: PropertySlot, of layout: EntityLayout, _ keys: Set<Int64>) throws {
        let owner = try batch.backend.entity(layout)
        switch owner.toMany[property.index] {
        case .inverse(let column, let destination, _)?:
            try release(column, destination, property.inverseSlot >= 0 ? property.inverseSlot : nil, keys)
        case .join: break
        case nil:
            guard property.inverseSlot >= 0, !property.inverseIsToMany, let destination = mapping.entities[property.destinationIndex],
                let column = destination.columns[property.inverseSlot]
            else { return }
            try release(column, destination, property.inverseSlot, keys)
        }
    }

    private func release(_ column: SQLColumn, _ destination: SQLEntity, _ slot: Int?, _ keys: Set<Int64>) throws {
        let sql = statements.release(column, of: destination, returnsReferences: wantsConsequences)
        guard wantsConsequences else { return try connection.run(sql, batch.list(keys)) }
        noteUpdated(try batch.references(sql, batch.list(keys)), destination.layout, slot)
    }

    private func deletePairs(_ join: SQLJoinTable, isFirst: Bool, _ property: PropertySlot, _ keys: Set<Int64>) throws {
        if wantsConsequences, property.destinationIndex >= 0, let destination = mapping.entities[property.destinationIndex] {
            let touched = try batch.references(statements.destinations(join, isFirst: isFirst, destination), batch.list(keys))
            noteUpdated(touched, destination.layout, property.inverseSlot >= 0 ? property.inverseSlot : nil)
        }
        try connection.run(statements.deletePairs(join, ofKeysIn: join.ownerColumn(isFirst: isFirst)), batch.list(keys))
        if join.isReflexive {
            try connection.run(statements.deletePairs(join, ofKeysIn: join.destinationColumn(isFirst: isFirst)), batch.list(keys))
        }
    }

    // MARK: Deleting

    private func deleteRows() throws {
        for (index, keys) in doomed.sorted(by: { $0.key < $1.key }) {
            let entity = try batch.entity(index)
            batch.files?.supersede(try batch.externalFileNames(entity, keys))
            if batch.tracksHistory { try noteTombstones(entity, keys) }
            try connection.run(statements.deleteRows(of: entity), batch.list(keys))
        }
    }

    // MARK: History

    /// The slots that lost a destination, by row.
    private var changedSlots: [RowReference: [Int]] = [:]
    private var tombstones: [RowReference: [StoredValue]] = [:]

    private func noteUpdated(_ references: [RowReference], _ layout: EntityLayout, _ slot: Int?) {
        outcome.alsoUpdated += references
        guard batch.tracksHistory, let slot else { return }
        for reference in references {
            changedSlots[reference, default: []].append(layouts[reference.layoutIndex].slot(slot, ofAncestor: layout.index))
        }
    }

    private func noteTombstones(_ entity: SQLEntity, _ keys: Set<Int64>) throws {
        let slots = batch.columns(ofHistory: entity.layout).preservedSlots
        let columns = slots.compactMap { entity.columns[$0]?.name }
        guard !slots.isEmpty, columns.count == slots.count else { return }
        try connection.query(statements.values(columns, of: entity), batch.list(keys)) { row in
            tombstones[RowReference(key: row.int64(0), layoutIndex: entity.layout.index)] = slots.indices.map {
                row.storedValue(Int32($0 + 1))
            }
        }
    }

    private func noteHistory() throws {
        func number(_ reference: RowReference) -> Int { mapping.entities[reference.layoutIndex]?.number ?? 0 }
        for reference in outcome.deleted + outcome.alsoDeleted {
            batch.history.append(
                .init(
                    type: .delete, entityNumber: number(reference), key: reference.key, tombstones: tombstones[reference] ?? []))
        }
        for (reference, slots) in changedSlots.sorted(by: { ($0.key.layoutIndex, $0.key.key) < ($1.key.layoutIndex, $1.key.key) })
        where !isDoomed(reference) {
            let columns = batch.columns(ofHistory: layouts[reference.layoutIndex]).changes(slots)
            batch.history.append(.init(type: .update, entityNumber: number(reference), key: reference.key, columns: columns))
        }
    }
}
