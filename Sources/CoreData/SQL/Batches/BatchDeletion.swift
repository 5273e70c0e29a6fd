import Foundation

/// A batch that deletes rows of a database within one transaction.
package protocol DeletingBatch: AnyObject {
    var mapping: SQLMapping { get }
    var generator: SQLGenerator { get }
    var statements: SaveStatements { get }
    /// Whether the batch records for each row that it was deleted or lost a destination.
    var tracksHistory: Bool { get }
    /// Whether other processes may write while the batch runs; the rows to delete are then locked.
    var meetsOthers: Bool { get }
    /// Whether rows name external files, which are deleted with the rows.
    var hasFiles: Bool { get }

    /// Runs a statement.
    ///
    /// - Returns: the number of rows that it wrote.
    @discardableResult
    func run(_ sql: String, _ arguments: [SQLArgument]) throws -> Int

    /// Runs a statement that returns entity numbers and keys.
    ///
    /// Skips rows of entities that the model does not know.
    ///
    /// - Parameter only: the entity of all rows, where there is only one.
    func references(_ sql: String, _ arguments: [SQLArgument], only: EntityLayout?) throws -> [RowReference]

    /// Locks rows until the batch ends: no other process can change or reference them.
    ///
    /// - Returns: the rows that still exist.
    func lock(_ rows: [RowReference]) throws -> [RowReference]

    /// Locks the rows whose foreign key is in a list of keys, in the lock order of updates.
    func lockRows(holding column: SQLColumn, of entity: SQLEntity, _ keys: [SQLArgument]) throws

    func willDelete(_ keys: Set<Int64>, of entity: SQLEntity) throws

    /// The order in which rows of layouts are deleted.
    func inTurn(_ layoutIndexes: some Collection<Int>) -> [Int]

    /// Checks that rows are gone: something in the database, for example a trigger, may keep them.
    ///
    /// - Parameter deleted: the number of deleted rows that the database reported.
    func requireDeletion(of keys: Set<Int64>, _ entity: SQLEntity, deleted: Int) throws

    /// Checks that no row still holds one of the keys after a relationship was nullified.
    func requireNoRow(
        of table: String, holding column: String, _ keys: [SQLArgument], _ property: PropertySlot, _ owner: EntityLayout
    ) throws
}

extension DeletingBatch {
    // Any order works: nothing checks foreign keys before the whole batch is done.
    func inTurn(_ layoutIndexes: some Collection<Int>) -> [Int] { layoutIndexes.sorted() }

    // Only objects that the package created are in the database, and none of them keeps rows.
    func requireDeletion(of keys: Set<Int64>, _ entity: SQLEntity, deleted: Int) throws {}

    func requireNoRow(
        of table: String, holding column: String, _ keys: [SQLArgument], _ property: PropertySlot, _ owner: EntityLayout
    ) throws {}
}

/// Deletes many rows, and applies the delete rules in the database.
///
/// Rules that only remove the deleted rows' own columns cost nothing. Otherwise the batch reads the
/// keys of all rows before it deletes the first one, and each relationship costs a statement.
package final class BatchDeletion<Batch: DeletingBatch> {
    private let deletion: RowDeletion
    private let batch: Batch
    private let mapping: SQLMapping
    private let layouts: [EntityLayout]
    /// The rows to delete, by layout index.
    private var doomed: [Int: Set<Int64>] = [:]
    /// The slots that lost a destination, by row; empty where no history is kept.
    package private(set) var losses: [RowReference: [Int]] = [:]
    private var outcome = BatchOutcome()

    package init(_ deletion: RowDeletion, _ batch: Batch) {
        self.deletion = deletion
        self.batch = batch
        mapping = batch.mapping
        layouts = mapping.layouts.layouts
    }

    private var statements: SaveStatements { batch.statements }
    private var wantsConsequences: Bool { deletion.wantsConsequences || batch.tracksHistory }

    /// - Returns: the outcome. With persistent history it always lists the rows that the request
    ///   deletes.
    package func run() throws -> BatchOutcome {
        let root = try mapping.requiredEntity(deletion.layout)
        if !batch.tracksHistory, !deletion.wantsReferences, !deletion.wantsConsequences, leavesNoTrace(root) {
            return try deleteAtOnce(root)
        }
        let found = try lockedRows(root)
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
        losses = losses.filter { !isDoomed($0.key) }
        return outcome
    }

    // MARK: Which rows

    private func foundRows(_ entity: SQLEntity) throws -> [RowReference] {
        let references: [RowReference]
        switch deletion.rows {
        case .keys(let keys, _):
            references = try batch.references(statements.references(of: entity), list(keys), only: nil)
        case .fetched(var fetch):
            fetch.shape = .references
            let statement = try batch.generator.fetch(fetch, entity) {
                SelectColumns(entity, includesSubentities: true, in: self.mapping)
            }.statement(mapping.dialect)
            if fetch.isOfOneEntity {
                return try batch.references(statement.sql, statement.arguments, only: entity.layout)
            }
            references = try batch.references(statement.sql, statement.arguments, only: nil)
        }
        return references.filter { layouts[$0.layoutIndex].isKind(of: entity.layout) }
    }

    /// Finds and locks the rows to delete.
    private func lockedRows(_ entity: SQLEntity) throws -> [RowReference] {
        let found = try foundRows(entity)
        guard batch.meetsOthers, !found.isEmpty else { return found }
        let locked = try batch.lock(found)
        // A row that another process changed in the meantime may no longer match the predicate.
        guard case .fetched(let fetch) = deletion.rows, fetch.predicate != nil, fetch.limit <= 0, fetch.offset <= 0
        else { return locked }
        let mine = Set(locked)
        return try foundRows(entity).filter(mine.contains)
    }

    /// Keys as the single argument of a list condition.
    // Sorted, the order in which the rows are stored.
    private func list(_ keys: some Sequence<Int64>) -> [SQLArgument] { [mapping.dialect.keyList(keys.sorted())] }

    private func isDoomed(_ reference: RowReference) -> Bool {
        doomed[reference.layoutIndex]?.contains(reference.key) ?? false
    }

    /// - Returns: the rows that were not in `doomed` before.
    @discardableResult
    private func collect(_ references: [RowReference]) -> [RowReference] {
        references.filter { doomed[$0.layoutIndex, default: []].insert($0.key).inserted }
    }

    private func collectCascades(from first: [RowReference]) throws {
        var new = first
        var isFirst = true
        while !new.isEmpty {
            if batch.meetsOthers, !isFirst { new = try locked(new) }
            isFirst = false
            var keys: [Int: [Int64]] = [:]
            for reference in new { keys[reference.layoutIndex, default: []].append(reference.key) }
            new = []
            for (index, keys) in keys.sorted(by: { $0.key < $1.key }) {
                let layout = layouts[index]
                for property in layout.persistentRelationships where property.deletion.deletesDestinations {
                    new += collect(try destinations(of: keys, through: property, of: layout))
                }
            }
        }
    }

    /// Locks rows; rows that another process deleted in the meantime leave `doomed`.
    private func locked(_ rows: [RowReference]) throws -> [RowReference] {
        let locked = Set(try batch.lock(rows))
        for row in rows where !locked.contains(row) { doomed[row.layoutIndex]?.remove(row.key) }
        return rows.filter(locked.contains)
    }

    /// The destinations of rows through a relationship.
    private func destinations(
        of keys: some Sequence<Int64>, through property: PropertySlot, of layout: EntityLayout
    ) throws -> [RowReference] {
        guard property.destinationIndex >= 0, let destination = mapping.entities[property.destinationIndex] else {
            return []
        }
        let owner = try mapping.requiredEntity(layout)
        let sql: String
        switch owner.toMany[property.index] {
        case .inverse(let column, let destination, _)?: sql = statements.destinations(holding: column, destination)
        case .join(let join, let isFirst)?: sql = statements.destinations(join, isFirst: isFirst, destination)
        case nil:
            guard let column = owner.columns[property.index] else { return [] }
            sql = statements.destinations(of: column, from: owner, to: destination)
        }
        return try batch.references(sql, list(keys), only: nil)
    }

    // MARK: Rules

    /// Whether deleting rows of an entity changes only their own table.
    private func leavesNoTrace(_ entity: SQLEntity) -> Bool {
        let family = entity.layout.familyIndexes.map { layouts[$0] }
        if case .fetched = deletion.rows {} else { return false }
        for layout in family {
            guard let entity = mapping.entity(layout) else { return false }
            if batch.hasFiles, entity.columns.contains(where: { $0?.allowsExternalStorage == true }) { return false }
            for property in layout.persistentRelationships {
                if property.kind != .toOne || property.deletion.isDenied || property.deletion.deletesDestinations
                    || property.inverseIsToOne
                    || property.inverseSlot >= 0 && deletion.requiresInverse(of: property)
                {
                    return false
                }
            }
        }
        return true
    }

    private func deleteAtOnce(_ entity: SQLEntity) throws -> BatchOutcome {
        guard case .fetched(let fetch) = deletion.rows else { return outcome }
        let statement = try batch.generator.delete(fetch, entity).statement(mapping.dialect)
        outcome.deletedCount = try batch.run(statement.sql, statement.arguments)
        return outcome
    }

    private func enforceRules(of layout: EntityLayout, _ keys: Set<Int64>) throws {
        for property in layout.persistentRelationships {
            if deletion.refusesDestinations(of: property) {
                try requireNoDestination(of: keys, through: property, of: layout)
            }
            if property.deletion.nullifies { try nullify(property, of: layout, keys) }
            // A row of a join table is deleted with either of its ends, whatever the rule.
            if case .join(let join, let isFirst)? = try mapping.requiredEntity(layout).toMany[property.index] {
                try deletePairs(join, isFirst: isFirst, property, layout, keys)
            }
        }
    }

    /// - Throws: code 134050 when a relationship refers to a row that is not deleted.
    private func requireNoDestination(
        of keys: Set<Int64>, through property: PropertySlot, of layout: EntityLayout
    ) throws {
        guard let kept = try destinations(of: keys, through: property, of: layout).first(where: { !isDoomed($0) })
        else { return }
        throw RowDeletion.refusal(of: property, layout, keeping: kept, layouts)
    }

    /// Clears the foreign keys that refer to deleted rows.
    private func nullify(_ property: PropertySlot, of layout: EntityLayout, _ keys: Set<Int64>) throws {
        let owner = try mapping.requiredEntity(layout)
        switch owner.toMany[property.index] {
        case .inverse(let column, let destination, _)?:
            try release(column, destination, property, layout, keys)
        case .join: break
        case nil:
            guard property.inverseIsToOne, let destination = mapping.entities[property.destinationIndex],
                let column = destination.columns[property.inverseSlot]
            else { return }
            try release(column, destination, property, layout, keys)
        }
    }

    private func release(
        _ column: SQLColumn, _ destination: SQLEntity, _ property: PropertySlot, _ owner: EntityLayout,
        _ keys: Set<Int64>
    ) throws {
        if batch.meetsOthers { try batch.lockRows(holding: column, of: destination, list(keys)) }
        let sql = statements.release(column, of: destination, returnsReferences: wantsConsequences)
        if wantsConsequences {
            let slot = property.inverseSlot >= 0 ? property.inverseSlot : nil
            noteUpdated(try batch.references(sql, list(keys), only: nil), destination.layout, slot)
        } else {
            try batch.run(sql, list(keys))
        }
        try batch.requireNoRow(of: destination.table.name, holding: column.name, list(keys), property, owner)
    }

    private func deletePairs(
        _ join: SQLJoinTable, isFirst: Bool, _ property: PropertySlot, _ owner: EntityLayout, _ keys: Set<Int64>
    ) throws {
        if wantsConsequences, property.destinationIndex >= 0,
            let destination = mapping.entities[property.destinationIndex]
        {
            let touched = try batch.references(
                statements.destinations(join, isFirst: isFirst, destination), list(keys), only: nil)
            noteUpdated(touched, destination.layout, property.inverseSlot >= 0 ? property.inverseSlot : nil)
        }
        let columns =
            [join.ownerColumn(isFirst: isFirst)] + (join.isReflexive ? [join.destinationColumn(isFirst: isFirst)] : [])
        for column in columns {
            try batch.run(statements.deletePairs(join, ofKeysIn: column), list(keys))
            try batch.requireNoRow(of: join.name, holding: column, list(keys), property, owner)
        }
    }

    // MARK: Deleting

    private func deleteRows() throws {
        for index in batch.inTurn(doomed.keys) {
            let keys = doomed[index] ?? []
            let entity = try mapping.requiredEntity(layouts[index])
            try batch.willDelete(keys, of: entity)
            let deleted = try batch.run(statements.deleteRows(of: entity), list(keys))
            try batch.requireDeletion(of: keys, entity, deleted: deleted)
        }
    }

    private func noteUpdated(_ references: [RowReference], _ layout: EntityLayout, _ slot: Int?) {
        outcome.alsoUpdated += references
        guard batch.tracksHistory, let slot else { return }
        for reference in references {
            losses[reference, default: []].append(layouts[reference.layoutIndex].slot(slot, ofAncestor: layout.index))
        }
    }
}
